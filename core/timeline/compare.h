#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/timeline/join.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// The values of one quantity in two timelines.
struct Pair {
  Time a;
  Time b;
  [[nodiscard]] Time difference() const { return b - a; }
  /// The difference relative to `a`: 0.1 means that b takes 10 % longer. nullopt if `a` is zero.
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
  Pair ready, start, end;  ///< times since the step began; start: on the last replica
  Pair took;               ///< duration from start to end
};

/// All lane steps of one kind, of the last step that both timelines recorded, joined like
/// join_lane_steps() does.
struct KindComparison {
  std::int32_t kind = 0;
  bool together = false;  ///< true if all channels of a pack on a device are joined as one
  std::int64_t steps = 0;
  Pair time;        ///< total time of the steps
  Time mean_error;  ///< mean of |b - a| per step
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
  /// Packs that hold the same gradients in both; the others are only counted.
  std::vector<PackComparison> packs;
  std::int64_t packs_only_a = 0;
  std::int64_t packs_only_b = 0;
};

/// Compares a step. `packs_a`, `packs_b`: only those of the step, in any order. `common`: the
/// result of packs_in_common().
StepComparison compare_step(const StepRecord& a, const StepRecord& b,
                            std::span<const PackRecord> packs_a,
                            std::span<const PackRecord> packs_b, const RunInfo& run_a,
                            const Numbers& common);

/// The comparison of two timelines of the same workload: a prediction and its run, or two
/// strategies. Packs and lane steps are those of the last step.
struct Comparison {
  RunInfo a, b;
  PartsComparison steady;            ///< from Summary::steady_parts()
  std::string basis_a{}, basis_b{};  ///< from Summary::steady_basis()
  StepComparison last;
  std::vector<KindComparison> kinds;
  std::int64_t steps_joined = 0;
  /// See JoinCounts.
  std::int64_t steps_only_a = 0;
  std::int64_t steps_only_b = 0;
  std::int64_t together = 0;
  std::int64_t most_channels_a = 0;
  std::int64_t most_channels_b = 0;

  /// Returns the conclusions in sentences.
  [[nodiscard]] std::vector<std::string> in_words() const;
};

/// Compares without lane steps. ERRORS: one of them has no completed step.
Expected<Comparison> compare_runs(const Summary& a, const Summary& b);

/// Compares including lane steps. ERRORS: one of them has no completed step; a damaged block.
Expected<Comparison> compare(const TimelineReader& a, const TimelineReader& b);

}  // namespace tutti::core
