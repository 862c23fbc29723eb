// Runs a coordinator and its workers in one process. The workers' clocks are wrong, as those of
// different machines are. The tests check the merged timeline, and workers that fail, lie or send
// nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <limits>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "core/plan/gate/credit_gate.h"
#include "core/scenario/scenario.h"
#include "real/coordinator/tcp_executor.h"
#include "real/coordinator/worker_set.h"
#include "real/proto/run.pb.h"
#include "real/wire/failure.h"
#include "real/worker/worker.h"

namespace tutti::real {
namespace {

using core::ProblemCode;
using core::Time;

/// Keeps the whole timeline.
class Kept : public core::TimelineSink {
 public:
  void begin(const core::RunInfo&) override {}
  void track(const core::Track& track) override { tracks[track.id] = track; }
  void span(core::TrackId track, const core::Span& span) override { spans[track].push_back(span); }
  void step(const core::StepRecord& step) override { steps.push_back(step); }
  void pack(const core::PackRecord& pack) override { packs.push_back(pack); }
  void link(const core::LinkRecord&) override {}
  void path(const core::PathPiece&) override {}
  void steady(const core::SteadyState&) override {}
  void note(const std::string& text) override { notes.push_back(text); }
  void end() override { ended = true; }

  std::map<core::TrackId, core::Track> tracks;
  std::map<core::TrackId, std::vector<core::Span>> spans;
  std::vector<core::StepRecord> steps;
  std::vector<core::PackRecord> packs;
  std::vector<std::string> notes;
  bool ended = false;
};

core::Scenario ring(int workers, int steps, const std::string& workload = "",
                    const std::string& strategy = "") {
  const std::string text = fmt::format(
      "cluster {{ workers {{ machine: \"host\" count: {} }} network {{ kind: ONE_SWITCH "
      "latency_us: 1 }} machine {{ "
      "name: "
      "\"host\" device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 50 }} nic {{ name: \"nic0\" "
      "bandwidth_gb_per_s: 10 "
      "}} "
      "link {{ from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} "
      "}} "
      "workload {{ variable {{ name: \"a\" shape: 5003 }} forward_ms: 2 backward_ms: 3 {} }} "
      "strategy {{ algorithm: "
      "\"ring\" {} "
      "}} run {{ steps: {} }}",
      workers, workload, strategy, steps);
  auto scenario = core::read_scenario(text, "s", core::Library(std::vector<core::Library::File>()));
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  return std::move(*scenario);
}

/// Runs the scenario with workers that have these clocks.
core::Expected<void> run(const core::Scenario& scenario, const std::vector<WorkerClock>& clocks,
                         Kept& kept) {
  std::promise<Address> listens;
  const std::shared_future<Address> at = listens.get_future().share();
  std::vector<std::thread> workers;
  for (std::size_t w = 0; w < clocks.size(); ++w) {
    workers.emplace_back([&, w, at] {
      WorkerJoin join;
      join.where = [at] { return Appointment{at.get(), "the secret of this test"}; };
      join.worker = static_cast<std::int32_t>(w);
      join.clock = clocks[w];
      const WorkerEnd end = work(join);
      EXPECT_TRUE(end.done) << end.done.error().message();
    });
  }
  TcpExecutorOptions options;
  options.gathering.secret = "the secret of this test";
  options.gathering.spawn = Gathering::Spawn::kNone;
  options.gathering.announce = [&](const Address& address) {
    return listens.set_value(address), core::Expected<void>();
  };
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  auto done = TcpExecutor(options).run(scenario, record, {}, kept);
  for (std::thread& worker : workers) worker.join();
  return done;
}

std::string note_with(const Kept& kept, const std::string& text) {
  for (const std::string& note : kept.notes) {
    if (note.find(text) != std::string::npos) return note;
  }
  return {};
}

/// Returns the accuracy in µs that the note states.
double bound_of(const Kept& kept) {
  const std::string note =
      note_with(kept, "times measured on machines other than the coordinator's are accurate to ± ");
  const auto at = note.find("± ");
  return at == std::string::npos ? -1 : std::stod(note.substr(at + std::string("± ").size()));
}

TEST(Cluster, ClocksThatDifferBySecondsGiveOneTimeline) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::vector<WorkerClock> clocks{
      {"machine a", 0, 0}, {"machine b", 10 * kSecond, 80}, {"machine c", -3 * kSecond, -90}};
  Kept kept;
  const auto done = run(ring(3, 4), clocks, kept);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_TRUE(kept.ended);
  ASSERT_EQ(kept.steps.size(), 4u);
  const double bound_us = bound_of(kept);
  EXPECT_GT(bound_us, 0);
  Time last;
  for (const core::StepRecord& step : kept.steps) {
    EXPECT_EQ(step.start, last);
    last = step.end;
    EXPECT_GE(step.end - step.start, core::milliseconds(5))
        << "forward and backward take their time";
    EXPECT_LT(step.end - step.start, core::milliseconds(2900))
        << "the difference of clocks is not part of a step";
  }
  // All spans lie within this step and the previous one, because a worker may start a step while
  // another still ends the previous one. The spans of one row do not overlap.
  EXPECT_GE(kept.spans.size(), 9u) << "computation, packs and lanes of three workers";
  for (const auto& [track, spans] : kept.spans) {
    Time end;
    for (const core::Span& span : spans) {
      EXPECT_GE(span.start, end);
      EXPECT_LE(span.wait, span.duration);
      end = span.start + span.duration;
      const core::StepRecord& step = kept.steps[span.step];
      EXPECT_GE(span.start, kept.steps[std::max(span.step - 1, 0)].start);
      EXPECT_LE(end, step.end + core::time_from_us(2 * bound_us));
    }
  }
}

TEST(Cluster, MicroBatchesAreReplayedAndGradientsAreSentOncePerStep) {
  Kept kept;
  const auto done = run(ring(2, 2, "micro_batches: 3 accumulate_ms: 1"),
                        {{"machine a", 0, 0}, {"machine a", 0, 0}}, kept);
  ASSERT_TRUE(done) << done.error().message();
  ASSERT_EQ(kept.steps.size(), 2u);
  EXPECT_EQ(kept.packs.size(), 2u) << "a pack of two steps";
  for (const core::StepRecord& step : kept.steps) {
    // A thread that wakes up late starts late but ends on time. So one part may be shorter than
    // requested, but the whole may not.
    EXPECT_GE(step.end - step.start, core::milliseconds(3 * 2 + 3 * 3 + 2 * 1));
  }
  for (const auto& [id, track] : kept.tracks) {
    if (track.kind != core::TrackKind::kCompute) continue;
    std::map<std::pair<std::int32_t, std::string>, int> spans;
    for (const core::Span& span : kept.spans[id]) ++spans[{span.step, core::span_name(span.kind)}];
    for (std::int32_t step = 0; step < 2; ++step) {
      EXPECT_EQ((spans[{step, "forward"}]), 3);
      EXPECT_EQ((spans[{step, "backward"}]), 3);
    }
  }
}

TEST(Cluster, PacksAreSentInTheNarrowTypeAndConversionsAreReplayed) {
  for (const char* const of : {"GRADIENTS", "PACKS"}) {
    Kept kept;
    const core::Scenario scenario =
        ring(2, 2, "", fmt::format("compression {{ type: BFLOAT16 of: {} }}", of));
    EXPECT_EQ(scenario.plan.collective(scenario.plan.packs[0]).bytes(), core::Bytes(2 * 5003));
    const auto done = run(scenario, {{"machine a", 0, 0}, {"machine a", 0, 0}},
                          kept);  // every element is compared
    ASSERT_TRUE(done) << done.error().message();
    for (const auto& [id, track] : kept.tracks) {
      if (track.kind != core::TrackKind::kCompute) continue;
      std::map<std::string, int> spans;
      for (const core::Span& span : kept.spans[id]) ++spans[core::span_name(span.kind)];
      EXPECT_EQ(spans["convert to send"], 2) << of;
      EXPECT_EQ(spans["convert back"], 2) << of;
    }
  }
}

TEST(Cluster, MessagesArriveBeforeTheyAreSentByAtMostTheClockBound) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  Kept kept;
  ASSERT_TRUE(
      run(ring(2, 6), {{"machine a", 7 * kSecond, 60}, {"machine b", -9 * kSecond, -60}}, kept));
  const double bound_us = bound_of(kept);
  ASSERT_GT(bound_us, 0);
  // In a ring of two workers, the first step of a lane sends the message that the other worker's
  // first receiving step receives.
  std::map<int, std::map<int, Time>> sent, received;  // by step and worker
  for (const auto& [id, spans] : kept.spans) {
    const core::Track& track = kept.tracks[id];
    if (track.kind != core::TrackKind::kLane) continue;
    for (const core::Span& span : spans) {
      const auto kind = static_cast<core::StepKind>(span.kind);
      auto& first_sent = sent[span.step];
      auto& first_received = received[span.step];
      if (kind == core::StepKind::kSend && !first_sent.contains(track.worker))
        first_sent[track.worker] = span.start;
      if (core::receives(kind) && !first_received.contains(track.worker))
        first_received[track.worker] = span.start + span.duration;
    }
  }
  int pairs = 0;
  for (auto& [step, senders] : sent) {
    for (auto& [worker, at] : senders) {
      if (!received[step].contains(1 - worker)) continue;
      ++pairs;
      EXPECT_GE(received[step][1 - worker] + core::time_from_us(2 * bound_us), at)
          << "step " << step;
    }
  }
  EXPECT_GE(pairs, 6);
}

TEST(Cluster, OneMachineHasOneClockAndNoNote) {
  Kept kept;
  ASSERT_TRUE(run(ring(2, 2), {{}, {}}, kept));
  EXPECT_EQ(note_with(kept, "other machines"), "");
  EXPECT_EQ(note_with(kept, "every element is correct"),
            "results verified: every element is correct");
}

TEST(Cluster, TheOffsetOfAFakeClockIsExact) {
  const WorkerClock clock{"x", -123'456'789, 77};
  for (std::int64_t ns : {std::int64_t{0}, std::int64_t{1}, std::int64_t{987'654'321'012},
                          std::int64_t{99'999'999'999'999}})
    EXPECT_NEAR(static_cast<double>(clock.when(clock.shows(ns)) - ns), 0, 1);
}

/// A rule as a framework outside of Tutti may have: one gate for all replicas, which fuses nothing.
class EveryoneTogether : public core::GateRule {
 public:
  [[nodiscard]] core::GateScope scope() const override { return core::GateScope::kAll; }
  [[nodiscard]] std::unique_ptr<core::Gate> make(core::GateItems items, core::GateMembers members,
                                                 const core::GateRounds&) const override {
    return std::make_unique<core::CreditGate>(std::move(items), core::Bytes(1 << 30), members);
  }
  [[nodiscard]] std::string starts_when() const override { return "when it is ready everywhere"; }
  [[nodiscard]] std::string_view name() const override { return "everyone-together"; }
  [[nodiscard]] std::vector<std::int64_t> settings() const override { return {}; }
};

TEST(Cluster, AGateOfAllReplicasThatDoesNotFuseIsRefused) {
  core::Scenario scenario = ring(2, 1);
  scenario.plan.gate = std::make_shared<EveryoneTogether>();
  core::NullSink sink;
  const auto done = TcpExecutor(TcpExecutorOptions()).run(scenario, {}, {}, sink);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind(), core::ErrorKind::kRequest);
  EXPECT_THAT(done.error().message(), testing::HasSubstr("everyone-together"));
}

/// Two workers that only send heartbeats.
struct TwoWorkers {
  std::vector<std::unique_ptr<ControlChannel>> ends;
  Children none;
  core::RunControl control;
  WorkerSet worker_set{2, none, control, std::chrono::seconds(1)};

  TwoWorkers() {
    for (std::size_t w = 0; w < 2; ++w) {
      int sockets[2];
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
      worker_set[w].channel.emplace(Connection(Socket(sockets[0]), {}),
                                    ControlChannel::kLongestMessage);
      ends.push_back(std::make_unique<ControlChannel>(Connection(Socket(sockets[1]), {}),
                                                      ControlChannel::kLongestAssignment));
    }
  }

  void report_waiting(std::size_t worker, double still_seconds, const std::string& stands) {
    proto::Control alive;
    alive.mutable_alive()->set_doing("in step 3");
    alive.mutable_alive()->set_still_ns(static_cast<std::int64_t>(still_seconds * 1e9));
    alive.mutable_alive()->set_stands(stands);
    EXPECT_TRUE(ends[worker]->send(alive));
  }

  void fail(std::size_t worker, const core::ProblemKind& kind, const std::string& why) {
    proto::Control failure;
    write_failure(core::Error::run(kind, why), *failure.mutable_failure());
    EXPECT_TRUE(ends[worker]->send(failure));
  }

  void finish(std::size_t worker) {
    proto::Control ready;
    ready.mutable_ready();
    EXPECT_TRUE(ends[worker]->send(ready));
  }

  /// Waits until all workers are ready. Returns the coordinator's problem, or nothing if all are
  /// ready.
  std::optional<core::Problem> outcome() {
    const auto all = worker_set.receive_from_all(proto::Control::kReady, "is not ready");
    if (all) return std::nullopt;
    return all.error().problems().front();
  }
};

TEST(WorkerSet, EndsTheRunIfAllWorkersStandStill) {
  TwoWorkers two;
  two.report_waiting(0, 1.5,
                     "rank 0 lane 0 waits for a message (pack 1, step 2 of 8, from rank 1)");
  two.report_waiting(1, 1.2,
                     "rank 1 lane 0 waits for a message (pack 1, step 1 of 8, from rank 0)");
  const auto outcome = two.outcome();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, (core::ProblemKind{ProblemCode::kTimeout, "", 0}));
  EXPECT_EQ(
      outcome->text,
      "worker 0 reports: no progress for 1.5 s, and no worker has work that can end the wait: "
      "rank 0 lane 0 waits for a message (pack 1, step 2 of 8, from rank 1)");
}

TEST(WorkerSet, WaitingForABusyWorkerIsNotAStandstill) {
  TwoWorkers two;
  two.report_waiting(0, 1000, "rank 0 lane 0 waits for a message");
  two.report_waiting(1, 0, "");
  std::thread later([&] {
    for (int i = 0; i < 20; ++i) two.report_waiting(1, 0.9, "rank 1 lane 0 waits for its device");
    two.finish(0);
    two.finish(1);
  });
  EXPECT_EQ(two.outcome(), std::nullopt);
  later.join();
}

TEST(WorkerSet, EndedWorkersCountAsWaiting) {
  TwoWorkers two;
  two.finish(0);
  two.report_waiting(0, 5, "");  // for the coordinator
  two.report_waiting(1, 2, "rank 1 lane 0 waits for a message");
  const auto outcome = two.outcome();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, (core::ProblemKind{ProblemCode::kTimeout, "", 1}));
}

TEST(WorkerSet, AFailureOfAnotherWorkerTakesPrecedenceOverTimeouts) {
  const std::string cause = "worker {} sent data that is not a message of Tutti (in step 3)";
  const std::string waits = "no progress for 1 s: rank 1 lane 0 waits for a message (in step 3)";
  for (const std::size_t knows : {0u, 1u}) {
    TwoWorkers two;
    const auto blamed = static_cast<std::int32_t>(1 - knows);
    two.fail(knows, {ProblemCode::kProtocol, "", blamed}, fmt::format(fmt::runtime(cause), blamed));
    two.fail(1 - knows, {ProblemCode::kTimeout}, waits);
    const auto outcome = two.outcome();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->kind,
              (core::ProblemKind{ProblemCode::kProtocol, "", static_cast<std::int32_t>(knows)}));
    EXPECT_EQ(outcome->text, fmt::format("worker {} reports: {}", knows,
                                         fmt::format(fmt::runtime(cause), blamed)));
  }
}

TEST(WorkerSet, WrongResultsAreReportedFirst) {
  TwoWorkers two;
  two.fail(0, {ProblemCode::kLost, "", 1}, "worker 1 has closed its connection");
  two.fail(1, {ProblemCode::kWrongResult}, "element 7 is wrong");
  const auto outcome = two.outcome();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, (core::ProblemKind{ProblemCode::kWrongResult, "", 1}));
}

/// A worker that sends heartbeats without pause must not hide the failure of another worker.
TEST(WorkerSet, ATalkativeWorkerDoesNotHideFailures) {
  TwoWorkers two;
  std::atomic<bool> over{false};
  std::thread talker([&] {
    proto::Control alive;
    alive.mutable_alive()->set_doing("talking");
    while (!over && two.ends[0]->send(alive)) {
    }
  });
  two.fail(1, {ProblemCode::kWrongResult}, "element 7 is wrong");
  const auto outcome = two.outcome();
  over = true;
  two.worker_set[0].channel.reset();
  talker.join();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, (core::ProblemKind{ProblemCode::kWrongResult, "", 1}));
}

/// Such a worker must not prevent the user from stopping the run, neither while clocks are compared
/// nor while workers are awaited.
TEST(WorkerSet, ATalkativeWorkerDoesNotPreventInterrupts) {
  TwoWorkers two;
  two.worker_set[0].other_clock = true;
  std::atomic<bool> over{false}, cancel{false};
  two.control.cancel = &cancel;
  std::thread talker([&] {
    proto::Control alive;
    alive.mutable_alive()->set_doing("talking");
    for (int i = 0; !over && two.ends[0]->send(alive); ++i) {
      if (i == 1000) cancel = true;
    }
  });
  const auto aligned = two.worker_set.align_clocks();
  const auto outcome = two.outcome();
  over = true;
  two.worker_set[0].channel.reset();
  talker.join();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind.code, ProblemCode::kStopped);
  if (!aligned) {
    EXPECT_EQ(kind_of(aligned.error()).code, ProblemCode::kStopped);
  }
}

TEST(WorkerSet, WorkersThatSendTooMuchFail) {
  {
    TwoWorkers two;
    for (int i = 0; i < 6; ++i) two.finish(1);
    const auto outcome = two.outcome();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->kind, (core::ProblemKind{ProblemCode::kProtocol, "", 1}));
    EXPECT_THAT(outcome->text, testing::HasSubstr("sent 5 unexpected messages"));
  }
  TwoWorkers two;
  two.worker_set.limit_inboxes({100, 5000});
  proto::Control ready;
  for (int i = 0; i < 200; ++i) ready.mutable_ready()->add_note("0123456789");
  std::thread talker([&] {
    for (int i = 0; i < 3; ++i) static_cast<void>(two.ends[0]->send(ready));
  });
  const auto outcome = two.outcome();
  talker.join();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, (core::ProblemKind{ProblemCode::kProtocol, "", 0}));
}

TEST(WorkerSet, PartsOfLongMessagesCountAsActivity) {
  TwoWorkers two;
  two.worker_set.limit_inboxes({4, std::size_t{8} << 20});
  proto::Control ready;
  ready.mutable_ready()->add_note(std::string(3 << 20, 'x'));
  std::thread sender([&] {
    const std::string bytes = FrameWriter(SessionKeys{}.send).framed(ready.SerializeAsString());
    for (std::size_t at = 0; at < bytes.size(); at += 256 << 10) {
      const std::size_t part = std::min<std::size_t>(256 << 10, bytes.size() - at);
      EXPECT_EQ(::send(two.ends[0]->file(), bytes.data() + at, part, MSG_NOSIGNAL),
                static_cast<ssize_t>(part));
      std::this_thread::sleep_for(std::chrono::milliseconds(350));  // 4 s, more than the timeout
      two.report_waiting(1, 0, "");
    }
    two.finish(1);
  });
  EXPECT_EQ(two.outcome(), std::nullopt);
  sender.join();
}

TEST(WorkerSet, ShortensAndCleansTextsOfWorkers) {
  TwoWorkers two;
  proto::Control alive;
  alive.mutable_alive()->set_doing("\x1b]0;title\x07\x1b[2J" + std::string(10'000, 'x'));
  alive.mutable_alive()->set_still_ns(std::numeric_limits<std::int64_t>::min());
  alive.mutable_alive()->set_stands("one\ntutti: all is well\u202e");
  ASSERT_TRUE(two.ends[0]->send(alive));
  two.finish(0);
  two.finish(1);
  EXPECT_EQ(two.outcome(), std::nullopt);
  const Member& member = two.worker_set[0];
  EXPECT_THAT(member.doing, testing::StartsWith("?]0;title??[2Jxxx"));
  EXPECT_LE(member.doing.size(), 200u);
  EXPECT_EQ(member.still.count(), 0);
  EXPECT_EQ(member.stands, "one tutti: all is well?");
}

TEST(Failure, TextsOfOtherProcessesAreTruncatedAndSafeToPrint) {
  proto::Failure sent;
  sent.set_text("line 1\nline 2\x1b[31m" + std::string(1 << 20, 'y'));
  const std::string text = error_of(sent).message();
  EXPECT_THAT(text, testing::StartsWith("line 1\nline 2?[31myyy"));
  EXPECT_THAT(text, testing::EndsWith("…"));
  EXPECT_LE(text.size(), 4096u);
}

TEST(Failure, EncodingAndDecodingPreserveIt) {
  for (const core::ProblemKind& kind : {core::ProblemKind{ProblemCode::kLost, "", 12},
                                        core::ProblemKind{ProblemCode::kOutOfMemory}}) {
    for (const core::Error& error :
         {core::Error::run(kind, "why"), core::Error::request(kind, "why")}) {
      proto::Failure sent;
      write_failure(error, sent);
      EXPECT_EQ(kind_of(error_of(sent)), kind);
      EXPECT_EQ(error_of(sent).kind(), error.kind());
      EXPECT_EQ(error_of(sent).message(), "why");
    }
  }
}

TEST(Failure, InvalidFieldsAreIgnored) {
  proto::Failure strange;
  strange.set_code("no such code");
  strange.set_worker(-7);
  EXPECT_EQ(kind_of(error_of(strange)), core::ProblemKind{});
}

}  // namespace
}  // namespace tutti::real
