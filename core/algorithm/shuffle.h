#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The cut of TensorFlow's shuffle: `parts` pieces of floor(total / parts), with the remainder in
/// the last.
/// SOURCE: tensorflow/python/distribute/all_reduce.py, _ragged_split.
struct RaggedCut {
  std::int64_t total = 0;
  std::int64_t parts = 1;

  [[nodiscard]] std::int64_t offset(std::int64_t i) const { return i * (total / parts); }
  [[nodiscard]] std::int64_t size(std::int64_t i) const {
    return i + 1 < parts ? total / parts : total - offset(parts - 1);
  }
};

/// The shuffle all-reduce ("pscpu" when the gather ranks are CPUs, "psgpu" when they are GPUs): the
/// buffer is cut into one piece per gather rank; piece j of every contributor goes to gather rank
/// j, which adds them all at once and sends the sum back to every contributor.
///
/// Ranks 0 … contributors - 1 hold data. A gather rank is one of them, or a helper (a host) with a
/// larger rank; a rank that is listed k times gathers k pieces. Every contributor has one lane per
/// piece, each an independent chain, and contributors begin with different pieces to balance the
/// load of the gather ranks. A gather rank receives in order of arrival on one lane and replies to
/// each contributor on a separate lane (its gather lanes come after its contributor lanes if it has
/// both). Empty pieces are skipped.
///
/// Time with one port per rank, helpers as gather ranks, g ≤ contributors n: 2α + 2n⌈c·β⌉ + ⌈(n -
/// 1)·c·γ⌉, c the last (largest) piece. If gather ranks are contributors, their own piece is not
/// sent: n - 1 in place of n. `ranks` is the size of the group, helpers included. Out of place
/// (`input_shift`, see Contract) contributors that gather first copy the pieces that they gather.
/// SOURCE: tensorflow/python/distribute/all_reduce.py, build_shuffle_all_reduce.
std::unique_ptr<Schedule> shuffle_all_reduce(std::int32_t ranks, std::int32_t contributors,
                                             std::vector<Rank> gather_ranks, std::int64_t elements,
                                             Engine contributor_engine, Engine gather_engine,
                                             std::int64_t input_shift = 0);

}  // namespace tutti::core
