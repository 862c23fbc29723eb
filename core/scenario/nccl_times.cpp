#include "core/scenario/nccl_times.h"

#include "core/base/check.h"
#include "core/strategy/nccl_ways.h"

namespace tutti::core {
namespace {

Expected<std::shared_ptr<const nccl::CollectiveTime>> time_of_whole(
    const Collective& c, const Strategy& strategy, Reduction reduction,
    const nccl::Predictor& predictor, const NcclBounds& bounds) {
  auto known = predictor.of(c.kind, c.bytes().count(), c.type, reduction);
  if (!known) return tl::make_unexpected(known.error());
  if (const auto bound = bounds.find({c.kind, c.root}); bound != bounds.end())
    bound->second.apply(*known);
  if (strategy.requested_launch_overhead) known->launch = strategy.launch_overhead;
  return std::make_shared<const nccl::CollectiveTime>(std::move(*known));
}

/// Returns the parts of a collective, with predicted times for the parts inside workers. These
/// parts compute sums. If the collective computes a mean, the division comes later.
Expected<std::shared_ptr<const CollectiveParts>> time_of_parts(const Collective& whole,
                                                               const Strategy& strategy,
                                                               const nccl::Predictor& predictor,
                                                               const NcclBounds& bounds,
                                                               NcclWays& ways) {
  const Cluster& cluster = whole.group.cluster();
  CollectiveParts parts = *whole.parts;
  const Partition workers{parts.layout.replicas(), parts.layout.per_worker, 1};
  for (CollectivePart& part : parts.all) {
    if (!part.inside_workers) continue;
    Collective& inside = part.collective;
    auto known = time_of_whole(inside, strategy, Reduction::kSum, predictor, bounds);
    if (!known) return tl::make_unexpected(known.error());
    inside.nccl = std::move(*known);
    Strategy by_nccl = Strategy::for_algorithm(BaseAlgorithm::kNccl);
    set_ways(by_nccl, *inside.nccl->communicator, inside.nccl->choice, cluster,
             parts.layout.per_worker, false);
    by_nccl.collective = inside.kind;
    by_nccl.root = inside.root;
    const std::int64_t elements =
        cut_evenly(cluster, by_nccl, inside.type, inside.elements, &workers);
    auto way = make_collective(cluster, by_nccl, inside.type, elements, 0, workers).schedule;
    inside.nccl_ways =
        ways.try_emplace({inside.kind, inside.root, way->lanes(0)}, way).first->second;
  }
  parts.timed = true;
  return std::make_shared<const CollectiveParts>(std::move(parts));
}

}  // namespace

Expected<CollectiveTimes::Known> nccl_times_of(const Collective& collective,
                                               const Strategy& strategy,
                                               const nccl::Predictor& predictor,
                                               const NcclBounds& bounds, NcclWays& ways) {
  CollectiveTimes::Known known;
  if (collective.parts) {
    auto parts = time_of_parts(collective, strategy, predictor, bounds, ways);
    if (!parts) return tl::make_unexpected(parts.error());
    known.parts = std::move(*parts);
  } else {
    auto whole =
        time_of_whole(collective, strategy, strategy.reduction_by_nccl(), predictor, bounds);
    if (!whole) return tl::make_unexpected(whole.error());
    known.whole = std::move(*whole);
  }
  return known;
}

CollectiveTimes::Known NcclTimes::of(const Collective& collective) const {
  TUTTI_CHECK((collective.parts != nullptr) == only_inside_workers_, "a collective with{} parts",
              collective.parts ? "" : "out");
  NcclWays ways;
  auto known = nccl_times_of(collective, strategy_, predictor_, bounds_, ways);
  return known ? std::move(*known) : Known();
}

}  // namespace tutti::core
