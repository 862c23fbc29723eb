#pragma once

// An all-reduce in which the switches of nodes reduce and multicast, as NVLink SHARP does.
//
// The buffer has one shard for each GPU of a node. The switch adds shard g of all GPUs of the node
// and delivers the sum to GPU g. Rings across the nodes, one for each g, complete the sums. Then
// GPU g multicasts shard g in its node. A GPU of a node with G GPUs sends (G + 1)/G of the buffer
// over its links to the switch, instead of 2(G - 1)/G with messages: 1.125 instead of 1.75 for 8
// GPUs.
//
// Every shard is cut into pieces. While a piece travels around a ring, the switch adds the next
// one. The sums of successive pieces alternate between two lanes, and their rings between four
// lanes, so that the transfer of some pieces hides the latency of others.

#include <optional>
#include <string>

#include "core/schedule/contract.h"
#include "core/synthesis/fabric_graph.h"
#include "core/synthesis/forest_text.h"

namespace tutti::core::synthesis {

struct SwitchSums {
  int nodes = 1;
  int gpus = 2;  ///< number of GPUs of a node, at least 2

  bool operator==(const SwitchSums&) const = default;
};

/// Returns the all-reduce for the fabric. Returns nullopt if the switches of its nodes do not
/// reduce, or if the collective is not an all-reduce.
std::optional<SwitchSums> switch_sums_for(const FabricGraph& graph, CollectiveKind kind);

/// Returns the all-reduce as a text in Tutti's language for algorithms. The length of the text does
/// not depend on the number of nodes and GPUs.
std::string text_of(const SwitchSums& sums, const TextOptions& options);

}  // namespace tutti::core::synthesis
