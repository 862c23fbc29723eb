#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/strategy/plan.h"

namespace tutti::core {

/// BytePS's scheduled queue of one worker: which pushes its replicas begin, and when. One that is ready on all of them begins if the
/// credit left is no less than its bytes; of several the one whose variable was created first, and of that the first partition. One that
/// is too large is passed over for those behind it. The credit is given back when the push is through on all the worker's replicas: when
/// their shares are on its CPU.
/// SOURCE: byteps/common/scheduled_queue.cc. (There it is given back one stage earlier, before the copies to the CPU.)
class Admission {
 public:
  struct Push {
    std::int32_t step = 0;
    int pack = 0;
    bool operator==(const Push&) const = default;
  };

  /// REQUIRES: the plan has a credit, and outlives it.
  Admission(const Plan& plan, int replicas) : plan_(&plan), replicas_(replicas), credit_(*plan.credit) {}

  /// A replica has it ready. Answers what all replicas of the worker begin now, in order.
  std::vector<Push> ready(Push push);
  /// It is through on a replica. Likewise.
  std::vector<Push> through(Push push);

 private:
  /// Variable, element of it, step: the order in which they begin.
  using Turn = std::tuple<int, std::int64_t, std::int32_t, int>;

  [[nodiscard]] Bytes bytes(int pack) const;
  std::vector<Push> begin();

  const Plan* plan_;
  int replicas_;
  Bytes credit_;                                                 ///< left
  std::map<std::pair<std::int32_t, int>, int> ready_, through_;  ///< on how many replicas, until they are so on all
  std::set<Turn> waiting_;
};

}  // namespace tutti::core
