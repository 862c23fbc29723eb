#pragma once

#include <memory>

#include "core/algorithm/star_tree.h"

namespace tutti::core {

/// Every replica's block comes to the root, which has them side by side: those of a group to its relay first, which sends them on as
/// one message. Replica r's block lies at r · `block` elements; helpers on the way and the root have data buffers of
/// replicas · block elements.
/// Time with one port per rank, G replicas per group with a helper as relay, W groups, the root another helper, N bytes a block:
/// α + G⌈N·β⌉ inside, then α + W⌈G·N·β⌉.
std::unique_ptr<Schedule> tree_gather(StarTree tree, std::int64_t block, Engine replica_engine, Engine helper_engine);

/// The other way: the root's block r goes to replica r, those of a group by way of its relay.
std::unique_ptr<Schedule> tree_scatter(StarTree tree, std::int64_t block, Engine replica_engine, Engine helper_engine);

}  // namespace tutti::core
