// Machines for which the reference has graphs but no topology file. The tests build their
// topologies from parts, or from the file of a similar machine. The expected graphs are those that
// NCCL 2.28.9's own search finds for them (see topologies/README.md).

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/nccl/search/search.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/samples.h"

namespace tutti {
namespace {

using core::nccl::Graph;
using core::nccl::SearchSettings;
using test::replaced;

/// Returns a text such as "8x48/24": the number of channels, and the bandwidth of each inside a
/// node and (if it differs) between nodes.
std::string rates(const Graph& graph) {
  if (graph.channels == 0) return "-";
  std::string made = fmt::format("{}x{:g}", graph.channels, graph.bw_intra);
  if (graph.bw_inter != graph.bw_intra) made += fmt::format("/{:g}", graph.bw_inter);
  return made;
}
/// Returns a text such as "8x22 NVL/PIX x2 same". The second path type appears only with several
/// nodes.
std::string ring_text(const Graph& graph, bool over_nodes) {
  std::string made = fmt::format("{} {}", rates(graph), to_string(graph.type_intra));
  if (over_nodes) made += fmt::format("/{}", to_string(graph.type_inter));
  if (graph.cross_nic != 0) made += fmt::format(" x{}", graph.cross_nic);
  return made + (graph.same_channels ? " same" : "");
}
/// Returns a text such as "8x48/24 p1", in which p1 is the number of the pattern.
std::string tree_text(const Graph& graph) {
  return fmt::format("{} p{}", rates(graph), static_cast<int>(graph.pattern));
}

struct Wanted {
  std::string ring, tree, nvls;
};

void expect(const std::string& xml, int nodes, const Wanted& wanted,
            const SearchSettings& settings = {}) {
  const auto found = search_graphs(test::topology_of(xml), nodes, settings);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(ring_text(found->graphs.ring, nodes > 1), wanted.ring);
  EXPECT_EQ(tree_text(found->graphs.tree), wanted.tree);
  EXPECT_EQ(rates(found->graphs.nvls), wanted.nvls);
}

constexpr const char* kSkylake = R"(arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85")";
constexpr const char* kSapphireRapids =
    R"(arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143")";

std::string system(const std::string& inside) {
  return "<system version=\"1\">" + inside + "</system>";
}
std::string cpu(int numa, const char* kind, const std::string& inside) {
  return fmt::format("<cpu numaid=\"{}\" affinity=\"\" {}>{}</cpu>", numa, kind, inside);
}
std::string pci(const std::string& id, const char* of_class, const char* speed,
                const std::string& inside) {
  return fmt::format(
      "<pci busid=\"0000:{}:00.0\" class=\"{}\" link_speed=\"{} GT/s PCIe\" "
      "link_width=\"16\">{}</pci>",
      id, of_class, speed, inside);
}
std::string gpu(int number, int sm, const char* speed, const std::string& links = "") {
  return pci(fmt::format("{}0", number + 1), "0x030200", speed,
             fmt::format("<gpu dev=\"{0}\" sm=\"{1}\" rank=\"{0}\" gdr=\"1\">{2}</gpu>", number, sm,
                         links));
}
std::string card(int number, int mbps, const char* speed) {
  return pci(
      fmt::format("{}5", number + 1), "0x020700", speed,
      fmt::format("<nic><net name=\"mlx5_{0}\" dev=\"{0}\" latency=\"0\" speed=\"{1}\" port=\"1\" "
                  "guid=\"0x{2}\" maxconn=\"131072\" gdr=\"1\"/></nic>",
                  number, mbps, 1001 + number));
}

TEST(NcclSearchReference, Hgxa800) {
  const std::string xml = replaced(test::topology_text("dgxa100"), "count=\"12\"", "count=\"8\"");
  expect(xml, 1, {"8x20 NVL same", "8x20 p1", "-"});
  expect(xml, 2, {"8x20 NVL/PIX", "8x20 p1", "-"});
}

TEST(NcclSearchReference, HgxH100WithAmd) {
  const std::string xml = replaced(test::topology_text("hgxh100"),
                                   R"(vendor="GenuineIntel" familyid="6" modelid="143")",
                                   R"(vendor="AuthenticAMD" familyid="175" modelid="17")");
  expect(xml, 1, {"12x30 NVL same", "12x30 p1", "8x40/60"});
  expect(xml, 2, {"8x48 NVL/PIX x2", "8x48 p3", "8x40/48"});
}

TEST(NcclSearchReference, P548xlarge) {
  // The same machine with EFA, whose plugin reports its latency.
  std::string xml = replaced(test::topology_text("hgxh100"),
                             R"(vendor="GenuineIntel" familyid="6" modelid="143")",
                             R"(vendor="AuthenticAMD" familyid="175" modelid="17")");
  xml = replaced(xml, "latency=\"0.000000\"", "latency=\"75.000000\"");
  expect(xml, 1, {"12x30 NVL same", "12x30 p1", "8x40/60"});
  expect(xml, 2, {"8x48 NVL/PIX x2", "8x48 p3", "8x40/48"});
  EXPECT_EQ(search_graphs(test::topology_of(xml), 2)->graphs.tree.latency_inter, 75);
}

TEST(NcclSearchReference, P316xlarge) {
  // A DGX-1V with a single slow card.
  std::string xml = test::topology_text("dgx1v");
  for (const char* other : {"dev=\"1\" latency", "dev=\"2\" latency", "dev=\"3\" latency"})
    xml = replaced(xml, other, "latency");
  xml = replaced(xml, "speed=\"100000\"", "speed=\"25000\"");
  expect(xml, 1, {"6x20 NVL", "6x20 p1", "-"});
  expect(xml, 2, {"1x3 NVL/PIX same", "1x6/3 p1", "-"});
}

TEST(NcclSearchReference, FourT4OnTwoSockets) {
  const std::string xml =
      system(cpu(0, kSkylake, gpu(0, 75, "8.0") + gpu(1, 75, "8.0") + card(0, 25'000, "8.0")) +
             cpu(1, kSkylake, gpu(2, 75, "8.0") + gpu(3, 75, "8.0")));
  expect(xml, 1, {"1x10 SYS same", "1x10 p1", "-"});
  expect(xml, 2, {"1x3 SYS/SYS same", "1x6/3 p1", "-"});
}

std::string two_switches_of_l40s() {
  std::string cpus;
  for (const int socket : {0, 1}) {
    std::string below;
    for (int g = 4 * socket; g < 4 * socket + 4; ++g) below += gpu(g, 89, "16.0");
    below += card(socket, 200'000, "16.0");
    cpus += cpu(socket, kSapphireRapids, pci(socket == 0 ? "a0" : "b0", "0x060400", "16.0", below));
  }
  return system(cpus);
}

TEST(NcclSearchReference, EightL40sBehindTwoSwitches) {
  SearchSettings settings;
  ASSERT_TRUE(set(settings, "NCCL_NET_DISABLE_INTRA", "1"));
  expect(two_switches_of_l40s(), 1, {"1x20 SYS same", "1x20 p1", "-"}, settings);
  expect(two_switches_of_l40s(), 2, {"2x12 SYS/SYS x2", "2x9 p1", "-"}, settings);
}

TEST(NcclSearchReference, NicsThatAreFasterThanTheSocketsSplitAHost) {
  const auto found = search_graphs(test::topology_of(two_switches_of_l40s()), 1);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->nodes_per_topology, 2);
  EXPECT_EQ(found->node.count(core::nccl::NodeKind::kGpu), 4);
  EXPECT_TRUE(found->over_nodes);
}

TEST(NcclSearchReference, FourH100NvlInBridgedPairs) {
  const auto bridged = [](int number, const char* other) {
    return gpu(
        number, 90, "32.0",
        fmt::format(R"(<nvlink target="0000:{}:00.0" count="18" tclass="0x030200"/>)", other));
  };
  const std::string xml = system(
      cpu(0, kSapphireRapids, bridged(0, "20") + bridged(1, "10") + card(0, 400'000, "32.0")) +
      cpu(1, kSapphireRapids, bridged(2, "40") + bridged(3, "30") + card(1, 400'000, "32.0")));
  expect(xml, 1, {"2x11 SYS same", "2x20 p1", "-"});
  expect(xml, 2, {"2x22 SYS/SYS x2", "2x22 p1", "-"});
}

TEST(NcclSearchReference, OneH200) {
  const auto found = search_graphs(test::first_gpus(test::topology("hgxh100"), 1), 1);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(ring_text(found->graphs.ring, false), "32x60 LOC same");
  EXPECT_EQ(tree_text(found->graphs.tree), "32x60 p3");
  EXPECT_EQ(rates(found->graphs.nvls), "-");
  EXPECT_EQ(found->most_gb_per_s, 5000);
}

TEST(NcclSearchReference, Gb200Nvl72) {
  // There are 18 trays of four GPUs on one NVLink domain, and each tray is a host.
  const std::string tray = test::topology_text("gb200_tray");
  const std::size_t begin = tray.find("<cpu"), end = tray.rfind("</system>");
  std::string cpus;
  for (int host = 0; host < 18; ++host) {
    std::string one = replaced(tray.substr(begin, end - begin), "<cpu ",
                               fmt::format("<cpu host_hash=\"{:#x}\" ", host + 1));
    // The rank becomes 4·host + g. A temporary mark avoids replacing a rank twice.
    for (int g = 0; g < 4; ++g)
      one = replaced(one, fmt::format("rank=\"{}\"", g), fmt::format("rank=\"r{}\"", 4 * host + g));
    for (int n = 0; n < 4; ++n)
      one = replaced(one, fmt::format("guid=\"0x{}\"", 1001 + n),
                     fmt::format("guid=\"0xg{}\"", 4 * host + n));
    cpus += replaced(replaced(one, "rank=\"r", "rank=\""), "guid=\"0xg", "guid=\"0x1");
  }
  const auto found = search_graphs(test::topology_of(system(cpus)), 1);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(ring_text(found->graphs.ring, false), "16x45 NVL");
  EXPECT_EQ(tree_text(found->graphs.tree), "16x40 p1");
  EXPECT_EQ(rates(found->graphs.nvls), "32x20/40");
}

}  // namespace
}  // namespace tutti
