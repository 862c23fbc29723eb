#pragma once

#include <memory>
#include <vector>

#include "core/algorithm/task_order.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the length of TensorFlow's ring chunks, in elements: `elements` / `chunks`, rounded up
/// to whole elements, then up to a multiple of `align`. A length that is already a multiple grows
/// by one whole unit, unless it was less than one unit. Chunk i begins at i lengths, so the last
/// chunks may be short or empty. Example: 128 float32 in 8 chunks aligned to 64 bytes: 32 each,
/// four of them empty. `align` of an element's size or less: no alignment.
/// REQUIRES: `align` is a multiple of the element's size, or less.
/// SOURCE: tensorflow/core/common_runtime/base_collective_executor.cc,
/// CollectiveAdapter::AlignedChunkElts.
std::int64_t aligned_chunk(std::int64_t elements, std::int64_t chunks, std::int64_t element_bytes,
                           std::int64_t align);

/// The parameters that the rings of one collective share.
struct TfRingOptions {
  TaskOrder order;
  /// One entry per ring.
  std::vector<Subdivision> subdivisions{Subdivision{}};
  /// The chunk length of the all-reduce: aligned_chunk() of ranks · subdivisions chunks. At least
  /// 1.
  std::int64_t chunk = 1;
  Engine engine = Engine::kCopyEngine;
};

/// TensorFlow's RingReduce. With n ranks and k subdivisions the buffer is n·k chunks. Chunk c·k + s
/// goes round ring s, from position c through all others, each of which adds its own, to position c
/// - 1, which then has the sum; from there it goes round once more, to all ranks. Empty chunks are
/// not sent; the others make n - 1 hops in each pass. The number of chunks that a rank sends
/// depends on the positions of the empty ones.
///
/// TensorFlow drives every chunk with a separate state machine and does not order chunks, but a
/// rank receives only from one other rank, in the order in which that one sends: p - 1, p - 2, ….
/// The lanes here use that order. A rank has two lanes per ring: one receives, and adds in the
/// first pass; the other sends what is ready, so that additions do not wait for sends. A chunk's
/// second pass begins once its first one has been sent.
///
/// Time of one ring between equal neighbours: 2(n - 1)(α + ⌈C·β⌉) + (n - 1)⌈C·γ⌉, with C the
/// longest chunk: `chunk`, or all elements if they are fewer. Out of place the whole input is
/// copied first.
/// SOURCE: tensorflow/core/common_runtime/ring_reducer.cc and ring_alg.cc.
/// REQUIRES: the contract is that of an all-reduce among the order's ranks; n·k chunks hold its
/// elements.
std::unique_ptr<Schedule> tf_ring_reduce(const Contract& contract, TfRingOptions options);

/// TensorFlow's RingGather: every block goes round the ring once: n - 1 hops per block. Each is
/// written to the place of its rank (TensorFlow's output is in ring order). Out of place a rank
/// copies its own block first.
///
/// Time between equal neighbours: (n - 1)(α + ⌈B·β⌉).
/// SOURCE: tensorflow/core/common_runtime/ring_gatherer.cc.
/// REQUIRES: the contract is that of an all-gather among the order's ranks; one subdivision, with
/// offset 0.
std::unique_ptr<Schedule> tf_ring_gather(const Contract& contract, TfRingOptions options);

}  // namespace tutti::core
