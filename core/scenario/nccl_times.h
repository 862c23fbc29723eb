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

/// The lower bounds that links set, by kind of collective and its root.
using NcclBounds = std::map<std::pair<CollectiveKind, Rank>, NcclLinkBound>;

/// Where the data of what is inside a worker goes, by kind, root and channels. It is shared,
/// because looking it up costs more than anything else of a small collective.
using NcclWays =
    std::map<std::tuple<CollectiveKind, Rank, std::int32_t>, std::shared_ptr<const Schedule>>;

/// Returns what NCCL takes for a collective of `strategy`: as a whole if it has no parts, else of
/// the parts inside workers. ERRORS: the settings leave nothing to choose.
Expected<CollectiveTimes::Known> nccl_times_of(const Collective& collective,
                                               const Strategy& strategy,
                                               const nccl::Predictor& predictor,
                                               const NcclBounds& bounds, NcclWays& ways);

/// NCCL's times of a strategy's collectives, of whatever size. REQUIRES: all have parts, or none
/// has.
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
