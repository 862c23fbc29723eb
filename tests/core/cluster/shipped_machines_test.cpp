// The machines that are shipped with Tutti. The vendors' figures for a whole machine must follow
// from the parts and links of its description.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/cluster/machine_file.h"
#include "core/scenario/library.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

std::vector<std::string> all() { return test::shipped_library().names(Library::Kind::kMachine); }

const Part& part(const Machine& m, int index) { return m.parts()[index]; }
const MachineLink& link(const Machine& m, int index) { return m.links()[index]; }

/// Returns the sum of the bandwidths in both directions, as vendors count, of the NVLinks between
/// GPUs, or from GPUs to switches, for which `counts` is true.
template <class Counts>
double nvlink_gb_per_s(const Machine& m, const Counts& counts) {
  double sum = 0;
  for (const MachineLink& l : m.links()) {
    if (l.kind == LinkKind::kNvlink && counts(l)) sum += to_gb_per_s(l.nominal);
  }
  return sum;
}

struct Facts {
  std::size_t gpus;
  double nvlink_per_gpu;  ///< GB/s, both directions, as stated by NVIDIA
  double network;         ///< Gb/s per direction, all cards
};

/// SOURCE: NVIDIA's data sheets of the GPUs (NVLink) and systems, AWS's list of instance types
/// (network).
const std::map<std::string, Facts>& facts() {
  static const std::map<std::string, Facts> kFacts{
      {"cpu-host", {0, 0, 25}},
      {"dgx1-p100", {8, 160, 400}},
      {"dgx1-v100", {8, 300, 400}},
      {"dgx2", {16, 300, 800}},
      {"dgx-a100", {8, 600, 1600}},
      {"hgx-h100", {8, 900, 3200}},
      {"hgx-h200", {8, 900, 3200}},
      {"dgx-b200", {8, 1800, 3200}},
      {"quad-gh200", {4, 900, 800}},
      {"gb200-nvl72", {72, 1800, 28800}},
      {"ec2-p2-16xlarge", {16, 0, 20}},
      {"ec2-p3-16xlarge", {8, 300, 25}},
      {"ec2-p3dn-24xlarge", {8, 300, 100}},
      {"ec2-p4d-24xlarge", {8, 600, 400}},
      {"ec2-p5-48xlarge", {8, 900, 3200}},
      {"ec2-p5en-48xlarge", {8, 900, 3200}},
      {"ec2-p6-b200-48xlarge", {8, 1800, 3200}},
      {"ec2-g4dn-12xlarge", {4, 0, 50}},
      {"ec2-g4dn-metal", {8, 0, 100}},
      {"pcie4-a100", {4, 600, 400}},
      {"pcie4-h100-nvl", {4, 600, 800}},
      {"pcie8-l4", {8, 0, 200}},
      {"pcie8-v100", {8, 0, 100}},
      {"pcie-l40s", {8, 0, 400}},
  };
  return kFacts;
}

TEST(ShippedMachines, HaveTheNvlinksAndNicsThatVendorsState) {
  for (const std::string& name : all()) {
    const auto known = facts().find(name);
    ASSERT_NE(known, facts().end()) << name << ": add the facts that its vendor states";
    const auto m = test::shipped_machine(name);
    EXPECT_EQ(m->gpus().size(), known->second.gpus) << name;
    for (const int gpu : m->gpus()) {
      // The NVLink-C2C of a superchip to its CPU does not count.
      const auto of_gpu = [&](const MachineLink& l) {
        return (l.from == gpu || l.to == gpu) && part(*m, l.from).kind != PartKind::kCpu &&
               part(*m, l.to).kind != PartKind::kCpu;
      };
      EXPECT_DOUBLE_EQ(nvlink_gb_per_s(*m, of_gpu), known->second.nvlink_per_gpu)
          << name << " " << part(*m, gpu).name;
    }
    double network = 0;
    for (const int nic : m->nics()) network += 8 * to_gb_per_s(part(*m, nic).nic);
    EXPECT_DOUBLE_EQ(network, known->second.network) << name;
  }
}

TEST(ShippedMachines, HaveTheBisectionBandwidthThatVendorsState) {
  const auto bisection = [](const std::string& name, bool switches) {
    const auto m = test::shipped_machine(name);
    const int half = m->gpus()[m->gpus().size() / 2];
    const auto kind = switches ? PartKind::kNvswitch : PartKind::kGpu;
    return nvlink_gb_per_s(*m, [&](const MachineLink& l) {
      const bool both = part(*m, l.from).kind == kind && part(*m, l.to).kind == kind;
      return both && (switches || (l.from < half) != (l.to < half));
    });
  };
  EXPECT_EQ(bisection("dgx2", true), 2400) << "NVIDIA: 2.4 TB/s";
  EXPECT_EQ(bisection("dgx1-p100", false), 4 * 2 * 20) << "GPU i to i + 4";
  EXPECT_EQ(bisection("dgx1-v100", false), 6 * 2 * 25) << "the same by one and two links";
  const auto nvl72 = test::shipped_machine("gb200-nvl72");
  const auto to_switch = [&](const MachineLink& l) {
    return part(*nvl72, l.to).kind == PartKind::kNvswitch;
  };
  EXPECT_NEAR(2 * nvlink_gb_per_s(*nvl72, to_switch), 130e3, 0.5e3) << "NVIDIA: 130 TB/s";
}

TEST(ShippedMachines, ConnectAllDevicesWithEachOtherAndWithANic) {
  for (const std::string& name : all()) {
    const auto m = test::shipped_machine(name);
    std::vector<int> devices = m->gpus();
    devices.insert(devices.end(), m->cpus().begin(), m->cpus().end());
    for (const int from : devices) {
      EXPECT_GE(m->nearest_nic(from), 0) << name;
      for (const int to : devices) {
        const auto route = m->route(from, to);
        ASSERT_TRUE(route) << name;
        int at = from;
        for (const int l : *route) {
          EXPECT_EQ(link(*m, l).from, at);
          at = link(*m, l).to;
        }
        EXPECT_EQ(at, to) << name;
      }
    }
  }
}

TEST(ShippedMachines, GpusBehindNvswitchesCommunicateOnlyOverNvlink) {
  for (const std::string name :
       {"dgx2", "dgx-a100", "hgx-h100", "hgx-h200", "dgx-b200", "gb200-nvl72", "ec2-p4d-24xlarge",
        "ec2-p5-48xlarge", "ec2-p5en-48xlarge", "ec2-p6-b200-48xlarge"}) {
    const auto m = test::shipped_machine(name);
    for (const int from : m->gpus()) {
      for (const int to : m->gpus()) {
        if (from == to) continue;
        const auto route = m->route(from, to);
        EXPECT_LE(route->size(), name == "dgx2" ? 3u : 2u);
        for (const int l : *route) EXPECT_EQ(link(*m, l).kind, LinkKind::kNvlink) << name;
      }
    }
  }
}

TEST(ShippedMachines, EveryNicServesTheSameNumberOfGpus) {
  for (const std::string& name : all()) {
    const auto m = test::shipped_machine(name);
    if (m->gpus().size() < m->nics().size() || m->nics().size() < 2) continue;
    std::map<int, std::size_t> gpus;
    for (const int gpu : m->gpus()) ++gpus[m->nearest_nic(gpu)];
    for (const auto& [nic, count] : gpus)
      EXPECT_EQ(count, m->gpus().size() / m->nics().size()) << name << " " << nic;
    EXPECT_EQ(gpus.size(), m->nics().size()) << name;
  }
}

TEST(ShippedMachines, LinksHaveNoMorePayloadBandwidthThanTheirLanesCarry) {
  for (const std::string& name : all()) {
    const auto m = test::shipped_machine(name);
    for (const MachineLink& l : m->links()) {
      if (l.nominal.count() == 0) continue;
      const double share =
          static_cast<double>(l.bandwidth.count()) / static_cast<double>(l.nominal.count());
      EXPECT_GT(share, 0.7) << name;
      EXPECT_LT(share, 1) << name;
    }
  }
}

TEST(ShippedMachines, StateASourceForEveryParameter) {
  for (const std::string& name : all()) {
    const auto m = test::shipped_machine(name);
    ASSERT_TRUE(m) << name;
    EXPECT_EQ(m->name(), name) << "a machine is found by its file's name";
    for (const Part& part : m->parts())
      EXPECT_FALSE(part.source.empty()) << name << " " << part.name;
    for (const MachineLink& link : m->links()) EXPECT_FALSE(link.source.empty()) << name;
    for (const int gpu : m->gpus()) EXPECT_GE(m->nearest_nic(gpu), 0) << name;
  }
}

class HybridCubeMesh : public testing::TestWithParam<std::string> {};

TEST_P(HybridCubeMesh, RingsFollowTheNvlinks) {
  const auto m = test::shipped_machine(GetParam());
  ASSERT_FALSE(m->rings_inside().empty());
  for (const RingOrder& ring : m->rings_inside()) {
    for (std::size_t i = 0; i < ring.gpus.size(); ++i) {
      const int from = m->gpus()[ring.gpus[i]];
      const int to = m->gpus()[ring.gpus[(i + 1) % ring.gpus.size()]];
      const auto route = m->route(from, to);
      ASSERT_EQ(route->size(), 1u) << "GPU " << ring.gpus[i] << " to its successor";
      EXPECT_EQ(m->links()[route->front()].kind, LinkKind::kNvlink);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, HybridCubeMesh,
                         testing::Values("dgx1-p100", "dgx1-v100", "ec2-p3-16xlarge",
                                         "ec2-p3dn-24xlarge"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Dgx1WithP100, RingsUseEveryNvlinkOncePerDirection) {
  const auto m = test::shipped_machine("dgx1-p100");
  std::map<std::pair<int, int>, int> used;
  for (const RingOrder& ring : m->rings_inside()) {
    for (std::size_t i = 0; i < 8; ++i)
      used[{ring.gpus[i], ring.gpus[(i + 1) % 8]}] += ring.channels;
  }
  EXPECT_EQ(used.size(), 32u) << "8 GPUs with 4 NVLinks each";
  for (const auto& [pair, times] : used) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace tutti::core
