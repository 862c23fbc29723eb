#pragma once

#include <memory>
#include <vector>

#include "core/algorithm/task_order.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the length of TensorFlow's ring chunks in elements: `elements` / `chunks`, rounded up to
/// whole elements, then up to a multiple of `align` bytes. As in TensorFlow, a length that is
/// already a multiple of `align` grows by another `align` bytes. Chunk i begins at element i ·
/// length, so the last chunks may be short or empty. Example: 128 float32 elements in 8 chunks
/// aligned to 64 bytes have chunks of 32 elements, so 4 chunks are empty. If `align` is at most the
/// size of an element, there is no alignment.
/// REQUIRES: `align` is a multiple of the element's size, or at most that size.
/// SOURCE: tensorflow/core/common_runtime/base_collective_executor.cc,
/// CollectiveAdapter::AlignedChunkElts.
std::int64_t aligned_chunk(std::int64_t elements, std::int64_t chunks, std::int64_t element_bytes,
                           std::int64_t align);

/// The parameters of a collective that runs on one or more TensorFlow rings.
struct TfRingOptions {
  TaskOrder order;
  /// The rings, one entry per ring.
  std::vector<Subdivision> subdivisions{Subdivision{}};
  /// For an all-reduce, the chunk length in elements: aligned_chunk() for ranks · subdivisions
  /// chunks. At least 1.
  std::int64_t chunk = 1;
  Engine engine = Engine::kCopyEngine;
};

/// Returns TensorFlow's RingReduce. With n ranks and k subdivisions, the buffer has n·k chunks.
/// Chunk c·k + s goes around ring s. In the first pass, chunk c·k + s starts at position c. Every
/// rank that receives the chunk adds its own data, so the sum is complete at position c - 1. In the
/// second pass, the sum goes around the ring once more, to all ranks. Empty chunks are not sent.
/// Each non-empty chunk makes n - 1 hops in each pass. Ranks may send different numbers of chunks,
/// because some chunks are empty.
///
/// TensorFlow has a separate state machine for every chunk, and does not define an order of chunks.
/// In this schedule, the rank at position p handles chunks in the order in which the previous rank
/// sends them: p - 1, p - 2, …. A rank has two lanes (sequences of steps) per ring. One lane
/// receives chunks, and adds them in the first pass; the other lane sends chunks that are ready.
/// Additions do not wait for sends, because the two lanes are independent. At each rank, the second
/// pass of a chunk begins only after the rank has sent the chunk in the first pass.
///
/// Time of one ring, if all neighbours are equally fast: 2(n - 1)(α + ⌈C·β⌉) + (n - 1)⌈C·γ⌉, where
/// α is the latency of a message, β and γ are the times to send and to add a byte, and C is the
/// size of the longest chunk. The longest chunk has `chunk` elements, or all elements of the buffer
/// if the buffer has fewer elements. If `contract` describes an out-of-place collective, the whole
/// input is copied first.
/// SOURCE: tensorflow/core/common_runtime/ring_reducer.cc and ring_alg.cc.
/// REQUIRES: the contract is that of an all-reduce among the ranks of the order; n·k chunks can
/// hold its elements.
std::unique_ptr<Schedule> tf_ring_reduce(const Contract& contract, TfRingOptions options);

/// Returns TensorFlow's RingGather. Every block goes around the ring once, in n - 1 hops. A block
/// is written to the position of its rank, whereas TensorFlow stores blocks in ring order. If
/// `contract` describes an out-of-place collective, a rank copies its own block first.
///
/// Time with blocks of B bytes, if all neighbours are equally fast: (n - 1)(α + ⌈B·β⌉).
/// SOURCE: tensorflow/core/common_runtime/ring_gatherer.cc.
/// REQUIRES: the contract is that of an all-gather among the ranks of the order; there is one
/// subdivision, with offset 0.
std::unique_ptr<Schedule> tf_ring_gather(const Contract& contract, TfRingOptions options);

}  // namespace tutti::core
