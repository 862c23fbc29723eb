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

/// The lower bounds from links, by kind of collective and its root.
using NcclBounds = std::map<std::pair<CollectiveKind, Rank>, NcclLinkBound>;

/// The paths of data inside a worker, by kind, root and channels. They are cached, because
/// computing them dominates the cost of a small collective.
using NcclWays =
    std::map<std::tuple<CollectiveKind, Rank, std::int32_t>, std::shared_ptr<const Schedule>>;

/// Returns NCCL's times for a collective of `strategy`: of the whole collective if it has no parts,
/// otherwise of the parts inside workers. ERRORS: the settings leave nothing to choose.
Expected<CollectiveTimes::Known> nccl_times_of(const Collective& collective,
                                               const Strategy& strategy,
                                               const nccl::Predictor& predictor,
                                               const NcclBounds& bounds, NcclWays& ways);

/// NCCL's times of a strategy's collectives, for any size. REQUIRES: all have parts, or none has.
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
