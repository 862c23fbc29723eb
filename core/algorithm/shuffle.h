#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// TensorFlow's division of a buffer in the shuffle: `parts` pieces of floor(total / parts)
/// elements. The last piece also contains the remainder. SOURCE:
/// tensorflow/python/distribute/all_reduce.py, _ragged_split.
struct RaggedCut {
  std::int64_t total = 0;
  std::int64_t parts = 1;

  [[nodiscard]] std::int64_t offset(std::int64_t i) const { return i * (total / parts); }
  [[nodiscard]] std::int64_t size(std::int64_t i) const {
    return i + 1 < parts ? total / parts : total - offset(parts - 1);
  }
};

/// Returns the shuffle all-reduce. TensorFlow calls the shuffle "pscpu" if the gather ranks are
/// CPUs, and "psgpu" if they are GPUs. The buffer is cut into one piece per gather rank. Every
/// contributor sends its piece j to gather rank j. The gather rank sums the pieces of all
/// contributors in a single step, and sends the sum back to every contributor.
///
/// Ranks 0 … contributors - 1 hold data. A gather rank is a contributor, or a helper (a host) with
/// a larger number. A rank that occurs k times in `gather_ranks` gathers k pieces. Every
/// contributor has one independent lane (sequence of steps) per piece. Different contributors begin
/// with different pieces, to balance the load of the gather ranks. A gather rank receives in order
/// of arrival on one lane and replies to each contributor on a separate lane. If a rank is both
/// contributor and gather rank, its gather lanes come after its contributor lanes. Empty pieces are
/// skipped.
///
/// Time with one port per rank, n contributors, and at most n gather ranks that are all helpers: 2α
/// + 2n⌈c·β⌉ + ⌈(n - 1)·c·γ⌉, where c is the size of the last (largest) piece, α is the latency of
/// a message, and β and γ are the times to send and to add a byte. A gather rank that is a
/// contributor does not send its own piece. If all gather ranks are contributors, 2(n - 1) replaces
/// 2n. `ranks` is the size of the group, including helpers. If the collective is out of place
/// (`input_shift`, see Contract), a contributor that is also a gather rank first copies its own
/// piece to the output. SOURCE: tensorflow/python/distribute/all_reduce.py,
/// build_shuffle_all_reduce.
std::unique_ptr<Schedule> shuffle_all_reduce(std::int32_t ranks, std::int32_t contributors,
                                             std::vector<Rank> gather_ranks, std::int64_t elements,
                                             Engine contributor_engine, Engine gather_engine,
                                             std::int64_t input_shift = 0);

}  // namespace tutti::core
