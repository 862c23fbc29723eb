#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The all-reduce over two binary trees, each of which carries one half of the buffer: sums go up to the root, the result
/// comes down, both in messages that follow each other. Who has children in one tree has none in the other, so that nobody
/// sends or receives more than 2N: hardly more than in a ring, and over 2·log2 n hops instead of 2(n - 1).
///
/// The trees are in order: of the ranks 1 … n - 1 those whose lowest set bit is 2^k stand at height k, between their
/// children r - 2^(k-1) and r + 2^(k-1) (or the next power below that is still a rank); 0 is the root, over the largest
/// power of two below n. The other tree is the first one mirrored, or moved on by one if n is odd.
///
/// SOURCE: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
/// Computing 35 (2009); the order of the ranks is NCCL's, NVIDIA/nccl src/graph/trees.cc.
/// REQUIRES: contract.kind is the all-reduce; most_elements_per_message ≥ 1.
std::unique_ptr<Schedule> double_tree_all_reduce(const Contract& contract, std::int64_t most_elements_per_message,
                                                 Engine engine = Engine::kKernel);

}  // namespace tutti::core
