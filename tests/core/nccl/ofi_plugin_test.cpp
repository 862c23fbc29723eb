// How NCCL sees network cards: releases of aws-ofi-nccl on the generations of EFA, and cards that
// consist of several devices. The expected values are those of the plugin's source at its tags.

#include "core/nccl/ofi_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cluster/cards_per_gpu.h"
#include "core/cluster/machine_file.h"
#include "core/nccl/known_gpus.h"
#include "core/nccl/search/uniform_graphs.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/time/prediction.h"
#include "core/nccl/tuning/choice.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core::nccl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(OfiPlugin, ReleasesAreReadWithTheirTagNames) {
  EXPECT_EQ(parse_ofi_plugin("1.16.3"), (Version{1, 16, 3}));
  EXPECT_EQ(parse_ofi_plugin("v1.7.4-aws"), (Version{1, 7, 4}));
  EXPECT_EQ(parse_ofi_plugin("1.14"), (Version{1, 14, 0}));
  for (const char* wrong : {"", "1", "1.", "2.14", "1.16.3.1", "1.x", "aws", "1.16 "})
    EXPECT_THAT(test::kinds_of(parse_ofi_plugin(wrong)), ElementsAre("syntax ofi_plugin")) << wrong;
  EXPECT_THAT(test::kinds_of(parse_ofi_plugin("1.1.5")), ElementsAre("too-small ofi_plugin"));
}

TEST(OfiPlugin, UsualReleaseIsThatOfNcclsTimeAndSupportsTheInstance) {
  EXPECT_EQ(usual_ofi_plugin({2, 12, 7}, Transport::kEfaV1), (Version{1, 3, 0}));
  EXPECT_EQ(usual_ofi_plugin({2, 18, 3}, Transport::kEfaV1), (Version{1, 6, 0}));
  EXPECT_EQ(usual_ofi_plugin({2, 28, 9}, Transport::kEfaV1), (Version{1, 17, 0}));
  EXPECT_EQ(usual_ofi_plugin({2, 18, 3}, Transport::kEfaV2), (Version{1, 7, 3}));
  EXPECT_EQ(usual_ofi_plugin({2, 18, 3}, Transport::kEfaV3), (Version{1, 13, 0}));
}

OfiPluginBehaviour behaviour_on(Transport transport, Version plugin, GpuGeneration gpus,
                                Version nccl = kDefaultVersion) {
  return behaviour_of(plugin, transport, gpus, nccl);
}

TEST(OfiPlugin, ReportsTheLatencyOfItsRelease) {
  constexpr auto kAmpere = GpuGeneration::kAmpere, kHopper = GpuGeneration::kHopper;
  EXPECT_EQ(behaviour_on(Transport::kEfaV1, {1, 5, 0}, kAmpere).latency_us, 150);
  EXPECT_EQ(behaviour_on(Transport::kEfaV1, {1, 7, 0}, kAmpere).latency_us, 75);
  EXPECT_EQ(behaviour_on(Transport::kEfaV3, {1, 12, 0}, kHopper).latency_us,
            150);  // unknown instance
  EXPECT_EQ(behaviour_on(Transport::kEfaV3, {1, 13, 0}, kHopper).latency_us, 75);
  EXPECT_EQ(behaviour_on(Transport::kEfaV3, {1, 15, 0}, kHopper).latency_us, 35);
  EXPECT_EQ(behaviour_on(Transport::kEfaV2, {1, 17, 0}, kHopper).latency_us, 75);
  EXPECT_EQ(behaviour_on(Transport::kEfaCopies, {1, 17, 0}, GpuGeneration::kVolta).latency_us, 150);
  EXPECT_EQ(behaviour_on(Transport::kEfaCopies, {1, 17, 0}, GpuGeneration::kTuring).latency_us, 75);
  // NCCL before 2.12 does not ask for the latency.
  EXPECT_EQ(behaviour_on(Transport::kEfaV1, {1, 5, 0}, kAmpere, {2, 11, 4}).latency_us, 0);
}

TEST(OfiPlugin, AllowsLlOnlyWithRdmaWrites) {
  constexpr auto kAmpere = GpuGeneration::kAmpere, kHopper = GpuGeneration::kHopper;
  EXPECT_FALSE(behaviour_on(Transport::kEfaV1, {1, 5, 0}, kAmpere).only_simple);
  EXPECT_TRUE(behaviour_on(Transport::kEfaV1, {1, 6, 0}, kAmpere).only_simple);
  EXPECT_TRUE(behaviour_on(Transport::kEfaV1, {1, 20, 0}, kAmpere).only_simple);
  EXPECT_TRUE(behaviour_on(Transport::kEfaV2, {1, 7, 2}, kHopper).only_simple);
  EXPECT_FALSE(behaviour_on(Transport::kEfaV2, {1, 7, 3}, kHopper).only_simple);
  EXPECT_TRUE(behaviour_on(Transport::kEfaV3, {1, 12, 0}, kHopper).only_simple);
  EXPECT_FALSE(behaviour_on(Transport::kEfaV3, {1, 13, 0}, kHopper).only_simple);
  EXPECT_TRUE(behaviour_on(Transport::kEfaV4, {1, 13, 0}, GpuGeneration::kBlackwell).only_simple);
  EXPECT_FALSE(behaviour_on(Transport::kEfaV4, {1, 14, 0}, GpuGeneration::kBlackwell).only_simple);
}

/// Returns eight GPUs with network cards on each of two nodes.
System with_cards_of(int nics, double nic_gb_per_s, Transport transport, int devices = 1) {
  System s;
  s.generation = GpuGeneration::kHopper;
  s.compute_capability = 90;
  s.nodes = 2;
  s.nvlinks = 18;
  s.pcie_gb_per_s = 48;
  s.nics = nics;
  s.nic_gb_per_s = nic_gb_per_s;
  s.transport = transport;
  s.devices_per_card = devices;
  return s;
}

TEST(NetworkCards, EfaDevicesOfAGpuAreOneCardWithRdmaWrites) {
  System p5 = with_cards_of(32, 12.5, Transport::kEfaV2);
  Settings settings;
  see_network(p5, kDefaultVersion, settings);
  EXPECT_EQ(p5.nics, 8);
  EXPECT_EQ(p5.nic_gb_per_s, 50);
  // With SENDRECV, NCCL sees each device.
  System old = with_cards_of(8, 50, Transport::kEfaV3, 2);
  old.ofi_plugin = Version{1, 9, 0};
  Settings of_old;
  see_network(old, {2, 22, 3}, of_old);
  EXPECT_EQ(old.nics, 16);
  EXPECT_EQ(old.nic_gb_per_s, 25);
  EXPECT_THAT(of_old.notes, ElementsAre("aws-ofi-nccl 1.9.0 sets NCCL_PROTO=Simple"));
}

TEST(NetworkCards, PortsOfAnAdapterAreMergedFromNccl220On) {
  for (const auto& [version, nics] :
       {std::pair(Version{2, 18, 3}, 16), std::pair(Version{2, 20, 5}, 8)}) {
    System s = with_cards_of(8, 50, Transport::kInfiniband, 2);
    Settings settings;
    see_network(s, version, settings);
    EXPECT_EQ(s.nics, nics) << to_string(version);
    EXPECT_EQ(s.nics * s.nic_gb_per_s, 400) << to_string(version);
    EXPECT_THAT(settings.notes, IsEmpty());
    // The channels of the search are those of the cards that NCCL sees.
    EXPECT_EQ(uniform_communicator(s, version, settings)->graphs.ring.channels, nics);
  }
}

TEST(NetworkCards, VariablesOfTheUserHavePrecedenceOverThoseOfThePlugin) {
  System s = with_cards_of(4, 12.5, Transport::kEfaV1);
  auto settings =
      read_settings({{"NCCL_PROTO", "LL"}, {"NCCL_BUFFSIZE", "2097152"}}, kDefaultVersion);
  ASSERT_TRUE(settings);
  const auto before = settings->protocols;
  see_network(s, kDefaultVersion, *settings);
  EXPECT_EQ(settings->protocols, before);
  EXPECT_EQ(settings->buffer_bytes, 2097152);
  EXPECT_EQ(s.card_latency_us, 75);
}

double us(Transport transport, Version plugin, std::int64_t bytes) {
  System s = with_cards_of(8, 50, transport);
  s.ofi_plugin = plugin;
  Settings settings;
  see_network(s, kDefaultVersion, settings);
  const auto comm = uniform_communicator(s, kDefaultVersion, settings);
  const Operation operation{Function::kAllReduce, bytes};
  const auto choice = choose(*comm, tune(*comm, settings), operation);
  return predict(s, *comm, operation, *choice, *Parameters::load(test::shipped_library().folder()))
      .us();
}

TEST(EfaGenerations, LaterOnesAreFasterForSmallMessagesAndEquallyFastForLargeOnes) {
  const Version plugin{1, 17, 0};
  EXPECT_LT(us(Transport::kEfaV2, plugin, 8), us(Transport::kEfaV1, plugin, 8));
  EXPECT_LT(us(Transport::kEfaV3, plugin, 8), us(Transport::kEfaV2, plugin, 8));
  EXPECT_EQ(us(Transport::kEfaV4, plugin, 8), us(Transport::kEfaV3, plugin, 8));
  const std::int64_t large = std::int64_t{8} << 30;
  EXPECT_NEAR(us(Transport::kEfaV3, plugin, large) / us(Transport::kEfaV2, plugin, large), 1, 0.02);
  // An old plugin allows only Simple.
  EXPECT_GT(us(Transport::kEfaV3, {1, 9, 0}, 8), us(Transport::kEfaV3, plugin, 8));
}

TEST(EfaGenerations, AreThoseOfTheGpusUnlessStated) {
  EXPECT_EQ(at_gpus(Transport::kEfa, GpuGeneration::kVolta), Transport::kEfaCopies);
  EXPECT_EQ(at_gpus(Transport::kEfaV1, GpuGeneration::kVolta), Transport::kEfaCopies);
  EXPECT_EQ(at_gpus(Transport::kEfa, GpuGeneration::kAmpere), Transport::kEfaV1);
  EXPECT_EQ(at_gpus(Transport::kEfa, GpuGeneration::kHopper), Transport::kEfaV2);
  EXPECT_EQ(at_gpus(Transport::kEfaV3, GpuGeneration::kHopper), Transport::kEfaV3);
  EXPECT_EQ(at_gpus(Transport::kEfa, GpuGeneration::kBlackwell), Transport::kEfaV4);
}

// --- cards per GPU ---

System system_with(CardsPerGpu cards, std::optional<Bandwidth> rate = {},
                   std::optional<int> gpus = {}) {
  const auto changed = with_cards(*test::shipped_machine("hgx-h100"), cards, rate);
  EXPECT_TRUE(changed) << (changed ? "" : changed.error().message());
  const auto system = system_of(**changed, 2, gpus, std::nullopt);
  EXPECT_TRUE(system) << (system ? "" : system.error().message());
  return system.value_or(System());
}

TEST(CardsPerGpu, AreAttachedWhereTheNearestCardOfTheGpuIs) {
  EXPECT_EQ(system_with(CardsPerGpu::kOneForFour).nics, 2);
  EXPECT_EQ(system_with(CardsPerGpu::kOneForTwo).nics, 4);
  EXPECT_EQ(system_with(CardsPerGpu::kOne).nics, 8);
  EXPECT_EQ(system_with(CardsPerGpu::kTwo).nics, 16);
  EXPECT_EQ(system_with(CardsPerGpu::kFour).nics, 32);
  EXPECT_EQ(system_with(CardsPerGpu::kTwo).nic_gb_per_s, 50);
  EXPECT_EQ(system_with(CardsPerGpu::kTwo, bandwidth_from_gb_per_s(25)).nic_gb_per_s, 25);
  EXPECT_EQ(system_with(CardsPerGpu::kTwo, {}, 4).nics, 8);  // half of the GPUs, half of the cards
  const auto machine = with_cards(*test::shipped_machine("hgx-h100"), CardsPerGpu::kTwo, {});
  for (int gpu = 0; gpu < 8; ++gpu) {
    const auto route = (*machine)->route((*machine)->gpus()[gpu], (*machine)->nics()[2 * gpu + 1]);
    ASSERT_TRUE(route);
    EXPECT_EQ(route->size(), 2U);  // over the GPU's own PCIe switch
  }
}

TEST(CardsPerGpu, NeedANumber) {
  EXPECT_DEATH(static_cast<void>(with_cards(*test::shipped_machine("hgx-h100"),
                                            CardsPerGpu::kAsDeclared, std::nullopt)),
               "no number of cards");
}

TEST(CardsPerGpu, OfAMachineFileReplaceItsCards) {
  const auto file = test::shipped_library().read(Library::Kind::kMachine, "hgx-h100", "");
  const auto two = read_machine((*file)->text + "cards_per_gpu: TWO_CARDS_PER_GPU\n", "m");
  ASSERT_TRUE(two) << two.error().message();
  EXPECT_EQ((*two)->nics().size(), 16U);
  const auto host = test::shipped_library().read(Library::Kind::kMachine, "cpu-host", "");
  const auto none = read_machine((*host)->text + "cards_per_gpu: ONE_CARD_PER_GPU\n", "m");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(), HasSubstr("has no GPUs"));
}

TEST(CardsPerGpu, NamesAreThoseOfTheOption) {
  for (const char* name : {"1/4", "1/2", "1", "2", "4"}) EXPECT_TRUE(parse_cards_per_gpu(name));
  EXPECT_EQ(parse_cards_per_gpu("2"), CardsPerGpu::kTwo);
  EXPECT_FALSE(parse_cards_per_gpu("3"));
  EXPECT_FALSE(parse_cards_per_gpu(""));
  EXPECT_EQ(cards_per_gpu_names(), "1/4, 1/2, 1, 2, 4");
}

}  // namespace
}  // namespace tutti::core::nccl
