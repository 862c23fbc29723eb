#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Any collective except the all-reduce, in one hop: every rank sends to each other rank the parts
/// of its input that the other's output needs, all at once, beginning with the next rank. If
/// outputs are sums, a rank receives the parts in any order and then adds them all at once. Out of
/// place (set by the contract) ranks copy the parts that they keep.
///
/// Empty parts are not sent.
///
/// Time with one port per rank, parts of C bytes, m the maximum number of parts that a rank sends
/// or receives: α + m⌈C·β⌉, plus ⌈m·C·γ⌉ if they are added. m is n - 1, and 1 for sendrecv.
/// Lanes: lane 0 copies the part that the rank keeps and adds received parts; lanes 1 … n - 1 send
/// to the rank 1 … n - 1 positions ahead; lanes n … 2n - 2 receive from the rank 1 … n - 1
/// positions behind.
/// SOURCE: grouped ncclSend and ncclRecv, as nccl-tests has alltoall, gather, scatter and sendrecv
/// (src/*.cu); with sums: the first half of the shuffle (shuffle.h) with every rank as a gather
/// rank.
std::unique_ptr<Schedule> direct(const Contract& contract, Engine engine);

}  // namespace tutti::core
