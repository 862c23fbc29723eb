#pragma once

#include <memory>

#include "core/algorithm/ring.h"

namespace tutti::core {

/// TensorFlow's xring: the ring all-reduce over k rings (one per lane of `options`), with the
/// buffer cut into n·k equal chunks. Segment q of the buffer is k chunks, one per ring, so that the
/// rings share every segment. The rank at position p of ring s begins by sending its chunk of
/// segment p - 1. After n - 1 hops it holds the sum of its chunk of segment p, which goes round
/// once more.
///
/// TensorFlow pads a buffer that cannot be cut evenly with zeros, which are sent too: see
/// padded_for_xring(). Every rank sends exactly 2(n - 1) chunks on every ring.
///
/// Time of one ring between equal neighbours: 2(n - 1)(α + ⌈C·β⌉) + (n - 1)⌈C·γ⌉, with C a chunk.
/// SOURCE: tensorflow/python/distribute/all_reduce.py, build_ring_all_reduce, _build_ring_gather,
/// _build_ring_scatter. REQUIRES: `elements` is a multiple of ranks · lanes; no limits on credits
/// and message length.
std::unique_ptr<Schedule> xring_all_reduce(std::int32_t ranks, std::int64_t elements,
                                           const RingOptions& options);

/// Returns the number of elements sent for `elements`: the next multiple of ranks · rings. SOURCE:
/// all_reduce.py, _padded_split.
std::int64_t padded_for_xring(std::int64_t elements, std::int64_t ranks, std::int64_t rings);

}  // namespace tutti::core
