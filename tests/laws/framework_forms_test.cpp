// The packing of frameworks other than TensorFlow. The buckets are compared with the same packs
// given by other fields, and the tests check which parts of a step wait for which.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "core/scenario/library_folder.h"
#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/support/problems.h"

namespace tutti {
namespace {

using core::Bytes;
using core::Time;
using testing::ElementsAre;
using testing::SizeIs;

struct Kept : core::NullSink {
  void step(const core::StepRecord& step) override { steps.push_back(step); }
  void pack(const core::PackRecord& pack) override { packs.push_back(pack); }
  [[nodiscard]] Time length() const { return steps.front().end - steps.front().start; }
  std::vector<core::StepRecord> steps;
  std::vector<core::PackRecord> packs;
};

/// Returns a scenario with gradients of 4,000,000, 2,000,000 and 2,800,000 bytes, which four ranks
/// divide evenly. The gradients are created in this order and ready in the reverse order.
core::Expected<core::Scenario> read(const std::string& strategy) {
  return core::read_scenario(
      "cluster { workers { machine: \"host\" count: 4 } network { kind: ONE_SWITCH latency_us: 7 } "
      "machine { name: "
      "\"host\" "
      "device { name: \"cpu0\" kind: CPU memory_gb_per_s: 33 reduce_gb_per_s: 7 copy_gb_per_s: 11 "
      "} nic { name: "
      "\"nic0\" "
      "bandwidth_gb_per_s: 3.7 } link { from: \"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: "
      "16 latency_us: 0 } "
      "} }\n"
      "workload { variable { name: \"a\" shape: 1000000 backward_ms: 3 } variable { name: \"b\" "
      "shape: 500000 "
      "backward_ms: 2 } "
      "variable { name: \"c\" shape: 700000 backward_ms: 4 } forward_ms: 4 update_ms: 1 }\nrun { "
      "steps: 1 }\n"
      "strategy { algorithm: \"ring\" " +
          strategy + " }",
      "f", core::Library(std::vector<core::Library::File>()));
}

Kept simulated(const std::string& strategy) {
  const auto scenario = read(strategy);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  Kept kept;
  if (scenario) {
    EXPECT_TRUE(sim::Simulator().run(*scenario, {}, {}, kept));
  }
  return kept;
}

std::vector<std::int64_t> pack_bytes(const std::string& strategy) {
  std::vector<std::int64_t> bytes;
  const auto scenario = read(strategy);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
  if (scenario) {
    for (const core::Pack& pack : scenario->plan.packs)
      bytes.push_back(scenario->plan.collective(pack).bytes().count());
  }
  return bytes;
}

std::vector<std::string> error_of(const std::string& strategy) {
  return test::kinds_of(read(strategy));
}

constexpr std::int64_t kA = 4'000'000, kB = 2'000'000, kC = 2'800'000;

TEST(PytorchDdp, HasTheDefaultBucketsOfPyTorch) {
  EXPECT_THAT(pack_bytes("pytorch_ddp {}"), ElementsAre(kC, kB + kA))
      << "the first bucket is closed at 1 MiB";
  EXPECT_THAT(pack_bytes("pytorch_ddp { bucket_cap_mb: 25 }"), ElementsAre(kC + kB + kA))
      << "an explicit cap applies to all buckets";
  EXPECT_THAT(pack_bytes("pytorch_ddp { bucket_cap_mb: 4 }"), ElementsAre(kC + kB, kA));
  EXPECT_THAT(pack_bytes("pytorch_ddp { bucket_cap_mb: 0 }"), ElementsAre(kC, kB, kA));
  EXPECT_THAT(pack_bytes("pytorch_ddp { bucket_cap_mb: 4 first_bucket_bytes: 1 }"),
              ElementsAre(kC, kB + kA));
}

// The sizes that PyTorch reduced in a step of ResNet-50 on two A100: "In msg nelems" of its
// all-reduces. SOURCE: facebookresearch/HolisticTraceAnalysis,
// tests/data/nccl_parser_config/nccl_data.json.gz (a trace of Kineto).
TEST(PytorchDdp, HasTheBucketsOfARealRun) {
  const auto scenario = core::read_scenario(
      "cluster { workers { machine: \"dgx-a100\" replicas: 2 } } workload { model: "
      "\"resnet50_torchvision\" batch: 32 "
      "} "
      "strategy { algorithm: \"nccl\" pytorch_ddp {} }",
      "f", core::Library(core::library_folder()));
  ASSERT_TRUE(scenario) << scenario.error().message();
  std::vector<std::int64_t> elements;
  for (const core::Pack& pack : scenario->plan.packs)
    elements.push_back(scenario->plan.collective(pack).elements);
  EXPECT_THAT(elements, ElementsAre(2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040));
}

TEST(PytorchDdp, IsEquivalentToSerialPacksWithCopies) {
  EXPECT_EQ(
      simulated("pytorch_ddp { bucket_cap_mb: 25 }").length(),
      simulated("bytes_per_pack: 0 merging: CONCAT launch: SERIAL update: AFTER_ALL").length());
  EXPECT_LT(simulated("pytorch_ddp { bucket_cap_mb: 25 gradient_as_bucket_view: true }").length(),
            simulated("pytorch_ddp { bucket_cap_mb: 25 }").length());
  EXPECT_LT(simulated("pytorch_ddp {} update: PER_PACK").length(),
            simulated("pytorch_ddp {}").length())
      << "variables of the first bucket are updated while the second travels";
}

TEST(DeepSpeed, ReducesABucketWhenTheNextGradientDoesNotFit) {
  EXPECT_THAT(pack_bytes("deepspeed {}"), ElementsAre(kC + kB + kA));
  const std::string buckets = "deepspeed { reduce_bucket_size: 1200010 overlap_comm: true }";
  EXPECT_THAT(pack_bytes(buckets), ElementsAre(kC + kB, kA));
  // Bucket 0 is full when b is ready, 6 ms into the backward pass. The bucket is reduced only when
  // the next gradient, a, is ready 3 ms later.
  const Kept kept = simulated(buckets);
  EXPECT_EQ(kept.packs.front().ready, core::milliseconds(4 + 4 + 2 + 3));
}

TEST(DeepSpeed, WithoutOverlapTheBackwardPassWaitsForEveryBucket) {
  const std::string small = "deepspeed { reduce_bucket_size: 1 ";
  const Kept overlapped = simulated(small + "overlap_comm: true }");
  const Kept waiting = simulated(small + "}");
  ASSERT_THAT(waiting.packs, SizeIs(testing::Ge(3u)));
  // The reduction of c starts when b is ready. With overlap, the 3 ms of a's computation hide the
  // whole reduction; without overlap, nothing hides it.
  const core::PackRecord& c = overlapped.packs.front();
  ASSERT_LT(c.end - c.first_start, core::milliseconds(3));
  EXPECT_EQ(waiting.length(), overlapped.length() + (c.end - c.first_start));
}

TEST(Megatron, HasOneBucketWithoutOverlap) {
  EXPECT_THAT(pack_bytes("megatron {}"), ElementsAre(kC + kB + kA));
  EXPECT_THAT(pack_bytes("megatron { overlap_grad_reduce: true }"), ElementsAre(kC + kB + kA))
      << "40 million elements";
  EXPECT_THAT(pack_bytes("megatron { overlap_grad_reduce: true ddp_bucket_size: 700000 }"),
              ElementsAre(kC, kB + kA));
  EXPECT_THAT(pack_bytes("megatron { overlap_grad_reduce: true ddp_bucket_size: 700001 }"),
              ElementsAre(kC + kB, kA));
  EXPECT_LT(simulated("megatron { overlap_grad_reduce: true ddp_bucket_size: 1 }").length(),
            simulated("megatron {}").length());
  EXPECT_EQ(simulated("megatron {}").length(),
            simulated("pytorch_ddp { bucket_cap_mb: 25 gradient_as_bucket_view: true }").length());
}

TEST(BytePs, DividesTensorsIntoPartitions) {
  EXPECT_THAT(pack_bytes("byteps { partition_bytes: 2000000 }"),
              ElementsAre(2'002'944, kC - 2'002'944, kB, 2'002'944, kA - 2'002'944))
      << "489 pages";
  EXPECT_EQ(simulated("byteps { partition_bytes: 8000000 }").length(),
            simulated("launch: CONCURRENT update: AFTER_ALL").length())
      << "nothing is cut";
}

TEST(Frameworks, RefuseASecondPackingRule) {
  EXPECT_THAT(error_of("pytorch_ddp {} bytes_per_pack: 0"),
              ElementsAre("conflict Strategy.bytes_per_pack"));
  EXPECT_THAT(error_of("megatron {} num_packs: 2"), ElementsAre("conflict Strategy.num_packs"));
  EXPECT_THAT(error_of("byteps {} merging: CONCAT"), ElementsAre("unused Strategy.merging"));
  EXPECT_THAT(error_of("pytorch_ddp {} deepspeed {}"), ElementsAre("conflict Strategy.deepspeed"));
  EXPECT_THAT(error_of("megatron { average_in_collective: true }"),
              ElementsAre("unused Megatron.average_in_collective"));
  EXPECT_THAT(error_of("megatron { ddp_bucket_size: 5 }"),
              ElementsAre("unused Megatron.ddp_bucket_size"));
  EXPECT_THAT(error_of("deepspeed { reduce_bucket_size: 0 }"),
              ElementsAre("too-small DeepSpeed.reduce_bucket_size"));
  EXPECT_THAT(error_of("pytorch_ddp { bucket_cap_mb: -1 }"),
              ElementsAre("too-small PytorchDdp.bucket_cap_mb"));
}

}  // namespace
}  // namespace tutti
