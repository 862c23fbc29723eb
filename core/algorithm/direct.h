#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Any collective but the all-reduce in one hop: every rank sends to each other rank what that one's output takes of
/// its input, all at once, the next rank's first. Where outputs are sums, a rank collects what comes in any order and then adds
/// all of it at once. Out of place (by the contract) ranks copy what they keep of their own.
///
/// Parts of no elements do not travel.
///
/// Time with one port per rank, parts of C bytes, m the most parts that a rank sends or receives: α + m⌈C·β⌉, and
/// ⌈m·C·γ⌉ more where they are added. m is n - 1, and 1 for sendrecv.
/// Lanes: 0 keeps and adds; 1 … n - 1 send to the rank so many further on; n … 2n - 2 receive from the one so many back.
/// SOURCE: grouped ncclSend and ncclRecv, as nccl-tests has alltoall, gather, scatter and sendrecv (src/*.cu); with sums: the
/// first half of the shuffle (shuffle.h) with every rank as a gather rank.
std::unique_ptr<Schedule> direct(const Contract& contract, Engine engine);

}  // namespace tutti::core
