#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The recursive halving-doubling all-reduce on a power of two of ranks, one lane.
///
/// In hop i (0 … log2 n - 1) ranks that differ in bit i exchange halves of the segment that both
/// still hold: the rank with bit 0 keeps and reduces the first half (the longer one if the length
/// is odd), the other the second. Then the hops run in reverse and the partners exchange their
/// results. So the largest messages go to the nearest rank. Halves may be empty (fewer elements
/// than ranks); they are sent anyway, which keeps the ranks in step.
///
/// Time with one port per rank: Σ over hops of 2(α + ⌈c·β⌉) + ⌈c·γ⌉, where c is ⌈elements / 2⌉ in
/// the first hop and ⌈c / 2⌉ in each following one.
/// SOURCE: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005, section 4.5; order of the hops as in TensorFlow's
/// build_recursive_hd_all_reduce (all_reduce.py). REQUIRES: `ranks` is a power of two.
std::unique_ptr<Schedule> halving_doubling_all_reduce(std::int32_t ranks, std::int64_t elements,
                                                      Engine engine = Engine::kKernel);
/// Returns the schedule for a contract; out of place, every rank copies its whole input first.
std::unique_ptr<Schedule> halving_doubling_all_reduce(const Contract& contract, Engine engine);

}  // namespace tutti::core
