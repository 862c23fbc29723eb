#include "real/worker/memory_need.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/format.h"
#include "real/asynchronous/in_cluster.h"
#include "real/interpreter/gradients.h"
#include "real/transport/inbox.h"
#include "real/transport/tcp.h"

namespace tutti::real {

using core::Bytes;
using core::Pack;
using core::Rank;

namespace {

/// The measured private memory of a worker process in a tiny scenario.
constexpr Bytes kProcess{2'000'000};

/// The peak of a run's memory, divided by the computed minimum: at most 1.27 in measurements
/// (docs/running.md).
constexpr double kPeak = 1.3;

class WorkersNeed {
 public:
  WorkersNeed(const core::Scenario& scenario, std::int32_t worker, const MemoryOptions& options)
      : scenario_(scenario), cluster_(*scenario.cluster), options_(options) {
    host_ = static_cast<Rank>(cluster_.replicas() + worker);
    const int per_worker = cluster_.replicas_per_worker();
    const bool server = worker >= cluster_.workers() - cluster_.servers();
    for (int i = 0; i < per_worker && !server; ++i)
      replicas_.push_back(static_cast<Rank>(worker * per_worker + i));
  }

  MemoryNeed count() {
    need_.processes = kProcess;
    add_transport();
    if (scenario_.plan.partition) {
      add_asynchronous();
    } else {
      for (std::size_t p = 0; p < scenario_.plan.packs.size() && !(options_.loop && p > 0); ++p)
        add_pack(p);
      // Packs that are fused are copied into a separate fusion buffer.
      need_.buffers += fused_ * std::ssize(replicas_);
    }
    need_.copies = filled_ + (options_.verify ? compared_ : Bytes());
    return need_;
  }

 private:
  [[nodiscard]] bool on_host(Rank rank) const {
    return options_.backend == Backend::kTcp || rank >= cluster_.replicas();
  }

  void add_transport() {
    const std::int64_t peers = cluster_.workers() - 1;
    need_.transport =
        options_.shared_memory
            ? Bytes(peers * static_cast<std::int64_t>(kLineBytes) +
                    (peers > 0 ? static_cast<std::int64_t>(kPayloadBytes) : 0))
            : Bytes(peers * options_.streams * static_cast<std::int64_t>(kReadBufferBytes));
  }

  /// Returns for how many training steps at a time the pack has buffers.
  [[nodiscard]] std::int64_t sets_of(const Pack& pack) {
    if (options_.loop) return 1;
    const std::int32_t together = std::min(options_.steps_at_once, scenario_.run.steps);
    if (pack.phase != core::PackPhase::kCheckpoint) return together;
    if (!checkpoints_) {
      std::set<std::int32_t> places;
      for (std::int32_t step = 0; step < scenario_.run.steps && std::ssize(places) < together;
           ++step) {
        if (core::takes_part(scenario_.plan, pack, step)) places.insert(step % together);
      }
      checkpoints_ = std::ssize(places);
    }
    return *checkpoints_;
  }

  void add_pack(std::size_t p) {
    const Pack& pack = scenario_.plan.packs[p];
    const core::Collective& collective = scenario_.plan.collective(pack);
    const Bytes buffer = collective.buffer_bytes();
    const std::int64_t sets = sets_of(pack);
    Bytes on_gpus;
    const auto add = [&](Rank rank) { (on_host(rank) ? need_.buffers : on_gpus) += buffer * sets; };
    for (const Rank rank : replicas_) add(rank);
    const bool gives_back = pack.answers >= 0 && collective.root == host_;
    if (!options_.loop && host_holds_data(collective, host_) && !gives_back) add(host_);
    add_copies(buffer, on_gpus > Bytes() ? std::ssize(replicas_) : 0);

    const bool fused = scenario_.plan.fuses() && pack.phase == core::PackPhase::kGradients;
    if (fused) {
      fused_ += buffer;
      return;
    }
    for (const Rank rank : replicas_)
      add_scratch(*collective.schedule, rank, rank, collective.type, sets);
    if (host_ < collective.schedule->ranks())
      add_scratch(*collective.schedule, host_, host_, collective.type, sets);
  }

  /// Adds the buffers that the schedule needs on a rank for partial results. `own` is the rank's
  /// number in the schedule.
  void add_scratch(const core::Schedule& schedule, Rank rank, Rank own, core::DataType type,
                   std::int64_t sets) {
    if (on_host(rank)) need_.buffers += schedule.scratch(own) * core::size_of(type) * sets;
  }

  /// Adds host copies of GPU memory, for one pack at a time: one rank's input while the buffer is
  /// filled, and all ranks' results while they are checked.
  void add_copies(Bytes buffer, std::int64_t gpus) {
    if (gpus == 0) return;
    filled_ = std::max(filled_, buffer);
    compared_ = std::max(compared_, buffer * gpus);
  }

  /// Adds the memory needs of asynchronous workers. Each asynchronous worker has its own
  /// collectives with the parameter servers.
  void add_asynchronous() {
    const std::int64_t sets = std::min(options_.steps_at_once, scenario_.run.steps);
    std::set<int> variables;
    for (std::int64_t group = 0; group < scenario_.plan.partition->groups(); ++group) {
      const GroupRanks ranks{*scenario_.plan.partition, group};
      for (const Pack& pack : scenario_.plan.packs) {
        const core::Collective& collective = scenario_.plan.collective(pack);
        const core::Schedule& schedule = *collective.schedule;
        const auto add = [&](Rank rank) {
          const Rank own = ranks.to_group(rank);
          if (own < 0 || own >= schedule.ranks() || schedule.lanes(own) == 0) return;
          if (on_host(rank)) {
            need_.buffers += collective.buffer_bytes() * sets;
          } else {
            add_copies(collective.buffer_bytes(), 1);
          }
          add_scratch(schedule, rank, own, collective.type, sets);
          if (rank != host_ || ranks.to_cluster(collective.root) != host_) return;
          // A server stores two values of a variable: its current value, and its value before the
          // current steps.
          if (variables.insert(pack.payload.members.front().variable).second)
            need_.buffers += collective.bytes() * 2;
        };
        for (const Rank rank : replicas_) add(rank);
        add(host_);
      }
    }
  }

  const core::Scenario& scenario_;
  const core::Cluster& cluster_;
  const MemoryOptions& options_;
  Rank host_ = 0;
  std::vector<Rank> replicas_;
  std::optional<std::int64_t> checkpoints_;
  Bytes fused_, filled_, compared_;
  MemoryNeed need_;
};

}  // namespace

MemoryNeed& MemoryNeed::operator+=(const MemoryNeed& other) {
  buffers += other.buffers;
  copies += other.copies;
  transport += other.transport;
  processes += other.processes;
  return *this;
}

std::int32_t steps_at_once(const core::Scenario& scenario, std::int64_t workers_on_a_machine) {
  constexpr std::int64_t kMaxBytes = std::int64_t{2} << 30;
  constexpr std::int64_t kMaxSteps = 16;
  const Bytes bytes =
      Gradients::bytes_of(scenario) *
      (scenario.cluster->replicas_per_worker() * std::max<std::int64_t>(workers_on_a_machine, 1));
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(kMaxBytes / std::max<std::int64_t>(bytes.count(), 1), 1, kMaxSteps));
}

MemoryNeed memory_need(const core::Scenario& scenario, std::int32_t worker,
                       const MemoryOptions& options) {
  return WorkersNeed(scenario, worker, options).count();
}

std::string memory_warning(const MemoryNeed& need, const FreeMemory& free) {
  const auto has = free ? free() : std::nullopt;
  const auto total = static_cast<double>(need.total().count());
  if (!has || total * kPeak <= static_cast<double>(*has)) return "";
  return fmt::format(
      "the run needs at least {} of memory on this machine, and up to {} if messages arrive before "
      "they are expected, but only {} are free",
      core::show(need.total()), core::show(Bytes(static_cast<std::int64_t>(total * kPeak))),
      core::show(Bytes(static_cast<std::int64_t>(*has))));
}

core::Expected<void> check_memory(const core::Scenario& scenario, const MemoryNeed& need,
                                  std::int64_t workers, const FreeMemory& free) {
  const auto has = free ? free() : std::nullopt;
  const Bytes total = need.total();
  if (!has || static_cast<std::uint64_t>(total.count()) <= *has) return {};
  // The need of one worker is an average, and the peak of a run exceeds the minimum.
  const auto fitting =
      static_cast<std::int64_t>(static_cast<double>(*has) / kPeak * static_cast<double>(workers) /
                                static_cast<double>(total.count()));
  // --ranks reduces the number of workers only.
  const std::int64_t ranks = fitting * scenario.cluster->replicas_per_worker();
  const bool all_here = workers == scenario.cluster->workers() && scenario.cluster->servers() == 0;
  return tl::make_unexpected(core::Error::request(
      {core::ProblemCode::kTooLarge, "Cluster"},
      fmt::format(
          "the run needs {} of memory on this machine for {} ({} of this for buffers of "
          "gradients and partial sums), but only {} are free{}; {}a smaller model, "
          "or more machines (--listen)",
          core::show(total), workers == 1 ? "its worker" : fmt::format("{} workers", workers),
          core::show(need.buffers), core::show(Bytes(static_cast<std::int64_t>(*has))),
          fitting > 0 ? fmt::format(", which is enough for about {} of the workers", fitting) : "",
          all_here && ranks > 1 ? fmt::format("use --ranks {}, ", ranks)
                                : "use fewer replicas or workers, "),
      {scenario.file, 0, 0}));
}

}  // namespace tutti::real
