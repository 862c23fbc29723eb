// NCCL's collectives in training steps. A pack that runs alone takes the time that `tutti perf`
// predicts for the same choice, to the picosecond. Two packs at the same time take at least the
// time of one, and at most the sum of both. Folded runs and runs with memoized steps give the same
// results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/search/uniform_graphs.h"
#include "core/nccl/system_of_machine.h"
#include "core/scenario/nccl_model.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/laws/nccl_scenarios.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using testing::ElementsAre;

using core::Time;
namespace nccl = core::nccl;

using test::predicted_us;
using test::summary_of;
using test::took;
using test::variable;
using test::Where;

std::string text_on(const Where& where, const std::string& variables,
                    const std::string& strategy = "", const std::string& run = "steps: 1") {
  return test::scenario_on(where, variables, "algorithm: \"nccl\" " + strategy, run);
}

const std::vector<Where>& setups() {
  static const std::vector<Where> all{
      {"hgx-h100", 1, 8},      {"hgx-h100", 1, 4},         {"hgx-h100", 2, 8},
      {"hgx-h100", 4, 8},      {"dgx-a100", 1, 8},         {"dgx-a100", 3, 8},
      {"dgx1-v100", 1, 8},     {"dgx1-v100", 2, 8},        {"pcie4-a100", 1, 4},
      {"pcie4-a100", 2, 4},    {"ec2-p4d-24xlarge", 2, 8}, {"dgx-a100", 4, 1},
      {"ec2-g4dn-metal", 1, 8}};
  return all;
}

/// Returns the time that perf predicts for the collective of a scenario with one pack. It is that
/// of the time model, unless the links that GPUs share need longer (nccl::take_at_least()).
Time time_of_perf(const core::Scenario& scenario, const Where& where, std::int64_t bytes) {
  const auto& time = *scenario.plan.collectives.front().first.nccl;
  const Time of_model = core::time_from_us(predicted_us(where, bytes));
  if (std::string_view(time.time.narrowest) != "a shared link of the GPUs") return of_model;
  // More than this small difference would be an error of the time model.
  EXPECT_GT(time.whole(), of_model);
  EXPECT_LT(100 * (time.whole() - of_model), of_model);
  return time.whole();
}

TEST(NcclTimes, ASinglePackTakesTheTimeThatPerfPredicts) {
  for (const Where& where : setups()) {
    for (const std::int64_t bytes : {16, 4096, 65536, 1 << 20, 12'345'676, 1 << 28}) {
      for (const char* model : {"FIFO", "FAIR", "IDEAL"}) {
        const core::Scenario scenario = test::read(text_on(
            where, variable("v", bytes), "", fmt::format("steps: 1 network_model: {}", model)));
        ASSERT_EQ(scenario.why_rings, "");
        EXPECT_EQ(took(summary_of(scenario).last_packs().front()),
                  time_of_perf(scenario, where, bytes))
            << where.nodes << " × " << where.machine << ", " << bytes << " bytes, " << model;
      }
    }
  }
}

TEST(NcclTimes, EveryCollectiveTakesTheTimeThatPerfPredicts) {
  using core::CollectiveKind;
  const std::pair<const char*, CollectiveKind> kinds[] = {
      {"REDUCE_SCATTER", CollectiveKind::kReduceScatter},
      {"ALL_GATHER", CollectiveKind::kAllGather},
      {"BROADCAST", CollectiveKind::kBroadcast},
      {"REDUCE", CollectiveKind::kReduce},
      {"ALL_TO_ALL", CollectiveKind::kAllToAll},
      {"GATHER", CollectiveKind::kGather},
      {"SCATTER", CollectiveKind::kScatter},
      {"SEND_RECEIVE", CollectiveKind::kSendReceive}};
  for (const Where& where :
       {Where{"hgx-h100", 1, 8}, Where{"hgx-h100", 2, 8}, Where{"dgx-a100", 4, 8}}) {
    for (const auto& [name, kind] : kinds) {
      for (const std::int64_t bytes : {std::int64_t{1} << 14, std::int64_t{1} << 26}) {
        const bool apart =
            kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kSendReceive;
        const core::Scenario scenario = test::read(
            text_on(where, variable("v", bytes),
                    fmt::format("collective: {} {}", name, apart ? "out_of_place: true" : "")));
        EXPECT_EQ(took(summary_of(scenario).last_packs().front()),
                  core::time_from_us(predicted_us(where, bytes, kind)))
            << where.nodes << " × " << where.machine << ", " << name << " of " << bytes;
      }
    }
  }
}

// --- in-network reduction (SHARP) ---

std::string reducing(const std::string& more = "") {
  return "nccl { set: \"NCCL_COLLNET_ENABLE=1\" " + more + " network: \"infiniband\" }";
}
constexpr const char* kByNetwork[] = {"CollnetDirect", "CollnetChain", "NVLS"};

nccl::Prediction by_network(const Where& where, const std::string& algorithm, std::int64_t bytes) {
  const auto file = test::shipped_library().read(core::Library::Kind::kMachine, where.machine, "");
  const auto machine = core::read_machine((*file)->text, (*file)->path);
  auto system = nccl::system_of(**machine, where.nodes, where.gpus, "infiniband");
  system->collnet = true;
  const auto settings = nccl::read_settings(
      {{"NCCL_COLLNET_ENABLE", "1"}, {"NCCL_ALGO", algorithm}}, nccl::kDefaultVersion);
  const auto comm = nccl::uniform_communicator(*system, nccl::kDefaultVersion, *settings);
  const nccl::Operation operation{nccl::Function::kAllReduce, bytes};
  const auto choice = nccl::choose(*comm, nccl::tune(*comm, *settings), operation);
  return nccl::predict(*system, *comm, operation, *choice,
                       *nccl::Parameters::load(test::shipped_library().folder()));
}

TEST(NcclTimes, PacksWithInNetworkReductionTakeTheTimeThatPerfPredicts) {
  for (const Where& where : {Where{"hgx-h100", 4, 8}, Where{"dgx-a100", 3, 8}}) {
    for (const std::string algorithm : kByNetwork) {
      if (algorithm == "NVLS" && where.machine == "dgx-a100") continue;
      for (const std::int64_t bytes : {4096, 12'345'676, 1 << 28}) {
        const core::Scenario scenario =
            test::read(text_on(where, variable("v", bytes),
                               reducing(fmt::format("set: \"NCCL_ALGO={}\"", algorithm))));
        ASSERT_EQ(scenario.why_rings, "");
        const core::Summary summary = summary_of(scenario);
        EXPECT_EQ(took(summary.last_packs().front()),
                  core::time_from_us(by_network(where, algorithm, bytes).us()))
            << where.machine << " " << algorithm << " " << bytes;
        // The lower bound accounts for in-network reduction.
        EXPECT_LE(summary.info().communication_bound, took(summary.last_packs().front()))
            << algorithm << bytes;
        EXPECT_THAT(fmt::format("{}", fmt::join(summary.info().notes, "; ")),
                    testing::HasSubstr("SHARP"));
      }
    }
  }
}

// S bytes on 8 nodes of 8 GPUs with a card each. With in-network reduction, each card carries S/8
// per direction. With rings, it carries 2 · 63/64 S/8.
TEST(NcclTimes, InNetworkReductionHalvesTheBytesOfNics) {
  const Where where{"hgx-h100", 8, 8};
  const std::int64_t bytes = 1 << 28;
  const auto most = [&](const std::string& strategy) {
    std::int64_t carried = 0;
    for (const core::LinkRecord& link :
         summary_of(test::read(text_on(where, variable("v", bytes), strategy))).busiest_links()) {
      if (link.kind == core::LinkKind::kNetwork) carried = std::max(carried, link.bytes.count());
    }
    return static_cast<double>(carried);
  };
  EXPECT_NEAR(most(reducing("set: \"NCCL_ALGO=Ring\"")), 2.0 * 63 / 64 * bytes / 8,
              0.01 * bytes / 8);
  for (const std::string algorithm : kByNetwork)
    EXPECT_NEAR(most(reducing(fmt::format("set: \"NCCL_ALGO={}\"", algorithm))), bytes / 8.0,
                0.01 * bytes / 8)
        << algorithm;
}

TEST(NcclTimes, WithoutInNetworkReductionTheVariableChangesNothing) {
  const Where where{"hgx-h100", 4, 8};
  const auto step = [&](const std::string& nccl) {
    return took(
        summary_of(test::read(text_on(where, variable("v", 1 << 26), nccl))).last_packs().front());
  };
  EXPECT_EQ(step("nccl { network: \"roce\" set: \"NCCL_COLLNET_ENABLE=1\" }"),
            step("nccl { network: \"roce\" }"));
  EXPECT_LT(step(reducing()), step("nccl { network: \"infiniband\" }"));
}

/// Returns the time of two packs of the same size that are ready at the same time.
Time both(const Where& where, std::int64_t bytes, const std::string& model) {
  const core::Summary summary = summary_of(
      test::read(text_on(where, variable("a", bytes) + variable("b", bytes),
                         "launch: CONCURRENT bytes_per_pack: 1 nccl { communicators: 2 }",
                         "steps: 1 network_model: " + model)));
  EXPECT_EQ(summary.last_packs().size(), 2u);
  const auto packs = summary.last_packs();
  return std::max(packs[0].end, packs[1].end) -
         std::min(packs[0].first_start, packs[1].first_start);
}

TEST(NcclTimes, ConcurrentPacksTakeBetweenOneAndTwoTimes) {
  for (const Where& where : setups()) {
    for (const std::int64_t bytes : {4096, 1 << 22, 1 << 28}) {
      for (const char* model : {"FIFO", "FAIR", "IDEAL"}) {
        const Time one =
            time_of_perf(test::read(text_on(where, variable("v", bytes))), where, bytes);
        const Time two = both(where, bytes, model);
        EXPECT_GE(two, one) << where.machine << " " << bytes << " " << model;
        EXPECT_LE(two, 2 * one) << where.machine << " " << bytes << " " << model;
      }
    }
  }
}

TEST(NcclTimes, ACommunicatorExecutesOneCollectiveAfterTheOther) {
  const Where where{"hgx-h100", 1, 8};
  const std::string variables =
      variable("a", 1 << 24, 0.02) + variable("b", 1 << 20, 0.01) + variable("c", 1 << 22, 0.01);
  for (const char* nccl : {"", "nccl: RINGS"}) {
    // Without bytes_per_pack, the packs are in the order of the variables, which become ready in
    // the reverse order.
    for (const char* packing : {" bytes_per_pack: 1", ""}) {
      const auto step = [&](const std::string& launch) {
        return summary_of(test::read(text_on(where, variables, launch + packing,
                                             fmt::format("steps: 1 {}", nccl))))
            .step_time();
      };
      EXPECT_EQ(step("launch: CONCURRENT"), step("launch: SERIAL")) << nccl << packing;
      EXPECT_LT(step("launch: CONCURRENT nccl { communicators: 3 }"), step("launch: SERIAL"))
          << nccl << packing;
    }
  }
}

TEST(NcclTimes, TwoLargePacksShareTheLinks) {
  // Both packs share the links that limit them. These links are busy for at least 0.8 of the time
  // of each pack.
  for (const Where& where :
       {Where{"hgx-h100", 1, 8}, Where{"hgx-h100", 2, 8}, Where{"dgx-a100", 1, 8}}) {
    for (const char* model : {"FIFO", "FAIR"}) {
      const Time one = core::time_from_us(predicted_us(where, 1 << 28));
      EXPECT_GT(static_cast<double>(both(where, 1 << 28, model).count()),
                1.6 * static_cast<double>(one.count()))
          << where.machine << " " << model;
    }
  }
}

TEST(NcclTimes, OtherTrafficOnTheLinksDelaysAPack) {
  const Where where{"hgx-h100", 2, 8};
  const std::string alone = text_on(where, variable("v", 1 << 28));
  for (const double share : {0.5, 0.25}) {
    std::string links;
    for (int nic = 0; nic < 8; ++nic)
      links += fmt::format("link {{ from: \"w0/nic{}\" to: \"network\" bandwidth_share: {} }} ",
                           nic, share);
    const std::string narrow = alone + " conditions { " + links + "}";
    const auto scenario = core::read_scenario(narrow, "f", test::shipped_library());
    ASSERT_TRUE(scenario) << scenario.error().message();
    const auto& time = *scenario->plan.collective(scenario->plan.packs.front()).nccl;
    const Time took_there = took(summary_of(*scenario).last_packs().front());
    // The transfer over the cards takes 1 / share times as long, even if another part takes longer.
    const double cards = static_cast<double>(time.cards.count()) / share;
    const double longest = std::max(cards, static_cast<double>(time.work.count()));
    EXPECT_NEAR(static_cast<double>((took_there - time.launch - time.delay).count()), longest,
                1e-5 * longest);
  }
}

/// A framework's strategy, and its number of passes over the pack that divide the sum of NCCL.
struct Dividing {
  std::string strategy;
  int passes = 0;
};

TEST(NcclTimes, FrameworksThatDivideThemselvesLetNcclComputeASum) {
  constexpr std::int64_t kBytes = 1 << 28;
  for (const Where& where : {Where{"hgx-h100", 1, 8}, Where{"hgx-h100", 2, 8}}) {
    for (const Dividing& one :
         {Dividing{"pytorch_ddp {}", 0},
          Dividing{"pytorch_ddp { gradient_as_bucket_view: true }", 1}, Dividing{"megatron {}", 1},
          Dividing{"deepspeed {}", 1}, Dividing{"byteps { partition_bytes: 1073741824 }", 1}}) {
      const core::Scenario sum = test::read(text_on(where, variable("v", kBytes, 1), one.strategy));
      const core::Scenario mean =
          test::read(text_on(where, variable("v", kBytes, 1), one.strategy + " reduction: MEAN"));
      const auto& time = *mean.plan.collectives.front().first.nccl;
      EXPECT_NE(time.choice->algorithm, nccl::Algorithm::kRing) << one.strategy;
      EXPECT_EQ(time.whole(), sum.plan.collectives.front().first.nccl->whole()) << one.strategy;
      const Time pass = core::transfer_time(
          core::Bytes(kBytes), mean.cluster->part(mean.cluster->replica(0)).device.copy);
      EXPECT_EQ(summary_of(mean).step_time() - summary_of(sum).step_time(), one.passes * pass)
          << one.strategy << " on " << where.nodes << " nodes";
      // The schedule of the rings includes the division, so the device divides only once.
      core::Scenario rings = mean;
      core::simulate_as_rings(rings);
      core::Scenario undivided = rings;
      for (core::Pack& pack : undivided.plan.packs)
        pack.divided_before = pack.divided_after = core::Bytes();
      EXPECT_EQ(summary_of(rings).step_time(), summary_of(undivided).step_time()) << one.strategy;
    }
    // Horovod, Megatron with an option, and strategies without a framework ask NCCL for the mean.
    for (const char* strategy : {"reduction: MEAN", "horovod {} reduction: MEAN",
                                 "megatron { average_in_collective: true } reduction: MEAN"}) {
      const core::Scenario mean = test::read(text_on(where, variable("v", kBytes, 1), strategy));
      EXPECT_EQ(mean.plan.collectives.front().first.nccl->choice->algorithm, nccl::Algorithm::kRing)
          << strategy;
    }
  }
}

TEST(NcclTimes, TensorFlowDividesAfterNccl) {
  constexpr std::int64_t kBytes = 1 << 28;
  const Where where{"hgx-h100", 1, 8};
  const auto with = [&](const char* reduction) {
    return test::read(
        test::scenario_on(where, variable("v", kBytes, 1),
                          std::string("tensorflow { mirrored { num_packs: 0 } } ") + reduction));
  };
  const core::Scenario sum = with(""), mean = with("reduction: MEAN");
  EXPECT_EQ(mean.plan.collectives.front().first.nccl->whole(),
            sum.plan.collectives.front().first.nccl->whole());
  EXPECT_EQ(summary_of(mean).step_time() - summary_of(sum).step_time(),
            core::transfer_time(core::Bytes(kBytes),
                                mean.cluster->part(mean.cluster->replica(0)).device.copy));
}

TEST(NcclTimes, FoldingAndSkippingStepsDoNotChangeTheResult) {
  for (const Where& where :
       {Where{"hgx-h100", 4, 8}, Where{"dgx-a100", 8, 8}, Where{"dgx1-v100", 3, 8}}) {
    for (const char* run : {"FIFO", "FAIR", "FIFO nccl: CALIBRATED"}) {
      const int more =
          std::string_view(run) == "FIFO" ? 0 : 4 * 3;  // the ranks do not divide these elements
      const core::Scenario scenario = test::read(
          text_on(where,
                  variable("a", (1 << 22) + more, 1) + variable("b", (1 << 26) + more, 2) +
                      variable("c", (1 << 16) + more, 0.1) + variable("d", more + 4, 0.1),
                  "launch: CONCURRENT bytes_per_pack: 1 reduction: MEAN nccl { communicators: 3 }",
                  fmt::format("steps: 4 network_model: {}", run)));
      const auto whole = test::summary_values(summary_of(scenario));
      EXPECT_EQ(test::summary_values(summary_of(scenario, sim::Folds::kAlways)), whole);
      EXPECT_EQ(
          test::summary_values(summary_of(scenario, sim::Folds::kNever, sim::SkipRepeats::kAlways)),
          whole);
      EXPECT_EQ(test::summary_values(
                    summary_of(scenario, sim::Folds::kAlways, sim::SkipRepeats::kAlways)),
                whole);
    }
  }
}

TEST(NcclTimes, ExchangesTakeTheTimeOfTheirCollective) {
  for (const int stride : {1, 2}) {
    for (const char* collective : {"ALL_REDUCE", "ALL_TO_ALL"}) {
      const auto with = [&](int times) {
        return test::read(
            text_on({"hgx-h100", 1, 8}, variable("v", 4)) +
            fmt::format(
                " communicator {{ name: \"tensor\" size: 4 stride: {} exchange {{ bytes: 8388608 "
                "collective: {} per_forward: {} }} }}",
                stride, collective, times));
      };
      const core::Scenario three = with(3);
      const auto& time = *three.plan.collective(three.plan.exchanges.front()).nccl;
      // There are groups of four GPUs, which share no link on the switch.
      EXPECT_EQ(time.whole(), core::time_from_us(predicted_us(
                                  {"hgx-h100", 1, 4}, 8388608,
                                  three.plan.collective(three.plan.exchanges.front()).kind)));
      EXPECT_EQ(summary_of(three).step_time() - summary_of(with(1)).step_time(), 2 * time.whole());
    }
  }
}

TEST(NcclTimes, TheScenarioCanSetTheLaunchTime) {
  const Where where{"hgx-h100", 1, 8};
  const core::Scenario models = test::read(text_on(where, variable("v", 1 << 20)));
  const core::Scenario ours = test::read(text_on(where, variable("v", 1 << 20), "launch_us: 50"));
  const auto& time = *models.plan.collective(models.plan.packs.front()).nccl;
  EXPECT_EQ(
      took(summary_of(ours).last_packs().front()),
      core::time_from_us(predicted_us(where, 1 << 20)) - time.launch + core::microseconds(50));
}

TEST(NcclTimes, ChannelsTakeMultiprocessorsFromComputation) {
  const Where where{"hgx-h100", 1, 8};
  std::string on = text_on(
      where, "compute_bound_percent: 100 " + variable("a", 4, 20) + variable("b", 1 << 26, 1),
      "launch: CONCURRENT bytes_per_pack: 1 nccl { communicators: 2 }");
  on.replace(on.find("interference: OFF"), 17, "interference: ON");
  const core::Scenario scenario = test::read(on);
  const auto& packs = scenario.plan.packs;
  const auto large = std::find_if(packs.begin(), packs.end(), [&](const auto& p) {
    return scenario.plan.collective(p).bytes().count() > 4;
  });
  const auto& time = *scenario.plan.collective(*large).nccl;
  const core::Summary summary = summary_of(scenario);
  // The large pack is in flight while 20 ms are computed. The pack's channels hold some of the 132
  // multiprocessors from launch to end.
  const auto held = static_cast<core::Wide>((time.delay + time.work).count()) *
                    static_cast<core::Wide>(time.channels);
  const Time lost(static_cast<std::int64_t>((held + 131) / 132));
  EXPECT_EQ(summary.steady_parts()->slowed, lost);
}

TEST(NcclTimes, EveryPackReportsItsChoice) {
  const core::Scenario scenario =
      test::read(text_on({"hgx-h100", 2, 8}, variable("a", 1 << 10) + variable("b", 1 << 28),
                         "bytes_per_pack: 1 nccl { version: \"2.21.5\" }"));
  const core::Summary summary = summary_of(scenario);
  for (const core::RunInfo::PackInfo& pack : summary.info().packs) {
    EXPECT_NE(pack.nccl, "");
    EXPECT_GT(pack.band_low, 0);
    EXPECT_LT(pack.band_low, 1);
    EXPECT_GT(pack.band_high, 1);
  }
  EXPECT_THAT(core::nccl_notes(scenario), testing::Contains(testing::HasSubstr("NCCL 2.21.5")));
}

TEST(NcclTimes, SettingsHaveTheEffectOfNccls) {
  const auto choice = [](const std::string& settings) {
    const core::Scenario scenario =
        test::read(text_on({"hgx-h100", 2, 8}, variable("v", 1 << 26), settings));
    return *scenario.plan.collective(scenario.plan.packs.front()).nccl;
  };
  const nccl::CollectiveTime ring =
      choice("nccl { set: \"NCCL_ALGO=Ring\" set: \"NCCL_PROTO=Simple\" }");
  EXPECT_EQ(ring.choice->algorithm, nccl::Algorithm::kRing);
  EXPECT_EQ(ring.choice->protocol, nccl::Protocol::kSimple);
  EXPECT_EQ(choice("nccl { set: \"NCCL_ALGO=Tree\" }").choice->algorithm, nccl::Algorithm::kTree);
  EXPECT_EQ(choice("channels: 4 nccl { set: \"NCCL_ALGO=Ring\" }").channels, 4);
}

TEST(NcclTimes, UnknownMachinesUseRingsWithANote) {
  const std::string box =
      "machine { name: \"box\" device { name: \"gpu[0-3]\" kind: GPU memory_gb_per_s: 1000 } "
      "switch { name: \"nvs\" "
      "kind: NVSWITCH } link { "
      "from: "
      "\"gpu[0-3]\" to: \"nvs\" kind: NVLINK bandwidth_gb_per_s: 20 latency_us: 1 } }";
  const auto scenario =
      core::read_scenario(fmt::format("cluster {{ workers {{ machine: \"box\" }} {} }} workload {{ "
                                      "{} forward_ms: 0 update_ms: 0 }} strategy {{ "
                                      "algorithm: \"nccl\" }}",
                                      box, variable("v", 1 << 20)),
                          "f", test::shipped_library());
  ASSERT_TRUE(scenario) << scenario.error().message();
  EXPECT_EQ(scenario->plan.collective(scenario->plan.packs.front()).nccl, nullptr);
  EXPECT_NE(scenario->why_rings, "");
  EXPECT_FALSE(summary_of(*scenario).info().notes.empty()) << "one of the notes states it";
}

TEST(NcclTimes, RingsCanBeRequested) {
  const core::Scenario rings =
      test::read(text_on({"hgx-h100", 1, 8}, variable("v", 1 << 20), "", "steps: 1 nccl: RINGS"));
  EXPECT_EQ(rings.plan.collective(rings.plan.packs.front()).nccl, nullptr);
  core::Scenario both = test::read(text_on({"hgx-h100", 1, 8}, variable("v", 1 << 20)));
  core::simulate_as_rings(both);
  EXPECT_EQ(test::summary_values(summary_of(both)), test::summary_values(summary_of(rings)));
  EXPECT_TRUE(core::nccl_notes(both).empty());
}

TEST(NcclTimes, WrongSettingsAreReported) {
  const auto wrong = [](const std::string& strategy, const std::string& algorithm = "nccl") {
    std::string all = text_on({"hgx-h100", 1, 8}, variable("v", 1 << 20), strategy);
    all.replace(all.find("\"nccl\""), 6, "\"" + algorithm + "\"");
    return test::kinds_of(core::read_scenario(all, "f", test::shipped_library()));
  };
  EXPECT_THAT(wrong("nccl { version: \"1.3\" }"), ElementsAre("unsupported Nccl.version"));
  EXPECT_THAT(wrong("nccl { set: \"ALGO=Ring\" }"), ElementsAre("unknown-name Nccl.set"));
  EXPECT_THAT(wrong("nccl { set: \"NCCL_ALGO=Rung\" }"), ElementsAre("unknown-name Nccl.set"));
  EXPECT_THAT(wrong("nccl { set: \"NCCL_P2P_DISABLE=1\" }"), ElementsAre("unsupported Nccl.set"));
  EXPECT_THAT(wrong("nccl { network: \"pigeons\" }"), ElementsAre("unknown-name Nccl.network"));
  EXPECT_THAT(wrong("nccl { version: \"2.21.5\" }", "ring"), ElementsAre("unused Strategy.nccl"));
}

}  // namespace
}  // namespace tutti
