#include "core/import/differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::core {
namespace {

using testing::HasSubstr;
using Kind = Difference::Kind;

constexpr std::int64_t kMs = 1'000'000;

/// Two ranks with three steps of 20 ms and two packs. The kernels of a pack end at the same time on
/// both ranks.
struct Sample {
  MeasuredRun run;
  StepModel model;
  Summary predicted;

  /// `late_ns`: how much later rank 1 starts its packs. `gap_ns`: how long the device is idle in
  /// each forward pass.
  explicit Sample(int ranks = 2, std::int64_t late_ns = 0, std::int64_t gap_ns = 0) {
    for (int r = 0; r < ranks; ++r) {
      MeasuredRank& rank = run.ranks.emplace_back();
      rank.rank = r;
      for (int s = 0; s < 3; ++s) {
        const std::int64_t begin = s * 20 * kMs;
        MeasuredStep& step = rank.steps.emplace_back();
        step.number = 10 + s;
        step.start_ns = begin;
        step.end_ns = begin + 20 * kMs;
        step.backward_ns = begin + 8 * kMs;
        rank.compute.push_back({begin + gap_ns, begin + 8 * kMs, s, -1, MeasuredPhase::kForward});
        for (int layer = 0; layer < 2; ++layer)
          rank.compute.push_back({begin + (8 + 6 * layer) * kMs, begin + (14 + 6 * layer) * kMs, s,
                                  layer, MeasuredPhase::kBackward});
        for (int p = 0; p < 2; ++p) {
          MeasuredCollective& c = rank.collectives.emplace_back();
          c.kind = MeasuredKind::kAllReduce;
          c.step = s;
          c.pack = p;
          c.start_ns = begin + (10 + 5 * p) * kMs + (r == 1 ? late_ns : 0);
          c.end_ns = begin + (12 + 5 * p) * kMs + late_ns;
          c.duration_ns = c.end_ns - c.start_ns;
        }
      }
    }
    run.world_size = 2;
    model.step_ns = 20 * kMs;
    model.steps = 3 * ranks;
    model.packs.resize(2);
    RunInfo info;
    info.packs.resize(2);
    predicted.begin(info);
  }

  void predict(Time first, Time second) {
    predicted.step({0, {}, milliseconds(19), "", {}, {}, {}, {}, {}});
    predicted.pack({0, 0, {}, {}, {}, first});
    predicted.pack({0, 1, {}, {}, {}, second});
  }
  [[nodiscard]] std::vector<Difference> find() const { return differences(run, model, predicted); }
};

std::vector<Kind> kinds_of(const std::vector<Difference>& found) {
  std::vector<Kind> kinds;
  for (const Difference& one : found) kinds.push_back(one.kind);
  return kinds;
}

TEST(Differences, ARunThatMatchesThePredictionHasNone) {
  Sample sample;
  sample.predict(milliseconds(2), milliseconds(2));
  EXPECT_TRUE(sample.find().empty());
}

TEST(Differences, ReportCollectivesOutsideOfTheirErrorBand) {
  Sample sample;
  RunInfo info = sample.predicted.info();
  info.packs[1].band_low = 0.9;
  info.packs[1].band_high = 3;
  sample.predicted.begin(info);
  sample.predict(microseconds(500), milliseconds(1));
  const auto found = sample.find();
  ASSERT_EQ(kinds_of(found), std::vector{Kind::kCollective}) << "pack 1 is inside of its band";
  EXPECT_EQ(found[0].effect, microseconds(1500));
  EXPECT_THAT(found[0].what, HasSubstr("pack 0"));
}

/// The last rank to start does not wait, so its time is that of the transfer.
TEST(Differences, WaitingDoesNotCountAsTransfer) {
  Sample sample(2, 3 * kMs);
  sample.predict(milliseconds(2), milliseconds(2));
  const auto found = sample.find();
  ASSERT_EQ(kinds_of(found), std::vector{Kind::kLateRank});
  EXPECT_EQ(found[0].effect, milliseconds(3));
  EXPECT_THAT(found[0].what, HasSubstr("for rank 1"));
  EXPECT_THAT(found[0].evidence, HasSubstr("6 of 6"));
}

/// Ranks also wait for each other in collectives that do not reduce gradients.
TEST(Differences, RanksMayWaitInExchanges) {
  Sample sample;
  sample.predict(milliseconds(2), milliseconds(2));
  for (MeasuredRank& rank : sample.run.ranks) {
    for (int s = 0; s < 3; ++s) {
      MeasuredCollective& c = rank.collectives.emplace_back();
      c.kind = MeasuredKind::kAllToAll;
      c.step = s;
      c.pack = -1;
      c.start_ns = s * 20 * kMs + (rank.rank == 1 ? 6 : 1) * kMs;
      c.end_ns = s * 20 * kMs + 7 * kMs;
      c.duration_ns = c.end_ns - c.start_ns;
    }
  }
  const auto found = sample.find();
  ASSERT_EQ(kinds_of(found), std::vector{Kind::kLateRank});
  EXPECT_EQ(found[0].effect, milliseconds(5));
  EXPECT_THAT(found[0].what, HasSubstr("for rank 1"));
  EXPECT_THAT(found[0].evidence, HasSubstr("3 of 3"));
}

TEST(Differences, ATraceOfOneRankCannotDistinguishWaitingFromTransfer) {
  Sample sample(1);
  sample.predict(milliseconds(1), milliseconds(2));
  const auto found = sample.find();
  ASSERT_EQ(kinds_of(found), std::vector{Kind::kCollective});
  EXPECT_THAT(found[0].what, HasSubstr("does not distinguish waiting"));
}

TEST(Differences, ReportIdleDevices) {
  Sample sample(2, 0, 4 * kMs);
  sample.predict(milliseconds(2), milliseconds(2));
  const auto found = sample.find();
  ASSERT_EQ(kinds_of(found), std::vector{Kind::kHostGap});
  EXPECT_EQ(found[0].effect, milliseconds(4));
}

/// A layer takes 6 ms while a collective is in flight, and 5 ms otherwise.
TEST(Differences, ReportComputationThatSlowsDown) {
  Sample sample;
  sample.predict(milliseconds(2), milliseconds(2));
  for (MeasuredRank& rank : sample.run.ranks) {
    for (MeasuredCollective& c : rank.collectives) {
      // In the last step, the packs come after the computation.
      if (c.step == 2) {
        c.start_ns += 12 * kMs;
        c.end_ns += 12 * kMs;
      } else {
        c.start_ns -= 2 * kMs - c.pack * kMs;
        c.end_ns += 2 * kMs;
      }
    }
    for (MeasuredCompute& c : rank.compute) {
      if (c.step == 2 && c.layer == 0) c.end_ns -= kMs;
    }
  }
  const auto found = sample.find();
  const auto overlap = std::find_if(
      found.begin(), found.end(), [](const Difference& one) { return one.kind == Kind::kOverlap; });
  ASSERT_NE(overlap, found.end());
  EXPECT_EQ(overlap->effect, milliseconds(1));
  EXPECT_THAT(overlap->what, HasSubstr("slower"));
}

TEST(Differences, ReportOtherChoicesOfNccl) {
  Sample sample;
  RunInfo info = sample.predicted.info();
  info.packs[0].nccl = "Ring LL128, 24 channels × 640 threads";
  info.packs[1].nccl = "Tree LL, 2 channels × 640 threads";
  sample.predicted.begin(info);
  sample.predict(milliseconds(2), milliseconds(2));
  sample.model.packs[0].algorithm = "ring";
  sample.model.packs[0].protocol = "ll128";
  sample.model.packs[1].algorithm = "ring";
  sample.model.packs[1].protocol = "simple";
  const auto found = sample.find();
  ASSERT_EQ(kinds_of(found), std::vector{Kind::kChoice});
  EXPECT_THAT(found[0].what, HasSubstr("pack 1 with ring simple, but tree ll"));
}

}  // namespace
}  // namespace tutti::core
