#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// An even cut as TensorFlow's shuffle does it: `parts` pieces of floor(total / parts), the remainder all in the last.
/// SOURCE: tensorflow/python/distribute/all_reduce.py, _ragged_split.
struct RaggedCut {
  std::int64_t total = 0;
  std::int64_t parts = 1;

  [[nodiscard]] std::int64_t offset(std::int64_t i) const { return i * (total / parts); }
  [[nodiscard]] std::int64_t size(std::int64_t i) const {
    return i + 1 < parts ? total / parts : total - offset(parts - 1);
  }
};

/// The shuffle all-reduce ("pscpu" when the gather ranks are CPUs, "psgpu" when they are GPUs): the buffer is cut into
/// as many pieces as there are gather ranks; piece j of every contributor goes to gather rank j, which adds all of them
/// at once and gives the sum back to everyone.
///
/// Ranks 0 … contributors - 1 hold data. A gather rank is one of them, or a helper (a host) with a larger rank; a rank
/// that is listed more than once gathers as many pieces. Every
/// contributor has one lane per piece, each its own chain, and the contributors begin with different pieces, so that
/// the gather ranks are kept busy evenly. A gather rank receives in any order of arrival on one lane and answers each
/// contributor on a lane of its own (its gather lanes come after its contributor lanes if it has both). Empty pieces
/// are left out.
///
/// Time with one port per rank, helpers as gather ranks, g ≤ contributors n: 2α + 2n⌈c·β⌉ + ⌈(n - 1)·c·γ⌉, c the last
/// (largest) piece; where gather ranks are contributors themselves, their own piece does not travel: n - 1 in place of
/// n. `ranks` is the size of the group, helpers included. Out of place (`input_shift`, see Contract) contributors that gather
/// copy the pieces that they gather first.
/// SOURCE: tensorflow/python/distribute/all_reduce.py, build_shuffle_all_reduce.
std::unique_ptr<Schedule> shuffle_all_reduce(std::int32_t ranks, std::int32_t contributors,
                                             std::vector<Rank> gather_ranks, std::int64_t elements,
                                             Engine contributor_engine, Engine gather_engine,
                                             std::int64_t input_shift = 0);

}  // namespace tutti::core
