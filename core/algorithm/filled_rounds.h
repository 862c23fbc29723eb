#pragma once

#include <algorithm>
#include <cstdint>

namespace tutti::core {

/// Computes the rounds of a ring in which a rank handles a non-empty chunk, if the ring has fewer
/// elements than ranks. In round t of a ring of n ranks, the rank at position p handles chunk (p -
/// t) mod n. If only the first f < n chunks are non-empty, the rank skips the rounds of the empty
/// chunks. A rank alternates between f rounds that it executes (chunks f-1 … 0) and n - f rounds
/// that it skips. A rank at a position p < f begins with chunk p.
/// Cost: constant.
struct FilledRounds {
  std::int64_t n = 1;  ///< number of ranks of the ring, which is also the number of chunks
  std::int64_t f = 0;  ///< number of non-empty chunks, which are chunks 0 … f - 1

  /// Returns the round in which the rank at position p handles its i-th non-empty chunk. REQUIRES:
  /// f > 0.
  [[nodiscard]] std::int64_t round_of(std::int64_t i, std::int64_t p) const {
    if (f == n) return i;
    const std::int64_t first_run = p < f ? p + 1 : 0;  // filled rounds before the first gap
    if (i < first_run) return i;
    const std::int64_t first_gap_end = p < f ? p + 1 + (n - f) : p - f + 1;
    return first_gap_end + (i - first_run) / f * n + (i - first_run) % f;
  }

  /// Returns the number of rounds among 0 … t - 1 in which the rank at position p handles a
  /// non-empty chunk.
  [[nodiscard]] std::int64_t before(std::int64_t t, std::int64_t p) const {
    if (f == 0) return 0;
    if (f == n) return t;
    const std::int64_t first_run = p < f ? p + 1 : 0;
    const std::int64_t first_gap_end = p < f ? p + 1 + (n - f) : p - f + 1;
    if (t <= first_gap_end) return std::min(t, first_run);
    const std::int64_t past = t - first_gap_end;
    return first_run + past / n * f + std::min(past % n, f);
  }
};

}  // namespace tutti::core
