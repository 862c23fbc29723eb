#pragma once

// Exchanges are collective algorithms with few rounds, which are fast for small messages.
//
// Ranks are numbered in a mixed radix system. With radices 8 and 4, for example, rank 13 of 32 has
// the digits 5 and 1. There is one round per radix. In a round, ranks that differ only in the digit
// of the round's radix form a group, and every two ranks of a group exchange all data that they
// have. After all rounds, every rank has all data. If all radices are 2, the exchange is recursive
// doubling. With a single radix, there is one round in which every rank sends to every other rank.
// If the first radix is the number of GPUs of a node, the first round stays inside nodes and is
// cheap; the other rounds cross the network. All ranks execute the same rounds, so an ordered
// factorization of the number of ranks defines an exchange. There are 16 such factorizations for 32
// ranks, and 64 for 128 ranks.
//
// An all-gather uses the innermost radix first, so that the data of a rank is always one contiguous
// range of blocks. A reduce-scatter uses the radices in the reverse order. An all-reduce is a
// reduce-scatter followed by an all-gather. For small buffers, only the number of rounds matters.
// An all-reduce for small buffers (`whole_buffers`) therefore has half as many rounds: in each
// round, ranks exchange and add whole buffers.

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

/// Returns every exchange that is possible for a number of ranks; the result has at most a few
/// thousand exchanges.
std::vector<Exchange> exchanges_of(int ranks, CollectiveKind kind);

/// Estimates the time of an exchange as the sum of the times of its rounds. The time of a round is
/// the longest latency of its routes, plus the transfer time on the slowest route. Returns kNever
/// if two ranks that exchange data have no route.
Time estimate(const Exchange& exchange, CollectiveKind kind, const FabricGraph& graph, Bytes bytes);

std::string text_of(const Exchange& exchange, CollectiveKind kind, const TextOptions& options);

/// Describes an exchange by its radices: "8 × 4".
std::string describe(const Exchange& exchange);

}  // namespace tutti::core::synthesis
