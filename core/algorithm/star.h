#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Reduce in one hop: the ranks of 0 … contributors - 1 that are not the root send their data to the root, which adds
/// all of it at once into its own `data`. If the root is a contributor its data counts too.
/// Time with one port per rank, m senders of N bytes: α + m⌈N·β⌉ + ⌈(m - 1, or m if the root contributes)·N·γ⌉.
std::unique_ptr<Schedule> star_reduce(std::int32_t ranks, std::int32_t contributors, Rank root, std::int64_t elements,
                                      Engine sender_engine, Engine root_engine);

/// Broadcast in one hop: the root sends its `data` to every rank of 0 … receivers - 1 but itself, each on a lane of its
/// own. Time with one port per rank, m receivers: α + m⌈N·β⌉.
std::unique_ptr<Schedule> star_broadcast(std::int32_t ranks, std::int32_t receivers, Rank root, std::int64_t elements,
                                         Engine engine);

/// Broadcast along the chain 0 → 1 → … → n - 1, cut into messages of at most `most_elements_per_message` that follow
/// each other. With k equal messages of C bytes: (n - 1)(α + ⌈C·β⌉) + (k - 1)⌈C·β⌉.
/// SOURCE: the ring broadcast of NCCL, NVIDIA/nccl src/device/broadcast.h.
std::unique_ptr<Schedule> chain_broadcast(std::int32_t ranks, std::int64_t elements,
                                          std::int64_t most_elements_per_message, Engine engine);

/// Every rank of 0 … count - 1 multiplies its data by `factor`, each by itself: the division of a MEAN.
std::unique_ptr<Schedule> scale_everywhere(std::int32_t ranks, std::int32_t count, std::int64_t elements, double factor,
                                           Engine engine);

}  // namespace tutti::core
