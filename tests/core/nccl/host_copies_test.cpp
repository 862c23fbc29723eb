// Networks whose cards cannot access the memory of GPUs: data passes through host memory. Predicted
// times are compared with times that were published for EC2's P3dn and G4dn, whose EFA has no RDMA.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/nccl/search/uniform_graphs.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/time/prediction.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::core::nccl {
namespace {

System two_of(const std::string& machine, std::optional<int> gpus = {}) {
  const auto system = system_of(*test::shipped_machine(machine), 2, gpus, {});
  EXPECT_TRUE(system) << system.error().message();
  return system.value_or(System());
}

/// Returns the predicted time in ms of an all-reduce with the protocol Simple.
double ms(const System& system, Algorithm algorithm, std::int64_t bytes) {
  const auto comm = uniform_communicator(system, {2, 10, 3}, {});
  EXPECT_TRUE(comm) << comm.error().message();
  const auto parameters = Parameters::load(test::source_folder() + "/scenarios");
  EXPECT_TRUE(parameters) << parameters.error().message();
  const Choice choice{algorithm, Protocol::kSimple, comm->channels, 512, 0};
  return predict(system, *comm, {Function::kAllReduce, bytes}, choice, *parameters).us() / 1e3;
}

// SOURCE: NVIDIA/nccl-tests issue 22: 1 GB over two P3dn, 134 ms with trees, 268 ms with rings.
TEST(HostCopies, TwoP3dnTakeThePublishedTimes) {
  const System p3dn = two_of("ec2-p3dn-24xlarge");
  ASSERT_EQ(p3dn.transport, Transport::kEfaCopies);
  EXPECT_NEAR(ms(p3dn, Algorithm::kTree, 1 << 30) / 134, 1, 0.3);
  EXPECT_NEAR(ms(p3dn, Algorithm::kRing, 1 << 30) / 268, 1, 0.3);
}

// SOURCE: aws-samples/aws-do-eks: 1 GiB over two G4dn with one GPU each, 345 ms.
TEST(HostCopies, BothDirectionsShareThePcieLinkOfASingleGpu) {
  const System g4dn = two_of("ec2-g4dn-metal", 1);
  EXPECT_NEAR(ms(g4dn, Algorithm::kRing, 1 << 30) / 345, 1, 0.15);
}

TEST(HostCopies, EnterANodeThroughOneGpuAndLeaveItThroughAnother) {
  System one = two_of("dgx1-v100", 1);
  System eight = two_of("dgx1-v100");
  for (System* s : {&one, &eight}) {
    s->nics = 1;
    s->nic_gb_per_s = 50;
    s->gpudirect = false;
    s->shares_pcie_switch = false;  // the card has a link of its own to the CPU
  }
  const std::int64_t bytes = 1 << 30;
  // A ring of two ranks sends `bytes`, one of 16 ranks sends 15/8 of them.
  const double of_one = ms(one, Algorithm::kRing, bytes);
  const double of_eight = ms(eight, Algorithm::kRing, bytes) / (15.0 / 8);
  EXPECT_GT(of_one, 1.8 * of_eight);
}

TEST(HostCopies, CrossTheLinkOfASharedPcieSwitchTwice) {
  System own = two_of("ec2-p4d-24xlarge");
  EXPECT_TRUE(own.shares_pcie_switch);
  EXPECT_FALSE(two_of("ec2-p3dn-24xlarge").shares_pcie_switch);
  own.nics = 1;
  own.nic_gb_per_s = 50;  // PCIe limits the rate
  own.gpudirect = false;
  own.shares_pcie_switch = false;
  System shared = own;
  shared.shares_pcie_switch = true;
  EXPECT_GT(ms(shared, Algorithm::kRing, 1 << 30), 1.8 * ms(own, Algorithm::kRing, 1 << 30));
}

/// Returns a machine whose GPUs are attached to PCIe of `pcie_gb_per_s`. `of_switch` GPUs share the
/// link between their PCIe switch and the CPU.
System on_pcie(int gpus, double pcie_gb_per_s, int of_switch, bool peer_access) {
  auto system = system_of(*test::shipped_machine("pcie8-l4"), 1, gpus, {});
  EXPECT_TRUE(system) << system.error().message();
  system->pcie_gb_per_s = pcie_gb_per_s;
  system->gpus_of_uplink = of_switch;
  system->to_host_gb_per_s = pcie_gb_per_s / of_switch;
  system->peer_access = peer_access;
  return *system;
}

/// Returns the bus bandwidth in GB/s of a large all-reduce.
double bus_gb_per_s(const System& system) {
  const std::int64_t bytes = std::int64_t{1} << 30;
  return 2.0 * (system.gpus - 1) / system.gpus * static_cast<double>(bytes) / 1e6 /
         ms(system, Algorithm::kRing, bytes);
}

// SOURCE: NVIDIA/nccl issue 1639: 28 GB/s with eight RTX 5090 (PCIe 5.0, no peer access), and 35
// GB/s with four of them.
TEST(HostCopies, GpusWithoutPeerAccessReachThePublishedRate) {
  EXPECT_NEAR(bus_gb_per_s(on_pcie(8, 48, 1, false)) / 28, 1, 0.2);
  EXPECT_NEAR(bus_gb_per_s(on_pcie(4, 48, 1, false)) / 35, 1, 0.2);
}

TEST(HostCopies, GpusOfASwitchShareItsLinkToTheCpuIfTheyHaveNoPeerAccess) {
  const double alone = bus_gb_per_s(on_pcie(8, 24, 1, false));
  EXPECT_NEAR(bus_gb_per_s(on_pcie(8, 24, 1, true)) / alone, 1, 1e-9);
  EXPECT_NEAR(bus_gb_per_s(on_pcie(8, 24, 4, true)) / alone, 1, 1e-9)
      << "one GPU of a switch sends to another switch";
  EXPECT_NEAR(bus_gb_per_s(on_pcie(8, 24, 4, false)) / alone, 0.25, 0.02);
}

TEST(HostCopies, AllToAllCrossesTheLinksOfSwitchesAlsoWithPeerAccess) {
  const auto parameters = Parameters::load(test::source_folder() + "/scenarios");
  const auto took = [&](const System& system) {
    const auto comm = uniform_communicator(system, {2, 28, 9}, {});
    return predict_sends(system, *comm, CollectiveKind::kAllToAll, 1 << 30, *parameters).us();
  };
  const double alone = took(on_pcie(8, 24, 1, true));
  // Each GPU sends seven blocks, four of which leave its switch.
  EXPECT_NEAR(took(on_pcie(8, 24, 4, true)) / alone, 4 * 4.0 / 7, 0.1);
  EXPECT_NEAR(took(on_pcie(8, 24, 4, false)) / alone, 4, 0.1);
}

}  // namespace
}  // namespace tutti::core::nccl
