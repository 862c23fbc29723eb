#pragma once

#include <memory>

#include "core/algorithm/ring.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// Returns a broadcast or reduce that sends pipelined messages along a chain of ranks. The chain is
/// a ring that is cut at the root. A broadcast goes from the root around the ring to the rank
/// before the root; each rank keeps the data and forwards it. A reduce goes from the rank after the
/// root around the ring to the root. In a reduce, each rank adds its own data and forwards the sum;
/// only the root stores the sum. Every rank except the last one of the chain sends the whole buffer
/// once. Each lane (`options.lanes`) transfers an equal part of the buffer, in messages of at most
/// `options.max_elements_per_message` elements. If `contract` describes an out-of-place collective,
/// the root of a broadcast also copies its input, on a separate lane. A reduce needs no copy.
///
/// Time of one lane with k equal messages of C bytes (α: latency of a message; β, γ: times to send
/// and to add a byte): a broadcast takes (n - 1)(α + ⌈C·β⌉) + (k - 1)⌈C·β⌉; a reduce takes (n -
/// 1)(α + ⌈C·β⌉ + ⌈C·γ⌉) + (k - 1)·t, where t is the longest time that one message takes at a rank.
/// SOURCE: NVIDIA/nccl src/device/broadcast.h and reduce.h, runRing.
/// REQUIRES: the contract is that of a broadcast or reduce; `options.input_shift` is 0, because the
/// contract contains the shift.
std::unique_ptr<Schedule> chain(const Contract& contract, const RingOptions& options);

/// Returns a broadcast with one lane per rank, from rank 0 along the ranks in ascending order.
std::unique_ptr<Schedule> chain_broadcast(std::int32_t ranks, std::int64_t elements,
                                          std::int64_t max_elements_per_message, Engine engine);

}  // namespace tutti::core
