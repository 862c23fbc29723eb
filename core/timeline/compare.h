#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/timeline/reader.h"

namespace tutti::core {

/// The same quantity in two timelines.
struct Pair {
  Time a;
  Time b;
  [[nodiscard]] Time difference() const { return b - a; }
};

/// One pack of the last step, in both.
struct PackComparison {
  std::int32_t pack = 0;    ///< number in a
  std::int32_t pack_b = 0;  ///< number in b
  Bytes bytes;
  std::string last_gradient;
  Pair ready, start, end;  ///< since the step began; start: on the last replica
  Pair took;               ///< from start to end
};

/// All lane steps of one kind of the last step that both recorded, joined by (worker, device, pack, lane, index); packs are
/// joined as PackComparison has them. Where one of the two knows NCCL's channels as a whole only (SpanKind::kChannel), the
/// other's lanes are taken as a whole too. Where the two have not as many lanes for a pack on a device, no lane has its like in
/// the other: all lanes of the pack there are taken together, from the first one's begin to the last one's end.
struct KindComparison {
  std::int32_t kind = 0;
  bool together = false;  ///< all channels of a pack on a device as one
  std::int64_t steps = 0;
  Pair time;        ///< sum
  Time mean_error;  ///< mean of |b - a| per step
};

/// What two timelines of the same workload have in common and where they part: a prediction and its run, or two
/// strategies.
struct Comparison {
  RunInfo a, b;
  Pair step_time;  ///< steady state: the mean over all steps but the first
  Pair forward, backward, other_compute, communication, exposed;  ///< of the last step
  /// Packs that hold the same gradients in both; those of one only are counted.
  std::vector<PackComparison> packs;
  std::int64_t packs_only_a = 0;
  std::int64_t packs_only_b = 0;
  std::vector<KindComparison> kinds;
  std::int64_t steps_joined = 0;
  /// Lane steps that only one of them recorded, or that are of another kind in the other.
  std::int64_t steps_only_a = 0;
  std::int64_t steps_only_b = 0;
  /// Packs on devices whose channels are compared together, and the most channels that one of them has.
  std::int64_t together = 0;
  std::int64_t most_channels_a = 0;
  std::int64_t most_channels_b = 0;

  /// What it comes to, in sentences.
  [[nodiscard]] std::vector<std::string> in_words() const;
};

/// ERRORS: no step ended in one of them; a damaged block.
Expected<Comparison> compare(const TimelineReader& a, const TimelineReader& b);

}  // namespace tutti::core
