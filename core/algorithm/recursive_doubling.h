#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the recursive doubling all-reduce, which has the fewest rounds and suits short messages.
/// The number of ranks is a power of two, and each rank has one lane (sequence of steps).
///
/// In hop i (0 … log2 n - 1), ranks that differ in bit i exchange their partial sums, and both add
/// them. Every rank sends its whole buffer log2 n times.
///
/// Time with one port per rank and N bytes: log2 n · (α + ⌈N·β⌉ + ⌈N·γ⌉), where α is the latency of
/// a message, and β and γ are the times to send and to add a byte.
/// SOURCE: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
/// MPICH", IJHPCA 2005, section 4.5. REQUIRES: `ranks` is a power of two.
std::unique_ptr<Schedule> recursive_doubling_all_reduce(std::int32_t ranks, std::int64_t elements,
                                                        Engine engine = Engine::kKernel);
/// Returns the schedule for the all-reduce that `contract` describes. If the all-reduce is out of
/// place, every rank copies its whole input first.
std::unique_ptr<Schedule> recursive_doubling_all_reduce(const Contract& contract, Engine engine);

}  // namespace tutti::core
