// No collective is faster than its links allow. On every shipped machine and for every collective,
// NCCL's predicted times are at least the bound of the narrowest cut, and none of them has to be
// raised to that bound. No link of a simulated run is busy for longer than the run, whatever
// communicators share it, under every network model.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/machine_communicator.h"
#include "core/nccl/ofi_plugin.h"
#include "core/nccl/system_of_machine.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/nccl_links.h"
#include "core/timeline/summary.h"
#include "tests/laws/nccl_scenarios.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::CollectiveKind;
using core::LinkKind;
using core::Time;
namespace nccl = core::nccl;
using test::summary_of;
using test::variable;

constexpr std::pair<const char*, CollectiveKind> kKinds[] = {
    {"ALL_REDUCE", CollectiveKind::kAllReduce},
    {"REDUCE_SCATTER", CollectiveKind::kReduceScatter},
    {"ALL_GATHER", CollectiveKind::kAllGather},
    {"BROADCAST", CollectiveKind::kBroadcast},
    {"REDUCE", CollectiveKind::kReduce},
    {"ALL_TO_ALL", CollectiveKind::kAllToAll},
    {"GATHER", CollectiveKind::kGather},
    {"SCATTER", CollectiveKind::kScatter},
    {"SEND_RECEIVE", CollectiveKind::kSendReceive}};

/// Returns the machines that NCCL's time model supports: all machines with GPUs, except those with
/// GPUs that are too old.
std::vector<std::string> machines_with_times() {
  std::vector<std::string> known;
  for (const std::string& name : test::shipped_library().names(core::Library::Kind::kMachine)) {
    const auto machine = test::shipped_machine(name);
    if (!machine->gpus().empty() && nccl::system_of(*machine, 1, std::nullopt, std::nullopt))
      known.push_back(name);
  }
  return known;
}

core::Bandwidth ceiling(const core::MachineLink& link) {
  return std::max(link.bandwidth, link.nominal);
}

/// Returns the bandwidth in GB/s out of the GPU with the highest bandwidth, over all its links at
/// the rates that vendors state.
double out_of_gpu(const core::Machine& machine) {
  double most = 0;
  for (const int gpu : machine.gpus()) {
    double all = 0;
    for (const core::MachineLink& link : machine.links()) {
      if (link.from == gpu) all += core::to_gb_per_s(ceiling(link));
    }
    most = std::max(most, all);
  }
  return most;
}

double out_of_node(const core::Machine& machine) {
  double all = 0;
  for (const int nic : machine.nics()) all += core::to_gb_per_s(machine.parts()[nic].nic);
  return all;
}

/// The minimum numbers of bytes that some GPU, and some node, has to send or receive, for any
/// algorithm and with or without reduction in switches.
struct Needs {
  double gpu = 0;
  double node = 0;
};
Needs needs(CollectiveKind kind, double bytes, double ranks, double nodes) {
  const double gpus = ranks / nodes;
  const double others = (ranks - 1) / ranks * bytes;
  switch (kind) {
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllGather: return {others, (nodes - 1) / nodes * bytes};
    case CollectiveKind::kAllToAll: return {others, gpus * (ranks - gpus) / ranks * bytes};
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter: return {others, (ranks - gpus) / ranks * bytes};
    default: return {bytes, bytes};
  }
}

class PhysicalLimits : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static std::vector<int> node_counts() {
    return test::shipped_machine(GetParam())->nics().empty() ? std::vector{1}
                                                             : std::vector{1, 2, 16};
  }
};

/// The setting of NCCL: the kind of machine, the number of machines, the number of GPUs of each,
/// and the variables.
struct Case {
  std::shared_ptr<const core::Machine> machine;
  int nodes = 1;
  std::optional<int> gpus = std::nullopt;
  std::vector<std::pair<std::string, std::string>> set = {};
  nccl::Version version = nccl::kDefaultVersion;
};

std::string to_string(const Case& one) {
  std::string text = fmt::format("{} x {} of {} GPUs, NCCL {}", one.nodes, one.machine->name(),
                                 one.gpus.value_or(static_cast<int>(one.machine->gpus().size())),
                                 to_string(one.version));
  for (const auto& [name, value] : one.set) text += " " + name + "=" + value;
  return text;
}

/// Expects that every collective of these sizes takes at least the time that a GPU's links and a
/// node's cards need for its bytes. At most one card per channel counts, because each channel of a
/// ring or tree leaves a node through one card.
void expect_nothing_above_the_cut(const Case& one, const std::vector<std::int64_t>& sizes) {
  const core::Machine& machine = *one.machine;
  static const auto parameters = nccl::Parameters::load(test::shipped_library().folder());
  static const auto bands = nccl::ErrorBands::load(test::shipped_library().folder());
  auto system = nccl::system_of(machine, one.nodes, one.gpus, std::nullopt);
  if (!system) system = nccl::system_of(machine, one.nodes, one.gpus, "infiniband");
  ASSERT_TRUE(system) << system.error().message();
  auto settings = nccl::read_settings(one.set, one.version);
  ASSERT_TRUE(settings) << settings.error().message();
  nccl::see_network(*system, one.version, *settings);
  const auto known =
      nccl::on_machines(machine, *system, std::nullopt, "--network", *settings, one.version);
  ASSERT_TRUE(known) << known.error().message();
  const nccl::Predictor predictor(known->system, known->communicator, *settings, *parameters,
                                  *bands);
  const auto comm = std::make_shared<const nccl::Communicator>(known->communicator);
  for (const auto& [name, kind] : kKinds) {
    const core::NcclLinkBound bound(one.machine, std::nullopt, comm, kind, 0);
    for (const std::int64_t about : sizes) {
      const std::int64_t bytes =
          (about + 4 * comm->ranks - 1) / (4 * comm->ranks) * 4 * comm->ranks;
      auto time = predictor.of(kind, bytes, core::DataType::kFloat32, core::Reduction::kSum);
      ASSERT_TRUE(time) << time.error().message();
      const std::string what = fmt::format("{} of {} bytes on {}", name, bytes, to_string(one));
      const Needs least = needs(kind, static_cast<double>(bytes), comm->ranks, one.nodes);
      const double us = time->time.us();
      bound.apply(*time);
      EXPECT_EQ(time->time.capped_at, "")
          << what << ": " << us << " us raised to " << time->time.us();
      // The lower end of the error band must not violate the bound either, within a picosecond.
      const double low_us = time->time.us() * time->band.low + 1e-6;
      EXPECT_LE(time->band.low, 1) << what;
      if (comm->ranks > one.nodes) {
        EXPECT_GE(time->time.us() * out_of_gpu(machine) * 1e3, least.gpu) << what;
        EXPECT_GE(low_us * out_of_gpu(machine) * 1e3, least.gpu) << what;
      }
      if (one.nodes == 1) continue;
      EXPECT_GE(time->time.us() * out_of_node(machine) * 1e3, least.node) << what;
      EXPECT_GE(low_us * out_of_node(machine) * 1e3, least.node) << what;
      const bool by_channels = time->choice && (time->choice->algorithm == nccl::Algorithm::kRing ||
                                                time->choice->algorithm == nccl::Algorithm::kTree);
      const auto cards = static_cast<double>(machine.nics().size());
      if (by_channels && comm->channels < cards) {
        EXPECT_GE(time->time.us() * out_of_node(machine) / cards * comm->channels * 1e3, least.node)
            << what << ", " << comm->channels << " channels";
      }
    }
  }
}

TEST_P(PhysicalLimits, NcclTimesAreAboveTheCutBound) {
  for (const int nodes : node_counts()) {
    expect_nothing_above_the_cut(
        {test::shipped_machine(GetParam()), nodes},
        {8, std::int64_t{1} << 16, std::int64_t{1} << 24, std::int64_t{1} << 33});
  }
}

TEST_P(PhysicalLimits, NcclTimesAreAboveTheCutBoundForSomeGpusOfANode) {
  const auto machine = test::shipped_machine(GetParam());
  const auto all = static_cast<int>(machine->gpus().size());
  for (const int nodes : node_counts()) {
    // Every card serves the same number of GPUs, because the time model assumes that all cards are
    // used equally.
    for (const int gpus : {1, 2, all / 2}) {
      if (gpus * nodes < 2 || gpus < 1 || gpus == all) continue;
      expect_nothing_above_the_cut({machine, nodes, gpus},
                                   {std::int64_t{1} << 20, std::int64_t{1} << 30});
    }
  }
}

TEST_P(PhysicalLimits, NcclTimesAreAboveTheCutBoundWithFewChannelsAndOtherReleases) {
  const auto machine = test::shipped_machine(GetParam());
  for (const int nodes : node_counts()) {
    for (const char* most : {"1", "2", "3"})
      expect_nothing_above_the_cut({machine, nodes, std::nullopt, {{"NCCL_MAX_NCHANNELS", most}}},
                                   {std::int64_t{1} << 22, std::int64_t{1} << 30});
    for (const nccl::Version version :
         {nccl::Version{2, 6, 4}, nccl::Version{2, 11, 4}, nccl::Version{2, 18, 3}})
      expect_nothing_above_the_cut({machine, nodes, std::nullopt, {}, version},
                                   {std::int64_t{1} << 22, std::int64_t{1} << 30});
  }
}

/// Returns a scenario in which every replica of every group takes part in `exchanges` in the
/// forward pass.
std::string scenario(const std::string& machine, int nodes, const std::string& network,
                     const std::string& communicators, const std::string& run,
                     const std::string& strategy = "algorithm: \"nccl\"") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"{}\" count: {} }} {} }}\nworkload {{ {} forward_ms: 0 "
      "update_ms: 0 }}\n"
      "strategy {{ {} }}\n{} run {{ interference: OFF {} }}",
      machine, nodes, nodes > 1 ? network : "", variable("v", 4), strategy, communicators, run);
}

std::string group(const std::string& name, std::int64_t size, int stride,
                  const std::string& collective, std::int64_t bytes,
                  const std::string& more = "per_forward: 1") {
  return fmt::format(
      "communicator {{ name: \"{}\" size: {} stride: {} exchange {{ collective: {} bytes: {} {} }} "
      "}} ",
      name, size, stride, collective, bytes, more);
}

std::map<std::string, core::Bandwidth> ceilings(const core::Cluster& cluster) {
  std::map<std::string, core::Bandwidth> all;
  for (core::LinkId link = 0; link < cluster.links(); ++link) {
    const core::Hop hop = cluster.link(link);
    core::Bandwidth most = hop.bandwidth;
    if (hop.kind != LinkKind::kNetwork) {
      const auto local = static_cast<std::size_t>(link - cluster.first_link(hop.from.worker));
      most = ceiling(cluster.machine(hop.from.worker).links()[local]);
    }
    all[cluster.link_name(link)] = most;
  }
  return all;
}

/// Expects that no link is busy for longer than the run, and that no link has carried more than it
/// can in that time.
void expect_possible(const std::string& text, sim::Folds folds = sim::Folds::kNever) {
  const core::Scenario read = test::read(text);
  const core::Summary summary = summary_of(read, folds);
  const auto most = ceilings(*read.cluster);
  ASSERT_FALSE(summary.busiest_links().empty()) << text;
  for (const core::LinkRecord& link : summary.busiest_links()) {
    EXPECT_LE(link.busy, summary.length()) << link.name << "\n" << text;
    // The ideal network models only ports, and notes this when other links matter.
    if (read.run.network_model == core::NetworkModel::kIdeal) continue;
    EXPECT_LE(core::transfer_time(link.bytes, most.at(link.name)), summary.length())
        << link.name << "\n"
        << text;
  }
  for (const auto& exchange : read.plan.exchanges) {
    if (const auto& nccl = read.plan.collective(exchange).nccl) {
      EXPECT_EQ(nccl->time.capped_at, "") << text;
    }
  }
}

constexpr const char* kOneSwitch = "network { kind: ONE_SWITCH latency_us: 2 }";
constexpr const char* kRails = "network { kind: RAILS latency_us: 2 }";

TEST_P(PhysicalLimits, NoLinkIsBusyForLongerThanTheRun) {
  const auto gpus = static_cast<std::int64_t>(test::shipped_machine(GetParam())->gpus().size());
  const std::int64_t large = (std::int64_t{1} << 28) / (4 * gpus) * 4 * gpus;
  for (const int nodes : node_counts()) {
    if (nodes * gpus > 64 && nodes > 2) continue;
    for (const auto& [name, kind] : kKinds) {
      for (const char* network : {kOneSwitch, kRails}) {
        if (nodes == 1 && network == kRails) continue;
        const std::string all = group("all", nodes * gpus, 1, name, nodes * large);
        expect_possible(scenario(GetParam(), nodes, network, all, "steps: 1 network_model: FIFO"));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, PhysicalLimits, testing::ValuesIn(machines_with_times()),
                         [](const auto& shipped) {
                           std::string name = shipped.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PhysicalLimitsTogether, HoldForGroupsThatShareLinksInEveryNetworkModel) {
  for (const char* machine : {"hgx-h100", "dgx1-v100", "pcie8-v100"}) {
    for (const char* model : {"FIFO", "FAIR", "IDEAL"}) {
      for (const char* network : {kOneSwitch, kRails}) {
        // Exchanges of experts among neighbours and across nodes, and exchanges of gradients among
        // all GPUs, overlap in two steps.
        std::string groups =
            group("near", 4, 1, "ALL_TO_ALL", 1 << 24, "per_forward: 3 overlaps: true") +
            group("far", 8, 4, "ALL_TO_ALL", 1 << 25, "per_forward: 2 overlaps: true") +
            group("all", 32, 1, "ALL_GATHER", 1 << 26, "per_forward: 1 overlaps: true");
        std::string text =
            scenario(machine, 4, network, groups, fmt::format("steps: 2 network_model: {}", model));
        text.replace(text.find("shape: 1 "), 9, "shape: 8388608 ");
        expect_possible(text);
      }
    }
  }
}

TEST(PhysicalLimitsTogether, HoldForFoldedRunsAndSimulatedMessages) {
  const std::string large = variable("a", 1 << 28, 1) + variable("b", 1 << 22, 1);
  for (const char* machine : {"hgx-h100", "dgx-a100", "pcie-l40s"}) {
    for (const char* network : {kOneSwitch, kRails}) {
      for (const char* run : {"steps: 3 network_model: FIFO", "steps: 3 network_model: FAIR",
                              "steps: 2 network_model: FIFO nccl: RINGS"}) {
        std::string text = scenario(machine, 4, network, "", run);
        text.replace(text.find(variable("v", 4)), variable("v", 4).size(), large);
        expect_possible(text);
        expect_possible(text, sim::Folds::kAlways);
      }
    }
  }
}

/// Returns the longest time for which a link of this kind was busy, as a share of the run.
double busiest(const core::Summary& summary, LinkKind kind) {
  double most = 0;
  for (const core::LinkRecord& link : summary.busiest_links()) {
    if (link.kind == kind)
      most = std::max(most, static_cast<double>(link.busy.count()) /
                                static_cast<double>(summary.length().count()));
  }
  return most;
}

TEST(PhysicalLimitsTogether, HoldForExpertsThatSendThroughTheReceiversRail) {
  const std::string experts = group("experts", 32, 1, "ALL_TO_ALL", 1 << 28);
  const auto by = [&](const std::string& nccl) {
    return summary_of(test::read(scenario("hgx-h100", 4, kRails, experts, "steps: 1",
                                          "algorithm: \"nccl\" nccl { " + nccl + " }")));
  };
  EXPECT_EQ(busiest(by(""), LinkKind::kSocket), 0);
  // Without PXN, every GPU uses its own card. A message that arrives on another rail than the
  // receiver's crosses the link between the CPU sockets.
  EXPECT_GT(busiest(by("set: \"NCCL_PXN_DISABLE=1\""), LinkKind::kSocket), 0.5);
  EXPECT_LE(busiest(by("set: \"NCCL_PXN_DISABLE=1\""), LinkKind::kSocket), 1);
  EXPECT_GT(busiest(by("version: \"2.11.4\""), LinkKind::kSocket), 0.5);
}

TEST(PhysicalLimitsTogether, PredictedTimesBelowALinksLimitAreRaisedToIt) {
  // All GPUs but the first have two lanes of PCIe. The time model assumes that all GPUs have the
  // PCIe of the first.
  const auto file = test::shipped_library().read(core::Library::Kind::kMachine, "hgx-h100", "");
  std::string text = (*file)->text;
  const std::string all_gpus =
      "link { from: \"plx[0-7]\" to: \"gpu[0-7]\" kind: PCIE generation: 5";
  text.replace(text.find(all_gpus), all_gpus.size(),
               "link { from: \"plx0\" to: \"gpu0\" kind: PCIE generation: 5 latency_us: 0.5 }\n"
               "link { from: \"plx[1-7]\" to: \"gpu[1-7]\" kind: PCIE generation: 5 lanes: 2");
  text.replace(text.find("name: \"hgx-h100\""), 16, "name: \"starved\"");
  const std::string all =
      "cluster { workers { machine: \"starved\" count: 2 } " + std::string(kOneSwitch) +
      " machine { " + text + " } } workload { " + variable("v", 1 << 28) +
      " forward_ms: 0 update_ms: 0 } strategy { algorithm: \"nccl\" } run { steps: 1 }";
  const core::Scenario starved = test::read(all);
  const nccl::CollectiveTime& time = *starved.plan.collective(starved.plan.packs.front()).nccl;
  EXPECT_THAT(time.time.capped_at, testing::HasSubstr("gpu"));
  const core::Summary summary = summary_of(starved);
  EXPECT_EQ(test::took(summary.last_packs().front()), time.whole());
  EXPECT_EQ(summary.info().packs.front().capped_at, time.time.capped_at);
  EXPECT_THAT(summary.info().notes, testing::Contains(testing::HasSubstr("please report this")));
  for (const core::LinkRecord& link : summary.busiest_links())
    EXPECT_LE(link.busy, summary.length()) << link.name;
}

}  // namespace
}  // namespace tutti
