#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/timeline/join.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// A time that has a value in each of two timelines: `a` in the first, `b` in the second.
struct Pair {
  Time a;
  Time b;
  [[nodiscard]] Time difference() const { return b - a; }
  /// Returns the difference relative to `a`: 0.1 means that `b` is 10 % longer. nullopt if `a` is
  /// zero.
  [[nodiscard]] std::optional<double> share() const {
    if (a <= Time()) return std::nullopt;
    return static_cast<double>(difference().count()) / static_cast<double>(a.count());
  }
};

inline bool is_any(const Pair& pair) { return pair.a > Time() || pair.b > Time(); }

/// One pack of a training step in both timelines.
struct PackComparison {
  std::int32_t pack = 0;    ///< index in timeline a
  std::int32_t pack_b = 0;  ///< index in timeline b
  Bytes bytes;
  std::string last_gradient;
  Pair ready, start, end;  ///< times since the start of the step; `start` is the time at which the
                           ///< last replica started the pack
  Pair took;               ///< time from the pack's start to its end
};

/// The lane steps (recorded schedule steps of lanes) of one kind in the last training step. Only
/// lane steps that both timelines recorded are included (see join_lane_steps()).
struct KindComparison {
  std::int32_t kind = 0;
  bool together = false;  ///< true if the channels of a pack on a device were merged before they
                          ///< were compared
  std::int64_t steps = 0;
  Pair time;        ///< total time of the lane steps
  Time mean_error;  ///< mean of |b - a| over the lane steps
};

/// The parts of a training step in both timelines.
struct PartsComparison {
  Pair time, forward, backward, other_compute, communication, exposed;
  Pair slowed = {};
};

/// One training step in both timelines.
struct StepComparison : PartsComparison {
  std::int32_t step = 0;    ///< index in timeline a
  std::int32_t step_b = 0;  ///< index in timeline b
  /// The packs that have the same gradients in both timelines. For packs that occur in only one
  /// timeline, only their number is stored.
  std::vector<PackComparison> packs;
  std::int64_t packs_only_a = 0;
  std::int64_t packs_only_b = 0;
};

/// Compares a training step. `packs_a` and `packs_b` are the packs of the step, in any order;
/// `common` is the result of packs_in_common().
StepComparison compare_step(const StepRecord& a, const StepRecord& b,
                            std::span<const PackRecord> packs_a,
                            std::span<const PackRecord> packs_b, const RunInfo& run_a,
                            const Numbers& common);

/// The comparison of two timelines of the same workload, for example of a prediction and its run,
/// or of two strategies. Packs and lane steps are compared only in the last training step.
struct Comparison {
  RunInfo a, b;
  PartsComparison steady;            ///< from Summary::steady_parts()
  std::string basis_a{}, basis_b{};  ///< from Summary::steady_basis()
  StepComparison last;
  std::vector<KindComparison> kinds;
  std::int64_t steps_joined = 0;
  /// The members from here to `max_channels_b` are those of JoinCounts.
  std::int64_t steps_only_a = 0;
  std::int64_t steps_only_b = 0;
  std::int64_t together = 0;
  std::int64_t max_channels_a = 0;
  std::int64_t max_channels_b = 0;

  /// Returns the most important differences as sentences.
  [[nodiscard]] std::vector<std::string> in_words() const;
};

/// Compares two runs, without lane steps. ERRORS: one of the two runs has no completed step.
Expected<Comparison> compare_runs(const Summary& a, const Summary& b);

/// Compares two timelines, including lane steps. ERRORS: one of the two timelines has no completed
/// step; a block is damaged.
Expected<Comparison> compare(const TimelineReader& a, const TimelineReader& b);

}  // namespace tutti::core
