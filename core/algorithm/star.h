#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Reduce in one hop: the ranks of 0 … contributors - 1 other than the root send their data to the
/// root, which adds it all at once into its own `data`. If the root is a contributor, its data is
/// included.
/// Out of place (`input_shift`, see Contract) a root that contributes copies its own input first.
/// Time with one port per rank, m senders of N bytes: α + m⌈N·β⌉ + ⌈(m - 1, or m if the root
/// contributes)·N·γ⌉.
std::unique_ptr<Schedule> star_reduce(std::int32_t ranks, std::int32_t contributors, Rank root,
                                      std::int64_t elements, Engine sender_engine,
                                      Engine root_engine, std::int64_t input_shift = 0);

/// Broadcast in one hop: the root sends its `data` to each other rank of 0 … receivers - 1, each on
/// a separate lane. Time with one port per rank, m receivers: α + m⌈N·β⌉.
std::unique_ptr<Schedule> star_broadcast(std::int32_t ranks, std::int32_t receivers, Rank root,
                                         std::int64_t elements, Engine engine);

/// Every receiver multiplies its output by `factor`, locally: the division of a MEAN. `ranks`: the
/// size of the group.
/// REQUIRES: the contract is of a kind that reduces.
std::unique_ptr<Schedule> scale_results(std::int32_t ranks, const Contract& contract, double factor,
                                        Engine engine);

}  // namespace tutti::core
