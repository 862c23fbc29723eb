#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The sizes of messages. kHalves: the message size halves or doubles in each hop. kWhole: every
/// message is the whole buffer.
enum class Segments { kHalves, kWhole };

/// Returns the schedule of a collective that uses binomial trees and hypercubes. The number of
/// ranks is a power of two, and each rank has one lane (sequence of steps). The buffer is halved
/// once per bit of the rank number, from the highest bit to the lowest. The part that remains after
/// the last halving is the rank's own block.
///
/// With Segments::kHalves, the algorithm depends on the kind of collective. The reduce-scatter is
/// recursive halving: in log2 n hops, ranks send n/2, n/4, … blocks, and the receiver adds them to
/// its own. The all-gather is recursive doubling: it executes the hops of the reduce-scatter in
/// reverse order and adds nothing. The scatter sends blocks down a binomial tree from the root,
/// with n/2, n/4, … blocks per hop. The gather sends blocks up the same tree, in reverse. The
/// broadcast is a scatter followed by an all-gather (van de Geijn). The reduce is a reduce-scatter
/// followed by a gather (Rabenseifner).
///
/// With Segments::kWhole, which suits short messages, broadcast and reduce use a binomial tree with
/// log2 n hops.
///
/// Time with one port per rank and N bytes in total: the sum over all hops of α + ⌈c·β⌉, plus ⌈c·γ⌉
/// if data is added, where c = N/2, N/4, … or N. α is the latency of a message; β and γ are the
/// times to send and to add a byte. If `contract` describes an out-of-place collective, ranks copy
/// their inputs first.
/// SOURCE: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005, sections 4.1 to 4.4.
/// REQUIRES: the number of ranks is a power of two; the contract is that of a collective that
/// `segments` supports.
std::unique_ptr<Schedule> halving(const Contract& contract, Segments segments, Engine engine);

}  // namespace tutti::core
