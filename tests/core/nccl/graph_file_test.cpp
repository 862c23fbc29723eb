// NCCL's graph dumps: they are written and read back, dumps of other releases are read, and errors
// in dumps are reported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/nccl/search/graph_file.h"
#include "core/nccl/search/search.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/problems.h"
#include "tests/support/samples.h"

namespace tutti::core::nccl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The format of NCCL 2.6 to 2.20: plain numbers, no latency.
const char* const kOld = R"(<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="12" speedinter="2.4" typeintra="SYS" typeinter="PIX" samechannels="0">
    <channel>
      <net dev="1"/>
      <gpu dev="10"/>
      <gpu dev="2"/>
      <net dev="0"/>
    </channel>
    <channel>
      <gpu dev="2"/>
      <gpu dev="10"/>
    </channel>
  </graph>
  <graph id="3" pattern="5" crossnic="0" nchannels="0" speedintra="0" speedinter="0" typeintra="LOC" typeinter="LOC" samechannels="0"/>
</graphs>
)";

TEST(GraphFile, ReadsFilesOfOldVersions) {
  const auto graphs = read_graphs(kOld, "g.xml");
  ASSERT_TRUE(graphs) << graphs.error().message();
  ASSERT_EQ(graphs->size(), 2U);
  const Graph& ring = graphs->front();
  EXPECT_EQ(ring.pattern, Pattern::kRing);
  EXPECT_FLOAT_EQ(ring.bw_inter, 2.4F);
  EXPECT_EQ(ring.latency_inter, 0);
  EXPECT_EQ(ring.type_intra, PathType::kSys);
  EXPECT_THAT(ring.orders[0].gpus, ElementsAre(1, 0)) << "by their places among all";
  EXPECT_THAT(ring.orders[0].nets, ElementsAre(1, 0));
  EXPECT_THAT(ring.orders[1].nets, ElementsAre());
  EXPECT_EQ(graphs->back().channels, 0);
}

TEST(GraphFile, ReadsWhatItWrites) {
  for (const std::string& name : test::topology_names()) {
    for (const int nodes : {1, 2}) {
      const auto found = search_graphs(test::topology(name), nodes);
      ASSERT_TRUE(found);
      const Graphs& g = found->graphs;
      const std::vector<Graph> written{g.ring, g.tree, g.collnet_direct, g.collnet_chain, g.nvls};
      const auto read = read_graphs(write_graphs(written, found->node), "g.xml");
      ASSERT_TRUE(read) << read.error().message();
      ASSERT_EQ(read->size(), written.size());
      for (std::size_t i = 0; i < written.size(); ++i) {
        const Graph& a = written[i];
        const Graph& b = (*read)[i];
        EXPECT_EQ(std::tie(a.id, a.pattern, a.cross_nic, a.channels, a.type_intra, a.type_inter,
                           a.same_channels),
                  std::tie(b.id, b.pattern, b.cross_nic, b.channels, b.type_intra, b.type_inter,
                           b.same_channels));
        EXPECT_NEAR(a.bw_intra, b.bw_intra, 1e-4) << "six digits are written";
        EXPECT_NEAR(a.bw_inter, b.bw_inter, 1e-4);
        ASSERT_EQ(a.orders.size(), b.orders.size());
        for (std::size_t c = 0; c < a.orders.size(); ++c) {
          EXPECT_EQ(a.orders[c].gpus, b.orders[c].gpus) << name;
          EXPECT_EQ(a.orders[c].nets, b.orders[c].nets) << name;
        }
      }
    }
  }
}

TEST(GraphFile, NamesDevicesLikeNccl) {
  const auto found = search_graphs(test::topology("gb200_nvl8"), 2);
  ASSERT_TRUE(found);
  const std::string text = write_graphs(std::vector<Graph>{found->graphs.ring}, found->node);
  EXPECT_THAT(
      text,
      HasSubstr("<graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"8\" speedintra=\"48\" "
                "speedinter=\"48\" latencyinter=\"0\" typeintra=\"NVL\" typeinter=\"P2C\" "
                "samechannels=\"0\">"));
  EXPECT_THAT(text, HasSubstr("<net dev=\"0\"/>"));
  EXPECT_THAT(text, HasSubstr("<gpu dev=\"0x100000000000003\"/>"))
      << "the second host's fourth GPU";
}

TEST(GraphFile, ReportsErrors) {
  const auto wrong = [](const std::string& text, const std::string& mark, ProblemCode code,
                        const std::string& field) {
    EXPECT_THAT(read_graphs(text, "g.xml"), test::FailsWith(test::at(text, mark, code, field)));
  };
  const auto changed = [&](const std::string& from, const std::string& to, const std::string& mark,
                           ProblemCode code, const std::string& field) {
    wrong(test::replaced(kOld, from, to), mark, code, field);
  };
  wrong("<graphs version=\"1\"/>", "graphs", ProblemCode::kMissing, "graph");
  const std::string first = "<^graph id", second = "</graph>\n  <^graph id";
  changed("pattern=\"4\"", "pattern=\"7\"", first, ProblemCode::kTooLarge, "graph.pattern");
  changed("typeintra=\"SYS\"", "typeintra=\"FAR\"", first, ProblemCode::kUnknownName,
          "graph.typeintra");
  changed("nchannels=\"2\"", "nchannels=\"3\"", first, ProblemCode::kConflict, "graph.nchannels");
  changed("id=\"3\"", "id=\"0\"", second, ProblemCode::kDuplicate, "graph.id");
  changed("<gpu dev=\"10\"/>", "<gpu dev=\"2\"/>", "<gpu dev=\"2\"/>\n      <^gpu dev=\"2\"",
          ProblemCode::kDuplicate, "gpu.dev");
  changed("speedintra=\"12\"", "", first, ProblemCode::kMissing, "graph.speedintra");
}

}  // namespace
}  // namespace tutti::core::nccl
