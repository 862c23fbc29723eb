#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns a schedule for a reduce in one hop: ranks 0 … contributors - 1 send their data directly
/// to the root. The root adds all received data to its own `data` in one addition. If the root is a
/// contributor, its own data is added too. If the collective is out of place (`input_shift`, see
/// Contract), a root that contributes copies its own input first. Time with one port per rank and m
/// senders of N bytes: α + m⌈N·β⌉ + ⌈a·N·γ⌉, where a is m if the root contributes, otherwise m - 1.
/// α is the latency of a message; β and γ are the times to send and to add a byte.
std::unique_ptr<Schedule> star_reduce(std::int32_t ranks, std::int32_t contributors, Rank root,
                                      std::int64_t elements, Engine sender_engine,
                                      Engine root_engine, std::int64_t input_shift = 0);

/// Returns a broadcast in one hop: the root sends its `data` directly to the ranks 0 … receivers -
/// 1 except itself, on one lane (sequence of steps) per receiver. Time with one port per rank, m
/// receivers and N bytes: α + m⌈N·β⌉.
std::unique_ptr<Schedule> star_broadcast(std::int32_t ranks, std::int32_t receivers, Rank root,
                                         std::int64_t elements, Engine engine);

/// Returns a schedule in which every receiver multiplies its own output by `factor`. To compute a
/// mean, use 1 divided by the number of replicas as `factor`. `ranks` is the size of the group.
/// REQUIRES: the contract is of a kind that reduces.
std::unique_ptr<Schedule> scale_results(std::int32_t ranks, const Contract& contract, double factor,
                                        Engine engine);

}  // namespace tutti::core
