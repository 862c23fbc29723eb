#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the recursive halving-doubling all-reduce. The number of ranks is a power of two, and
/// each rank has one lane (sequence of steps).
///
/// In hop i (0 … log2 n - 1), two ranks whose numbers differ in bit i exchange halves of the
/// segment that both hold at that time. The rank whose bit i is 0 keeps and reduces the first half,
/// which is the longer one if the length is odd; the other rank keeps the second half. Then the
/// hops are executed again in reverse order, and the partners exchange their results. The first hop
/// has the largest messages; in the first hop, the numbers of partners differ by 1. If there are
/// fewer elements than ranks, some halves are empty. Ranks also send the empty halves, so that they
/// stay synchronised.
///
/// Time with one port per rank: Σ over hops of 2(α + ⌈c·β⌉) + ⌈c·γ⌉, where c is the size of a
/// message: ⌈elements / 2⌉ elements in the first hop, and half as many (rounded up) in each
/// following hop. α is the latency of a message; β and γ are the times to send and to add a byte.
/// SOURCE: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005, section 4.5; the order of the hops is that of TensorFlow's
/// build_recursive_hd_all_reduce (all_reduce.py). REQUIRES: `ranks` is a power of two.
std::unique_ptr<Schedule> halving_doubling_all_reduce(std::int32_t ranks, std::int64_t elements,
                                                      Engine engine = Engine::kKernel);
/// Returns the schedule for the all-reduce that `contract` describes. If the all-reduce is out of
/// place, every rank copies its whole input first.
std::unique_ptr<Schedule> halving_doubling_all_reduce(const Contract& contract, Engine engine);

}  // namespace tutti::core
