// The search for graphs beside NCCL's own, on every machine of the reference: figures, and every channel's GPUs and cards in
// their order.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nccl/search.h"
#include "tests/reference/nccl/topologies.h"

namespace tutti {
namespace {

using core::nccl::Graph;
using core::nccl::SearchResult;
using test::Data;

/// A graph as one text, so that a difference shows whole.
std::string text(const Graph& graph) {
  std::string made =
      fmt::format("pattern {} cross {} channels {} bw {:.6g}/{:.6g} latency {:g} {}/{} same {}\n",
                  static_cast<int>(graph.pattern), graph.cross_nic, graph.channels, graph.bw_intra, graph.bw_inter,
                  graph.latency_inter, to_string(graph.type_intra), to_string(graph.type_inter), graph.same_channels);
  for (const auto& channel : graph.orders)
    made += fmt::format("  {} by {}\n", fmt::join(channel.gpus, " "), fmt::join(channel.nets, " "));
  return made;
}

std::string text(const Data& graph) {
  std::string made =
      fmt::format("pattern {} cross {} channels {} bw {:.6g}/{:.6g} latency {:g} {}/{} same {}\n",
                  graph["pattern"].number(), graph["crossNic"].number(), graph["nChannels"].number(),
                  graph["bwIntra"].real(), graph["bwInter"].real(), graph["latencyInter"].real(),
                  graph["typeIntra"].text(), graph["typeInter"].text(), graph["sameChannels"].number() == 1);
  for (const Data& channel : graph["channels"].items()) {
    for (std::int64_t i = 0; i < channel["times"].number(); ++i)
      made += fmt::format("  {} by {}\n", fmt::join(channel["gpus"].numbers(), " "),
                          fmt::join(channel["nets"].numbers(), " "));
  }
  return made;
}

TEST(NcclSearchReference, FindsTheGraphsThatNcclFinds) {
  const core::Value document = test::nccl_graphs();
  const std::vector<Data> cases = Data(document)["cases"].items();
  EXPECT_EQ(cases.size(), 58U);
  std::map<std::tuple<std::string, std::int64_t, bool>, SearchResult> searched;
  for (const Data& one : cases) {
    SCOPED_TRACE(one["case"].text());
    // To the search several nodes are several, however many.
    const std::tuple machine(one["topology"].text(), one["gpus"].number(), one["nodes"].number() > 1);
    if (!searched.contains(machine)) {
      const auto gpus = test::first_gpus(test::topology(std::get<0>(machine)), static_cast<int>(std::get<1>(machine)));
      const auto made = search_graphs(gpus, one["nodes"].number());
      ASSERT_TRUE(made) << made.error().message();
      searched.emplace(machine, *made);
    }
    const SearchResult* found = &searched.at(machine);
    EXPECT_EQ(found->over_nodes, one["inter"].number() == 1);
    EXPECT_EQ(found->nodes_per_topology, 1);
    EXPECT_FLOAT_EQ(found->most_gb_per_s, static_cast<float>(one["maxBw"].real()));
    EXPECT_FLOAT_EQ(found->total_gb_per_s, static_cast<float>(one["totalBw"].real()));
    EXPECT_EQ(text(found->graphs.ring), text(one["graphs"]["ring"]));
    EXPECT_EQ(text(found->graphs.tree), text(one["graphs"]["tree"]));
    EXPECT_EQ(text(found->graphs.nvls), text(one["graphs"]["nvls"]));
  }
}

/// A machine whose file gives the graphs of another's.
TEST(NcclSearchReference, MachinesOfOneMakeAreAlike) {
  const std::vector<std::pair<std::string, std::string>> alike{
      {"hgxh20", "hgxh100"}, {"ndv4", "dgxa100"}, {"ndv5", "hgxh100"}};
  for (const auto& [one, other] : alike) {
    for (const int nodes : {1, 2}) {
      const auto a = search_graphs(test::topology(one), nodes), b = search_graphs(test::topology(other), nodes);
      ASSERT_TRUE(a && b);
      EXPECT_EQ(text(a->graphs.ring), text(b->graphs.ring)) << one << nodes;
      EXPECT_EQ(text(a->graphs.tree), text(b->graphs.tree)) << one << nodes;
      EXPECT_EQ(text(a->graphs.nvls), text(b->graphs.nvls)) << one << nodes;
    }
  }
}

}  // namespace
}  // namespace tutti
