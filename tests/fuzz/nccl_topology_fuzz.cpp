// libFuzzer target: reads any bytes as NCCL's topology or graph file. The bytes must be rejected
// with a message that names a place, or be read. In a topology that was read, the search must find
// graphs that visit every GPU once.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>

#include "core/nccl/search/graph_file.h"
#include "core/nccl/search/search.h"
#include "core/nccl/topology/topology_file.h"

namespace {

using namespace tutti::core;

void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void check(const Error& error) {
  demand(!error.problems().empty(), "an error has a problem");
  for (const Problem& problem : error.problems()) {
    demand(problem.where.file == "fuzz" && !problem.text.empty(),
           "a problem has a place and a text");
  }
}

void check(const nccl::Topology& topology, int nodes) {
  const auto found = search_graphs(topology, nodes);
  if (!found) return;
  const auto all = static_cast<std::size_t>(found->node.count(nccl::NodeKind::kGpu));
  for (const nccl::GraphChannel& channel : found->graphs.ring.orders)
    demand(std::set<int>(channel.gpus.begin(), channel.gpus.end()).size() == all,
           "a ring visits every GPU once");
  const std::string text = write_graphs(std::vector<nccl::Graph>{found->graphs.ring}, found->node);
  demand(nccl::read_graphs(text, "fuzz").has_value(), "what is written can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto graphs = nccl::read_graphs(text, "fuzz"); !graphs) check(graphs.error());
  const auto topology = nccl::read_topology(text, "fuzz");
  if (!topology) {
    check(topology.error());
    return 0;
  }
  // Larger machines take long, and have no features that smaller ones lack.
  if (topology->count(nccl::NodeKind::kGpu) <= 2 && topology->count(nccl::NodeKind::kNet) <= 2) {
    check(*topology, 1);
    check(*topology, 2);
  }
  return 0;
}
