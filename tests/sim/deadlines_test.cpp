// Collectives with workers that never arrive, stall or die. Such collectives must end when
// TensorFlow's timers would end them, and the error names the awaited worker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/framework/tensorflow/communication_options.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::sim {
namespace {

using core::ProblemCode;
using core::ProblemKind;
using core::Scenario;
using core::Time;
using testing::HasSubstr;

/// Returns a scenario of three workers with two GPUs. A step computes 10 ms forward and 20 ms
/// backward, and the only gradient is ready at the end of the step.
Scenario scenario(const std::string& strategy, const std::string& rest, int steps = 3) {
  auto read = core::read_scenario(
      "cluster { workers { machine: \"dgx1-v100\" count: 3 replicas: 2 } network { kind: "
      "ONE_SWITCH latency_us: 1 } }\n"
      "workload { variable { name: \"w\" shape: 1000000 } forward_ms: 10 backward_ms: 20 "
      "update_ms: 0 }\n"
      "strategy { " +
          strategy + " }\nrun { steps: " + std::to_string(steps) + " }\n" + rest,
      "f", test::shipped_library());
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return read ? std::move(*read) : Scenario{};
}

/// Runs the scenario. Returns the problem that ends it, or nothing if it succeeds.
std::optional<core::Problem> failure_of(const Scenario& s, core::Summary& summary) {
  core::RecordOptions record;
  const auto ran = Simulator().run(s, record, {}, summary);
  if (ran) return std::nullopt;
  return ran.error().problems().front();
}
core::Problem failure_of(const Scenario& s) {
  core::Summary summary;
  return failure_of(s, summary).value_or(core::Problem{});
}

/// Returns the timeout of a collective that waits for the worker. -1: all workers have arrived.
ProblemKind timed_out(std::int32_t worker) {
  return {ProblemCode::kTimeout, "CommunicationOptions.timeout_seconds", worker};
}

std::string with_timeout(const std::string& seconds) {
  return "tensorflow { multi_worker_mirrored { communication_options { timeout_seconds: " +
         seconds + " } } }";
}

TEST(Deadlines, TheTimeoutForAMissingWorkerStartsWithTheFirstWorker) {
  for (const test::Data& c : test::golden_cases("timeout_seconds")) {
    SCOPED_TRACE(test::golden_name(c));
    const test::Data in = c["input"];
    if (in.has("launched_on")) {
      EXPECT_THAT(failure_of(scenario(with_timeout("1"),
                                      "conditions { gone { worker: 1 } gone { worker: 2 } }"))
                      .text,
                  HasSubstr(c["expected"]["error"].text().substr(0, 16)));
    } else if (in.has("timeout_seconds")) {
      for (const test::Data& seconds : in["timeout_seconds"].items()) {
        core::CommunicationOptions options;
        if (!seconds.is_null()) options.timeout_seconds = seconds.real();
        EXPECT_EQ(core::timer(options), std::nullopt);
      }
    } else {
      const bool waiting = in["phase"].text() == "waiting for peers";
      const std::string gone = waiting ? "gone { worker: 2 }" : "gone { worker: 2 from_ms: 40 }";
      std::string message = c["expected"]["message"].text();
      EXPECT_THAT(failure_of(scenario(with_timeout("1"), "conditions { " + gone + " }")).text,
                  HasSubstr(message));
    }
  }
}

TEST(Deadlines, TheFirstCollectiveTimesOutAfterItsFirstDeviceStarts) {
  const core::Problem failure =
      failure_of(scenario(with_timeout("0.5"), "conditions { gone { worker: 1 } }"));
  EXPECT_EQ(failure.kind, timed_out(1));
  EXPECT_THAT(failure.text, HasSubstr(" 530 ms, in step 0:"))
      << "30 ms until it starts, and the timeout";
}

TEST(Deadlines, ALaterCollectiveTimesOutDuringExecution) {
  const Scenario s = scenario(with_timeout("0.5"), "conditions { gone { worker: 1 from_ms: 40 } }");
  const core::Problem failure = failure_of(s);
  EXPECT_EQ(failure.kind, timed_out(1));
  EXPECT_THAT(failure.text, HasSubstr("in step 1: Collective has timed out during execution"));
}

/// A worker that stalls at the start lets the others wait nearly a full timeout for the group. Then
/// they wait the full timeout for a collective that never ends. So the worst case is twice the
/// timeout.
TEST(Deadlines, GroupResolutionAndExecutionEachHaveTheFullTimeout) {
  const std::string late =
      "conditions { slow { worker: 2 slowdown: 10 to_ms: 1 } link { from: \"w1/nic0\" to: "
      "\"network\" "
      "bandwidth_share: 0 } }";
  // The forward pass of worker 2 takes ten times as long, so it arrives at 120 ms, 90 ms after the
  // others.
  const core::Problem in_execution = failure_of(scenario(with_timeout("0.1"), late));
  EXPECT_EQ(in_execution.kind, timed_out(-1)) << "all have come; a link is dead";
  EXPECT_THAT(in_execution.text, HasSubstr(" 220 ms,"));
  const core::Problem of_the_group = failure_of(scenario(with_timeout("0.08"), late));
  EXPECT_EQ(of_the_group.kind, timed_out(2));
  EXPECT_THAT(of_the_group.text, HasSubstr(" 110 ms,"));
}

TEST(Deadlines, RunsThatEndInTimeAreUnchanged) {
  core::Summary with, without;
  EXPECT_FALSE(failure_of(scenario(with_timeout("0.05"), ""), with));
  EXPECT_FALSE(failure_of(
      scenario("tensorflow { multi_worker_mirrored { communication_options { } } }", ""), without));
  ASSERT_EQ(with.steps().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(with.steps()[i].end, without.steps()[i].end);
}

TEST(Deadlines, WithoutATimeoutTheRunWaitsForever) {
  const core::Problem failure =
      failure_of(scenario("tensorflow { multi_worker_mirrored { communication_options { } } }",
                          "conditions { gone { worker: 1 } }"));
  EXPECT_EQ(failure.kind, (ProblemKind{ProblemCode::kInvalid, "Conditions"}));
  EXPECT_THAT(failure.text, HasSubstr("timeout_seconds"))
      << "the remedy states how to simulate TensorFlow's timeout";
}

}  // namespace
}  // namespace tutti::sim
