// The simulator as an executor: step times and records of whole scenarios, cancellation, concurrent
// runs, lower bounds, and the options that select what a timeline records.

#include "sim/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "core/timeline/reader.h"
#include "core/timeline/summary.h"
#include "core/timeline/waiting.h"
#include "core/timeline/writer.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::sim {
namespace {

using core::RecordLevel;
using core::RecordOptions;
using core::Scenario;
using core::Span;
using core::SpanKind;
using core::Summary;
using core::Time;

Scenario scenario(
    const std::string& strategy, const std::string& run = "",
    const std::string& workload =
        "model: \"resnet50_torchvision\" layer_times: \"resnet50_torchvision_v100\" batch: 32") {
  const core::Library& library = test::shipped_library();
  auto s = core::read_scenario(
      "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: ONE_SWITCH "
      "latency_us: 1.5 } }\nworkload "
      "{ " +
          workload + " }\nstrategy { " + strategy + " }\nrun { " + run + " }",
      "f", library);
  EXPECT_TRUE(s) << (s ? "" : s.error().message());
  return std::move(*s);
}

Summary summary_of(const Scenario& s) {
  Summary summary;
  EXPECT_TRUE(Simulator().run(s, {}, {}, summary));
  return summary;
}

std::string timeline_of(const Scenario& s, const RecordOptions& record = {}) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  EXPECT_TRUE(Simulator().run(s, record, {}, writer));
  return out.str();
}

RecordOptions recording(RecordLevel level) {
  RecordOptions record;
  record.level = level;
  return record;
}

RecordOptions steps() { return recording(RecordLevel::kSteps); }

/// Returns the spans of a timeline, row by row in the order of the file.
std::vector<std::pair<core::TrackId, Span>> spans_of(const core::TimelineReader& reader) {
  std::vector<std::pair<core::TrackId, Span>> all;
  for (const auto& block : reader.span_blocks()) {
    const auto spans = reader.read(block);
    EXPECT_TRUE(spans);
    for (const Span& span : *spans) all.emplace_back(block.track, span);
  }
  return all;
}

TEST(Simulator, IsReproducibleToTheLastBit) {
  for (const char* algorithm : {"ring", "pscpu", "nccl", "pscpu/pscpu"}) {
    const std::string strategy =
        std::string("algorithm: \"") + algorithm + "\" bytes_per_pack: 26214400";
    const std::string run = "seed: 7 compute_jitter_percent: 5";
    EXPECT_EQ(timeline_of(scenario(strategy, run), steps()),
              timeline_of(scenario(strategy, run), steps()))
        << algorithm;
  }
}

TEST(Simulator, ManyAtOnceGiveTheResultsOfSingleRuns) {
  const std::string small = "model: \"mnist_cnn_tf\" forward_ms: 1 backward_ms: 1";
  const std::string fair = "steps: 3 network_model: FAIR";
  const std::vector<Scenario> scenarios{
      scenario(R"(algorithm: "ring" bytes_per_pack: 100000)", "steps: 5", small),
      scenario(R"(algorithm: "pscpu")", fair, small),
      scenario(R"(algorithm: "nccl")", "steps: 5", small)};
  std::vector<std::string> alone;
  for (const Scenario& one : scenarios) alone.push_back(timeline_of(one, steps()));
  // Every thread runs all scenarios, and reads its own timeline meanwhile. Threads share only
  // constant data.
  std::vector<std::vector<std::string>> together(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < together.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < scenarios.size(); ++i)
        together[t].push_back(timeline_of(scenarios[(i + t) % scenarios.size()], steps()));
      together[t].push_back(timeline_of(scenario(R"(algorithm: "pscpu")", fair, small), steps()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < together.size(); ++t) {
    for (std::size_t i = 0; i < scenarios.size(); ++i)
      EXPECT_EQ(together[t][i], alone[(i + t) % scenarios.size()]);
    EXPECT_EQ(together[t].back(), alone[1]);
  }
}

TEST(Simulator, RecordingDoesNotChangeTheResult) {
  const Scenario s = scenario("algorithm: \"pscpu\" bytes_per_pack: 26214400");
  Summary none, all;
  ASSERT_TRUE(Simulator().run(s, recording(RecordLevel::kNone), {}, none));
  ASSERT_TRUE(Simulator().run(s, steps(), {}, all));
  EXPECT_EQ(none.step_time(), all.step_time());
  EXPECT_EQ(none.last_packs().front().end, all.last_packs().front().end);
}

TEST(Simulator, PartsOfAStepAddUpToItsTime) {
  const Summary s =
      summary_of(scenario("algorithm: \"ring\" bytes_per_pack: 26214400", "steps: 5"));
  ASSERT_EQ(s.steps().size(), 5u);
  Time end;
  for (const core::StepRecord& step : s.steps()) {
    EXPECT_EQ(step.start, end);
    end = step.end;
    EXPECT_GE(step.communication, step.exposed);
  }
  EXPECT_GE(s.step_time(), s.info().step_bound);
}

TEST(Simulator, TheCriticalPathHasNoGapsAlsoBetweenSteps) {
  for (const char* strategy : {"algorithm: \"ring\"", "algorithm: \"pscpu\" shards: 2",
                               "algorithm: \"nccl\" all_reduce_merge_scope: 32 launch_us: 8",
                               "algorithm: \"nccl/pscpu\" bytes_per_pack: 0",
                               "algorithm: \"ring\" num_packs: 4 reduction: MEAN"}) {
    const Summary s = summary_of(scenario(strategy));
    ASSERT_FALSE(s.path().empty());
    EXPECT_EQ(s.path().back().end, s.steps().back().end) << strategy;
    for (std::size_t i = 1; i < s.path().size(); ++i)
      EXPECT_EQ(s.path()[i].start, s.path()[i - 1].end) << strategy;
    EXPECT_LE(s.path().front().start, s.steps().back().start);
    for (const core::PathPiece& p : s.path()) {
      if (p.kind == SpanKind::kPackInFlight) {
        EXPECT_EQ(p.parts.total(), p.end - p.start) << strategy;
      }
    }
  }
}

TEST(Simulator, WithoutComputationTheStepTakesItsCommunication) {
  const Summary s = summary_of(scenario("algorithm: \"ring\"", "steps: 1",
                                        "variable { name: \"w\" shape: 1000000 } update_ms: 0"));
  EXPECT_EQ(s.steps()[0].exposed, s.step_time());
  EXPECT_EQ(s.steps()[0].communication, s.step_time());
}

TEST(Simulator, ALongerBackwardPassHidesCommunication) {
  const auto exposed = [](const char* batch) {
    return summary_of(scenario("algorithm: \"ring\" bytes_per_pack: 26214400", "",
                               std::string("model: \"resnet50_torchvision\" layer_times: "
                                           "\"resnet50_torchvision_v100\" batch: ") +
                                   batch))
        .steps()
        .back()
        .exposed;
  };
  EXPECT_GT(exposed("1"), exposed("32"));
}

TEST(Simulator, MergingLateGradientsExposesThem) {
  const auto time = [](const std::string& strategy) {
    return summary_of(scenario("algorithm: \"nccl\" " + strategy)).step_time();
  };
  EXPECT_GT(time("bytes_per_pack: 0"), time("bytes_per_pack: 26214400"))
      << "one pack starts after the last gradient";
  EXPECT_GT(time("num_packs: 4"), time("bytes_per_pack: 26214400"));
}

TEST(Simulator, TheSeedDeterminesJitter) {
  const auto time = [](const std::string& run) {
    return summary_of(scenario("algorithm: \"nccl\" bytes_per_pack: 26214400", run)).step_time();
  };
  EXPECT_EQ(time("seed: 1"), time("seed: 2")) << "nothing random without jitter";
  EXPECT_EQ(time("seed: 1 compute_jitter_percent: 10"), time("seed: 1 compute_jitter_percent: 10"));
  EXPECT_NE(time("seed: 1 compute_jitter_percent: 10"), time("seed: 2 compute_jitter_percent: 10"));
  EXPECT_GT(time("seed: 1 compute_jitter_percent: 10"), time(""))
      << "all replicas wait for the slowest of 16";
}

TEST(Simulator, PartsOfAStepAreThoseOfThisStepUnderJitter) {
  for (const char* algorithm : {"ring", "psgpu", "nccl"}) {
    const Summary s = summary_of(
        scenario(std::string("algorithm: \"") + algorithm + "\" bytes_per_pack: 13107200",
                 "seed: 3 steps: 5 compute_jitter_percent: 10"));
    for (const core::StepRecord& step : s.steps()) {
      EXPECT_EQ(step.forward + step.backward + step.other_compute + step.exposed + waiting(step),
                step.end - step.start)
          << algorithm;
      EXPECT_GE(step.exposed, Time()) << algorithm << ", step " << step.step;
      EXPECT_LE(step.exposed, step.communication) << algorithm << ", step " << step.step;
      EXPECT_LE(step.communication, step.end - step.start);
    }
    ASSERT_FALSE(s.path().empty());
    EXPECT_EQ(s.path().front().start, s.steps().back().start) << algorithm;
    EXPECT_EQ(s.path().back().end, s.steps().back().end) << algorithm;
  }
}

/// A scenario with a ring of slow and fast hosts. The fast hosts add among themselves while the
/// slow one computes.
TEST(Simulator, IsNotBelowTheBoundIfWorkersDifferInSpeed) {
  const auto host = [](const std::string& name, double tflops) {
    return "machine { name: \"" + name +
           "\" device { name: \"cpu0\" kind: CPU memory_gb_per_s: 1000000 flops { data_type: "
           "FLOAT32 tflops: " +
           std::to_string(tflops) +
           " } } nic { name: \"nic0\" bandwidth_gb_per_s: 10 } link { from: \"cpu0\" to: \"nic0\" "
           "kind: PCIE "
           "bandwidth_gb_per_s: 10 latency_us: 0 } } ";
  };
  const core::Library& library = test::shipped_library();
  for (const char* algorithm : {"ring", "pscpu"}) {
    for (const char* model : {"FIFO", "IDEAL", "FAIR"}) {
      for (const int fast : {1, 2, 5}) {
        const auto s = core::read_scenario(
            "cluster { workers { machine: \"fast\" count: " + std::to_string(fast) +
                " } workers { machine: \"slow\" } network { kind: ONE_SWITCH latency_us: 0 } " +
                host("fast", 10) + host("slow", 0.1) +
                "} workload { model: \"mnist_cnn_tf\" batch: 8 update_ms: 0 } strategy { "
                "algorithm: \"" +
                algorithm + "\" bytes_per_pack: 1000000 } run { steps: 2 network_model: " + model +
                " }",
            "f", library);
        ASSERT_TRUE(s) << s.error().message();
        const Summary summary = summary_of(*s);
        for (const core::StepRecord& step : summary.steps())
          EXPECT_GE(step.end - step.start, summary.info().step_bound)
              << algorithm << " " << model << " " << fast;
      }
    }
  }
}

TEST(Simulator, KeepsTheCriticalPathOfTheLastStepOnly) {
  const Summary few = summary_of(scenario("algorithm: \"pscpu\"", "steps: 40"));
  const Summary last = summary_of(scenario("algorithm: \"pscpu\"", "steps: 3"));
  ASSERT_EQ(few.path().size(), last.path().size())
      << "the path is complete after earlier steps were discarded";
  EXPECT_EQ(few.path().front().start, few.steps().back().start);
  for (std::size_t i = 1; i < few.path().size(); ++i)
    EXPECT_EQ(few.path()[i].start, few.path()[i - 1].end);
}

TEST(Simulator, StaysAboveTheBoundUnderJitter) {
  for (int seed = 0; seed < 20; ++seed) {
    const Summary s =
        summary_of(scenario("algorithm: \"nccl\" bytes_per_pack: 26214400",
                            "steps: 4 compute_jitter_percent: 30 seed: " + std::to_string(seed)));
    EXPECT_GE(s.steps()[0].end, s.info().step_bound) << seed;
    EXPECT_GE(s.step_time(), s.info().step_bound) << seed;
  }
}

// --- recording ---

TEST(Recording, SpansOfATrackDoNotOverlap) {
  for (const char* strategy :
       {"algorithm: \"pscpu\" shards: 2", "algorithm: \"nccl\" bytes_per_pack: 26214400",
        "algorithm: \"psgpu\" shards: 3 num_packs: 5"}) {
    const auto reader =
        core::TimelineReader::from_bytes(timeline_of(scenario(strategy, "steps: 2"), steps()), "t");
    ASSERT_TRUE(reader);
    std::map<core::TrackId, Time> end;
    std::int64_t spans = 0;
    for (const auto& [track, span] : spans_of(*reader)) {
      EXPECT_GE(span.start, end[track]) << strategy;
      EXPECT_GE(span.duration, span.wait);
      end[track] = span.start + span.duration;
      ++spans;
    }
    EXPECT_GT(spans, 1000);
  }
}

TEST(Recording, EveryReceiveRefersToItsSend) {
  const auto reader = core::TimelineReader::from_bytes(
      timeline_of(scenario("algorithm: \"pscpu\" shards: 2 bytes_per_pack: 26214400", "steps: 1"),
                  steps()),
      "t");
  std::map<std::tuple<core::TrackId, std::int32_t, std::int64_t>, Span> sends;
  std::vector<Span> receives;
  for (const auto& [track, span] : spans_of(*reader)) {
    if (span.kind >= SpanKind::kFirstCompute) continue;
    const auto kind = static_cast<core::StepKind>(span.kind);
    if (core::sends(kind)) sends[{track, span.pack, span.index}] = span;
    if (core::receives(kind)) receives.push_back(span);
  }
  EXPECT_GT(receives.size(), 100u);
  for (const Span& r : receives) {
    const auto sender = sends.find({r.peer, r.pack, r.peer_index});
    ASSERT_NE(sender, sends.end());
    EXPECT_EQ(sender->second.bytes, r.bytes);
    EXPECT_LE(sender->second.start, r.start + r.duration);
  }
}

TEST(Recording, CanBeLimitedByWorkersTimeAndNumberOfSpans) {
  const Scenario s = scenario("algorithm: \"ring\" bytes_per_pack: 26214400");
  RecordOptions record = steps();
  record.first_worker = record.last_worker = 1;
  auto reader = core::TimelineReader::from_bytes(timeline_of(s, record), "t");
  for (const core::Track& track : reader->tracks()) EXPECT_EQ(track.worker, 1);

  record = steps();
  record.from = core::milliseconds(50);
  record.to = core::milliseconds(60);
  reader = core::TimelineReader::from_bytes(timeline_of(s, record), "t");
  std::int64_t spans = 0;
  for (const auto& [track, span] : spans_of(*reader)) {
    EXPECT_GE(span.start + span.duration, record.from);
    EXPECT_LE(span.start, record.to);
    ++spans;
  }
  EXPECT_GT(spans, 0);

  record = steps();
  record.most_spans = 100;
  reader = core::TimelineReader::from_bytes(timeline_of(s, record), "t");
  spans = 0;
  for (const auto& block : reader->span_blocks()) spans += block.spans;
  EXPECT_EQ(spans, 100);
  EXPECT_FALSE(reader->run().notes.empty()) << "the note states it";
}

TEST(Recording, RecordsTheLoadOverTimeOfTheLinksOfRecordedWorkers) {
  const core::Library& library = test::shipped_library();
  const auto s = core::read_scenario(
      "cluster { workers { machine: \"dgx1-v100\" } workers { machine: \"hgx-h100\" count: 2 } "
      "workers { machine: "
      "\"dgx1-v100\" } network { kind: ONE_SWITCH latency_us: 1 } } workload { variable { name: "
      "\"w\" shape: 999999 } "
      "} "
      "strategy { algorithm: \"ring\" }",
      "f", library);
  ASSERT_TRUE(s) << s.error().message();
  RecordOptions record = recording(RecordLevel::kPacks);
  record.first_worker = 1;
  record.last_worker = 2;
  Summary summary;
  ASSERT_TRUE(Simulator().run(*s, record, {}, summary));
  std::set<std::string> binned, others;
  for (const core::LinkRecord& link : summary.busiest_links()) {
    std::string worker = link.name.substr(0, 2);
    if (worker == "ne") worker = link.name.substr(link.name.size() - 7, 2);  // "network→w1/nic0"
    (link.bins.empty() ? others : binned).insert(worker);
  }
  EXPECT_THAT(binned, testing::ElementsAre("w1", "w2"));
  EXPECT_THAT(others, testing::ElementsAre("w0", "w3"));
}

TEST(Recording, LinksCarryTheBytesOfThePacks) {
  const Scenario s = scenario("algorithm: \"ring\" bytes_per_pack: 0", "steps: 1");
  const Summary summary = summary_of(s);
  std::int64_t out = 0, in = 0;
  for (const core::LinkRecord& link : summary.busiest_links()) {
    if (link.name.ends_with("→network")) out += link.bytes.count();
    if (link.name.starts_with("network→")) in += link.bytes.count();
  }
  const std::int64_t bytes = s.plan.collective(s.plan.packs[0]).bytes().count();
  EXPECT_EQ(out, in) << "what enters the network leaves it";
  EXPECT_NEAR(static_cast<double>(out), 2 * 2 * 15.0 / 16 * static_cast<double>(bytes), 1000.0)
      << "two links cross it, 2 (n - 1) chunks each";
}

TEST(Cancel, LeavesACompleteTimelineOfTheStepsThatRan) {
  const Scenario s = scenario("algorithm: \"pscpu\"", "steps: 50");
  std::atomic<bool> cancel{false};
  int calls = 0;
  core::RunControl control;
  control.cancel = &cancel;
  control.progress = [&](double share) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
    if (++calls == 3) cancel = true;
  };
  std::ostringstream out;
  core::TimelineWriter writer(out);
  ASSERT_TRUE(Simulator().run(s, {}, control, writer));
  const auto reader = core::TimelineReader::from_bytes(out.str(), "t");
  EXPECT_TRUE(reader->complete());
  EXPECT_LT(reader->steps().size(), 50u);
  EXPECT_THAT(reader->run().notes.back(), testing::HasSubstr("stopped by request"));
}

TEST(Cancel, IsNoticedLongBeforeTheNextReportOfProgress) {
  const Scenario s = scenario("algorithm: \"pscpu\"", "steps: 50");
  // Cancels the run when the first step ends, and then counts the reports of progress.
  class CancelAtFirstStep : public core::Summary {
   public:
    void step(const core::StepRecord& step) override {
      Summary::step(step);
      cancel = true;
    }
    std::atomic<bool> cancel{false};
  };
  int calls = 0;
  core::RunControl control;
  control.progress = [&](double) { ++calls; };
  core::Summary whole;
  ASSERT_TRUE(Simulator().run(s, {}, control, whole));
  const int in_all = std::exchange(calls, 0);

  CancelAtFirstStep sink;
  control.cancel = &sink.cancel;
  ASSERT_TRUE(Simulator().run(s, {}, control, sink));
  EXPECT_EQ(sink.step_count(), 1) << "the step after the first takes more than 1,024 events";
  EXPECT_LT(calls, in_all);
}

TEST(Simulator, ATimeThatIsTooLongIsAnErrorInsteadOfAnOverflow) {
  const core::Library& library = test::shipped_library();
  const auto s = core::read_scenario(
      "cluster { workers { machine: \"cpu-host\" count: 64 } network { kind: ONE_SWITCH "
      "latency_us: 1e9 } }\n"
      "workload { variable { name: \"w\" shape: 64 } } strategy { algorithm: \"ring\" } run { "
      "steps: 100000 }",
      "f", library);
  ASSERT_TRUE(s) << s.error().message();
  Summary summary;
  const auto ran = Simulator().run(*s, {}, {}, summary);
  EXPECT_THAT(test::kinds_of(ran), testing::ElementsAre("too-large"));
  EXPECT_EQ(ran.error().kind(), core::ErrorKind::kRequest);
}

TEST(Simulator, SumsBeyondSixtyFourBitsDoNotOverflow) {
  const core::Library& library = test::shipped_library();
  const auto s = core::read_scenario(
      "cluster { workers { machine: \"m\" count: 2000 } network { kind: ONE_SWITCH latency_us: 0 } "
      "machine { name: "
      "\"m\" "
      "device { name: \"cpu0\" kind: CPU memory_gb_per_s: 1000000 } nic { name: \"nic0\" "
      "bandwidth_gb_per_s: 1000000 } "
      "link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 1000000 latency_us: 0 } } "
      "} workload { "
      "variable { "
      "name: \"w\" shape: [8388608, 8388608] data_type: FLOAT64 } } strategy { algorithm: "
      "\"pscpu\" } run { steps: 1 }",
      "f", library);
  ASSERT_TRUE(s) << s.error().message();
  Summary summary;
  const auto ran = Simulator().run(*s, {}, {}, summary);
  if (ran) {
    for (const core::LinkRecord& link : summary.busiest_links()) EXPECT_GE(link.bytes.count(), 0);
    EXPECT_GT(summary.step_time(), Time());
  } else {
    EXPECT_EQ(ran.error().kind(), core::ErrorKind::kRequest);
  }
}

TEST(Simulator, TooManyLanesAreAnError) {
  const core::Library& library = test::shipped_library();
  const auto s = core::read_scenario(
      "cluster { workers { machine: \"cpu-host\" count: 4096 } network { kind: ONE_SWITCH "
      "latency_us: 1 } }\n"
      "workload { variable { name: \"w\" shape: 65536 } } strategy { algorithm: \"pscpu\" shards: "
      "4096 }",
      "f", library);
  ASSERT_TRUE(s) << s.error().message();
  Summary summary;
  const auto ran = Simulator().run(*s, {}, {}, summary);
  EXPECT_THAT(test::kinds_of(ran), testing::ElementsAre("too-large Strategy"));
  EXPECT_EQ(ran.error().kind(), core::ErrorKind::kRequest);
}

}  // namespace
}  // namespace tutti::sim
