#include "core/strategy/communicator.h"

#include <bit>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {

std::vector<std::string> problems_of(const Communicator& communicator, const Cluster& cluster) {
  std::vector<std::string> problems;
  const AlgorithmTraits& t = traits(communicator.strategy.algorithm);
  const std::int64_t size = communicator.partition.group_size();
  if (t.needs_gpus() && cluster.part(cluster.replica(0)).kind != PartKind::kGpu)
    problems.push_back(fmt::format(
        "\"{}\" needs GPUs, but the replicas of this cluster are CPUs; use ring", t.name));
  for (const Exchange& e : communicator.exchanges) {
    const auto has = [&](const AlgorithmTraits& other) {
      return other.on_gpus.contains(e.collective);
    };
    if (!has(t)) {
      problems.push_back(fmt::format(
          "{} has no {}; these have: {}", t.name, to_string(e.collective),
          names_where(
              [&](const AlgorithmTraits& other) { return other.works_in_groups && has(other); },
              ", ")));
    }
    if (t.power_of_two && !std::has_single_bit(static_cast<std::uint64_t>(size))) {
      problems.push_back(fmt::format(
          "{} needs groups whose size is a power of two (got {}); use ring", t.name, size));
    }
    if (has_blocks(e.collective) && e.elements % size != 0) {
      problems.push_back(
          fmt::format("{} gives each of {} replicas an equal block, but {} elements cannot be "
                      "divided by {}; change the field bytes",
                      to_string(e.collective), size, e.elements, size));
    }
  }
  return problems;
}

std::string describe(const PlannedExchange& planned, const Communicator& communicator,
                     std::int32_t micro_batches) {
  const Exchange& e = planned.exchange;
  const std::string filled = e.sizes
                                 ? fmt::format(", slots at least {:g} % full",
                                               static_cast<double>(e.sizes->min_filled_ppm) / 1e4)
                                 : "";
  return fmt::format("{}: {} groups of {}, in each step {} {} of {}{}{}", communicator.name,
                     communicator.partition.groups(), communicator.partition.group_size(),
                     std::int64_t{micro_batches} * (std::int64_t{e.per_forward} + e.per_backward),
                     to_string(e.collective), show(e.bytes()), filled,
                     e.overlaps ? ", overlapping computation" : "");
}

}  // namespace tutti::core
