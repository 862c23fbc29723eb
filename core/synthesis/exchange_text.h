#pragma once

// Exchanges are collectives with few rounds, for small messages.
//
// Ranks are numbered in a mixed radix system. With radices 8 and 4, for example, rank 13 of 32 has
// the digits 5 and 1. There is one round per radix. In this round, ranks whose numbers differ only
// in the digit of that radix form a group, and every two ranks of a group exchange all data that
// they have. After all rounds, every rank has all data. If all radices are 2, the exchange is
// recursive doubling. With a single radix, there is one round in which every rank sends to every
// other rank. If the first radix is the number of GPUs of a node, there is one cheap round inside
// nodes, and the other rounds cross the network. All ranks do the same, so each candidate is an
// ordered factorization of the number of ranks. There are 16 such factorizations for 32 ranks, and
// 64 for 128 ranks.
//
// An all-gather uses the radices from the innermost to the outermost, so that a rank's data is
// always one contiguous range of blocks. A reduce-scatter uses the radices in the reverse order. An
// all-reduce is a reduce-scatter followed by an all-gather. If the buffer is small, only the number
// of rounds determines the time; every round of the all-reduce then exchanges whole buffers.

#include <optional>
#include <vector>

#include "core/schedule/contract.h"
#include "core/synthesis/fabric_graph.h"
#include "core/synthesis/forest_text.h"

namespace tutti::core::synthesis {

struct Exchange {
  std::vector<int> radices;    ///< radices from the innermost to the outermost; their product is
                               ///< the number of ranks
  bool whole_buffers = false;  ///< true: every round exchanges and adds whole buffers (all-reduce
                               ///< only)

  bool operator==(const Exchange&) const = default;
};

/// True for the collectives that exchanges support: all-gather, reduce-scatter and all-reduce.
bool has_exchanges(CollectiveKind kind);

/// Returns all exchanges for a number of ranks. There are at most a few thousand exchanges.
std::vector<Exchange> exchanges_of(int ranks, CollectiveKind kind);

/// Estimates the time of an exchange as the sum over its rounds. The time of a round is its longest
/// latency plus the transfer time on its slowest route. Returns kNever if there is no route between
/// two ranks that exchange data.
Time estimate(const Exchange& exchange, CollectiveKind kind, const FabricGraph& graph, Bytes bytes);

std::string text_of(const Exchange& exchange, CollectiveKind kind, const TextOptions& options);

/// Describes an exchange by its radices: "8 × 4".
std::string describe(const Exchange& exchange);

}  // namespace tutti::core::synthesis
