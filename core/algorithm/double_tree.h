#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The all-reduce over two binary trees, each with one half of the buffer: sums go up to the root
/// and the result comes down, both in pipelined messages. A rank with children in one tree is a
/// leaf in the other, so no rank sends or receives more than 2N: hardly more than in a ring, over
/// 2·log2 n hops instead of 2(n - 1).
///
/// The trees are in-order trees: of the ranks 1 … n - 1, those whose lowest set bit is 2^k are at
/// height k, between their children r - 2^(k-1) and r + 2^(k-1) (or the next lower power that is
/// still a rank). Rank 0 is the root, above the largest power of two below n. The second tree is
/// the first one mirrored, or shifted by one if n is odd.
///
/// SOURCE: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", Parallel Computing 35 (2009); the order of the ranks is NCCL's, NVIDIA/nccl
/// src/graph/trees.cc. REQUIRES: contract.kind is the all-reduce; most_elements_per_message ≥ 1.
std::unique_ptr<Schedule> double_tree_all_reduce(const Contract& contract,
                                                 std::int64_t most_elements_per_message,
                                                 Engine engine = Engine::kKernel);

}  // namespace tutti::core
