// NCCL inside workers (nccl/… and BytePS's pushes and pulls), with its own choice and times. If
// NCCL's part of a collective runs alone, it takes the time that `tutti perf` predicts for one
// node, to the picosecond. A collective of several parts takes the sum of the times of its parts.
// Folded runs and runs with memoized steps give the same results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/search/uniform_graphs.h"
#include "core/nccl/system_of_machine.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/collective_parts.h"
#include "core/timeline/summary.h"
#include "sim/collectives/collective_run.h"
#include "sim/simulator.h"
#include "tests/laws/nccl_scenarios.h"

namespace tutti {
namespace {

namespace nccl = core::nccl;

using core::CollectiveKind;
using core::Time;
using test::predicted_us;
using test::summary_of;
using test::took;
using test::variable;
using test::Where;

std::string text(const Where& where, const std::string& variables, const std::string& strategy,
                 const std::string& run = "steps: 1") {
  return test::scenario_on(where, variables, strategy, run);
}

/// Returns the predicted time on one node.
Time predicted(const Where& where, std::int64_t bytes, CollectiveKind kind) {
  return core::time_from_us(predicted_us({where.machine, 1, where.gpus}, bytes, kind));
}

/// Returns the sum of the times of the parts of `collective`: the predicted times of NCCL's parts,
/// and the simulated times of the others.
Time one_after_the_other(const core::Collective& collective, const Where& where,
                         core::NetworkModel model) {
  Time sum;
  for (const core::CollectivePart& part : collective.parts->all) {
    sum += part.inside_workers
               ? predicted(where, part.collective.bytes().count(), part.collective.kind)
               : sim::run_alone(part.collective, model).end;
  }
  return sum;
}

std::vector<Where> machines() {
  return {{"hgx-h100", 1, 8},  {"hgx-h100", 1, 4},   {"dgx-a100", 1, 8},
          {"dgx1-v100", 1, 8}, {"pcie4-a100", 1, 4}, {"ec2-g4dn-metal", 1, 8}};
}

TEST(NcclInsideWorkers, ASingleStageTakesTheTimeThatPerfPredictsForOneNode) {
  for (const Where& where : machines()) {
    for (const std::int64_t bytes : {16, 4096, 65536, 1 << 20, 12'345'676, 1 << 28}) {
      for (const char* model : {"FIFO", "FAIR", "IDEAL"}) {
        const core::Scenario scenario =
            test::read(text(where, variable("v", bytes), "algorithm: \"nccl/ring\"",
                            fmt::format("steps: 1 network_model: {}", model)));
        ASSERT_EQ(scenario.why_rings, "");
        EXPECT_EQ(took(summary_of(scenario).last_packs().front()),
                  predicted(where, bytes, CollectiveKind::kAllReduce))
            << where.gpus << " of " << where.machine << ", " << bytes << " bytes, " << model;
      }
    }
  }
}

TEST(NcclInsideWorkers, TheCollectiveTakesTheSumOfItsStages) {
  for (const Where& where :
       {Where{"hgx-h100", 4, 8}, Where{"dgx1-v100", 2, 8}, Where{"pcie4-a100", 4, 4}}) {
    for (const char* algorithm : {"nccl/ring", "nccl/xring", "nccl/halving_doubling",
                                  "nccl/recursive_doubling", "nccl/double_tree", "nccl/pscpu"}) {
      for (const char* staging : {"DIRECT", "VIA_HOST"}) {
        for (const auto& [model, name] : {std::pair(core::NetworkModel::kFifo, "FIFO"),
                                          std::pair(core::NetworkModel::kFair, "FAIR"),
                                          std::pair(core::NetworkModel::kIdeal, "IDEAL")}) {
          for (const std::int64_t bytes : {std::int64_t{4096}, std::int64_t{1} << 24}) {
            const core::Scenario scenario = test::read(text(
                where, variable("v", bytes),
                fmt::format("algorithm: \"{}\" staging: {} reduction: MEAN", algorithm, staging),
                fmt::format("steps: 1 network_model: {}", name)));
            const core::Collective& collective =
                scenario.plan.collective(scenario.plan.packs.front());
            ASSERT_TRUE(core::timed_parts(collective)) << algorithm;
            EXPECT_EQ(took(summary_of(scenario).last_packs().front()),
                      one_after_the_other(collective, where, model))
                << algorithm << " " << staging << " " << name << " on " << where.machine << ", "
                << bytes << " bytes";
          }
        }
      }
    }
  }
}

TEST(NcclInsideWorkers, StagesInsideWorkersPrecedeAndFollowTheStageAcrossWorkers) {
  const core::Scenario scenario = test::read(
      text({"hgx-h100", 2, 8}, variable("v", 1 << 26), "algorithm: \"nccl/ring\" reduction: MEAN"));
  const core::CollectiveParts& parts =
      *core::timed_parts(scenario.plan.collective(scenario.plan.packs.front()));
  ASSERT_EQ(parts.all.size(), 4u);
  EXPECT_TRUE(parts.all[0].inside_workers && parts.all[2].inside_workers);
  EXPECT_EQ(parts.all[0].collective.kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(parts.all[2].collective.kind, CollectiveKind::kBroadcast);
  EXPECT_FALSE(parts.all[1].inside_workers || parts.all[3].inside_workers);
  // A node of eight H100 has a switch that adds data (NVLS). The all-reduce uses this switch, and
  // the broadcast does not need it.
  const auto& all_reduce = parts.all[0].collective.nccl->choice;
  EXPECT_EQ(all_reduce->algorithm, nccl::Algorithm::kNvls);
  EXPECT_EQ(all_reduce->protocol, nccl::Protocol::kSimple);
  EXPECT_EQ(parts.all[2].collective.nccl->choice->algorithm, nccl::Algorithm::kRing);
}

TEST(NcclInsideWorkers, BytePsPushesByReduceScatterAndPullsByAllGather) {
  const Where where{"dgx-a100", 2, 4};
  // Four GPUs do not divide 1,000,003 elements. The remainder is sent along a chain.
  const std::string scenario_text =
      "cluster { workers { machine: \"dgx-a100\" count: 2 replicas: 4 } workers { machine: "
      "\"cpu-host\" count: 2 "
      "server: true } network { kind: ONE_SWITCH latency_us: 2 bandwidth_gb_per_s: 3 } } workload "
      "{ variable { name: "
      "\"v\" shape: "
      "1000003 backward_ms: 0 } forward_ms: 0 update_ms: 0 } strategy { byteps {} } run { "
      "interference: OFF steps: 1 }";
  const core::Scenario scenario = test::read(scenario_text);
  const core::Collective& push = scenario.plan.collective(scenario.plan.packs.at(0));
  const core::Collective& pull = scenario.plan.collective(scenario.plan.packs.at(1));
  const auto kinds = [](const core::Collective& collective) {
    std::vector<CollectiveKind> all;
    for (const auto& part : core::timed_parts(collective)->all) {
      if (part.inside_workers) all.push_back(part.collective.kind);
    }
    return all;
  };
  EXPECT_THAT(kinds(push),
              testing::ElementsAre(CollectiveKind::kReduceScatter, CollectiveKind::kReduce));
  EXPECT_THAT(kinds(pull),
              testing::ElementsAre(CollectiveKind::kBroadcast, CollectiveKind::kAllGather));
  const auto packs = summary_of(scenario).last_packs();
  EXPECT_EQ(took(packs.at(0)), one_after_the_other(push, where, core::NetworkModel::kFifo));
}

TEST(NcclInsideWorkers, FoldingAndSkippingStepsDoNotChangeTheResult) {
  for (const char* algorithm : {"nccl/ring", "nccl/halving_doubling", "nccl/recursive_doubling"}) {
    for (const Where& where :
         {Where{"hgx-h100", 4, 8}, Where{"dgx-a100", 8, 8}, Where{"pcie4-a100", 2, 4}}) {
      for (const char* model : {"FIFO", "FAIR"}) {
        const core::Scenario scenario = test::read(text(
            where,
            variable("a", 1 << 22, 1) + variable("b", 1 << 25, 2) + variable("c", 1 << 16, 0.1) +
                variable("d", 1 << 12, 0.1),
            fmt::format("algorithm: \"{}\" launch: CONCURRENT bytes_per_pack: 1 reduction: MEAN",
                        algorithm),
            fmt::format("steps: 4 network_model: {}", model)));
        const auto whole = test::summary_values(summary_of(scenario));
        EXPECT_EQ(test::summary_values(summary_of(scenario, sim::Folds::kAlways)), whole)
            << where.machine << " " << model;
        EXPECT_EQ(test::summary_values(
                      summary_of(scenario, sim::Folds::kNever, sim::SkipRepeats::kAlways)),
                  whole);
        EXPECT_EQ(test::summary_values(
                      summary_of(scenario, sim::Folds::kAlways, sim::SkipRepeats::kAlways)),
                  whole);
      }
    }
  }
}

/// A communicator of NCCL executes its operations one after the other, even if packs are launched
/// concurrently. On one worker, nccl/ring is the same all-reduce as nccl, so it takes as long.
TEST(NcclInsideWorkers, ConcurrentPacksTakeTurnsInTheirCommunicator) {
  for (const Where& where :
       {Where{"hgx-h100", 1, 8}, Where{"dgx-a100", 1, 8}, Where{"dgx1-v100", 1, 8}}) {
    for (const char* model : {"FIFO", "FAIR", "IDEAL"}) {
      for (const std::int64_t bytes : {4096, 1 << 16, 1 << 22}) {
        std::string packs;
        // The gradients become ready before, during and after the all-reduces of the others.
        for (const double ready_ms : {0.002, 0.05, 0.001, 0.001, 0.3, 0.0005})
          packs += variable(fmt::format("v{}", packs.size()), bytes, ready_ms);
        const auto steps = [&](const std::string& algorithm) {
          return summary_of(
              test::read(text(where, packs, "bytes_per_pack: 1 algorithm: \"" + algorithm,
                              fmt::format("steps: 2 network_model: {}", model))));
        };
        const core::Summary alone = steps("nccl\" launch: SERIAL");
        const core::Summary inside = steps("nccl/ring\" launch: CONCURRENT");
        EXPECT_EQ(inside.step_time(), alone.step_time())
            << where.machine << ", " << bytes << " bytes, " << model;
        for (std::size_t p = 0; p < alone.last_packs().size(); ++p)
          EXPECT_EQ(inside.last_packs()[p].end, alone.last_packs()[p].end);
      }
    }
  }
}

/// Stages between workers run at the same time as other stages, but NCCL's stages in a worker do
/// not overlap each other.
TEST(NcclInsideWorkers, StagesBetweenWorkersOverlapTheStagesOfNccl) {
  const Where where{"hgx-h100", 2, 8};
  std::string packs;
  for (int p = 0; p < 6; ++p) packs += variable(fmt::format("v{}", p), 1 << 22);
  const core::Scenario concurrent =
      test::read(text(where, packs, "algorithm: \"nccl/ring\" bytes_per_pack: 1"));
  const core::Scenario serial =
      test::read(text(where, packs, "algorithm: \"nccl/ring\" bytes_per_pack: 1 launch: SERIAL"));
  Time nccl_time;
  for (const core::Pack& pack : concurrent.plan.packs) {
    for (const auto& time : core::nccl_times(concurrent.plan.collective(pack)))
      nccl_time += time->whole();
  }
  EXPECT_GE(summary_of(concurrent).step_time(), nccl_time);
  EXPECT_LT(summary_of(concurrent).step_time(), summary_of(serial).step_time());
}

TEST(NcclInsideWorkers, KernelsUseMultiprocessorsOnlyDuringTheirStages) {
  // 40 ms of computation hide the whole transfer of the large pack.
  std::string on =
      text({"hgx-h100", 2, 8},
           "compute_bound_percent: 100 " + variable("a", 4, 40) + variable("b", 1 << 26, 1),
           "algorithm: \"nccl/ring\" staging: DIRECT launch: CONCURRENT bytes_per_pack: 1");
  on.replace(on.find("interference: OFF"), 17, "interference: ON");
  const core::Scenario scenario = test::read(on);
  const auto& packs = scenario.plan.packs;
  const auto large = std::find_if(packs.begin(), packs.end(), [&](const auto& p) {
    return scenario.plan.collective(p).bytes().count() > 4;
  });
  core::Wide held = 0;
  for (const auto& time : core::nccl_times(scenario.plan.collective(*large)))
    held += static_cast<core::Wide>((time->delay + time->work).count()) *
            static_cast<core::Wide>(time->channels);
  const Time lost(static_cast<std::int64_t>((held + 131) / 132));
  EXPECT_EQ(summary_of(scenario).steady_parts()->slowed, lost);
}

TEST(NcclInsideWorkers, RecordedStepsAreThoseOfTheWholeSchedule) {
  const core::Scenario scenario = test::read(text({"pcie4-a100", 3, 4}, variable("v", 1 << 20),
                                                  "algorithm: \"nccl/pscpu\" reduction: MEAN"));
  const core::Collective& collective = scenario.plan.collective(scenario.plan.packs.front());
  struct Sink : core::TimelineSink {
    void begin(const core::RunInfo&) override {}
    void track(const core::Track& track) override { tracks[track.id] = track; }
    void span(core::TrackId track, const core::Span& span) override {
      if (tracks.at(track).kind == core::TrackKind::kLane)
        spans.emplace_back(tracks.at(track), span);
    }
    void step(const core::StepRecord&) override {}
    void pack(const core::PackRecord&) override {}
    void link(const core::LinkRecord&) override {}
    void path(const core::PathPiece&) override {}
    void steady(const core::SteadyState&) override {}
    void note(const std::string&) override {}
    void end() override {}
    std::map<core::TrackId, core::Track> tracks;
    std::vector<std::pair<core::Track, core::Span>> spans;
  } sink;
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  ASSERT_TRUE(
      sim::Simulator(sim::Folds::kNever, sim::SkipRepeats::kNever).run(scenario, record, {}, sink));
  std::size_t between = 0;
  for (const auto& part : collective.parts->all) {
    if (part.inside_workers) continue;
    for (core::Rank r = 0; r < part.collective.schedule->ranks(); ++r) {
      for (core::Lane l = 0; l < part.collective.schedule->lanes(r); ++l) {
        for (std::int64_t i = 0; i < part.collective.schedule->steps(r, l); ++i)
          between += part.collective.schedule->step(r, l, i).kind != core::StepKind::kNop;
      }
    }
  }
  EXPECT_EQ(sink.spans.size(), between);
  for (const auto& [track, span] : sink.spans) {
    core::Rank rank = 0;
    while (scenario.cluster->part(collective.group.device(rank)).name != track.device ||
           collective.group.device(rank).worker != track.worker)
      ++rank;
    ASSERT_LT(track.lane, collective.schedule->lanes(rank));
    ASSERT_LT(span.index, collective.schedule->steps(rank, track.lane));
    EXPECT_EQ(
        static_cast<std::int32_t>(collective.schedule->step(rank, track.lane, span.index).kind),
        span.kind);
  }
}

TEST(NcclInsideWorkers, FusedPacksHaveTheTimeOfTheFusedBuffer) {
  const Where where{"hgx-h100", 1, 8};
  const core::Scenario scenario =
      test::read(text(where, variable("a", 1 << 20) + variable("b", 1 << 20),
                      "algorithm: \"nccl/ring\" horovod {}"));
  ASSERT_TRUE(scenario.plan.fuses() && scenario.plan.collective_times);
  EXPECT_TRUE(scenario.plan.collective_times->only_inside_workers());
  const core::Collective whole = core::make_collective(*scenario.cluster, scenario.strategy,
                                                       core::DataType::kFloat32, 1 << 19, 0);
  const auto parts = scenario.plan.collective_times->of(whole).parts;
  ASSERT_TRUE(parts && parts->timed);
  EXPECT_EQ(parts->all.front().collective.nccl->whole(),
            predicted(where, 2 << 20, CollectiveKind::kAllReduce));
  EXPECT_THAT(summary_of(scenario).info().notes,
              testing::Contains(testing::HasSubstr("inside workers")));
}

TEST(NcclInsideWorkers, FollowBandsReleasesAndSettingsOfNccl) {
  const Where where{"hgx-h100", 2, 8};
  const auto settings = [&](const std::string& nccl) {
    return test::read(text(where, variable("v", 1 << 26), "algorithm: \"nccl/ring\" " + nccl));
  };
  core::Scenario low = settings(""), high = settings("");
  ASSERT_TRUE(core::take_band_end(low, core::BandEnd::kLow) &&
              core::take_band_end(high, core::BandEnd::kHigh));
  const Time usual = summary_of(settings("")).step_time();
  EXPECT_LT(summary_of(low).step_time(), usual);
  EXPECT_GT(summary_of(high).step_time(), usual);
  const core::Scenario tree =
      settings("nccl { version: \"2.21.5\" set: \"NCCL_ALGO=Ring\" set: \"NCCL_PROTO=Simple\" }");
  const auto& choice = core::timed_parts(tree.plan.collective(tree.plan.packs.front()))
                           ->all.front()
                           .collective.nccl->choice;
  EXPECT_EQ(choice->algorithm, nccl::Algorithm::kRing);
  EXPECT_EQ(choice->protocol, nccl::Protocol::kSimple);
  EXPECT_THAT(core::nccl_notes(tree),
              testing::Contains(testing::HasSubstr("NCCL 2.21.5 would choose inside workers")));
  const core::Summary summary = summary_of(settings(""));
  EXPECT_THAT(summary.info().packs.front().nccl,
              testing::StartsWith("inside workers all_reduce by"));
}

TEST(NcclInsideWorkers, RingsCanBeRequestedAndUnknownMachinesCauseANote) {
  const Where where{"hgx-h100", 2, 8};
  const core::Scenario rings = test::read(
      text(where, variable("v", 1 << 20), "algorithm: \"nccl/ring\"", "steps: 1 nccl: RINGS"));
  EXPECT_FALSE(core::timed_parts(rings.plan.collective(rings.plan.packs.front())));
  EXPECT_TRUE(core::nccl_notes(rings).empty());
  core::Scenario both = test::read(text(where, variable("v", 1 << 20), "algorithm: \"nccl/ring\""));
  core::simulate_as_rings(both);
  EXPECT_EQ(test::summary_values(summary_of(both)), test::summary_values(summary_of(rings)));
  // The reference is the schedule run alone, which consists of rings.
  EXPECT_EQ(took(summary_of(rings).last_packs().front()),
            core::kGpuLaunch + sim::run_alone(rings.plan.collective(rings.plan.packs.front()),
                                              core::NetworkModel::kFifo)
                                   .end);
  const std::string box =
      "cluster { workers { machine: \"box\" count: 2 } network { kind: ONE_SWITCH latency_us: 2 } "
      "machine { name: "
      "\"box\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 100 } device { name: "
      "\"gpu[0-3]\" kind: GPU "
      "memory_gb_per_s: 1000 } nic { name: \"nic0\" bandwidth_gb_per_s: 10 } link { from: \"cpu0\" "
      "to: \"gpu[0-3]\" "
      "kind: PCIE generation: 4 latency_us: 0.5 } link { from: \"cpu0\" to: \"nic0\" kind: PCIE "
      "generation: 4 "
      "latency_us: 0.5 } } } workload { variable { name: \"v\" shape: 262144 } forward_ms: 0 "
      "update_ms: 0 } strategy { "
      "algorithm: \"nccl/ring\" }";
  const auto unknown = core::read_scenario(box, "f", test::shipped_library());
  ASSERT_TRUE(unknown) << unknown.error().message();
  EXPECT_FALSE(core::timed_parts(unknown->plan.collective(unknown->plan.packs.front())));
  EXPECT_NE(unknown->why_rings, "");
  EXPECT_FALSE(summary_of(*unknown).info().notes.empty()) << "one of the notes states it";
}

}  // namespace
}  // namespace tutti
