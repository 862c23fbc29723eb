#include "core/strategy/communicator.h"

#include <bit>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/strategy/algorithm_table.h"
#include "core/strategy/plan.h"

namespace tutti::core {

std::vector<std::string> problems_of(const Communicator& communicator, const Cluster& cluster) {
  std::vector<std::string> problems;
  const AlgorithmTraits& t = traits(communicator.strategy.algorithm);
  const std::int64_t size = communicator.partition.group_size();
  if (t.needs_gpus() && cluster.part(cluster.replica(0)).kind != PartKind::kGpu)
    problems.push_back(fmt::format("\"{}\" needs GPUs, and the replicas of this cluster are CPUs; take ring", t.name));
  for (const Exchange& e : communicator.exchanges) {
    const auto has = [&](const AlgorithmTraits& other) { return other.on_gpus.contains(e.collective); };
    if (!has(t)) {
      problems.push_back(fmt::format(
          "{} has no {}; these have: {}", t.name, to_string(e.collective),
          names_where([&](const AlgorithmTraits& other) { return other.works_in_groups && has(other); }, ", ")));
    }
    if (t.power_of_two && !std::has_single_bit(static_cast<std::uint64_t>(size))) {
      problems.push_back(
          fmt::format("{} needs groups of a power of two of replicas (here {}); take ring", t.name, size));
    }
    if (has_blocks(e.collective) && e.elements % size != 0) {
      problems.push_back(fmt::format(
          "{} gives every one of {} replicas an equal block, and {} elements do not divide by {}; take other bytes",
          to_string(e.collective), size, e.elements, size));
    }
  }
  return problems;
}

void add_exchanges(const std::vector<Communicator>& communicators, const Cluster& cluster, Plan& plan) {
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    const Communicator& communicator = communicators[c];
    for (const Exchange& exchange : communicator.exchanges) {
      Strategy strategy = communicator.strategy;
      strategy.collective = exchange.collective;
      strategy.out_of_place = !can_be_in_place(exchange.collective);
      Collective first = make_collective(cluster, strategy, exchange.type, exchange.elements,
                                         static_cast<int>(plan.exchanges.size()), communicator.partition);
      const CollectiveId id =
          plan.add({std::move(first), communicator.partition, strategy.launch_overhead, exchange.sizes});
      plan.exchanges.push_back({static_cast<int>(c), exchange, id});
    }
  }
}

std::string describe(const PlannedExchange& planned, const Communicator& communicator, std::int32_t micro_batches) {
  const Exchange& e = planned.exchange;
  const std::string filled =
      e.sizes ? fmt::format(", filled from {:g} % on", static_cast<double>(e.sizes->least_filled_ppm) / 1e4) : "";
  return fmt::format("{}: {} groups of {}, in each step {} {} of {}{}{}", communicator.name,
                     communicator.partition.groups(), communicator.partition.group_size(),
                     std::int64_t{micro_batches} * (std::int64_t{e.per_forward} + e.per_backward),
                     to_string(e.collective), show(e.bytes()), filled, e.overlaps ? ", beside computation" : "");
}

}  // namespace tutti::core
