#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The order in which a lane's ring visits the ranks: worker by worker. Inside each worker, the
/// order is `local`, a permutation of 0 … per_worker - 1. By default, ranks are in ascending order.
struct RingPath {
  std::int32_t per_worker = 1;
  std::vector<std::int32_t> local{0};
};

struct RingOptions {
  /// The path of each lane's ring; the number of entries is the number of lanes. A rank executes
  /// the steps of a lane in order, and all lanes concurrently. Each lane transfers an equal part of
  /// the buffer around its own ring. The list has at least one entry.
  std::vector<RingPath> lanes{RingPath{}};
  /// The maximum message length in elements. If chunks are longer than this maximum, the buffer is
  /// reduced in several loops. At least 1.
  std::int64_t max_elements_per_message = std::numeric_limits<std::int64_t>::max() / 2;
  int credits = kUnlimitedCredits;
  Engine engine = Engine::kKernel;
  /// The distance in elements from an input's in-place position to its actual position
  /// (Contract::input_shift); 0 for an in-place collective.
  std::int64_t input_shift = 0;
};

/// Returns the ring all-reduce: a reduce-scatter, then an all-gather. Each lane has 2n - 1 steps,
/// and each step handles one chunk.
///
/// A lane's part of the buffer is cut evenly into n chunks. The rank at position p of the ring
/// first sends chunk p to the rank at position p + 1. Then the rank receives chunk p - 1, adds its
/// own data and forwards the sum. The rank does the same with chunks p - 2, p - 3, …, p + 1. The
/// sum of chunk p + 1 is complete at this rank, so the rank also stores it. In the second pass, the
/// rank receives the complete sums of chunks p, p - 1, …, p + 2, stores them, and forwards all but
/// the last. Every rank sends 2(n - 1) chunks. If all chunks are equal, every rank thus sends 2(n -
/// 1)/n of the buffer, which is the lower bound. Empty chunks (if there are fewer elements than
/// ranks) are neither sent nor received. An out-of-place all-reduce needs no copies, because a rank
/// reads its own chunks from the input.
///
/// Time of one lane, if all neighbours are equally fast and the links carry nothing else: 2(n -
/// 1)(α + ⌈C·β⌉) + (n - 1)⌈C·γ⌉, where C is the size of the longest chunk (⌈elements / n⌉
/// elements), α is the latency of a message, and β and γ are the times to send and to add a byte.
/// SOURCE: Patarasuk & Yuan, "Bandwidth optimal all-reduce", JPDC 2009, section 3; the fused steps
/// are those of NCCL, NVIDIA/nccl src/device/all_reduce.h.
std::unique_ptr<Schedule> ring_all_reduce(std::int32_t ranks, std::int64_t elements,
                                          const RingOptions& options = {});

}  // namespace tutti::core
