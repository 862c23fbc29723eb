#pragma once

#include <memory>

#include "core/algorithm/star_tree.h"

namespace tutti::core {

/// Returns a schedule that gathers every replica's block at the root, in rank order. If there are
/// relays, each relay collects the blocks of its group and forwards them as one message. Replica
/// r's block begins at element r · `block`. The root, and helpers that are relays, have data
/// buffers of replicas · block elements. Time with one port per rank, N bytes per block and W
/// groups of G replicas, if relays and root are different helpers: α + G⌈N·β⌉ to the relays, then α
/// + W⌈G·N·β⌉ to the root, where α is the latency of a message, and β is the time to send a byte.
std::unique_ptr<Schedule> tree_gather(StarTree tree, std::int64_t block, Engine replica_engine,
                                      Engine helper_engine);

/// Returns a schedule that scatters blocks from the root, as the inverse of tree_gather(). Replica
/// r receives the root's block r, through the relay of its group if there is one.
std::unique_ptr<Schedule> tree_scatter(StarTree tree, std::int64_t block, Engine replica_engine,
                                       Engine helper_engine);

}  // namespace tutti::core
