// Compares the graph search with NCCL's own, on every machine of the reference: the figures of each
// graph, and the GPUs and cards of every channel in order.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nccl/connect.h"
#include "core/nccl/point_to_point.h"
#include "core/nccl/search/search.h"
#include "core/nccl/search/searched_communicator.h"
#include "tests/core/nccl/golden.h"
#include "tests/reference/nccl/topologies.h"

namespace tutti {
namespace {

using core::nccl::Graph;
using core::nccl::SearchResult;
using core::nccl::SearchSettings;
using test::Data;

/// Returns a graph as one text, so that a failure shows the whole graph.
std::string text(const Graph& graph) {
  std::string made =
      fmt::format("pattern {} cross {} channels {} bw {:.6g}/{:.6g} latency {:g} {}/{} same {}\n",
                  static_cast<int>(graph.pattern), graph.cross_nic, graph.channels, graph.bw_intra,
                  graph.bw_inter, graph.latency_inter, to_string(graph.type_intra),
                  to_string(graph.type_inter), graph.same_channels);
  for (const auto& channel : graph.orders)
    made += fmt::format("  {} by {}\n", fmt::join(channel.gpus, " "), fmt::join(channel.nets, " "));
  return made;
}

std::string text(const Data& graph) {
  std::string made = fmt::format(
      "pattern {} cross {} channels {} bw {:.6g}/{:.6g} latency {:g} {}/{} same {}\n",
      graph["pattern"].number(), graph["crossNic"].number(), graph["nChannels"].number(),
      graph["bwIntra"].real(), graph["bwInter"].real(), graph["latencyInter"].real(),
      graph["typeIntra"].text(), graph["typeInter"].text(), graph["sameChannels"].number() == 1);
  for (const Data& channel : graph["channels"].items()) {
    const auto nets = channel.has("net") ? channel["net"].numbers() : std::vector<std::int64_t>();
    made += fmt::format("  {} by {}\n", fmt::join(channel["gpus"].numbers(), " "),
                        fmt::join(nets, " "));
  }
  return made;
}

/// Returns the topology of a case, such as "hgxh100" for "hgxh100-n2-g4".
std::string topology_name(const std::string& name) { return name.substr(0, name.rfind("-n")); }

TEST(NcclSearchReference, GraphsMatchNccl) {
  const std::vector<Data> cases = test::nccl_cases();
  EXPECT_EQ(cases.size(), 58U);
  std::map<std::tuple<std::string, std::int64_t, bool>, SearchResult> searched;
  for (const Data& one : cases) {
    SCOPED_TRACE(one["case"].text());
    // The search distinguishes only one node from several nodes.
    const std::tuple machine(topology_name(one["case"].text()), one["ppn"].number(),
                             one["nNodes"].number() > 1);
    if (!searched.contains(machine)) {
      const auto gpus = test::first_gpus(test::topology(std::get<0>(machine)),
                                         static_cast<int>(std::get<1>(machine)));
      const auto made = search_graphs(gpus, one["nNodes"].number());
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

TEST(NcclSearchReference, NumbersOfPointToPointChannelsMatchNccl) {
  for (const Data& one : test::nccl_cases()) {
    SCOPED_TRACE(one["case"].text());
    const auto node = test::first_gpus(test::topology(topology_name(one["case"].text())),
                                       static_cast<int>(one["ppn"].number()));
    const auto found =
        point_to_point(node, SearchSettings{}, static_cast<int>(one["nRanks"].number()),
                       static_cast<int>(one["nChannels"].number()));
    EXPECT_EQ(found.channels, one["p2pnChannels"].number());
    EXPECT_EQ(found.per_peer, one["p2pnChannelsPerPeer"].number());
  }
}

TEST(NcclSearchReference, RingsAndTreesAcrossNodesMatchNccl) {
  // The search finds the golden graphs (see above). This test derives the neighbours of every rank
  // from these graphs.
  std::size_t rings = 0, places = 0;
  for (const Data& one : test::nccl_cases()) {
    SCOPED_TRACE(one["case"].text());
    const core::nccl::Communicator comm = test::communicator_of(one);
    const auto repeated = [&](std::size_t channel) {
      return connect_channel(comm.graphs, comm.nodes,
                             static_cast<int>(channel) % connected_channels(comm.graphs));
    };
    const std::vector<Data> wanted = one["rings"].items();
    for (std::size_t c = 0; c < wanted.size(); ++c, ++rings)
      EXPECT_EQ(repeated(c).ring, wanted[c].ints()) << c;
    const std::vector<Data> of_ranks = one["treePerRank"].items();
    for (std::size_t r = 0; r < of_ranks.size(); ++r) {
      const std::vector<Data> of_channels = of_ranks[r].items();
      for (std::size_t c = 0; c < of_channels.size(); ++c, ++places) {
        const core::nccl::TreePlace found = repeated(c).tree[r];
        EXPECT_EQ(found.up, of_channels[c].items()[0].number()) << r << ' ' << c;
        EXPECT_EQ(std::vector<int>(found.down.begin(), found.down.end()),
                  of_channels[c].items()[1].ints())
            << r << ' ' << c;
      }
    }
  }
  EXPECT_GT(rings, 180U);
  EXPECT_GT(places, 1000U);
}

TEST(NcclSearchReference, ThreeNodesOfH100MatchTheirLog) {
  // A real machine from NVIDIA/nccl issue 1453, with NCCL 2.22.3 and one rail per channel.
  SearchSettings settings;
  ASSERT_TRUE(set(settings, "NCCL_CROSS_NIC", "0"));
  const auto found = search_graphs(test::topology("hgxh100"), 3, settings);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->graphs.ring.channels, 8);
  for (int c = 0; c < 8; ++c) {
    std::vector<int> wanted;  // 1 0 7 6 5 4 3 2 for channel 1
    for (int i = 0; i < 8; ++i) wanted.push_back((c - i + 8) % 8);
    EXPECT_EQ(found->graphs.ring.orders[c].gpus, wanted);
  }
}

TEST(NcclSearchReference, CommunicatorsOfTopologiesMatchNccl) {
  // Only one case per machine is used, because each requires a search of the topology file.
  std::set<std::string> seen;
  for (const Data& one : test::nccl_cases()) {
    const std::string name = one["case"].text();
    const std::string kind = fmt::format("{} {} {}", topology_name(name), one["ppn"].number(),
                                         one["nNodes"].number() > 1);
    if (!seen.insert(kind).second) continue;
    SCOPED_TRACE(name);
    const auto gpus = test::first_gpus(test::topology(topology_name(name)),
                                       static_cast<int>(one["ppn"].number()));
    const auto found = searched_communicator(gpus, one["nNodes"].number(), {});
    ASSERT_TRUE(found) << found.error().message();
    const core::nccl::Communicator wanted = test::communicator_of(one);
    EXPECT_EQ(found->ranks, wanted.ranks);
    EXPECT_EQ(found->nodes, wanted.nodes);
    EXPECT_EQ(found->compute_capability, wanted.compute_capability);
    EXPECT_EQ(found->cpu, wanted.cpu);
    EXPECT_EQ(found->nvswitch, wanted.nvswitch);
    EXPECT_EQ(found->channels, wanted.channels);
    EXPECT_EQ(found->nvls_channels, wanted.nvls_channels);
    EXPECT_EQ(found->nvls, wanted.nvls);
    // The graphs are equal (see above). So the choices are equal as well, which tuning_test.cpp
    // compares with NCCL's.
  }
}

/// These machines must have the same graphs as another machine.
TEST(NcclSearchReference, SimilarMachinesHaveTheSameGraphs) {
  const std::vector<std::pair<std::string, std::string>> identical{
      {"hgxh20", "hgxh100"}, {"ndv4", "dgxa100"}, {"ndv5", "hgxh100"}};
  for (const auto& [one, other] : identical) {
    for (const int nodes : {1, 2}) {
      const auto a = search_graphs(test::topology(one), nodes),
                 b = search_graphs(test::topology(other), nodes);
      ASSERT_TRUE(a && b);
      EXPECT_EQ(text(a->graphs.ring), text(b->graphs.ring)) << one << nodes;
      EXPECT_EQ(text(a->graphs.tree), text(b->graphs.tree)) << one << nodes;
      EXPECT_EQ(text(a->graphs.nvls), text(b->graphs.nvls)) << one << nodes;
    }
  }
}

}  // namespace
}  // namespace tutti
