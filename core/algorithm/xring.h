#pragma once

#include <memory>

#include "core/algorithm/ring.h"

namespace tutti::core {

/// Returns TensorFlow's xring: the ring all-reduce over k rings, one per lane of `options`. The
/// buffer is cut into n·k equal chunks. Each of the n segments of the buffer has k chunks, one per
/// ring, so that every ring carries a part of every segment. The rank at position p of a ring first
/// sends the ring's chunk of segment p - 1. After n - 1 hops, this rank has the complete sum of the
/// ring's chunk of segment p. The sum then goes around the ring once more, to all ranks.
///
/// If a buffer cannot be cut into equal chunks, TensorFlow appends zeros and sends them too (see
/// padded_for_xring()). Every rank sends exactly 2(n - 1) chunks on every ring.
///
/// Time of one ring, if all neighbours are equally fast: 2(n - 1)(α + ⌈C·β⌉) + (n - 1)⌈C·γ⌉, where
/// C is the size of a chunk, α is the latency of a message, and β and γ are the times to send and
/// to add a byte.
/// SOURCE: tensorflow/python/distribute/all_reduce.py, build_ring_all_reduce, _build_ring_gather,
/// _build_ring_scatter. REQUIRES: `elements` is a multiple of ranks · lanes; `options` limits
/// neither credits nor message lengths.
std::unique_ptr<Schedule> xring_all_reduce(std::int32_t ranks, std::int64_t elements,
                                           const RingOptions& options);

/// Returns the padded length of a buffer of `elements` elements: the smallest multiple of ranks ·
/// rings that is at least `elements`. SOURCE: all_reduce.py, _padded_split.
std::int64_t padded_for_xring(std::int64_t elements, std::int64_t ranks, std::int64_t rings);

}  // namespace tutti::core
