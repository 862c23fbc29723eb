// A folded run, in which one worker represents all, must give the same results as a run of all
// workers, to the picosecond. The same holds for memoized steps.

#include "sim/folding/folding.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "sim/folding/ties.h"
#include "tests/sim/simulated.h"
#include "tests/support/problems.h"

namespace tutti::sim {
namespace {

using core::Scenario;
using core::Summary;
using core::Time;
using test::read;
using test::says;
using test::says_folded;
using test::says_remembered;
using test::simulated;
using test::summary_values;

/// Returns a random scenario whose workers are identical, if its algorithm allows this.
std::string random_scenario(core::Random& random) {
  const auto one_of = [&random](const std::vector<std::string>& of) {
    return test::one_of(random, of);
  };
  const std::string machine =
      one_of({"cpu-host", "dgx1-v100", "dgx-a100", "pcie4-a100", "pcie8-v100", "ec2-g4dn-12xlarge",
              "hgx-h100", "pcie-l40s", "ec2-p3-16xlarge"});
  const bool cpus = machine == "cpu-host";
  const std::string algorithm =
      cpus ? one_of({"ring", "halving_doubling", "recursive_doubling"})
           : one_of({"ring", "ring", "halving_doubling", "recursive_doubling", "nccl", "nccl",
                     "nccl/ring", "nccl/ring", "nccl/halving_doubling"});
  const int workers = 2 << random.below(3);
  const bool odd = algorithm.find("doubling") == std::string::npos && random.below(3) == 0;
  std::string gradients;
  for (std::uint64_t g = 0, n = 1 + random.below(4); g < n; ++g) {
    gradients += "variable { name: \"g" + std::to_string(g) + "\" shape: [" +
                 std::to_string(1 + random.below(400)) + ", " +
                 std::to_string(odd ? 24 * workers : 64 * workers) + "] backward_ms: 0." +
                 std::to_string(random.below(10)) + " } ";
  }
  std::string strategy = "algorithm: \"" + algorithm + "\"";
  if (algorithm == "ring" && !cpus && random.below(2) == 0) strategy += " shards: 2";
  if (algorithm == "nccl" && random.below(2) == 0)
    strategy += " channels: " + std::to_string(1 + random.below(6));
  if (random.below(2) == 0) strategy += " reduction: MEAN";
  if (random.below(2) == 0) strategy += " bytes_per_pack: 400000";
  if (random.below(3) == 0) strategy += " launch: CONCURRENT";
  if (random.below(3) == 0)
    strategy += " compression { type: FLOAT16 of: " + one_of({"GRADIENTS", "PACKS"}) + " }";
  if (random.below(3) == 0) gradients += "forward_ms: 0.3 micro_batches: 3 ";
  if (random.below(2) == 0)
    gradients += "compute_bound_percent: " + std::to_string(random.below(101)) + " ";
  return "cluster { workers { machine: \"" + machine +
         "\" count: " + std::to_string(odd ? workers / 2 * 3 : workers) +
         " } network { kind: " + one_of({"ONE_SWITCH", "RAILS"}) +
         " latency_us: " + one_of({"0", "1.5", "20"}) + " } }\nworkload { " + gradients +
         "}\nstrategy { " + strategy + " }\nrun { steps: " + std::to_string(2 + random.below(6)) +
         " network_model: " + one_of({"FIFO", "FIFO", "IDEAL", "FAIR"}) +
         one_of({"", "", " interference: ON", " interference: OFF"}) + " }";
}

class Folding : public testing::TestWithParam<int> {};

TEST(FoldingSpecs, FoldingPacksOfDifferentAlgorithmsDoesNotChangeTheResult) {
  int folded = 0;
  for (const std::string machine : {"dgx1-v100", "pcie4-a100", "hgx-h100"}) {
    for (const std::string spec :
         {"xring#2:40k:nccl/xring", "nccl/rechd:40k:nccl/xring", "xring:40k:nccl"}) {
      const std::string text =
          "cluster { workers { machine: \"" + machine +
          "\" count: 4 } network { kind: RAILS latency_us: 1.5 } }\nworkload { variable { name: "
          "\"a\" shape: 1000001 "
          "backward_ms: 0.1 } "
          "variable { name: \"b\" shape: 777 backward_ms: 0.2 } variable { name: \"c\" shape: "
          "131072 } }\n"
          "strategy { tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"" +
          spec + "\" } } } reduction: MEAN }";
      const Scenario scenario = read(text);
      const std::optional<Summary> one = simulated(scenario, Folds::kAlways);
      if (!one) continue;
      ++folded;
      EXPECT_EQ(summary_values(*one), summary_values(*simulated(scenario, Folds::kNever))) << text;
    }
  }
  EXPECT_GE(folded, 2);
}

TEST_P(Folding, DoesNotChangeTheResult) {
  core::Random random(static_cast<std::uint64_t>(GetParam()) * 7919 + 1);
  int folded = 0;
  constexpr int kCases = 15;
  for (int i = 0; i < kCases; ++i) {
    const std::string text = random_scenario(random);
    const Scenario scenario = read(text);
    const std::optional<Summary> one = simulated(scenario, Folds::kAlways);
    if (!one) continue;
    ++folded;
    EXPECT_TRUE(says_folded(*one));
    const std::optional<Summary> all = simulated(scenario, Folds::kNever);
    EXPECT_FALSE(says_folded(*all));
    ASSERT_EQ(summary_values(*one), summary_values(*all)) << text;
  }
  // In the other cases, the symmetry of the workers is broken, or their chunks are not equal.
  EXPECT_GE(folded, kCases / 3) << "of " << kCases;
}

INSTANTIATE_TEST_SUITE_P(Random, Folding, testing::Range(0, 12));

TEST_P(Folding, FoldingAndSkippingStepsTogetherDoNotChangeTheResult) {
  core::Random random(static_cast<std::uint64_t>(GetParam()) * 7919 + 2);
  int remembered = 0;
  constexpr int kCases = 12;
  for (int i = 0; i < kCases; ++i) {
    const std::string text = random_scenario(random);
    const Scenario scenario = read(text);
    const std::optional<Summary> all = simulated(scenario, Folds::kNever);
    for (const Folds folds : {Folds::kNever, Folds::kAlways}) {
      const std::optional<Summary> again = simulated(scenario, folds, SkipRepeats::kAlways);
      if (!again) continue;
      ASSERT_EQ(summary_values(*again), summary_values(*all)) << text;
      if (says_remembered(*again)) ++remembered;
    }
  }
  EXPECT_GE(remembered, kCases / 3) << "of " << 2 * kCases;
}

/// Scenarios with servers or several communicators do not fold. The effect of slow devices is the
/// same in every step.
TEST(Remembering, SkippingStepsDoesNotChangeTheResultIfWorkersDiffer) {
  const std::string workload =
      "workload { variable { name: \"a\" shape: 100000 backward_ms: 0.7 } variable { name: "
      "\"b\" shape: 3333 backward_ms: 0.1 } forward_ms: 1 micro_batches: 2 }\n";
  for (const std::string algorithm :
       {"pscpu", "ring", "nccl", "pscpu/pscpu", "double_tree", "nccl/double_tree"}) {
    for (const std::string model : {"FIFO", "IDEAL", "FAIR"}) {
      for (const std::string more :
           {"", "conditions { slow { worker: 1 slowdown: 1.3 } }",
            "communicator { name: \"t\" size: 4 algorithm: \"ring\" exchange { bytes: 100000 "
            "per_forward: 2 per_backward: 1 } }"}) {
        const Scenario scenario = read(
            "cluster { workers { machine: \"ec2-g4dn-12xlarge\" count: 3 } network { kind: "
            "ONE_SWITCH latency_us: 4 } }\n" +
            workload + "strategy { algorithm: \"" + algorithm + "\" } " + more +
            "\nrun { steps: 9 network_model: " + model + " }");
        const std::optional<Summary> every =
            simulated(scenario, Folds::kNever, SkipRepeats::kNever);
        const std::optional<Summary> again =
            simulated(scenario, Folds::kNever, SkipRepeats::kAlways);
        ASSERT_EQ(summary_values(*again), summary_values(*every))
            << algorithm << ", " << model << ", " << more;
        EXPECT_EQ(again->steps().size(), 9u);
        EXPECT_FALSE(says_remembered(*every));
      }
    }
  }
}

TEST(Remembering, HandlesManyPacksInFlight) {
  std::string gradients;
  for (int g = 0; g < 9; ++g)
    gradients +=
        "variable { name: \"g" + std::to_string(g) + "\" shape: " + std::to_string(64 << g) + " } ";
  const Scenario scenario = read(
      "cluster { workers { machine: \"hgx-h100\" count: 4 } network { kind: RAILS latency_us: 3 } "
      "}\nworkload { " +
      gradients +
      "forward_ms: 1 backward_ms: 0.01 }\nstrategy { algorithm: \"nccl/ring\" } run { steps: 12 }");
  const std::optional<Summary> again = simulated(scenario, Folds::kNever, SkipRepeats::kAlways);
  EXPECT_TRUE(says_remembered(*again)) << "in any order of ends";
  EXPECT_EQ(summary_values(*again), summary_values(*simulated(scenario, Folds::kNever)));
}

TEST(Remembering, IsOffIfStepsDiffer) {
  const auto remembered = [](const std::string& more, const std::string& run) {
    return says_remembered(*simulated(read("cluster { workers { machine: \"dgx-a100\" count: 2 } "
                                           "network { kind: ONE_SWITCH latency_us: 3 } }\n"
                                           "workload { variable { name: \"g\" shape: 1048576 } "
                                           "forward_ms: 5 }\nstrategy { algorithm: \"ring\" } " +
                                           more + " run { steps: 8 " + run + " }"),
                                      Folds::kNever, SkipRepeats::kAlways));
  };
  EXPECT_TRUE(remembered("", ""));
  EXPECT_FALSE(remembered("", "compute_jitter_percent: 1"));
  EXPECT_FALSE(remembered("conditions { slow { worker: 1 slowdown: 2 from_ms: 30 } }", ""));
  EXPECT_FALSE(remembered(
      "conditions { link { from: \"w0/nic0\" to: \"network\" bandwidth_share: 0.5 at_ms: 20 } }",
      ""));
}

const char* const kNetwork = "network { kind: ONE_SWITCH latency_us: 3 } ";

std::string ring_of(int workers, const std::string& more = "", const std::string& run = "") {
  return "cluster { workers { machine: \"dgx-a100\" count: " + std::to_string(workers) + " } " +
         kNetwork +
         "}\nworkload { variable { name: \"g\" shape: 1048576 } }\nstrategy { algorithm: "
         "\"nccl/ring\" } " +
         more + " run { steps: 1 " + run + " }";
}

class FoldingATimeline : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(NcclInside, FoldingATimeline, testing::Values("RINGS", "CALIBRATED"),
                         [](const auto& how) { return std::string(how.param); });

TEST_P(FoldingATimeline, RecordsTheFirstWorkerUnchanged) {
  const Scenario scenario = read(ring_of(4, "", std::string("nccl: ") + GetParam()));
  class Spans : public core::NullSink {
   public:
    void track(const core::Track& track) override { first_.push_back(track.worker == 0); }
    void span(core::TrackId track, const core::Span& span) override {
      if (first_[track])
        all.emplace_back(span.start.count(), span.duration.count(), span.wait.count(), span.kind,
                         span.index, span.bytes.count());
    }
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int32_t, std::int64_t,
                           std::int64_t>>
        all;

   private:
    std::vector<bool> first_;
  };
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  Spans whole, folded, automatic;
  ASSERT_TRUE(Simulator(Folds::kNever).run(scenario, record, {}, whole));
  ASSERT_TRUE(Simulator(Folds::kAlways).run(scenario, record, {}, folded));
  std::sort(whole.all.begin(), whole.all.end());
  std::sort(folded.all.begin(), folded.all.end());
  EXPECT_EQ(whole.all, folded.all);
  // With NCCL's own times there are no steps inside workers. Only those of the ring between workers
  // remain.
  EXPECT_GT(whole.all.size(), std::string_view(GetParam()) == "RINGS" ? 50u : 20u);

  // If simulating all workers is fast, all are shown.
  class Workers : public core::NullSink {
   public:
    void track(const core::Track& track) override { most = std::max(most, track.worker); }
    std::int32_t most = 0;
  } shown;
  ASSERT_TRUE(Simulator().run(scenario, record, {}, shown));
  EXPECT_EQ(shown.most, 3);
}

TEST(Folding, NotesNameTheOwnersOfLinks) {
  const auto notes_of = [](const std::string& text, Folds folds) {
    const std::optional<Summary> summary = simulated(read(text), folds);
    std::string notes;
    for (const std::string& note : summary->info().notes) notes += note + "; ";
    return notes;
  };
  const std::string many =
      "cluster { workers { machine: \"cpu-host\" count: 16384 } " + std::string(kNetwork) +
      "}\nworkload { variable { name: \"g\" shape: 16 } }\nstrategy { algorithm: "
      "\"recursive_doubling\" } run { steps: 1 }";
  EXPECT_NE(notes_of(many, Folds::kAlways).find("only links of worker 0 are listed"),
            std::string::npos);
  EXPECT_EQ(notes_of(many, Folds::kNever).find("only links of worker 0 are listed"),
            std::string::npos);
  EXPECT_EQ(notes_of(ring_of(4), Folds::kAlways).find("only links of worker 0 are listed"),
            std::string::npos)
      << "all told";
}

TEST(Folding, IsOffIfWorkersDiffer) {
  const auto why = [](const std::string& text) {
    const sim::Folding folding = fold(read(text));
    EXPECT_EQ(folding.scenario == nullptr, !folding.why_not.empty());
    return folding.why_not;
  };
  EXPECT_EQ(why(ring_of(4)), "");
  EXPECT_EQ(why(ring_of(1)), "there is one worker");
  EXPECT_EQ(why(ring_of(4, "", "compute_jitter_percent: 1")),
            "replicas compute at different speeds");
  EXPECT_EQ(why(ring_of(4, "conditions { slow { worker: 1 slowdown: 2 } }")),
            "some devices are slow");
  EXPECT_EQ(
      why("cluster { workers { machine: \"dgx-a100\" count: 2 } workers { machine: \"dgx1-v100\" "
          "count: 2 } " +
          std::string(kNetwork) +
          "}\nworkload { variable { name: \"g\" shape: 1024 } }\nstrategy { algorithm: \"ring\" }"),
      "the cluster has several kinds of workers");
  EXPECT_NE(why("cluster { workers { machine: \"dgx-a100\" count: 4 } " + std::string(kNetwork) +
                "}\nworkload { variable { name: \"g\" shape: 1024 } }\nstrategy { algorithm: "
                "\"pscpu\" }"),
            "");
}

TEST(Folding, RefusesScenariosThatCannotBeFolded) {
  const Scenario scenario = read(ring_of(4, "conditions { slow { worker: 1 slowdown: 2 } }"));
  Summary summary;
  const auto ran = Simulator(Folds::kAlways).run(scenario, {}, {}, summary);
  EXPECT_THAT(test::kinds_of(ran), testing::ElementsAre("conflict Cluster"));
  EXPECT_EQ(ran.error().kind(), core::ErrorKind::kRequest);
  EXPECT_TRUE(summary.steps().empty());
}

TEST(Folding, SupportsAMillionGpus) {
  const Scenario scenario = read(ring_of(131'072));
  const std::optional<Summary> summary = simulated(scenario, Folds::kAutomatic);
  ASSERT_TRUE(summary && summary->steady_parts());
  EXPECT_TRUE(says_folded(*summary));
  // A lower bound: the ring over all workers takes at least 2(n - 1) empty messages.
  EXPECT_GT(summary->step_time(), Time(2 * 131'071 * core::microseconds(3).count()));
}

TEST(Ties, MatterOnlyBetweenTheSameLaneOfWorkersAtDifferentDistances) {
  using Thing = Ties::Thing;
  Ties ties;
  const auto comes = [&ties](std::uint64_t lane, std::int32_t away) {
    ties.begin(event_order(1, lane, 7));
    ties.comes_from(away);
  };
  comes(3, 1);
  ties.wants(Thing::kResource, 5, Time(10));
  ties.wants(Thing::kResource, 5, Time(10));  // one after the other, in any worker
  comes(4, 0);
  ties.wants(Thing::kResource, 5, Time(10));  // from another place
  comes(3, 0);
  ties.wants(Thing::kResource, 6, Time(10));  // another resource
  ties.wants(Thing::kDevice, 5, Time(10));
  ties.wants(Thing::kResource, 5, Time(11));  // later
  EXPECT_FALSE(ties.matter());
  comes(4, 2);
  ties.wants(Thing::kResource, 5, Time(11));
  EXPECT_FALSE(ties.matter());
  comes(3, 2);
  ties.wants(Thing::kResource, 5, Time(11));
  EXPECT_TRUE(ties.matter());
}

}  // namespace
}  // namespace tutti::sim
