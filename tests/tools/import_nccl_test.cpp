// Imports NCCL's topology files as clusters, and prints the graphs that NCCL finds on them. The
// results are compared with those of the shipped machines.

#include <algorithm>
#include <map>
#include <regex>
#include <string>

#include "core/nccl/search/graph_file.h"
#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

std::string topology(const std::string& name) {
  return test::source_folder() + "/tests/reference/nccl/topologies/" + name + ".xml";
}

/// Returns the step time on the cluster, as printed in JSON.
std::string step_time(const TemporaryFolder& folder, const std::string& cluster,
                      const std::string& algorithm) {
  const std::string file = folder.write(
      "s.textproto",
      "cluster { " + cluster +
          " } workload { model: \"resnet50_torchvision\" batch: 32 } strategy { algorithm: \"" +
          algorithm + "\" bytes_per_pack: 26214400 } run { steps: 2 }");
  const Outcome o = run_tutti({"simulate", file, "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
  const core::Value report = test::parse_or_throw(o.out, "report");
  return Data(report)["step_time_us"].value().text;
}

TEST(ImportNcclTopology, ReproducesTheShippedMachine) {
  // The shipped machines and NCCL's topology files are independent descriptions of the same
  // machines. With the same links and the same rings, the times are equal to the picosecond.
  const TemporaryFolder folder;
  for (const auto& [xml, machine] :
       {std::pair("hgxh100", "hgx-h100"), std::pair("dgxa100", "dgx-a100"),
        std::pair("dgx1v", "dgx1-v100")}) {
    const Outcome made = run_tutti({"import", "nccl-topology", topology(xml), "--nodes", "2",
                                    "--force", "-o", folder.file("c.textproto")});
    ASSERT_EQ(made.status, 0) << made.err;
    const std::string shipped = std::string("workers { machine: \"") + machine +
                                "\" count: 2 } network { kind: ONE_SWITCH latency_us: 1.5 }";
    for (const char* algorithm : {"nccl", "ring"}) {
      EXPECT_EQ(step_time(folder, "file: \"c.textproto\"", algorithm),
                step_time(folder, shipped, algorithm))
          << machine << ' ' << algorithm;
    }
  }
}

/// The rows that tutti perf prints in JSON.
struct Rows {
  std::string text;                            ///< without low ends of bands and faster settings
  std::map<std::string, std::string> quicker;  ///< the faster settings, by size
};

Rows rows_of(const std::string& cluster, const char* nodes) {
  const Outcome o = run_tutti(
      {"perf", "--cluster", cluster, "--nodes", nodes, "-e", "1G", "-f", "8", "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
  const std::string all = o.out.substr(std::min(o.out.find("\"rows\""), o.out.size()));
  Rows rows;
  // The low ends of bands are bounded by links of machine files, which NCCL's file does not have.
  // A setting is named as faster only if it takes less than the low end, so one side may name it
  // and the other may not.
  rows.text =
      std::regex_replace(all, std::regex(R"("time_low_us": [0-9.]+|,\s*"quicker": \{[^}]*\})"), "");
  const std::regex faster(R"re("bytes": ([0-9]+)[^{}]*"quicker": (\{[^}]*\}))re");
  for (std::sregex_iterator row(all.begin(), all.end(), faster), end; row != end; ++row)
    rows.quicker[(*row)[1]] = (*row)[2];
  return rows;
}

TEST(PerfOfATopology, MatchesThatOfTheShippedMachine) {
  // One side searches the graphs and the other builds them from counts. The choices, and so the
  // times, must be equal.
  for (const auto& [xml, machine] :
       {std::pair("hgxh100", "hgx-h100"), std::pair("dgxa100", "dgx-a100"),
        std::pair("dgx1v", "dgx1-v100"), std::pair("dgxb200", "dgx-b200")}) {
    for (const char* nodes : {"1", "2"}) {
      const Rows searched = rows_of(topology(xml), nodes), built = rows_of(machine, nodes);
      EXPECT_FALSE(searched.text.empty());
      EXPECT_EQ(searched.text, built.text) << nodes;
      for (const auto& [bytes, setting] : searched.quicker) {
        const auto same_size = built.quicker.find(bytes);
        if (same_size != built.quicker.end()) {
          EXPECT_EQ(setting, same_size->second) << nodes << ' ' << bytes;
        }
      }
    }
  }
}

TEST(PerfOfATopology, UsesTheSearchSettings) {
  const TemporaryFolder folder;
  const std::vector<std::string> words{
      "perf", "--cluster", topology("hgxh100"), "--nodes", "2", "-b", "64M", "-e", "64M"};
  const auto with = [&words](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Outcome usual = run_tutti(with({"--set", "NCCL_ALGO=Ring", "--explain"}));
  const Outcome without =
      run_tutti(with({"--set", "NCCL_ALGO=Ring", "--set", "NCCL_CROSS_NIC=0", "--explain"}));
  EXPECT_EQ(usual.status, 0) << usual.err;
  EXPECT_EQ(without.status, 0) << without.err;
  EXPECT_NE(usual.out, without.out) << "8 channels of 45 rather than 48 GB/s";
  // Through host memory, the link between sockets is slower than the cards, so NCCL treats each
  // socket as a node.
  const auto cluster = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--format", "json"});
    return Data(test::parse_or_throw(run_tutti(with(more)).out, "out"))["cluster"].text();
  };
  EXPECT_EQ(cluster({"--set", "NCCL_P2P_DISABLE=1"}), "4 x hgxh100");
  EXPECT_EQ(cluster({"--set", "NCCL_P2P_DISABLE=1", "--set", "NCCL_NET_DISABLE_INTRA=1"}),
            "2 x hgxh100");
  EXPECT_THAT(run_tutti(with({"--set", "NCCL_P2P_DISABLE=1"})).out, HasSubstr("4 nodes of 4 GPUs"));
  EXPECT_THAT(run_tutti(with({"--set", "NCCL_IB_DISABLE=1"})).out, HasSubstr("network tcp"));
  expect_refused(with({"--gpus", "9"}), folder, {ProblemCode::kTooLarge, "--gpus"});
  expect_refused(with({"--network", "pigeons"}), folder, {ProblemCode::kUnknownName, "--network"});
}

/// Without peer access, shared memory and the network, the GPUs of a machine are not connected.
/// tutti perf must report this, too.
TEST(ImportNcclTopology, RefusesGraphsWithoutATransport) {
  const TemporaryFolder folder;
  const std::string file = test::source_folder() + "/tests/reference/nccl/topologies/l40s8_amd.xml";
  expect_refused({"import", "nccl-topology", file, "--graphs", "--set", "NCCL_P2P_DISABLE=1",
                  "--set", "NCCL_SHM_DISABLE=1", "--set", "NCCL_NET_DISABLE_INTRA=1"},
                 folder, {ProblemCode::kConflict, "NCCL_NET_DISABLE_INTRA"});
}

TEST(ImportNcclTopology, MakesAClusterOfEveryMachine) {
  const TemporaryFolder folder;
  for (const char* xml :
       {"a100pcie4_nvbridge", "dgx2", "gb200_nvl8", "gb200_tray", "l40s8_amd", "p4d"}) {
    const Outcome made =
        run_tutti({"import", "nccl-topology", topology(xml), "--nodes", "3", "--link", "hdr",
                   "--name", "mine", "--force", "-o", folder.file("c.textproto")});
    ASSERT_EQ(made.status, 0) << xml << made.err;
    const Outcome outcome = run_tutti(
        {"plan",
         folder.write(
             "s.textproto",
             "cluster { file: \"c.textproto\" } workload { variable { name: \"a\" shape: 100 } "
             "update_ms: 0 } strategy { algorithm: \"nccl\" }"),
         "--format", "json"});
    EXPECT_EQ(outcome.status, 0) << xml << outcome.err;
    EXPECT_THAT(Data(test::parse_or_throw(outcome.out, "plan"))["cluster"].text(),
                testing::StartsWith("3 × mine"));
  }
}

TEST(ImportNcclTopology, PrintsTheGraphs) {
  const TemporaryFolder folder;
  const Outcome text = run_tutti({"import", "nccl-topology", topology("hgxh100"), "--nodes", "2",
                                  "--graphs", "--graph-file", folder.file("g.xml")});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("compute capability 9.0"),
                    HasSubstr("1: NET 1 → 1 2 3 4 5 6 7 0 → NET 0"), HasSubstr("7: 7 by NET 7")));
  const auto graphs = core::nccl::load_graphs(folder.file("g.xml"));
  ASSERT_TRUE(graphs) << graphs.error().message();
  EXPECT_EQ(graphs->size(), 5U);
  const Outcome json =
      run_tutti({"import", "nccl-topology", topology("hgxh100"), "--nodes", "2", "--graphs",
                 "--gpus", "4", "--set", "NCCL_CROSS_NIC=0", "--format", "json"});
  ASSERT_EQ(json.status, 0) << json.err;
  const core::Value report = test::parse_or_throw(json.out, "graphs");
  EXPECT_EQ(Data(report)["compute_capability"].number(), 90);
  EXPECT_EQ(Data(report)["gpus_per_node"].number(), 4);
  const core::Value whole =
      test::parse_or_throw(run_tutti({"import", "nccl-topology", topology("hgxh100"), "--nodes",
                                      "2", "--graphs", "--format", "json"})
                               .out,
                           "graphs");
  for (const char* channels : {"channels", "nvls_channels", "p2p_channels"})
    EXPECT_EQ(Data(whole)[channels].number(), 16) << channels;
  EXPECT_EQ(Data(whole)["p2p_channels_per_peer"].number(), 2);
  const Data ring = Data(report)["graphs"].items().front();
  EXPECT_EQ(ring["name"].text(), "ring");
  EXPECT_EQ(ring["cross_nic"].number(), 0);
  EXPECT_EQ(static_cast<std::int64_t>(ring["orders"].items().size()), ring["channels"].number());
  EXPECT_EQ(ring["orders"].items().front()["gpus"].ints().size(), 4U);
}

TEST(ImportNcclTopology, ComparesGraphsWithADump) {
  const TemporaryFolder folder;
  const std::string file = topology("dgx1v"), dump = folder.file("g.xml");
  ASSERT_EQ(run_tutti({"import", "nccl-topology", file, "--graphs", "--graph-file", dump}).status,
            0);
  const Outcome same = run_tutti({"import", "nccl-topology", file, "--graphs", "--against", dump});
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("ring: the same"));
  const Outcome other = run_tutti({"import", "nccl-topology", file, "--graphs", "--set",
                                   "NCCL_NVB_DISABLE=1", "--nodes", "2", "--against", dump});
  EXPECT_EQ(other.status, 1) << other.err;
  EXPECT_THAT(other.out, testing::ContainsRegex("channels 4, .* 6"));
  const Outcome given =
      run_tutti({"import", "nccl-topology", file, "--graphs", "--set", "NCCL_NVB_DISABLE=1",
                 "--nodes", "2", "--set", "NCCL_GRAPH_FILE=" + dump, "--against", dump});
  EXPECT_EQ(given.status, 0) << "given graphs are not searched: " << given.out;
  std::string without = folder.read("g.xml");
  const std::size_t graph = without.find("<graph ");
  without.erase(graph, without.find("</graph>") + 8 - graph);
  const Outcome missing = run_tutti({"import", "nccl-topology", file, "--graphs", "--against",
                                     folder.write("without.xml", without)});
  EXPECT_EQ(missing.status, 1) << missing.err;
  EXPECT_THAT(missing.out, HasSubstr("ring: the dump has no graph with id 0"));
  expect_refused({"import", "nccl-topology", topology("dgxa100"), "--gpus", "4", "--graphs",
                  "--set", "NCCL_GRAPH_FILE=" + dump},
                 folder, {ProblemCode::kConflict, "graph"});
  expect_refused({"import", "nccl-topology", file, "--against", dump}, folder,
                 {ProblemCode::kUnused, "--against"});
}

TEST(ImportNcclTopology, RefusesInvalidTopologies) {
  const TemporaryFolder folder;
  const std::string file = topology("hgxh100");
  expect_refused({"import", "nccl-topology"}, folder, {ProblemCode::kMissing, "file"});
  expect_refused({"import", "nccl-topology", folder.file("none.xml")}, folder,
                 {.code = ProblemCode::kMissing, .file = folder.file("none.xml")});
  expect_refused({"import", "nccl-topology", file, "--nodes", "0"}, folder,
                 {ProblemCode::kTooSmall, "--nodes"});
  expect_refused({"import", "nccl-topology", file, "--gpus", "9"}, folder,
                 {ProblemCode::kTooLarge, "--gpus"});
  expect_refused({"import", "nccl-topology", file, "--devices", "hgx-h10"}, folder,
                 {ProblemCode::kUnknownName, "--devices"});
  expect_refused({"import", "nccl-topology", file, "--devices", "cpu-host"}, folder,
                 {ProblemCode::kMissing, "Machine.device"});
  expect_refused({"import", "nccl-topology", file, "--link", "ndr"}, folder,
                 {ProblemCode::kUnused, "--link"});
  expect_refused({"import", "nccl-topology", file, "--nodes", "2", "--link", "nrd"}, folder,
                 {ProblemCode::kUnknownName, "Network.link"});
  expect_refused({"import", "nccl-topology", file, "--format", "json"}, folder,
                 {ProblemCode::kUnused, "--format"});
  expect_refused({"import", "nccl-topology", file, "--graphs", "--link", "ndr"}, folder,
                 {ProblemCode::kConflict, "--graphs"});
  expect_refused({"import", "nccl-topology", file, "--set", "NCCL_ALGO=Ring"}, folder,
                 {ProblemCode::kUnknownName, "NCCL_ALGO"});
  expect_refused({"import", "nccl-topology", file, "--set", "NCCL_CROSS_NIC"}, folder,
                 {ProblemCode::kSyntax, "--set"});
  static_cast<void>(folder.write("there.textproto", "x"));
  expect_refused({"import", "nccl-topology", file, "-o", folder.file("there.textproto")}, folder,
                 HasSubstr(folder.file("there.textproto")));
}

}  // namespace
}  // namespace tutti
