// NCCL's predicted times keep to physics on machines that nobody built: 1 to 16 GPUs, any number of
// cards, slow PCIe, few NVLinks, 1 to 1000 nodes, every transport. The machines are random, with a
// fixed seed. For each machine and collective: times are positive and finite, grow with the size,
// and no link is above its rate. With fewer or slower links, or with more nodes, nothing gets
// faster as long as NCCL chooses the same algorithm, protocol and channels, and as long as the size
// of its messages stays on the same side of the limit for rendezvous.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/machine_communicator.h"
#include "core/nccl/ofi_plugin.h"
#include "core/nccl/system_of_machine.h"
#include "core/strategy/nccl_links.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::CollectiveKind;
namespace nccl = core::nccl;

struct Gpu {
  const char* model;
  int nvlink;  ///< generation; 0: none
  int links;
};
constexpr Gpu kGpuModels[] = {{"V100", 2, 6},  {"A100", 3, 12}, {"H100", 4, 18}, {"H800", 4, 8},
                              {"B200", 5, 18}, {"T4", 0, 0},    {"L40S", 0, 0}};
constexpr CollectiveKind kCollectives[] = {
    CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
    CollectiveKind::kBroadcast, CollectiveKind::kReduce,        CollectiveKind::kAllToAll,
    CollectiveKind::kGather,    CollectiveKind::kScatter,       CollectiveKind::kSendReceive};

struct Strange {
  Gpu gpu{};
  int gpus = 1;
  int links = 0;  ///< NVLinks of a GPU
  int cards = 1;  ///< a multiple or a divisor of the number of GPUs, as the time model assumes
  double card_gb_per_s = 1;
  int pcie = 3;  ///< generation
  int lanes = 16;
  int nodes = 1;
  std::string transport;
  nccl::Version version;
};

std::string to_string(const Strange& one) {
  return fmt::format("{} x {} {} ({} NVLinks), {} cards of {} GB/s ({}), PCIe {} x {}, NCCL {}",
                     one.nodes, one.gpus, one.gpu.model, one.links, one.cards, one.card_gb_per_s,
                     one.transport, one.pcie, one.lanes, to_string(one.version));
}

/// Returns the text of a machine file with one PCIe switch per GPU.
std::string text_of(const Strange& one) {
  const auto range = [](const char* name, int count) {
    return fmt::format("{}[0-{}]", name, count - 1);
  };
  const std::string gpus = range("gpu", one.gpus), switches = range("plx", one.gpus);
  std::string text = fmt::format(
      "name: \"strange\" source: \"random\"\n"
      "device {{ name: \"{}\" kind: GPU gpu_model: {} memory_gb_per_s: 1000 }}\n"
      "device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 100 }}\n"
      "switch {{ name: \"{}\" kind: PCIE_SWITCH }}\n"
      "link {{ from: \"{}\" to: \"{}\" kind: PCIE generation: {} lanes: {} latency_us: 0.5 }}\n"
      "link {{ from: \"cpu0\" to: \"{}\" kind: PCIE generation: {} latency_us: 0.5 }}\n",
      gpus, one.gpu.model, switches, switches, gpus, one.pcie, one.lanes, switches, one.pcie);
  if (one.links > 0)
    text += fmt::format(
        "switch {{ name: \"nvs\" kind: NVSWITCH in_switch_reduction: true }}\n"
        "link {{ from: \"{}\" to: \"nvs\" kind: NVLINK generation: {} lanes: {} latency_us: 0.3 "
        "}}\n",
        gpus, one.gpu.nvlink, one.links);
  for (int card = 0; card < one.cards; ++card)
    text += fmt::format(
        "nic {{ name: \"nic{}\" bandwidth_gb_per_s: {} transport: {} }}\n"
        "link {{ from: \"nic{}\" to: \"plx{}\" kind: PCIE generation: {} latency_us: 0.5 }}\n",
        card, one.card_gb_per_s, one.transport, card, card * one.gpus / one.cards, one.pcie);
  return text;
}

/// The predictions for one machine; nullopt if NCCL cannot use its links.
class Predicted {
 public:
  static std::optional<Predicted> of(const Strange& one) {
    static const auto parameters = nccl::Parameters::load(test::shipped_library().folder());
    static const auto bands = nccl::ErrorBands::load(test::shipped_library().folder());
    const auto machine = core::read_machine(text_of(one), "strange");
    EXPECT_TRUE(machine) << (machine ? "" : machine.error().message());
    if (!machine) return std::nullopt;
    auto system = nccl::system_of(**machine, one.nodes, std::nullopt, std::nullopt);
    EXPECT_TRUE(system) << (system ? "" : system.error().message());
    if (!system) return std::nullopt;
    nccl::Settings settings;
    nccl::see_network(*system, one.version, settings);
    auto known =
        nccl::on_machines(**machine, *system, std::nullopt, "--network", settings, one.version);
    if (!known) return std::nullopt;  // links too slow for a single channel
    const nccl::Predictor predictor(known->system, known->communicator, settings, *parameters,
                                    *bands);
    return Predicted(*machine, predictor);
  }

  [[nodiscard]] std::optional<nccl::CollectiveTime> time(CollectiveKind kind,
                                                         std::int64_t about) const {
    const std::int64_t unit = std::int64_t{4} * predictor_.communicator().ranks;
    const std::int64_t bytes = (about + unit - 1) / unit * unit;
    auto time = predictor_.of(kind, bytes, core::DataType::kFloat32, core::Reduction::kSum);
    EXPECT_TRUE(time) << (time ? "" : time.error().message());
    if (!time) return std::nullopt;
    const core::NcclLinkBound bound(
        machine_, std::nullopt,
        std::make_shared<const nccl::Communicator>(predictor_.communicator()), kind, 0);
    bound.apply(*time);
    return *time;
  }

 private:
  Predicted(std::shared_ptr<const core::Machine> machine, nccl::Predictor predictor)
      : machine_(std::move(machine)), predictor_(std::move(predictor)) {}

  std::shared_ptr<const core::Machine> machine_;
  nccl::Predictor predictor_;
};

Strange random_machine(std::mt19937& random) {
  const auto any = [&](const auto& list) { return list[random() % std::size(list)]; };
  Strange one;
  one.gpu = any(kGpuModels);
  constexpr int kNumbers[] = {2, 3, 4, 6, 8, 8, 12, 16};
  one.gpus = any(kNumbers);
  one.links = one.gpu.links;
  if (one.links > 0 && random() % 2 == 0) one.links /= 2;
  constexpr int kPart[] = {1, 1, 2, 2};  // cards for one GPU, or GPUs for one card
  const int part = any(kPart);
  one.cards = random() % 2 == 0 ? one.gpus * part : std::max(1, one.gpus / part);
  if (one.gpus % one.cards != 0 && one.cards % one.gpus != 0) one.cards = one.gpus;
  constexpr double kRates[] = {1.25, 6.25, 12.5, 25, 50, 100};
  one.card_gb_per_s = any(kRates);
  one.pcie = 2 + static_cast<int>(random() % 4);
  constexpr int kLanes[] = {4, 8, 16, 16};
  one.lanes = any(kLanes);
  constexpr int kNodes[] = {1, 2, 3, 7, 16, 40, 128, 1000};
  one.nodes = any(kNodes);
  constexpr const char* kTransports[] = {"INFINIBAND", "ROCE",   "EFA_V1", "EFA_V2",
                                         "EFA_V3",     "EFA_V4", "TCPX",   "EFA_WITHOUT_RDMA",
                                         "SLINGSHOT",  "TCPXO"};
  one.transport = any(kTransports);
  constexpr nccl::Version kVersions[] = {{2, 8, 4}, {2, 18, 3}, {2, 21, 5}, {2, 28, 9}};
  one.version = any(kVersions);
  return one;
}

bool same_choice(const nccl::CollectiveTime& a, const nccl::CollectiveTime& b) {
  if (!a.choice || !b.choice) return !a.choice && !b.choice;
  return a.choice->algorithm == b.choice->algorithm && a.choice->protocol == b.choice->protocol &&
         a.choice->channels == b.choice->channels;
}

constexpr std::int64_t kMessageSizes[] = {4,       4096,      65536,     1 << 20,
                                          1 << 24, 1LL << 28, 1LL << 31, 16LL << 30};

TEST(StrangeMachines, TimesGrowWithTheSizeAndNoLinkIsAboveItsRate) {
  std::mt19937 random(22);
  for (int i = 0; i < 40; ++i) {
    const Strange one = random_machine(random);
    const auto predicted = Predicted::of(one);
    if (!predicted) continue;
    const CollectiveKind kind = kCollectives[i % std::size(kCollectives)];
    std::optional<nccl::CollectiveTime> before;
    for (const std::int64_t bytes : kMessageSizes) {
      const auto time = predicted->time(kind, bytes);
      ASSERT_TRUE(time);
      const std::string what =
          fmt::format("{} of {} bytes on {}", core::to_string(kind), bytes, to_string(one));
      const double us = time->time.us();
      EXPECT_TRUE(us > 0 && std::isfinite(us)) << what;
      EXPECT_EQ(time->time.capped_at, "") << what;
      if (before && same_choice(*before, *time)) {
        EXPECT_GE(us, before->time.us() * 0.999) << what;
      }
      before = time;
    }
  }
}

/// Expects that `slower` takes at least as long as `one` if NCCL chooses the same, for sizes whose
/// messages between nodes exceed the limit for rendezvous on both.
void expect_not_faster(const Strange& one, const Strange& slower, CollectiveKind kind) {
  const auto fast = Predicted::of(one), slow = Predicted::of(slower);
  if (!fast || !slow) return;
  for (const std::int64_t bytes :
       {std::int64_t{4}, std::int64_t{1} << 30, std::int64_t{16} << 30}) {
    const auto a = fast->time(kind, bytes), b = slow->time(kind, bytes);
    ASSERT_TRUE(a && b);
    if (!same_choice(*a, *b)) continue;
    EXPECT_GE(b->time.us(), a->time.us() * 0.999)
        << fmt::format("{} of {} bytes: {}\n  is slower than {}", core::to_string(kind), bytes,
                       to_string(one), to_string(slower));
  }
}

TEST(StrangeMachines, FewerOrSlowerLinksAndMoreNodesAreNeverFaster) {
  std::mt19937 random(7);
  for (int i = 0; i < 30; ++i) {
    const Strange one = random_machine(random);
    const CollectiveKind kind = kCollectives[i % std::size(kCollectives)];
    Strange slower = one;
    if (one.nodes > 1) {
      slower.card_gb_per_s /= 2;
      expect_not_faster(one, slower, kind);
      slower = one;
      slower.nodes *= 2;
      // The size of an all-gather and similar collectives is the total over all ranks, and the part
      // of each rank gets smaller.
      if (kind == CollectiveKind::kAllReduce || core::has_root(kind))
        expect_not_faster(one, slower, kind);
    }
    slower = one;
    slower.lanes /= 2;
    expect_not_faster(one, slower, kind);
    if (one.links < 2) continue;
    slower = one;
    slower.links /= 2;
    expect_not_faster(one, slower, kind);
  }
}

}  // namespace
}  // namespace tutti
