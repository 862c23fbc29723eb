#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/nccl/collective_time.h"
#include "core/strategy/collective_parts.h"
#include "core/strategy/collective_times.h"
#include "core/strategy/nccl_links.h"

namespace tutti::core {

/// Lower bounds of times that follow from link bandwidths, by kind of collective and root.
using NcclBounds = std::map<std::pair<CollectiveKind, Rank>, NcclLinkBound>;

/// A cache of schedules that give the paths of data inside a worker, by kind of collective, root
/// and channels. Computing them would dominate the cost of a small collective.
using NcclWays =
    std::map<std::tuple<CollectiveKind, Rank, std::int32_t>, std::shared_ptr<const Schedule>>;

/// Returns NCCL's predicted times for a collective of `strategy`: the time of the whole collective
/// if it has no parts, otherwise the times of its parts inside workers.
/// ERRORS: NCCL's settings leave no choice.
Expected<CollectiveTimes::Known> nccl_times_of(const Collective& collective,
                                               const Strategy& strategy,
                                               const nccl::Predictor& predictor,
                                               const NcclBounds& bounds, NcclWays& ways);

/// Computes NCCL's predicted times for collectives of a strategy, of any size.
/// REQUIRES: either all these collectives have parts, or none has.
class NcclTimes final : public CollectiveTimes {
 public:
  NcclTimes(nccl::Predictor predictor, NcclBounds bounds, Strategy strategy,
            bool only_inside_workers)
      : predictor_(std::move(predictor)),
        bounds_(std::move(bounds)),
        strategy_(std::move(strategy)),
        only_inside_workers_(only_inside_workers) {}

  [[nodiscard]] Known of(const Collective& collective) const override;
  [[nodiscard]] bool only_inside_workers() const override { return only_inside_workers_; }

 private:
  nccl::Predictor predictor_;
  NcclBounds bounds_;
  Strategy strategy_;
  bool only_inside_workers_;
};

}  // namespace tutti::core
