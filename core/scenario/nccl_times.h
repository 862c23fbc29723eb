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

/// Lower bounds on the times of collectives, which follow from link bandwidths; the key is the kind
/// of collective and the root.
using NcclBounds = std::map<std::pair<CollectiveKind, Rank>, NcclLinkBound>;

/// A cache of the schedules that determine the paths of data inside a worker; the key is the kind
/// of collective, the root and the number of channels. Without this cache, most of the time for
/// predicting a small collective would be spent on making these schedules.
using NcclWays =
    std::map<std::tuple<CollectiveKind, Rank, std::int32_t>, std::shared_ptr<const Schedule>>;

/// Predicts NCCL's times for a collective of `strategy`: the time of the whole collective if it has
/// no parts, and otherwise the times of its parts inside workers.
/// ERRORS: NCCL's settings exclude all algorithms.
Expected<CollectiveTimes::Known> nccl_times_of(const Collective& collective,
                                               const Strategy& strategy,
                                               const nccl::Predictor& predictor,
                                               const NcclBounds& bounds, NcclWays& ways);

/// Predicts NCCL's times for collectives of any size. REQUIRES: either all collectives of the
/// strategy have parts, or none has.
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
