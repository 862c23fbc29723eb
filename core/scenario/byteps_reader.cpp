#include "core/scenario/byteps_reader.h"

#include <optional>

#include "core/proto/scenario.pb.h"

namespace tutti::core {
namespace {

/// Where partitions lie; nothing, and a problem, if that cannot be told.
std::optional<Servers> servers_of(const proto::BytePs& message, const Cluster& cluster, Fields& fields) {
  const std::int64_t workers = cluster.workers() - cluster.servers();
  Servers servers;
  servers.placement = Placement::kByHash;
  servers.reads = servers.updates = false;
  if (cluster.servers() > 0) {
    servers.first = workers;
    servers.count = static_cast<int>(cluster.servers());
    if (!message.has_servers_on_workers()) return servers;
    fields.complain_at(
        message, "servers_on_workers",
        "byteps: servers_on_workers and workers {{ server: true }} both say who the servers are; keep one");
    return std::nullopt;
  }
  if (!message.has_servers_on_workers()) {
    fields.complain(message,
                    "byteps: its workers push to servers; say servers_on_workers: {}, or workers {{ server: true }} in "
                    "the cluster, or an algorithm by which partitions are reduced without, such as nccl",
                    workers);
    return std::nullopt;
  }
  const auto count = fields.integer(message, "servers_on_workers", "byteps", 1, workers);
  if (!count) return std::nullopt;
  servers.count = static_cast<int>(*count);
  if (cluster.part(cluster.replica(0)).kind == PartKind::kGpu) return servers;
  fields.complain_at(
      message, "servers_on_workers",
      "byteps: servers_on_workers: here workers' CPUs are replicas themselves, and a server beside one is not "
      "modelled; say workers {{ server: true }} in the cluster");
  return std::nullopt;
}

}  // namespace

bool is_byteps(const proto::Strategy& s) {
  return s.has_byteps() && s.algorithm().empty() && s.distribution_case() == proto::Strategy::DISTRIBUTION_NOT_SET;
}

void check_byteps(const proto::Strategy& s, Fields& fields) {
  if (!is_byteps(s)) {
    const proto::BytePs& byteps = s.byteps();
    const auto only_there = [&](bool said, const char* field) {
      if (said)
        fields.complain_at(byteps, field, "byteps: {} is of BytePS's servers; leave algorithm out, or this", field);
    };
    only_there(byteps.has_scheduling_credit(), "scheduling_credit");
    only_there(byteps.key_hash_fn() != proto::BytePs::DJB2, "key_hash_fn");
    only_there(byteps.has_servers_on_workers(), "servers_on_workers");
    return;
  }
  const auto refuse = [&](bool said, const char* field) {
    if (said)
      fields.complain_at(
          s, field,
          "strategy: {}: BytePS pushes partitions and pulls them, and knows none; leave it out, or say an algorithm",
          field);
  };
  refuse(s.shards() > 1, "shards");
  refuse(s.collective() != proto::Strategy::ALL_REDUCE, "collective");
  refuse(s.pad_packs(), "pad_packs");
  refuse(s.out_of_place(), "out_of_place");
  refuse(s.launch() != proto::Strategy::LAUNCH_DEFAULT, "launch");
}

void lower_byteps(const proto::Strategy& message, const Cluster& cluster, Fields& fields, Strategy& strategy) {
  const Strategy usual = Strategy::for_algorithm(BaseAlgorithm::kOnServers);
  strategy.algorithm = usual.algorithm;
  strategy.merging = usual.merging;
  strategy.launch = usual.launch;
  strategy.waits_for_workers = usual.waits_for_workers;
  if (!strategy.staging_asked) strategy.staging = usual.staging;
  strategy.distribution = Distribution::kBytePs;
  strategy.distribution_name = "BytePS";
  if (cluster.workers() - cluster.servers() < 2)
    return fields.complain(
        message.byteps(),
        "byteps: one worker has no use for servers, and BytePS does not connect to any then; take algorithm: "
        "\"nccl\" beside byteps, which is what it does inside a worker");
  strategy.servers = servers_of(message.byteps(), cluster, fields);
}

}  // namespace tutti::core
