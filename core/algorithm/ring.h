#pragma once

#include <memory>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// The order in which a lane's ring visits the ranks: worker by worker, inside each worker in the
/// order `local` (a permutation of 0 … per_worker - 1). The identity is one worker of all ranks, or
/// `local` = 0, 1, ….
struct RingPath {
  std::int32_t per_worker = 1;
  std::vector<std::int32_t> local{0};
};

struct RingOptions {
  /// One lane per entry; each lane carries an equal part of the buffer round its own ring. At least
  /// one.
  std::vector<RingPath> lanes{RingPath{}};
  /// The maximum message length; longer chunks are sent in several loops. At least 1.
  std::int64_t most_elements_per_message = std::numeric_limits<std::int64_t>::max() / 2;
  int credits = kUnlimitedCredits;
  Engine engine = Engine::kKernel;
  /// Out of place: the distance of inputs after their places (Contract::input_shift).
  std::int64_t input_shift = 0;
};

/// The ring all-reduce: reduce-scatter, then all-gather, in 2n - 1 steps per lane, each of which
/// forwards one chunk.
///
/// A lane's part of the buffer is cut evenly into n chunks. The rank at position p of the ring
/// first sends chunk p to position p + 1. Then it receives chunk p - 1, adds its own and forwards
/// the sum, and so on down to chunk p + 1, which is then complete: it is kept and forwarded. The
/// complete chunks go round a second time, from p down to p + 2, and are kept. Every rank sends
/// 2(n - 1) chunks; with equal chunks that is 2(n - 1)/n of the buffer, the lower bound. Empty
/// chunks (fewer elements than ranks) are neither sent nor received. Out of place needs no copies:
/// own chunks are read from the input.
///
/// Time of one lane between equal neighbours, alone on its links: 2(n - 1)(α + ⌈C·β⌉) + (n -
/// 1)⌈C·γ⌉, with C the longest chunk, ⌈elements / n⌉. SOURCE: Patarasuk & Yuan, "Bandwidth optimal
/// all-reduce", JPDC 2009, section 3; the fused steps are those of NCCL, NVIDIA/nccl
/// src/device/all_reduce.h.
std::unique_ptr<Schedule> ring_all_reduce(std::int32_t ranks, std::int64_t elements,
                                          const RingOptions& options = {});

}  // namespace tutti::core
