#include "tools/tutti/io/capture.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scenario/library_folder.h"
#include "tools/python/recording.h"
#include "tools/tutti/command_line.h"

namespace tutti::tools {
namespace {

using testing::HasSubstr;

constexpr const char* kScenario = R"(
cluster { workers { machine: "dgx1-v100" count: 2 } network { kind: ONE_SWITCH latency_us: 5 } }
workload { model: "resnet50_torchvision" forward_ms: 10 backward_ms: 20 }
strategy { algorithm: "ring" }
)";

int call(Capture& capture, const std::vector<std::string>& words) {
  const Capturing capturing(capture);
  CommandLine command;
  if (const auto ended = command.parse(words)) return *ended;
  return command.run(Environment{core::Library(core::library_folder())});
}

TEST(Capture, KeepsResultsAndTakesScenariosFromMemory) {
  Capture capture;
  capture.scenarios["mine.textproto"] = kScenario;
  EXPECT_EQ(call(capture, {"simulate", "mine.textproto", "--format", "json"}), kDone);
  EXPECT_THAT(capture.out, HasSubstr("\"step_time_us\""));
  EXPECT_THAT(capture.out, HasSubstr("\"schema_version\": 1"));
  EXPECT_TRUE(capture.errors.empty());
}

TEST(Capture, KeepsErrorsAsValues) {
  Capture capture;
  capture.scenarios["mine.textproto"] = std::string(kScenario) + "strategie { }\nrun { steps: 0 }";
  EXPECT_EQ(call(capture, {"simulate", "mine.textproto"}), kWrongRequest);
  ASSERT_EQ(capture.errors.size(), 1U);
  ASSERT_EQ(capture.errors[0].problems().size(), 2U);
  EXPECT_EQ(capture.errors[0].problems()[0].where, (core::Location{"mine.textproto", 5, 1}));
  EXPECT_EQ(capture.out, "");
  Capture other;
  EXPECT_EQ(call(other, {"simulate", "--shed", "3"}), kWrongRequest);
  ASSERT_EQ(other.errors.size(), 1U);
  EXPECT_THAT(other.errors[0].message(), HasSubstr("--seed"));
}

TEST(Capture, RecordsTheTimeline) {
  python::Recording recording;
  Capture capture;
  capture.scenarios["mine.textproto"] = kScenario;
  capture.timeline = &recording;
  EXPECT_EQ(call(capture, {"simulate", "mine.textproto", "--record", "packs"}), kDone);
  EXPECT_EQ(recording.steps().rows(), 3U);
  EXPECT_GT(recording.span_count(), 0U);
}

TEST(Capture, CancelKeepsTheOutputSoFar) {
  std::atomic<bool> cancel{false};
  python::Recording recording;
  Capture capture;
  capture.scenarios["mine.textproto"] = kScenario;
  capture.timeline = &recording;
  capture.cancel = &cancel;
  double share = 0;
  capture.progress = [&](std::string_view what, double done) {
    EXPECT_EQ(what, "simulating");
    share = done;
    if (done > 0.01) cancel = true;
  };
  const int status =
      call(capture, {"simulate", "mine.textproto", "--steps", "10000", "--remember", "off"});
  EXPECT_EQ(status, kRunFailed);
  EXPECT_GT(share, 0.01);
  EXPECT_LT(recording.steps().rows(), 10000U);
  EXPECT_TRUE(recording.spans());
}

TEST(Capture, AffectsOnlyItsThread) {
  Capture capture;
  const Capturing capturing(capture);
  Capture* seen = &capture;
  std::thread([&] { seen = tools::capture(); }).join();
  EXPECT_EQ(seen, nullptr);
  EXPECT_EQ(tools::capture(), &capture);
}

}  // namespace
}  // namespace tutti::tools
