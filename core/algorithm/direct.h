#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns a schedule in which all data moves in one hop, for any collective except the all-reduce.
/// Every rank concurrently sends parts of its input to the ranks whose outputs need these parts. If
/// the sends of rank r share a port, the send to rank r + 1 is first, then the send to rank r + 2,
/// and so on. If outputs are sums, a rank receives the parts in any order, and then sums all of
/// them in a single step. If `contract` describes an out-of-place collective, ranks copy the parts
/// that they keep. Empty parts are not sent.
///
/// Time with one port per rank: α + m⌈C·β⌉, plus ⌈m·C·γ⌉ if parts are added. α is the latency of a
/// message; β and γ are the times to send and to add a byte; C is the size of a part in bytes; m,
/// the maximum number of parts that a rank sends or receives, is 1 for sendrecv and otherwise n -
/// 1. Lanes (concurrent sequences of steps): lane 0 copies the part that the rank keeps, and
/// receives and adds all parts if outputs are sums. For i from 1 to n - 1, lane i sends to the rank
/// i positions ahead. If outputs are not sums, lane n - 1 + i receives from the rank i positions
/// behind.
/// SOURCE: grouped ncclSend and ncclRecv, as in the programs alltoall, gather, scatter and sendrecv
/// of nccl-tests (src/*.cu). For a collective that reduces, this schedule equals the first half of
/// the shuffle (shuffle.h) with every rank as a gather rank.
std::unique_ptr<Schedule> direct(const Contract& contract, Engine engine);

}  // namespace tutti::core
