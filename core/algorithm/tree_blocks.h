#pragma once

#include <memory>

#include "core/algorithm/star_tree.h"

namespace tutti::core {

/// Gathers every replica's block at the root, in rank order; a relay first collects the blocks of
/// its group and forwards them as one message. Replica r's block is at r · `block` elements;
/// helpers that forward and the root have data buffers of replicas · block elements.
/// Time with one port per rank, G replicas per group with a helper as relay, W groups, the root
/// another helper, N bytes per block: α + G⌈N·β⌉ inside, then α + W⌈G·N·β⌉.
std::unique_ptr<Schedule> tree_gather(StarTree tree, std::int64_t block, Engine replica_engine,
                                      Engine helper_engine);

/// Scatters blocks, the inverse of tree_gather(): the root's block r goes to replica r, through the
/// relay of its group.
std::unique_ptr<Schedule> tree_scatter(StarTree tree, std::int64_t block, Engine replica_engine,
                                       Engine helper_engine);

}  // namespace tutti::core
