#include "sim/sweep/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/explore/space.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"

namespace tutti::sim {
namespace {

using core::Outcome;
using testing::HasSubstr;

constexpr const char* kText = R"(
cluster { workers { machine: "dgx1-v100" count: 2 } network { kind: ONE_SWITCH link: "edr" } }
workload { model: "resnet50_torchvision" layer_times: "resnet50_torchvision_v100" batch: 32 }
strategy { algorithm: "ring" bytes_per_pack: 26214400 }
)";

class EvaluatorTest : public testing::Test {
 protected:
  EvaluatorTest() : library_(test::source_folder() + "/scenarios") {}
  Evaluator evaluator(const std::string& text, Evaluator::Shares shares) {
    return {{text, "f.textproto", {}}, library_, simulator_, shares};
  }

  core::Library library_;
  Simulator simulator_;
};

core::Space space(const std::vector<std::string>& axes) {
  std::vector<core::Axis> parsed;
  for (const std::string& axis : axes) parsed.push_back(*core::parse_axis("", axis));
  return *core::Space::of(std::move(parsed));
}

/// Data that settings share affects only the evaluation time, not the results. The test covers
/// every packing field of every framework.
TEST_F(EvaluatorTest, SharedResultsDoNotChangeOutcomes) {
  std::int64_t shared = 0;
  for (const std::vector<std::string>& axes : std::vector<std::vector<std::string>>{
           {"strategy.bytes_per_pack=0,1MiB..60MiB*1.5", "strategy.algorithm=ring,pscpu",
            "workload.batch=16,32"},
           {"strategy.bytes_per_pack=", "strategy.num_packs=0..6+1",
            "strategy.merging=CONCAT,SEPARATE"},
           {"strategy.bytes_per_pack=", "strategy.agg_small_grads_max_bytes=1KiB..1MiB*4",
            "strategy.agg_small_grads_max_group=1,10,11"},
           {"strategy.bytes_per_pack=", "strategy.all_reduce_merge_scope=1,2,30,31,200",
            "strategy.launch=SERIAL,CONCURRENT"},
           {"strategy.bytes_per_pack=", "strategy.pytorch_ddp.bucket_cap_mb=1..200*3",
            "strategy.pytorch_ddp.first_bucket_bytes=,1,65536"},
           {"strategy.bytes_per_pack=", "strategy.deepspeed.reduce_bucket_size=10000..100000000*20",
            "strategy.deepspeed.overlap_comm=true,false"},
           {"strategy.bytes_per_pack=", "strategy.megatron.ddp_bucket_size=10000..100000000*20",
            "strategy.megatron.overlap_grad_reduce=true,false"}}) {
    const core::Space points = space(axes);
    Evaluator shares = evaluator(kText, Evaluator::Shares::kYes),
              alone = evaluator(kText, Evaluator::Shares::kNo);
    for (std::int64_t p = 0; p < points.size(); ++p) {
      const Outcome one = *shares.at(points.overrides(p)), other = *alone.at(points.overrides(p));
      EXPECT_EQ(one, other) << points.overrides(p)[1].label << " "
                            << points.overrides(p).back().label << ": " << one.message
                            << other.message;
    }
    EXPECT_LE(shares.simulated(), alone.simulated());
    shared += alone.simulated() - shares.simulated();
  }
  EXPECT_GE(shared, 5) << "some settings result in the same packs";
}

TEST_F(EvaluatorTest, SkipsOnlyPointsThatTakeLongToSimulate) {
  // The chunks of 160 GPUs are equal, so one worker can represent all, and here it must.
  constexpr const char* kAlike = R"(
cluster { workers { machine: "dgx1-v100" count: 20 } network { kind: ONE_SWITCH latency_us: 2 bandwidth_gb_per_s: 10 } }
workload { model: "resnet50_torchvision" batch: 32 }
strategy { algorithm: "ring" bytes_per_pack: 26214400 pad_packs: true }
run { steps: 100 }
)";
  Evaluator one = evaluator(kAlike, Evaluator::Shares::kYes);
  one.limit_work({0, 1e12});
  EXPECT_EQ(one.at({})->status, Outcome::Status::kDone);
  // At two kilobytes per second a step takes a day. So all settings are rejected for this reason.
  const auto slow =
      one.at({*core::parse_override("", "cluster.network.bandwidth_gb_per_s=0.000002")});
  EXPECT_EQ(slow->status, Outcome::Status::kRefused);
  EXPECT_FALSE(slow->message.empty());
  EXPECT_NE(slow->message, kTooLong);
  // Ranks of a tree are not identical, and simulating all of them exceeds the work limit.
  EXPECT_EQ(one.at({*core::parse_override("", "strategy.algorithm=double_tree")})->message,
            kTooLong);
}

TEST_F(EvaluatorTest, ReportsInvalidPointsAndContinues) {
  Evaluator one = evaluator(kText, Evaluator::Shares::kYes);
  const auto wrong = one.at({*core::parse_override("", "strategy.algorithm=rings")});
  EXPECT_EQ(wrong->status, Outcome::Status::kRefused);
  EXPECT_THAT(wrong->message, HasSubstr("\"rings\""));
  const auto dead = one.at({*core::parse_override("", "conditions.link.from=w0/nic0"),
                            *core::parse_override("", "conditions.link.to=network"),
                            *core::parse_override("", "conditions.link.bandwidth_share=0")});
  EXPECT_EQ(dead->status, Outcome::Status::kFailed);
  EXPECT_THAT(dead->message, HasSubstr("w0/nic0→network"));
  EXPECT_EQ(one.at({})->status, Outcome::Status::kDone);
}

TEST_F(EvaluatorTest, ReportsEveryFileOnce) {
  Evaluator one = evaluator(kText, Evaluator::Shares::kYes);
  static_cast<void>(one.at({}));
  EXPECT_EQ(one.new_files().size(), 4u) << "machine, link, model, layer times";
  static_cast<void>(one.at({*core::parse_override("", "workload.layer_times="),
                            *core::parse_override("", "workload.model=vgg16_torchvision")}));
  EXPECT_EQ(one.new_files().size(), 1u);
}

/// With noise, a run has many steps. A hopeless run ends with the first step that shows it. The
/// result of such an aborted run must not be reused for a complete run.
TEST_F(EvaluatorTest, StopsPointsThatTakeTooLong) {
  const std::string text = std::string(kText) + "run { steps: 12 compute_jitter_percent: 5 }";
  Evaluator one = evaluator(text, Evaluator::Shares::kYes);
  const Outcome cut = *one.at({}, nullptr, core::milliseconds(1));
  EXPECT_TRUE(cut.stopped);
  EXPECT_GT(cut.step, core::milliseconds(50));
  const Outcome whole = *one.at({}, nullptr, core::milliseconds(1000));
  EXPECT_FALSE(whole.stopped);
  EXPECT_NE(whole.step, cut.step);
}

TEST_F(EvaluatorTest, InterruptedPointsHaveNoOutcome) {
  Evaluator one = evaluator(kText, Evaluator::Shares::kYes);
  const std::atomic<bool> cancel{true};
  EXPECT_FALSE(one.at({}, &cancel));
  EXPECT_TRUE(one.at({}));
}

}  // namespace
}  // namespace tutti::sim
