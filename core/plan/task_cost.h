#pragma once

#include <cstdint>
#include <span>

#include "core/base/units.h"
#include "core/plan/program.h"

namespace tutti::core {

/// The rates, in bytes per second, that convert a task's cost in bytes to a duration.
struct ComputeRates {
  Bandwidth copy;
  Bandwidth memory;
};

/// Returns the nominal time `t` scaled by `pace_ppm` millionths.
inline Time at_pace(Time t, std::int64_t pace_ppm) {
  if (pace_ppm == 1'000'000) return t;
  return Time(static_cast<std::int64_t>(static_cast<Wide>(t.count()) * static_cast<Wide>(pace_ppm) /
                                        1'000'000));
}

/// Divides `time` into `whole` units and returns the total time of the units in `parts`. Boundaries
/// between parts are rounded to picoseconds, so disjoint parts that cover all units add up exactly
/// to `time`.
Time shares_of(Time time, std::span<const Share> parts, std::int64_t whole);

/// Returns the duration of a compute task on a device. `shares` is Program::shares, and
/// `share_whole` is Program::share_whole.
/// REQUIRES: for kTime and kShares, `durations` has the row `cost.value`; for kShares, `shares`
/// contains the range `cost.shares`; for kCopy and kMemory, the rate is positive.
inline Time duration_of(const TaskCost& cost, std::int64_t pace_ppm, const Durations& durations,
                        const ComputeRates& rates, std::span<const Share> shares,
                        std::int64_t share_whole) {
  switch (cost.kind) {
    case TaskCost::Kind::kTime: return at_pace(durations.rows[cost.value].time, pace_ppm);
    case TaskCost::Kind::kOwnTime: return at_pace(Time(cost.value), pace_ppm);
    case TaskCost::Kind::kCopy: return transfer_time(Bytes(cost.value), rates.copy);
    case TaskCost::Kind::kMemory: return transfer_time(Bytes(cost.value), rates.memory);
    case TaskCost::Kind::kShares: break;
  }
  return shares_of(at_pace(durations.rows[cost.value].time, pace_ppm),
                   shares.subspan(static_cast<std::size_t>(cost.shares.first),
                                  static_cast<std::size_t>(cost.shares.count)),
                   share_whole);
}

/// Returns the fraction of a task's time that is limited by multiprocessors, in millionths; 0
/// unless the kind of the cost is kTime.
inline std::int64_t compute_bound_of(const TaskCost& cost, const Durations& durations) {
  return cost.kind == TaskCost::Kind::kTime ? durations.rows[cost.value].compute_bound_ppm : 0;
}

}  // namespace tutti::core
