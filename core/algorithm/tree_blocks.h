#pragma once

#include <memory>

#include "core/algorithm/star_tree.h"

namespace tutti::core {

/// Returns a schedule that gathers every replica's block at the root, in rank order. A relay first
/// collects the blocks of its group and forwards them as one message. Replica r's block begins at
/// element r · `block`. The root, and helpers that are relays, have data buffers of replicas ·
/// block elements.
/// Time with one port per rank, N bytes per block and W groups of G replicas, if relays and root
/// are different helpers: α + G⌈N·β⌉ to the relays, then α + W⌈G·N·β⌉ to the root.
std::unique_ptr<Schedule> tree_gather(StarTree tree, std::int64_t block, Engine replica_engine,
                                      Engine helper_engine);

/// Returns a schedule that scatters blocks, the inverse of tree_gather(): the root's block r goes
/// to replica r, through the relay of its group.
std::unique_ptr<Schedule> tree_scatter(StarTree tree, std::int64_t block, Engine replica_engine,
                                       Engine helper_engine);

}  // namespace tutti::core
