// NCCL's topology files: their content, and the errors that are reported for invalid files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/nccl/topology/topology_file.h"
#include "tests/reference/nccl/topologies.h"
#include "tests/support/problems.h"
#include "tests/support/samples.h"

namespace tutti::core::nccl {
namespace {

using test::at;
using test::FailsWith;
using test::replaced;

// One socket, two GPUs and a card on a switch.
const char* const kSmall = R"(<?xml version="1.0"?>
<!-- a comment -->
<system version="1">
  <cpu numaid="0" affinity="" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="8">
        <gpu dev="0" sm="90" rank="3" gdr="1"><nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x030200" link_speed="5 GT/s" link_width="0">
        <gpu dev="1" sm="90" rank='1' gdr="1"><nvlink target="fffffff:ffff:ff" count="4" tclass="0x068000"/>
          <nvlink target="0000:c1:00.0" count="5" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:18:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" latency="1.5" speed="400000" port="1" guid="0x1001" gdr="1"/>
          <net name="mlx5_9" speed="400000"/></nic>
      </pci>
    </pci>
    <nic><net name="eth0" dev="1" speed="-1"/></nic>
  </cpu>
</system>
)";

float rate(const Topology& topology, const TopologyNode& from, NodeKind to) {
  for (const int l : from.links) {
    const TopologyLink& link = topology.links[l];
    if (topology.nodes[link.to].kind == to) return link.gb_per_s;
  }
  return 0;
}

TEST(TopologyFile, ListsTheNodesOfTheMachine) {
  const Topology t = test::topology_of(kSmall);
  EXPECT_EQ(t.count(NodeKind::kGpu), 2);
  EXPECT_EQ(t.count(NodeKind::kPci), 1);
  EXPECT_EQ(t.count(NodeKind::kNvs), 1) << "several switches are one";
  EXPECT_EQ(t.count(NodeKind::kNic), 2);
  EXPECT_EQ(t.count(NodeKind::kNet), 2) << "a port without a number is left out";
  EXPECT_EQ(t.node(NodeKind::kGpu, 0).gpu.rank, 1) << "the second of those that there are";
  EXPECT_EQ(t.node(NodeKind::kGpu, 1).gpu.rank, 0);
  EXPECT_EQ(t.node(NodeKind::kGpu, 0).local_id, 0x11000U);
  EXPECT_EQ(t.node(NodeKind::kNet, 0).net.latency_us, 1.5F);
  EXPECT_EQ(t.node(NodeKind::kCpu, 0).cpu.vendor, CpuVendor::kIntel);
  EXPECT_TRUE(t.notes.empty());
}

TEST(TopologyFile, LinksHaveNcclsBandwidths) {
  const Topology t = test::topology_of(kSmall);
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kGpu, 0), NodeKind::kNvs), 18 * 20.6F);
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kGpu, 1), NodeKind::kNvs), 9 * 20.6F)
      << "links to two targets are added";
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kGpu, 0), NodeKind::kPci), 12)
      << "8 lanes of generation 4";
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kGpu, 1), NodeKind::kPci), 6)
      << "16 of generation 2, as old kernels say it";
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kNet, 0), NodeKind::kNic), 50);
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kNet, 1), NodeKind::kNic), 1.25F)
      << "10 Gb/s where the speed is not known";
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kNic, 1), NodeKind::kCpu), 5000)
      << "a card that is no PCI device";
}

TEST(TopologyFile, EveryLinkHasAReverse) {
  for (const std::string& name : test::topology_names()) {
    const Topology t = test::topology(name);
    for (std::size_t l = 0; l < t.links.size(); ++l) {
      const TopologyLink& back = t.links[t.links[l].back];
      EXPECT_EQ(back.to, t.links[l].from) << name;
      EXPECT_EQ(back.from, t.links[l].to) << name;
      EXPECT_EQ(back.gb_per_s, t.links[l].gb_per_s) << name;
    }
  }
}

TEST(TopologyFile, WithoutRanksGpusAreNumberedInOrder) {
  const Topology t =
      test::topology_of(replaced(replaced(kSmall, "rank=\"3\"", ""), "rank='1'", ""));
  EXPECT_EQ(t.node(NodeKind::kGpu, 0).gpu.rank, 0);
  EXPECT_EQ(t.node(NodeKind::kGpu, 1).gpu.rank, 1);
  EXPECT_EQ(test::topology_of(replaced(kSmall, "rank=\"3\"", "")).count(NodeKind::kGpu), 1)
      << "not in the communicator";
}

TEST(TopologyFile, NotesAPcieSpeedThatNcclDoesNotKnow) {
  const Topology t = test::topology_of(replaced(kSmall, "16.0 GT/s PCIe", "16.0 GT/s"));
  ASSERT_EQ(t.notes.size(), 1U);
  EXPECT_EQ(t.notes[0].where.line, 6);
  EXPECT_EQ(t.notes[0].kind, (ProblemKind{ProblemCode::kUnknownName, "pci.link_speed"}));
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kGpu, 0), NodeKind::kPci), 6);
}

TEST(TopologyFile, NotesABridgeWithoutAnotherEnd) {
  // A virtual machine has such a file if it gets only one GPU of each bridged pair.
  std::string text = replaced(kSmall, "target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"",
                              "target=\"0000:11:00.0\" count=\"12\" tclass=\"0x030200\"");
  const Topology t = test::topology_of(text);
  ASSERT_EQ(t.notes.size(), 1U);
  EXPECT_EQ(t.notes[0].kind, (ProblemKind{ProblemCode::kUnused, "nvlink.target"}));
}

TEST(TopologyFile, TwoLevelsOfBroadcomSwitchesAreMerged) {
  const char* const ids =
      R"(vendor="0x1000" device="0xc010" subsystem_vendor="0x1000" subsystem_device="0xa096")";
  std::string text = replaced(kSmall, "<pci busid=\"0000:10:00.0\"",
                              fmt::format("<pci busid=\"0000:10:00.0\" {}", ids));
  text = replaced(
      text, "<pci busid=\"0000:18:00.0\"",
      fmt::format("<pci busid=\"0000:17:00.0\" class=\"0x060400\" {} link_speed=\"32.0 GT/s PCIe\" "
                  "link_width=\"16\"><pci busid=\"0000:18:00.0\"",
                  ids));
  text = replaced(text, "speed=\"400000\"/></nic>\n      </pci>",
                  "speed=\"400000\"/></nic>\n      </pci></pci>");
  const Topology t = test::topology_of(text);
  EXPECT_EQ(t.count(NodeKind::kPci), 1);
  EXPECT_FLOAT_EQ(rate(t, t.node(NodeKind::kNic, 0), NodeKind::kPci), 48)
      << "the card hangs on the upper one";
}

TEST(TopologyFile, ErrorsHavePositions) {
  const auto wrong = [](const std::string& text, const std::string& mark, ProblemCode code,
                        const std::string& field) {
    EXPECT_THAT(read_topology(text, "t.xml"), FailsWith(at(text, mark, code, field)));
  };
  const auto changed = [&](const std::string& from, const std::string& to, const std::string& mark,
                           ProblemCode code, const std::string& field) {
    wrong(replaced(kSmall, from, to), mark, code, field);
  };
  wrong("", "", ProblemCode::kSyntax, "");
  wrong("<system version=\"1\"><cpu>", "<cpu^>", ProblemCode::kSyntax, "");
  wrong("<graphs version=\"1\"/>", "graphs", ProblemCode::kUnknownName, "graphs");
  wrong("<system version=\"2\"/>", "system", ProblemCode::kUnsupported, "system.version");
  wrong("<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:00:16.0\"/></cpu></system>",
        "system", ProblemCode::kMissing, "gpu");
  const std::string gpu = "<^gpu", system = "<^system";
  changed("sm=\"90\" rank=\"3\"", "rank=\"3\"", gpu, ProblemCode::kMissing, "gpu.sm");
  changed("sm=\"90\" rank=\"3\"", "sm=\"ninety\" rank=\"3\"", gpu, ProblemCode::kWrongType,
          "gpu.sm");
  changed("sm=\"90\" rank=\"3\"", "sm=\"9\" rank=\"3\"", gpu, ProblemCode::kTooSmall, "gpu.sm");
  changed("sm=\"90\" rank=\"3\"", "sm=\"10000\" rank=\"3\"", gpu, ProblemCode::kTooLarge, "gpu.sm");
  changed("rank=\"3\"", "rank=\"1\"", system, ProblemCode::kDuplicate, "gpu.rank");
  changed("gpu dev=\"1\"", "gpu dev=\"0\"", system, ProblemCode::kDuplicate, "gpu.dev");
  changed("busid=\"0000:12:00.0\"", "busid=\"0000:11:00.0\" class=\"0x030200\" ",
          "<^pci busid=\"0000:11:00.0\" class=\"0x030200\"  ", ProblemCode::kDuplicate,
          "pci.busid");
  changed("0000:12:00.0", "-", "<^pci busid=\"-\"", ProblemCode::kWrongType, "pci.busid");
  changed("dev=\"1\" speed", "dev=\"0\" speed", "<^net name=\"eth0\"", ProblemCode::kDuplicate,
          "net.dev");
  changed("count=\"18\"", "count=\"0\"", "<^nvlink", ProblemCode::kTooSmall, "nvlink.count");
  changed("target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"",
          "target=\"0000:12:00.0\" count=\"18\" tclass=\"0x030200\"", system, ProblemCode::kMissing,
          "nvlink");
  std::string deep = "<system version=\"1\">";
  for (int i = 0; i < 200; ++i) deep += "<cpu numaid=\"0\">";
  for (int i = 0; i < 200; ++i) deep += "</cpu>";
  EXPECT_THAT(read_topology(deep + "</system>", "t.xml"),
              FailsWith(test::Mistake{ProblemCode::kTooLarge, ""}));
}

}  // namespace
}  // namespace tutti::core::nccl
