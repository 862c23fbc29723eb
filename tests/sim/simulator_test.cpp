#include "sim/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/timeline/reader.h"
#include "core/timeline/summary.h"
#include "core/timeline/writer.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::RecordLevel;
using core::RecordOptions;
using core::Scenario;
using core::Span;
using core::SpanKind;
using core::Summary;
using core::Time;

Scenario scenario(const std::string& strategy, const std::string& run = "",
                  const std::string& workload =
                      "model: \"resnet50_torchvision\" layer_times: \"resnet50_torchvision_v100\" batch: 32") {
  const core::Library library(test::source_folder() + "/scenarios");
  auto s = core::read_scenario(
      "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: ONE_SWITCH latency_us: 1.5 } }\nworkload "
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

/// The spans of a timeline, row by row in the order of the file.
std::vector<std::pair<core::TrackId, Span>> spans_of(const core::TimelineReader& reader) {
  std::vector<std::pair<core::TrackId, Span>> all;
  for (const auto& block : reader.span_blocks()) {
    const auto spans = reader.read(block);
    EXPECT_TRUE(spans);
    for (const Span& span : *spans) all.emplace_back(block.track, span);
  }
  return all;
}

TEST(Simulator, GivesTheSameTimelineToTheLastBit) {
  for (const char* algorithm : {"ring", "pscpu", "nccl", "pscpu/pscpu"}) {
    const std::string strategy = std::string("algorithm: \"") + algorithm + "\" bytes_per_pack: 26214400";
    const std::string run = "seed: 7 compute_jitter_percent: 5";
    EXPECT_EQ(timeline_of(scenario(strategy, run), steps()), timeline_of(scenario(strategy, run), steps()))
        << algorithm;
  }
}

TEST(Simulator, RecordingChangesNothing) {
  const Scenario s = scenario("algorithm: \"pscpu\" bytes_per_pack: 26214400");
  Summary none, all;
  ASSERT_TRUE(Simulator().run(s, recording(RecordLevel::kNone), {}, none));
  ASSERT_TRUE(Simulator().run(s, steps(), {}, all));
  EXPECT_EQ(none.step_time(), all.step_time());
  EXPECT_EQ(none.last_packs().front().end, all.last_packs().front().end);
}

TEST(Simulator, StepsAddUp) {
  const Summary s = summary_of(scenario("algorithm: \"ring\" bytes_per_pack: 26214400", "steps: 5"));
  ASSERT_EQ(s.steps().size(), 5u);
  Time end;
  for (const core::StepRecord& step : s.steps()) {
    EXPECT_EQ(step.start, end);
    end = step.end;
    EXPECT_GE(step.communication, step.exposed);
  }
  EXPECT_GE(s.step_time(), s.info().step_bound);
}

TEST(Simulator, TheCriticalPathHasNoGapsAndLeadsFromStepToStep) {
  for (const char* strategy :
       {"algorithm: \"ring\"", "algorithm: \"pscpu\" shards: 2",
        "algorithm: \"nccl\" all_reduce_merge_scope: 32 launch_us: 8", "algorithm: \"nccl/pscpu\" bytes_per_pack: 0",
        "algorithm: \"ring\" num_packs: 4 reduction: MEAN"}) {
    const Summary s = summary_of(scenario(strategy));
    ASSERT_FALSE(s.path().empty());
    EXPECT_EQ(s.path().back().end, s.steps().back().end) << strategy;
    for (std::size_t i = 1; i < s.path().size(); ++i) EXPECT_EQ(s.path()[i].start, s.path()[i - 1].end) << strategy;
    EXPECT_LE(s.path().front().start, s.steps().back().start);
    for (const core::PathPiece& p : s.path()) {
      if (p.kind == SpanKind::kPackInFlight) {
        EXPECT_EQ(p.parts.total(), p.end - p.start) << strategy;
      }
    }
  }
}

TEST(Simulator, WithoutComputationTheStepIsItsCommunication) {
  const Summary s =
      summary_of(scenario("algorithm: \"ring\"", "steps: 1", "variable { name: \"w\" shape: 1000000 } update_ms: 0"));
  EXPECT_EQ(s.steps()[0].exposed, s.step_time());
  EXPECT_EQ(s.steps()[0].communication, s.step_time());
}

TEST(Simulator, ALongerBackwardPassHidesCommunication) {
  const auto exposed = [](const char* batch) {
    return summary_of(
               scenario(
                   "algorithm: \"ring\" bytes_per_pack: 26214400", "",
                   std::string("model: \"resnet50_torchvision\" layer_times: \"resnet50_torchvision_v100\" batch: ") +
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
  EXPECT_GT(time("bytes_per_pack: 0"), time("bytes_per_pack: 26214400")) << "one pack starts after the last gradient";
  EXPECT_GT(time("num_packs: 4"), time("bytes_per_pack: 26214400"));
}

TEST(Simulator, JitterIsSeeded) {
  const auto time = [](const std::string& run) {
    return summary_of(scenario("algorithm: \"nccl\" bytes_per_pack: 26214400", run)).step_time();
  };
  EXPECT_EQ(time("seed: 1"), time("seed: 2")) << "nothing random without jitter";
  EXPECT_EQ(time("seed: 1 compute_jitter_percent: 10"), time("seed: 1 compute_jitter_percent: 10"));
  EXPECT_NE(time("seed: 1 compute_jitter_percent: 10"), time("seed: 2 compute_jitter_percent: 10"));
  EXPECT_GT(time("seed: 1 compute_jitter_percent: 10"), time("")) << "everyone waits for the slowest of 16";
}

TEST(Simulator, StaysAboveTheBoundUnderJitter) {
  for (int seed = 0; seed < 20; ++seed) {
    const Summary s = summary_of(scenario("algorithm: \"nccl\" bytes_per_pack: 26214400",
                                          "steps: 4 compute_jitter_percent: 30 seed: " + std::to_string(seed)));
    EXPECT_GE(s.steps()[0].end, s.info().step_bound) << seed;
    EXPECT_GE(s.step_time(), s.info().step_bound) << seed;
  }
}

// --- recording ---

TEST(Recording, SpansOfARowDoNotOverlap) {
  for (const char* strategy : {"algorithm: \"pscpu\" shards: 2", "algorithm: \"nccl\" bytes_per_pack: 26214400",
                               "algorithm: \"psgpu\" shards: 3 num_packs: 5"}) {
    const auto reader = core::TimelineReader::from_bytes(timeline_of(scenario(strategy, "steps: 2"), steps()), "t");
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

TEST(Recording, EveryReceiveRefersToTheSendItTook) {
  const auto reader = core::TimelineReader::from_bytes(
      timeline_of(scenario("algorithm: \"pscpu\" shards: 2 bytes_per_pack: 26214400", "steps: 1"), steps()), "t");
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

TEST(Recording, IsBoundedByWorkersTimeAndNumber) {
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
  EXPECT_THAT(reader->run().notes.back(), testing::HasSubstr("100 are as many as were asked for"));
}

TEST(Recording, LinksCarryWhatThePacksSend) {
  const Scenario s = scenario("algorithm: \"ring\" bytes_per_pack: 0", "steps: 1");
  const Summary summary = summary_of(s);
  std::int64_t out = 0, in = 0;
  for (const core::LinkRecord& link : summary.busiest_links()) {
    if (link.name.ends_with("→network")) out += link.bytes.count();
    if (link.name.starts_with("network→")) in += link.bytes.count();
  }
  const std::int64_t bytes = s.plan.packs[0].collective.bytes().count();
  EXPECT_EQ(out, in) << "what enters the network leaves it";
  EXPECT_NEAR(static_cast<double>(out), 2 * 2 * 15.0 / 16 * static_cast<double>(bytes), 1000.0)
      << "two links cross it, 2 (n - 1) chunks each";
}

TEST(Cancel, LeavesAWholeTimelineOfWhatRan) {
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

TEST(Simulator, ARunBeyondAllTimeIsAnErrorNotAnOverflow) {
  const core::Library library(test::source_folder() + "/scenarios");
  const auto s = core::read_scenario(
      "cluster { workers { machine: \"cpu-host\" count: 64 } network { kind: ONE_SWITCH latency_us: 1e9 } }\n"
      "workload { variable { name: \"w\" shape: 64 } } strategy { algorithm: \"ring\" } run { steps: 100000 }",
      "f", library);
  ASSERT_TRUE(s) << s.error().message();
  Summary summary;
  const auto ran = Simulator().run(*s, {}, {}, summary);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind(), core::ErrorKind::kRequest);
  EXPECT_THAT(ran.error().message(), testing::HasSubstr("53 days of virtual time"));
}

TEST(Simulator, MoreLanesThanItCountsAreAnError) {
  const core::Library library(test::source_folder() + "/scenarios");
  const auto s = core::read_scenario(
      "cluster { workers { machine: \"cpu-host\" count: 4096 } network { kind: ONE_SWITCH latency_us: 1 } }\n"
      "workload { variable { name: \"w\" shape: 65536 } } strategy { algorithm: \"pscpu\" shards: 4096 }",
      "f", library);
  ASSERT_TRUE(s) << s.error().message();
  Summary summary;
  const auto ran = Simulator().run(*s, {}, {}, summary);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind(), core::ErrorKind::kRequest);
  EXPECT_THAT(ran.error().message(), testing::HasSubstr("fewer shards"));
}

}  // namespace
}  // namespace tutti::sim
