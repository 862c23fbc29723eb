#pragma once

// Few rounds for small messages: exchanges in groups.
//
// Number the ranks in mixed radix: with radices 8 and 4, rank 13 of 32 has the digits 5 and 1.
// In the round of a radix, ranks that differ in that digit alone exchange everything they hold, all
// with all. After a round for each radix everybody has everything. All radices 2 is recursive
// doubling; one radix for all ranks is a single round in which everybody sends to everybody. In
// between, a radix as large as a node has GPUs makes one cheap round inside nodes, and the others
// cross the network. All ranks do the same, so that the search over ordered factorizations of the
// number of ranks (16 for 32 ranks, 64 for 128) covers all of them at once.
//
// An all-gather goes from the inner radix to the outer: what a rank holds is always one range of
// blocks. A reduce-scatter goes the other way. An all-reduce does one after the other, or, with a
// buffer so small that only rounds count, exchanges whole buffers in every round.

#include <optional>
#include <vector>

#include "core/schedule/contract.h"
#include "core/synthesis/fabric_graph.h"
#include "core/synthesis/forest_text.h"

namespace tutti::core::synthesis {

struct Exchange {
  std::vector<int> radices;  ///< radices from the innermost to the outermost; their product is the
                             ///< number of ranks
  bool whole_buffers = false;  ///< all-reduce only: every round exchanges and adds the whole buffer

  bool operator==(const Exchange&) const = default;
};

/// True for the collectives that exchanges do: all-gather, reduce-scatter and all-reduce.
bool has_exchanges(CollectiveKind kind);

/// Returns all exchanges between this number of ranks. Cost: their number, at most some thousand.
std::vector<Exchange> exchanges_of(int ranks, CollectiveKind kind);

/// An estimate of the time: per round the longest latency, and what the slowest route carries.
/// kNever if two ranks would have to exchange something and have no route.
Time estimate(const Exchange& exchange, CollectiveKind kind, const FabricGraph& graph, Bytes bytes);

std::string text_of(const Exchange& exchange, CollectiveKind kind, const TextOptions& options);

/// "8 × 4".
std::string describe(const Exchange& exchange);

}  // namespace tutti::core::synthesis
