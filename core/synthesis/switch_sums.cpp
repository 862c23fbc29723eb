#include "core/synthesis/switch_sums.h"

#include <fmt/format.h>

namespace tutti::core::synthesis {
namespace {

// Piece p of shard g has one chunk for each node. These chunks are neighbours, so a switch adds or
// multicasts them in one step, and a ring across the nodes moves them one by one.
constexpr const char* kHead = R"(parameter pieces = {}
chunks gpus * pieces * nodes
require pieces >= 1 "pieces must be at least 1"
require nodes == {} and gpus == {} "this algorithm is for another number of nodes or GPUs"

let first = node * gpus
let left = (node - 1) * gpus + gpu
let right = (node + 1) * gpus + gpu
let chunk(g, p, n) = (g * pieces + p) * nodes + n % nodes
)";

constexpr const char* kSums = R"(
# A switch reads the inputs of all GPUs, so each GPU signals that its input is there.
lane signal {
  multicast nothing to first count gpus lane ready
}
lane ready {
  for k from 1 to gpus - 1 {
    receive nothing from first + (gpu + k) % gpus lane signal
  }
}

# The switch adds shard gpu of all GPUs of the node.
lane sum for k from 0 to 1 {
  for i from 0 to (pieces + 1 - k) / 2 - 1 {
    wait for lane ready
    let p = 2 * i + k
    reduce data[chunk(gpu, p, 0) count nodes] with input[chunk(gpu, p, 0) count nodes]
      across first count gpus
    mark summed
  }
}
)";

constexpr const char* kRings = R"(
# Rings across the nodes, one for each GPU of a node, complete the sums.
lane ring for k from 0 to 3 {
  for i from 0 to (pieces + 3 - k) / 4 - 1 {
    wait for summed[k % 2, 2 * i + k / 2]
    send data[chunk(gpu, 4 * i + k, node)] to right
    for round from 1 to nodes - 2 {
      reduce data[chunk(gpu, 4 * i + k, node - round)] from left then only send to right
    }
    reduce data[chunk(gpu, 4 * i + k, node + 1)] from left then send to right
    for round from nodes to 2 * nodes - 3 {
      receive data[chunk(gpu, 4 * i + k, node - round)] from left then send to right
    }
    receive data[chunk(gpu, 4 * i + k, node + 2)] from left
    mark complete
  }
}
)";

constexpr const char* kCast = R"(
# Each GPU multicasts its complete sums.
lane cast {{
  for p from 0 to pieces - 1 {{
    wait for {}
    multicast data[chunk(gpu, p, 0) count nodes] to first count gpus lane shard[gpu]
  }}
}}
lane shard for g from 0 to gpus - 1 {{
  if g != gpu {{
    for p from 0 to pieces - 1 {{
      receive data[chunk(g, p, 0) count nodes] from first + g lane cast
    }}
  }}
}}
)";

}  // namespace

std::optional<SwitchSums> switch_sums_for(const FabricGraph& graph, CollectiveKind kind) {
  if (!graph.switches_reduce || kind != CollectiveKind::kAllReduce) return std::nullopt;
  return SwitchSums{graph.ranks / graph.ranks_per_node, graph.ranks_per_node};
}

std::string text_of(const SwitchSums& sums, const TextOptions& options) {
  std::string text;
  for (const std::string& remark : options.remarks) text += "# " + remark + '\n';
  text += fmt::format("algorithm {}\ncollective all_reduce\nengine kernel\n", options.name);
  text += fmt::format(fmt::runtime(kHead), options.pieces, sums.nodes, sums.gpus);
  text += kSums;
  if (sums.nodes > 1) text += kRings;
  text += fmt::format(fmt::runtime(kCast),
                      sums.nodes > 1 ? "complete[p % 4, p / 4]" : "summed[p % 2, p / 2]");
  return text;
}

}  // namespace tutti::core::synthesis
