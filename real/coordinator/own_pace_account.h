#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <tuple>

#include "core/base/error.h"
#include "core/lowering/staleness.h"
#include "real/coordinator/crew.h"

namespace tutti::real {

/// What the coordinator knows of workers that do not wait for each other: that what they have read is what was sent, how far updates were
/// behind, and when their steps ended.
class OwnPaceAccount {
 public:
  /// What everybody tells after a batch. `name`: of a worker, in words.
  /// ERRORS: a replica has read other bytes than its server sent; counts that cannot be.
  core::Expected<void> take(const Crew::Messages& ready, const std::function<std::string(std::size_t)>& name);
  /// Times are nanoseconds of the coordinator's clock.
  void step_ended(std::int64_t worker, std::int32_t step, std::int64_t start_ns, std::int64_t end_ns);
  /// In the words of a simulated run.
  [[nodiscard]] std::string describe(std::int64_t workers, std::int32_t steps) const;

 private:
  core::UpdatesBehind behind_;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int32_t>> ends_;  ///< of steps: when, of which worker, and which
  std::int64_t began_ns_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace tutti::real
