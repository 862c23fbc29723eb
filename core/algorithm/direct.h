#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the schedule of any collective except the all-reduce, in one hop. Every rank sends to
/// each other rank the parts of its input that the other's output needs, concurrently, starting
/// with the next rank. If outputs are sums, a rank receives the parts in any order and then adds
/// all of them in one addition. If the contract is out of place, ranks copy the parts that they
/// keep. Empty parts are not sent.
///
/// Time with one port per rank, parts of C bytes, at most m parts sent or received by a rank: α +
/// m⌈C·β⌉, plus ⌈m·C·γ⌉ if they are added. m is n - 1, and 1 for sendrecv.
/// Lanes: lane 0 copies the part that the rank keeps and adds received parts; lanes 1 … n - 1 send
/// to the rank 1 … n - 1 positions ahead; lanes n … 2n - 2 receive from the rank 1 … n - 1
/// positions behind.
/// SOURCE: grouped ncclSend and ncclRecv, as in the programs alltoall, gather, scatter and sendrecv
/// of nccl-tests (src/*.cu); with sums: the first half of the shuffle (shuffle.h), in which every
/// rank is a gather rank.
std::unique_ptr<Schedule> direct(const Contract& contract, Engine engine);

}  // namespace tutti::core
