// NVLinks that connect GPUs directly, without switches: bridges between PCIe cards, and boards on
// which each pair of GPUs has links of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/measured/system_of_table.h"
#include "core/nccl/search/uniform_graphs.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/time/prediction.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::core::nccl {
namespace {

/// Returns a machine of `gpus` GPUs in which `lanes` NVLinks connect each pair. `model` is the
/// field that states the model of the GPUs.
std::shared_ptr<const Machine> pairs(const std::string& model, int gpus, int lanes,
                                     int generation) {
  std::string text = fmt::format(
      "name: \"mine\"\n"
      "device {{ name: \"gpu[0-{}]\" kind: GPU {} memory_gb_per_s: 500 }}\n"
      "device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 100 }}\n"
      "link {{ from: \"cpu0\" to: \"gpu[0-{}]\" kind: PCIE generation: 3 latency_us: 0.5 }}\n",
      gpus - 1, model, gpus - 1);
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b)
      text += fmt::format(
          "link {{ from: \"gpu{}\" to: \"gpu{}\" kind: NVLINK generation: {} lanes: {} "
          "latency_us: 0.6 }}\n",
          a, b, generation, lanes);
  }
  const auto machine = read_machine(text, "mine.textproto");
  EXPECT_TRUE(machine) << machine.error().message();
  return machine.value_or(nullptr);
}

Communicator communicator(const System& system, Version version = kDefaultVersion) {
  const auto comm = uniform_communicator(system, version, {});
  EXPECT_TRUE(comm) << comm.error().message();
  return comm.value_or(Communicator());
}

Parameters shipped() {
  const auto loaded = Parameters::load(test::source_folder() + "/scenarios");
  EXPECT_TRUE(loaded) << loaded.error().message();
  return loaded.value_or(Parameters::initial());
}

/// Returns the predicted rate in GB/s of send-receive along a ring of all ranks.
double gb_per_s_to_neighbour(const System& system) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 32;
  const Communicator comm = communicator(system, {2, 22, 3});
  return kBytes / 1e3 /
         predict_sends(system, comm, CollectiveKind::kSendReceive, kBytes, shipped()).us();
}

// RTX 2080 Ti have chips of the same generation as T4, and a bridge with two NVLinks of 25 GB/s.
TEST(DirectNvlinks, BridgesAlsoConnectGpusWhoseNearestModelHasNone) {
  const auto system = system_of(*pairs("nearest_gpu_model: T4", 2, 2, 2), 1, {}, {});
  ASSERT_TRUE(system) << system.error().message();
  EXPECT_EQ(system->inside, Inside::kPairs);
  EXPECT_EQ(system->nvlinks, 2);
  EXPECT_EQ(system->nvlink_of_gpu(), 50);
  EXPECT_GT(communicator(*system, {2, 7, 8}).channels, 0);
}

TEST(DirectNvlinks, AreRefusedForGpusThatHaveNone) {
  EXPECT_THAT(test::kinds_of(system_of(*pairs("gpu_model: L40S", 2, 4, 3), 1, {}, {})),
              testing::ElementsAre("conflict Device.gpu_model"));
}

// SOURCE: NVIDIA/nccl-tests issue 331: 72 to 73 GB/s between two A100 of CINECA Leonardo, whose
// pairs of GPUs have four NVLinks each.
TEST(DirectNvlinks, AMessageUsesTheLinksOfItsPair) {
  const auto machine = pairs("gpu_model: A100", 4, 4, 3);
  for (const int gpus : {2, 4}) {
    const auto system = system_of(*machine, 1, gpus, {});
    ASSERT_TRUE(system) << system.error().message();
    EXPECT_NEAR(gb_per_s_to_neighbour(*system) / 72.5, 1, 0.06) << gpus << " GPUs";
  }
}

TableFacts record(int gpus, const std::string& intra) {
  TableFacts f;
  f.table_id = f.config = f.system = "t";
  f.collective = "sendrecv";
  f.gpu_model = "A100-SXM4-64GB";
  f.intra = intra;
  f.dtype = "float";
  f.ranks = f.gpus_per_node = gpus;
  f.nodes = 1;
  f.links_per_gpu = 12;
  f.link_gb_per_s = 25;
  return f;
}

TEST(DirectNvlinks, ARecordOfSomeGpusHasTheLinksBetweenThem) {
  const auto of = [](int gpus) {
    return system_of(record(gpus, "NVLink3 all-to-all (4 links per pair)")).value().system;
  };
  EXPECT_EQ(of(2).nvlinks, 4);
  EXPECT_EQ(of(3).nvlinks, 8);
  EXPECT_EQ(of(4).nvlinks, 12);
  EXPECT_NEAR(gb_per_s_to_neighbour(of(2)) / gb_per_s_to_neighbour(of(4)), 1, 0.01);
}

TEST(DirectNvlinks, ARecordStatesBridges) {
  const System two = system_of(record(2, "NVLink3 bridges")).value().system;
  EXPECT_EQ(two.inside, Inside::kPairs);
  EXPECT_EQ(two.nvlinks, 12);
  EXPECT_EQ(system_of(record(4, "NVLink3 bridges")).value().system.inside, Inside::kPcie)
      << "the ring crosses PCIe between the pairs";
}

TEST(DirectNvlinks, ARecordStatesTheRateOfPcie) {
  TableFacts f = record(2, "PCIe gen3, x8");
  f.pcie_gb_per_s = 6;
  EXPECT_EQ(system_of(f)->system.pcie_gb_per_s, 6);
  f.pcie_gb_per_s = -1;
  EXPECT_THAT(test::kinds_of(system_of(f)), testing::ElementsAre("invalid pcie_gbytes_dir"));
}

}  // namespace
}  // namespace tutti::core::nccl
