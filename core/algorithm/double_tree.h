#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the all-reduce over two binary trees. Each tree reduces one half of the buffer: sums go
/// up to the root and the result comes down, both in pipelined messages. A rank with children in
/// one tree is a leaf in the other, so no rank sends or receives more than 2N bytes, hardly more
/// than in a ring. The number of hops is 2·log2 n instead of 2(n - 1).
///
/// The trees are in-order trees. A rank r > 0 whose lowest set bit is 2^k is at height k; its
/// children are r - 2^(k-1) and r + 2^(k-1). If the latter is not a rank, the next lower power of
/// two replaces 2^(k-1) there. Rank 0 is the root, and its child is the largest power of two below
/// n. The second tree is the first one mirrored, or shifted by one if n is odd.
///
/// SOURCE: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", Parallel Computing 35 (2009); the order of the ranks is NCCL's, NVIDIA/nccl
/// src/graph/trees.cc. REQUIRES: contract.kind is the all-reduce; max_elements_per_message ≥ 1.
std::unique_ptr<Schedule> double_tree_all_reduce(const Contract& contract,
                                                 std::int64_t max_elements_per_message,
                                                 Engine engine = Engine::kKernel);

}  // namespace tutti::core
