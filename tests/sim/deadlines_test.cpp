// Collectives whose workers never come, stall or die end when TensorFlow's timers would end them, and say who was awaited.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/framework/tensorflow/communication_options.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::Scenario;
using core::Time;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Three workers of two GPUs; a step computes 10 ms forward and 20 ms backward, and the one gradient is ready at its end.
Scenario scenario(const std::string& strategy, const std::string& rest, int steps = 3) {
  auto read = core::read_scenario(
      "cluster { workers { machine: \"dgx1-v100\" count: 3 replicas: 2 } network { kind: ONE_SWITCH latency_us: 1 } }\n"
      "workload { variable { name: \"w\" shape: 1000000 } forward_ms: 10 backward_ms: 20 update_ms: 0 }\n"
      "strategy { " +
          strategy + " }\nrun { steps: " + std::to_string(steps) + " }\n" + rest,
      "f", core::Library(test::source_folder() + "/scenarios"));
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return read ? std::move(*read) : Scenario{};
}

/// What the run ends with; nothing if it ends well.
std::string failure_of(const Scenario& s, core::Summary& summary) {
  core::RecordOptions record;
  const auto ran = Simulator().run(s, record, {}, summary);
  return ran ? "" : ran.error().message();
}
std::string failure_of(const Scenario& s) {
  core::Summary summary;
  return failure_of(s, summary);
}

std::string with_timeout(const std::string& seconds) {
  return "tensorflow { multi_worker_mirrored { communication_options { timeout_seconds: " + seconds + " } } }";
}

TEST(Deadlines, AWorkerThatNeverComesIsWaitedForOnceTheFirstHasCome) {
  for (const test::Data& c : test::golden_cases("timeout_seconds")) {
    SCOPED_TRACE(test::golden_name(c));
    const test::Data in = c["input"];
    if (in.has("launched_on")) {
      EXPECT_THAT(failure_of(scenario(with_timeout("1"), "conditions { gone { worker: 1 } gone { worker: 2 } }")),
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
      EXPECT_THAT(failure_of(scenario(with_timeout("1"), "conditions { " + gone + " }")), HasSubstr(message));
    }
  }
}

TEST(Deadlines, TheFirstCollectiveFailsItsTimeoutAfterTheFirstDeviceStartsIt) {
  const std::string failure = failure_of(scenario(with_timeout("0.5"), "conditions { gone { worker: 1 } }"));
  EXPECT_THAT(failure, AllOf(HasSubstr("DeadlineExceeded at 530 ms, in step 0"), HasSubstr("4 of 6 devices had come"),
                             HasSubstr("waited for: w1.")));
}

TEST(Deadlines, ALaterOneHasAResolvedGroupAndFailsInExecution) {
  const Scenario s = scenario(with_timeout("0.5"), "conditions { gone { worker: 1 from_ms: 40 } }");
  const std::string failure = failure_of(s);
  EXPECT_THAT(failure,
              AllOf(HasSubstr("in step 1: Collective has timed out during execution"), HasSubstr("waited for: w1.")));
}

/// It stalls from the beginning for so long that others wait nearly as long as a timer for the group, and then as long again
/// for what never ends: the worst case is twice the timeout.
TEST(Deadlines, ThereAreTwoTimersOfTheFullLength) {
  const std::string late =
      "conditions { slow { worker: 2 slowdown: 10 to_ms: 1 } link { from: \"w1/nic0\" to: \"network\" "
      "bandwidth_share: 0 } }";
  // Worker 2 computes its forward pass ten times as long, so it comes at 120 ms, 90 ms after the others.
  const std::string failure = failure_of(scenario(with_timeout("0.1"), late));
  EXPECT_THAT(failure, AllOf(HasSubstr("DeadlineExceeded at 220 ms"), HasSubstr("during execution"),
                             HasSubstr("6 of 6 devices had come"), HasSubstr("link w1/nic0→network is dead")));
  EXPECT_THAT(failure_of(scenario(with_timeout("0.08"), late)),
              AllOf(HasSubstr("DeadlineExceeded at 110 ms"), HasSubstr("waiting for other workers"),
                    HasSubstr("waited for: w2.")));
}

TEST(Deadlines, WhatEndsInTimeIsAsItIsWithoutTimers) {
  core::Summary with, without;
  EXPECT_EQ(failure_of(scenario(with_timeout("0.05"), ""), with), "");
  EXPECT_EQ(failure_of(scenario("tensorflow { multi_worker_mirrored { communication_options { } } }", ""), without),
            "");
  ASSERT_EQ(with.steps().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(with.steps()[i].end, without.steps()[i].end);
}

TEST(Deadlines, WithoutATimerItWaitsForEver) {
  EXPECT_THAT(failure_of(scenario("tensorflow { multi_worker_mirrored { communication_options { } } }",
                                  "conditions { gone { worker: 1 } }")),
              AllOf(HasSubstr("step 0 never ends: worker 1 never comes"), HasSubstr("timeout_seconds"),
                    Not(HasSubstr("DeadlineExceeded"))));
}

}  // namespace
}  // namespace tutti::sim
