#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The amount that ranks exchange in each hop: halves of the buffer, or always the whole buffer.
enum class Segments { kHalves, kWhole };

/// Collectives by binomial trees and hypercubes on a power of two of ranks, one lane. The buffer is
/// halved by one bit of the rank at a time, from the highest on; the last half is the rank's own
/// block. In halves:
/// - reduce-scatter: recursive halving, log2 n hops of n/2, n/4, … blocks that are added;
/// - all-gather: recursive doubling, the same in reverse, without adding;
/// - scatter and gather: down and up a binomial tree from or to the root, n/2, n/4, … blocks per
/// hop;
/// - broadcast: scatter, then all-gather (van de Geijn); reduce: reduce-scatter, then gather
/// (Rabenseifner). With whole buffers, for short messages: broadcast and reduce by a binomial tree,
/// log2 n hops.
///
/// Time with one port per rank, N bytes in total: the sum over the hops of α + ⌈c·β⌉ (+ ⌈c·γ⌉ where
/// data is added), c = N/2, N/4, … or N. Out of place (set by the contract) ranks copy their input
/// first.
/// SOURCE: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005, sections 4.1 to 4.4. REQUIRES: the number of ranks is a power of two; the
/// contract is one of those.
std::unique_ptr<Schedule> halving(const Contract& contract, Segments segments, Engine engine);

}  // namespace tutti::core
