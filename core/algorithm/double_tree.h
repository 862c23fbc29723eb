#pragma once

#include <memory>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns the all-reduce over two binary trees. Each tree reduces one half of the buffer. Partial
/// sums go up to the root and the result comes back down, both in pipelined messages. A rank that
/// has children in one tree is a leaf of the other tree. No rank therefore sends or receives more
/// than 2N bytes, where N is the size of the buffer. In a ring, each rank sends 2(n - 1)/n · N
/// bytes. The number of hops is 2·log2 n, compared to 2(n - 1) in a ring.
///
/// The trees are in-order trees. A rank r > 0 whose lowest set bit is 2^k is at height k; its
/// children are r - 2^(k-1) and r + 2^(k-1). If no rank has the number r + 2^(k-1), the second
/// child is r + 2^j for the largest j for which this is a rank. Rank 0 is the root, and its child
/// is the largest power of two below n. The second tree is the first tree, mirrored if n is even
/// and shifted by one rank if n is odd.
///
/// SOURCE: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
/// scan", Parallel Computing 35 (2009); the order of the ranks is NCCL's, NVIDIA/nccl
/// src/graph/trees.cc. REQUIRES: contract.kind is the all-reduce; max_elements_per_message ≥ 1.
std::unique_ptr<Schedule> double_tree_all_reduce(const Contract& contract,
                                                 std::int64_t max_elements_per_message,
                                                 Engine engine = Engine::kKernel);

}  // namespace tutti::core
