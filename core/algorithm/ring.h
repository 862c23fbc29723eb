#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The order in which a lane's ring visits the ranks: worker by worker, and inside each worker in
/// the order `local`, a permutation of 0 … per_worker - 1. By default, ranks are in ascending
/// order.
struct RingPath {
  std::int32_t per_worker = 1;
  std::vector<std::int32_t> local{0};
};

struct RingOptions {
  /// The rings, one lane per entry. Each lane carries an equal part of the buffer around its own
  /// ring. At least one entry.
  std::vector<RingPath> lanes{RingPath{}};
  /// The maximum message length in elements; longer chunks are sent in several loops. At least 1.
  std::int64_t max_elements_per_message = std::numeric_limits<std::int64_t>::max() / 2;
  int credits = kUnlimitedCredits;
  Engine engine = Engine::kKernel;
  /// The distance in elements from an input's place to the input itself, if the collective is out
  /// of place (Contract::input_shift); 0 in place.
  std::int64_t input_shift = 0;
};

/// Returns the ring all-reduce: a reduce-scatter, then an all-gather. Each lane has 2n - 1 steps,
/// and each step handles one chunk.
///
/// A lane's part of the buffer is cut evenly into n chunks. The rank at position p of the ring
/// first sends chunk p to position p + 1. Then it receives chunk p - 1, adds its own data and
/// forwards the sum, and so on down to chunk p + 1. That chunk is then complete, so the rank keeps
/// and forwards it. In the second pass, the rank receives the complete chunks p down to p + 2 and
/// keeps them. Every rank sends 2(n - 1) chunks. If all chunks are equal, that is 2(n - 1)/n of the
/// buffer, the lower bound. Empty chunks (if there are fewer elements than ranks) are neither sent
/// nor received. An out-of-place all-reduce needs no copies, because a rank reads its own chunks
/// from the input.
///
/// Time of one lane between equal neighbours, alone on its links: 2(n - 1)(α + ⌈C·β⌉) + (n -
/// 1)⌈C·γ⌉, with C the longest chunk, ⌈elements / n⌉. SOURCE: Patarasuk & Yuan, "Bandwidth optimal
/// all-reduce", JPDC 2009, section 3; the fused steps are those of NCCL, NVIDIA/nccl
/// src/device/all_reduce.h.
std::unique_ptr<Schedule> ring_all_reduce(std::int32_t ranks, std::int64_t elements,
                                          const RingOptions& options = {});

}  // namespace tutti::core
