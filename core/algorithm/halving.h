#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The size of the messages: they halve or double from hop to hop, or they always have the whole
/// buffer.
enum class Segments { kHalves, kWhole };

/// Returns a collective by binomial trees and hypercubes. The number of ranks is a power of two,
/// and each has one lane. The buffer is halved by one bit of the rank at a time, from the highest
/// bit on; the last half is the rank's own block. With Segments::kHalves:
/// - reduce-scatter: recursive halving, log2 n hops of n/2, n/4, … blocks, which are added;
/// - all-gather: recursive doubling, the same in reverse order, without additions;
/// - scatter and gather: down a binomial tree from the root, or up to it, n/2, n/4, … blocks per
///   hop;
/// - broadcast: scatter, then all-gather (van de Geijn);
/// - reduce: reduce-scatter, then gather (Rabenseifner).
/// With Segments::kWhole, for short messages: broadcast and reduce by a binomial tree in log2 n
/// hops.
///
/// Time with one port per rank, N bytes in total: the sum over all hops of α + ⌈c·β⌉, plus ⌈c·γ⌉ if
/// data is added, where c = N/2, N/4, … or N. If the contract is out of place, ranks copy their
/// inputs first.
/// SOURCE: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005, sections 4.1 to 4.4.
/// REQUIRES: the number of ranks is a power of two; the contract is that of a collective listed
/// above.
std::unique_ptr<Schedule> halving(const Contract& contract, Segments segments, Engine engine);

}  // namespace tutti::core
