#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/timeline/join.h"
#include "core/timeline/summary.h"

namespace tutti::core {

/// The same quantity in two timelines.
struct Pair {
  Time a;
  Time b;
  [[nodiscard]] Time difference() const { return b - a; }
  /// Of the first: 0.1 means that the second takes a tenth more. Nothing if the first takes no time.
  [[nodiscard]] std::optional<double> share() const {
    if (a <= Time()) return std::nullopt;
    return static_cast<double>(difference().count()) / static_cast<double>(a.count());
  }
};

inline bool is_any(const Pair& pair) { return pair.a > Time() || pair.b > Time(); }

/// One pack of a training step, in both.
struct PackComparison {
  std::int32_t pack = 0;    ///< number in a
  std::int32_t pack_b = 0;  ///< number in b
  Bytes bytes;
  std::string last_gradient;
  Pair ready, start, end;  ///< since the step began; start: on the last replica
  Pair took;               ///< from start to end
};

/// All lane steps of one kind of the last step that both recorded, joined as join_lane_steps() does.
struct KindComparison {
  std::int32_t kind = 0;
  bool together = false;  ///< all channels of a pack on a device as one
  std::int64_t steps = 0;
  Pair time;        ///< sum
  Time mean_error;  ///< mean of |b - a| per step
};

/// What a training step goes into, in both.
struct PartsComparison {
  Pair time, forward, backward, other_compute, communication, exposed;
  Pair slowed = {};
};

/// One training step, in both.
struct StepComparison : PartsComparison {
  std::int32_t step = 0;    ///< number in a
  std::int32_t step_b = 0;  ///< number in b
  /// Packs that hold the same gradients in both; those of one only are counted.
  std::vector<PackComparison> packs;
  std::int64_t packs_only_a = 0;
  std::int64_t packs_only_b = 0;
};

/// `packs_a`, `packs_b`: those of the step alone, in any order. `common`: as packs_in_common() has it.
StepComparison compare_step(const StepRecord& a, const StepRecord& b, std::span<const PackRecord> packs_a,
                            std::span<const PackRecord> packs_b, const RunInfo& run_a, const Numbers& common);

/// What two timelines of the same workload have in common and where they part: a prediction and its run, or two
/// strategies. Packs and steps of lanes are those of the last step.
struct Comparison {
  RunInfo a, b;
  PartsComparison steady;            ///< each one's Summary::steady_parts()
  std::string basis_a{}, basis_b{};  ///< Summary::steady_basis()
  StepComparison last;
  std::vector<KindComparison> kinds;
  std::int64_t steps_joined = 0;
  /// See JoinCounts.
  std::int64_t steps_only_a = 0;
  std::int64_t steps_only_b = 0;
  std::int64_t together = 0;
  std::int64_t most_channels_a = 0;
  std::int64_t most_channels_b = 0;

  /// What it comes to, in sentences.
  [[nodiscard]] std::vector<std::string> in_words() const;
};

/// Without the steps of lanes. ERRORS: no step ended in one of them.
Expected<Comparison> compare_runs(const Summary& a, const Summary& b);

/// ERRORS: no step ended in one of them; a damaged block.
Expected<Comparison> compare(const TimelineReader& a, const TimelineReader& b);

}  // namespace tutti::core
