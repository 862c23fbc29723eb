#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Divides a buffer as TensorFlow's shuffle does: into `parts` pieces of floor(total / parts)
/// elements; the last piece also has the remainder.
/// SOURCE: tensorflow/python/distribute/all_reduce.py, _ragged_split.
struct RaggedCut {
  std::int64_t total = 0;
  std::int64_t parts = 1;

  [[nodiscard]] std::int64_t offset(std::int64_t i) const { return i * (total / parts); }
  [[nodiscard]] std::int64_t size(std::int64_t i) const {
    return i + 1 < parts ? total / parts : total - offset(parts - 1);
  }
};

/// Returns the shuffle all-reduce ("pscpu" if the gather ranks are CPUs, "psgpu" if they are GPUs).
/// The buffer is cut into one piece per gather rank. Every contributor sends its piece j to gather
/// rank j, which adds the pieces of all contributors in one addition and sends the sum back to
/// every contributor.
///
/// Ranks 0 … contributors - 1 hold data. A gather rank is one of them, or a helper (a host) with a
/// larger number; a rank that is listed k times gathers k pieces. Every contributor has one
/// independent lane per piece. Contributors begin with different pieces, to balance the load of the
/// gather ranks. A gather rank receives in order of arrival on one lane and replies to each
/// contributor on a separate lane. The gather lanes of a rank come after its contributor lanes, if
/// it has both. Empty pieces are skipped.
///
/// Time with one port per rank, n contributors, at most n gather ranks, all of them helpers: 2α +
/// 2n⌈c·β⌉ + ⌈(n - 1)·c·γ⌉, where c is the size of the last (largest) piece. If gather ranks are
/// contributors, they do not send their own piece, so n - 1 replaces n in 2n. `ranks` is the size
/// of the group, including helpers. If the collective is out of place (`input_shift`, see
/// Contract), contributors that gather first copy the pieces that they gather.
/// SOURCE: tensorflow/python/distribute/all_reduce.py, build_shuffle_all_reduce.
std::unique_ptr<Schedule> shuffle_all_reduce(std::int32_t ranks, std::int32_t contributors,
                                             std::vector<Rank> gather_ranks, std::int64_t elements,
                                             Engine contributor_engine, Engine gather_engine,
                                             std::int64_t input_shift = 0);

}  // namespace tutti::core
