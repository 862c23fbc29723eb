#pragma once

#include <memory>
#include <vector>

#include "core/algorithm/task_order.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The length of TensorFlow's ring chunks, in elements: `elements` over `chunks`, rounded up to whole elements, then up to a
/// multiple of `align`; what is one already gets a whole unit more, unless it was less than one unit. Chunk i begins at i
/// lengths, so the last ones are short or empty. 128 float32 in 8 chunks aligned to 64 bytes: 32 each, four of them empty.
/// `align` of an element's bytes or less: no alignment. REQUIRES: `align` is a multiple of the element's size, or less.
/// SOURCE: tensorflow/core/common_runtime/base_collective_executor.cc, CollectiveAdapter::AlignedChunkElts.
std::int64_t aligned_chunk(std::int64_t elements, std::int64_t chunks, std::int64_t element_bytes, std::int64_t align);

/// What the rings of one collective have in common.
struct TfRingOptions {
  TaskOrder order;
  /// One ring each.
  std::vector<Subdivision> subdivisions{Subdivision{}};
  /// Of the all-reduce: what aligned_chunk() says of ranks · subdivisions chunks. At least 1.
  std::int64_t chunk = 1;
  Engine engine = Engine::kCopyEngine;
};

/// TensorFlow's RingReduce. With n ranks and k subdivisions the buffer is n·k chunks; chunk c·k + s goes round ring s, from
/// position c through all others, each adding its own, to position c - 1, which has the sum then; and from there once more
/// round, to everyone. Chunks that are empty are not sent; the others make n - 1 hops in each pass. How many a rank sends
/// depends on where the empty ones lie.
///
/// TensorFlow drives every chunk as a state machine of its own and nothing holds chunks together, but what a rank receives
/// comes from one other rank, in the order in which that one sends: p - 1, p - 2, …, so that is the order of the lanes here.
/// In each ring a rank has two: one receives, and adds in the first pass; the other sends what is ready, so that an addition
/// does not wait for what is being sent. A chunk's second pass begins where its first one has been sent.
///
/// Time of one ring between equal neighbours: 2(n - 1)(α + ⌈C·β⌉) + (n - 1)⌈C·γ⌉, with C the longest chunk: `chunk`, or all
/// elements if they are fewer. Out of place the input is copied first, as a whole.
/// SOURCE: tensorflow/core/common_runtime/ring_reducer.cc and ring_alg.cc.
/// REQUIRES: the contract is that of an all-reduce among the order's ranks; n·k chunks hold its elements.
std::unique_ptr<Schedule> tf_ring_reduce(const Contract& contract, TfRingOptions options);

/// TensorFlow's RingGather: everyone's block goes once round: n - 1 hops of a block, from every rank. Each comes to the place
/// of its rank (TensorFlow's output is in the order of the ring). Out of place a rank copies its own block first.
///
/// Time between equal neighbours: (n - 1)(α + ⌈B·β⌉).
/// SOURCE: tensorflow/core/common_runtime/ring_gatherer.cc.
/// REQUIRES: the contract is that of an all-gather among the order's ranks; one subdivision, of offset 0.
std::unique_ptr<Schedule> tf_ring_gather(const Contract& contract, TfRingOptions options);

}  // namespace tutti::core
