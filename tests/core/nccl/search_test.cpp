// Properties of NCCL's graph search: on every machine, the channels that it finds must fit into the
// bandwidth of the machine's links.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/nccl/connect.h"
#include "core/nccl/search/search.h"
#include "core/nccl/topology/paths.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/problems.h"
#include "tests/support/samples.h"

namespace tutti::core::nccl {
namespace {

/// The bandwidth that channels use on every link, computed independently of the search.
class Load {
 public:
  Load(const Topology& topology, const Paths& paths)
      : topology_(topology), paths_(paths), taken_(topology.links.size()) {}

  void gpus(int from_rank, int to_rank, double gb_per_s) {
    const int from = place(from_rank), to = place(to_rank);
    const Path& path = paths_.between(NodeKind::kGpu, from, NodeKind::kGpu, to);
    const bool intel = path.type == PathType::kPhb &&
                       topology_.node(NodeKind::kCpu, 0).cpu.vendor == CpuVendor::kIntel;
    for (const int l : path.links) {
      const bool pcie = topology_.links[l].kind == Wire::kPci;
      taken_[l] += intel && pcie ? gb_per_s * 6 / 5 : gb_per_s;
    }
  }
  void from_net(std::int64_t id, int rank, double gb_per_s) {
    add(paths_.between(NodeKind::kNet, net(id), NodeKind::kGpu, place(rank)), gb_per_s);
  }
  void to_net(int rank, std::int64_t id, double gb_per_s) {
    add(paths_.between(NodeKind::kGpu, place(rank), NodeKind::kNet, net(id)), gb_per_s);
  }
  void expect_to_fit() const {
    for (std::size_t l = 0; l < taken_.size(); ++l)
      EXPECT_LE(taken_[l], topology_.links[l].gb_per_s + 0.01) << l;
  }

 private:
  void add(const Path& path, double gb_per_s) {
    for (const int l : path.links) taken_[l] += gb_per_s;
  }
  [[nodiscard]] int place(int rank) const {
    for (int g = 0; g < topology_.count(NodeKind::kGpu); ++g) {
      if (topology_.node(NodeKind::kGpu, g).gpu.rank == rank) return g;
    }
    throw std::out_of_range("rank");
  }
  [[nodiscard]] int net(std::int64_t id) const {
    for (int n = 0; n < topology_.count(NodeKind::kNet); ++n) {
      if (topology_.node(NodeKind::kNet, n).id() == id) return n;
    }
    throw std::out_of_range("net");
  }

  const Topology& topology_;
  const Paths& paths_;
  std::vector<double> taken_;
};

void lay(const Graph& graph, bool over_nodes, Load& load) {
  for (const GraphChannel& channel : graph.orders) {
    const auto& gpus = channel.gpus;
    for (std::size_t i = 0; i + 1 < gpus.size(); ++i)
      load.gpus(gpus[i], gpus[i + 1], graph.bw_intra);
    if (graph.pattern == Pattern::kRing && !over_nodes && gpus.size() > 1)
      load.gpus(gpus.back(), gpus.front(), graph.bw_intra);
    if (!over_nodes) continue;
    ASSERT_EQ(channel.nets.size(), 2U);
    load.from_net(channel.nets[0], gpus.front(), graph.bw_inter);
    if (graph.pattern == Pattern::kRing) load.to_net(gpus.back(), channel.nets[1], graph.bw_inter);
    if (graph.pattern == Pattern::kTree) load.to_net(gpus.front(), channel.nets[1], graph.bw_inter);
    if (graph.pattern == Pattern::kBalancedTree && gpus.size() > 1) {
      load.to_net(gpus[0], channel.nets[1], graph.bw_inter / 2);
      load.to_net(gpus[1], channel.nets[1], graph.bw_inter / 2);
    }
  }
}

TEST(NcclSearch, ChannelsVisitEveryGpuOnceAndFitTheLinks) {
  for (const std::string& name : test::topology_names()) {
    for (const int nodes : {1, 2}) {
      SCOPED_TRACE(fmt::format("{} × {}", nodes, name));
      const auto found = search_graphs(test::topology(name), nodes);
      ASSERT_TRUE(found) << found.error().message();
      const Paths paths(found->node, {});
      const auto all = static_cast<std::size_t>(found->node.count(NodeKind::kGpu));
      for (const Graph* graph : {&found->graphs.ring, &found->graphs.tree}) {
        ASSERT_GT(graph->channels, 0);
        ASSERT_EQ(graph->orders.size(), static_cast<std::size_t>(graph->channels));
        for (const GraphChannel& channel : graph->orders) {
          EXPECT_EQ(std::set<int>(channel.gpus.begin(), channel.gpus.end()).size(), all);
          EXPECT_EQ(channel.gpus.size(), all);
        }
        Load load(found->node, paths);
        lay(*graph, found->over_nodes, load);
        load.expect_to_fit();
      }
      EXPECT_EQ(found->graphs.tree.channels, found->graphs.ring.channels);
      std::set<int> heads;
      for (const GraphChannel& channel : found->graphs.nvls.orders)
        heads.insert(channel.gpus.front());
      EXPECT_EQ(heads.size(), found->graphs.nvls.orders.size())
          << "every GPU heads one NVLS channel at most";
    }
  }
}

TEST(NcclSearch, TreesOverNodesReachEveryRankOnce) {
  for (const char* name : {"dgx1v", "hgxh100", "gb200_tray"}) {
    const auto found = search_graphs(test::topology(name), 2);
    ASSERT_TRUE(found);
    for (const int nodes : {1, 2, 3, 4, 5, 8, 13, 64}) {
      for (const int channel : {0, connected_channels(found->graphs) - 1}) {
        SCOPED_TRACE(fmt::format("{} × {}, channel {}", nodes, name, channel));
        const auto [ring, tree] = connect_channel(found->graphs, nodes, channel);
        EXPECT_EQ(std::set<int>(ring.begin(), ring.end()).size(), tree.size());
        int roots = 0;
        for (std::size_t r = 0; r < tree.size(); ++r) {
          roots += tree[r].up < 0 ? 1 : 0;
          for (const int child : tree[r].down) {
            if (child < 0) continue;
            EXPECT_EQ(tree[child].up, static_cast<int>(r))
                << "neighbours in one direction are neighbours in the other";
          }
          if (tree[r].up < 0) continue;
          const auto& siblings = tree[tree[r].up].down;
          EXPECT_EQ(std::count(siblings.begin(), siblings.end(), static_cast<int>(r)), 1);
          std::size_t at = r;
          for (std::size_t hops = 0; tree[at].up >= 0; ++hops) {
            ASSERT_LE(hops, tree.size()) << "a circle";
            at = static_cast<std::size_t>(tree[at].up);
          }
        }
        EXPECT_EQ(roots, 1);
      }
    }
  }
}

TEST(NcclSearch, TheNumberingOfRanksDoesNotAffectTheGraphs) {
  // GPU g gets rank 7 - g. The search must find the same channels with these ranks.
  const std::string text = test::topology_text("dgx1v");
  std::string renamed = text;
  for (int g = 0; g < 8; ++g)
    renamed = test::replaced(renamed, fmt::format("rank=\"{}\"", g),
                             fmt::format("rank=\"new{}\"", 7 - g));
  renamed = test::replaced(renamed, "rank=\"new", "rank=\"");
  for (const int nodes : {1, 2}) {
    const auto one = search_graphs(test::topology_of(text), nodes);
    const auto other = search_graphs(test::topology_of(renamed), nodes);
    ASSERT_TRUE(one && other);
    for (std::size_t c = 0; c < one->graphs.ring.orders.size(); ++c) {
      std::vector<int> gpus = one->graphs.ring.orders[c].gpus;
      for (int& g : gpus) g = 7 - g;
      EXPECT_EQ(gpus, other->graphs.ring.orders[c].gpus);
    }
  }
}

TEST(NcclSearch, FollowsSettingsThatExcludePaths) {
  SearchSettings settings;
  ASSERT_TRUE(set(settings, "NCCL_CROSS_NIC", "0"));
  const auto found = search_graphs(test::topology("hgxh100"), 2, settings);
  ASSERT_TRUE(found);
  for (const GraphChannel& channel : found->graphs.ring.orders)
    EXPECT_EQ(channel.nets[0], channel.nets[1]);
  ASSERT_TRUE(set(settings, "NCCL_NVLS_ENABLE", "0"));
  EXPECT_EQ(search_graphs(test::topology("hgxh100"), 1, settings)->graphs.nvls.channels, 0);
}

TEST(NcclSearch, CollNetUsesOnlyNicsThatSupportIt) {
  SearchSettings settings;
  ASSERT_TRUE(set(settings, "NCCL_COLLNET_ENABLE", "1"));
  const std::string text = test::topology_text("dgxa100");
  const auto without = search_graphs(test::topology_of(text), 2, settings);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->graphs.collnet_chain.channels, 0);
  EXPECT_EQ(without->graphs.collnet_direct.channels, 0);
  const auto with = search_graphs(
      test::topology_of(test::replaced(text, "gdr=\"1\"/>", "gdr=\"1\" coll=\"1\"/>")), 2,
      settings);
  ASSERT_TRUE(with);
  EXPECT_EQ(with->graphs.collnet_chain.channels, with->graphs.ring.channels);
  std::set<int> heads;
  for (const GraphChannel& channel : with->graphs.collnet_direct.orders)
    heads.insert(channel.gpus.front());
  EXPECT_EQ(static_cast<int>(heads.size()), with->graphs.collnet_direct.channels);
  EXPECT_GT(with->graphs.collnet_direct.channels, 0);
}

TEST(NcclSearch, RefusesImpossibleTopologies) {
  std::string text = test::topology_text("dgxa100");
  for (int n = 0; n < 8; ++n)
    text = test::replaced(text, fmt::format(" dev=\"{}\" latency", n), " latency");
  EXPECT_TRUE(search_graphs(test::topology_of(text), 1));
  const auto several = search_graphs(test::topology_of(text), 2);
  EXPECT_THAT(test::kinds_of(several), testing::ElementsAre("missing net"));
}

}  // namespace
}  // namespace tutti::core::nccl
