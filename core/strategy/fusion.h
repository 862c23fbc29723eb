#pragma once

#include <map>

#include "core/strategy/plan.h"

namespace tutti::core {

/// Which of the packs that are ready, in the order in which they became so, travel as one: those of the first one's type, as long as they
/// hold no more than `threshold` together. Packs of other types, or that no longer fit, are passed over as long as what is
/// taken and what was passed over hold no more than that either. Answers indices into `ready`, group by group.
/// SOURCE: horovod/common/controller.cc, FuseResponses.
struct ReadyPack {
  Bytes bytes;
  DataType type = DataType::kFloat32;
  bool alone = false;  ///< it is no all-reduce
};
std::vector<std::vector<int>> fused(const std::vector<ReadyPack>& ready, Bytes threshold);

/// "161 gradients were fused into 57 to 60 all-reduces a step; those of step 3: 8.21, 4.2, … MB". `sizes`: of the collectives of each step.
/// REQUIRES: there are some.
std::string describe_fused(const Plan& plan, const std::map<std::int32_t, std::vector<Bytes>>& sizes);

}  // namespace tutti::core
