// Workloads: the time of each layer from given times or from operations, and the part of that time
// that waits for memory. layer_traffic_test.cpp has the times for moving weights and activations.

#include "core/workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scenario/library.h"
#include "tests/core/workload/workloads.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using test::one_gpu;
using test::three_layers;
using test::variable;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::vector<int>> ready_together(const Workload& w) {
  std::vector<std::vector<int>> lists;
  for (const BackwardSegment& s : w.segments) lists.push_back(s.variables);
  return lists;
}

TEST(Workload, ComputesTimesFromFlopsAndTheRateOfTheDevice) {
  WorkloadOptions options = three_layers();
  options.batch = 10;
  options.flops_efficiency = 0.5;
  const auto w = make_workload(options, one_gpu());
  ASSERT_TRUE(w) << w.error().front().text;
  // At 0.5 · 10^12 operations per second, a million operations take 2 us, and ten samples take 20
  // us.
  EXPECT_EQ(w->times[0].forward, microseconds(6 * 20));
  EXPECT_THAT(w->times[0].backward,
              ElementsAre(microseconds(6 * 20), microseconds(5 * 20), microseconds(2 * 20)));
  EXPECT_THAT(ready_together(*w), ElementsAre(ElementsAre(3), ElementsAre(1, 2), ElementsAre(0)))
      << "the last layer's gradients come first";
  EXPECT_EQ(w->times[0].update, nanoseconds(65 * 4 * 5)) << "five passes over 260 bytes at 1 GB/s";
}

TEST(Workload, RepeatedForwardPassesArePartOfTheBackwardPass) {
  WorkloadOptions options = three_layers();
  options.batch = 10;
  const auto stored = make_workload(options, one_gpu());
  options.recomputes = true;
  const auto repeated = make_workload(options, one_gpu());
  EXPECT_EQ(repeated->times[0].forward, stored->times[0].forward);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(repeated->times[0].backward[s],
              stored->times[0].backward[s] + stored->times[0].forward_by_segment[s]);
    EXPECT_EQ(repeated->times[0].backward_compute_bound[s], 1'000'000);
  }
}

TEST(Workload, ConvolutionsInFloat32ReachAHigherShareOfThePeakRate) {
  WorkloadOptions options;
  options.model.name = "m";
  options.batch = 1;
  options.model.variables = {variable("kernel", 490'000, 0, 3e9, 6e9),
                             variable("matrix", 9, 1, 1e9, 2e9)};
  options.model.variables[0].shape = {70, 70, 10, 10};  // moves less than 4 MB
  options.model.variables[1].shape = {3, 3};
  const Cluster cluster = one_gpu({{Precision::kFloat32, 1e12}, {Precision::kTf32, 1e12}});
  const auto times = [&] { return make_workload(options, cluster)->times[0].forward_by_segment; };
  EXPECT_EQ(times()[1], microseconds(4'000));
  EXPECT_THAT(make_workload(options, cluster)->timing, HasSubstr("convolutions at 75 %"));
  options.flops_efficiency = 0.5;
  EXPECT_EQ(times()[1], microseconds(6'000));
  options.flops_efficiency.reset();
  options.precision = Precision::kTf32;
  EXPECT_GE(times()[1], microseconds(6'000));
}

TEST(Workload, ThePrecisionSelectsTheRateAndLeavesTheGradients) {
  WorkloadOptions options = three_layers();
  options.batch = 100;  // layers take longer than a launch
  const Cluster cluster =
      one_gpu({{Precision::kFloat32, 1e12}, {Precision::kTf32, 4e12}, {Precision::kFloat16, 1e13}});
  const auto single = make_workload(options, cluster);
  options.precision = Precision::kTf32;
  const auto tf32 = make_workload(options, cluster);
  EXPECT_EQ(4 * tf32->times[0].forward, single->times[0].forward);
  EXPECT_EQ(tf32->times[0].forward_compute_bound, 1'000'000);
  EXPECT_THAT(tf32->timing, HasSubstr("50 % of 4 TFLOP/s (tf32)"));
  options.precision = Precision::kFloat16;
  const auto mixed = make_workload(options, cluster);
  EXPECT_EQ(10 * mixed->times[0].forward, single->times[0].forward);
  EXPECT_EQ(mixed->bytes(), single->bytes()) << "the gradients remain float32";
  EXPECT_EQ(mixed->times[0].update, single->times[0].update);
  options.precision = Precision::kFloat8;
  const auto unknown = make_workload(options, cluster);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().front().text, HasSubstr("no float8 rate"));
}

TEST(Workload, TheHostLaunchesAKernelForEachLayerAndPass) {
  WorkloadOptions options = three_layers();
  options.batch = 1;
  for (Variable& v : options.model.variables) v.forward_flops = v.backward_flops = 500;
  // The layers need 40, 100 and 120 ns to read their weights, but the host launches one kernel
  // every 3.8 us.
  const auto small = make_workload(options, one_gpu());
  ASSERT_TRUE(small);
  EXPECT_EQ(small->times[0].forward, 3 * nanoseconds(3'800));
  EXPECT_THAT(small->times[0].backward, testing::Each(nanoseconds(3'800)));
  // While a long layer runs, the host launches the next kernels.
  options.model.variables[0].forward_flops = 2e6;  // 4 us
  const auto hidden = make_workload(options, one_gpu());
  EXPECT_EQ(hidden->times[0].forward, 3 * nanoseconds(3'800));
  options.model.variables[0].forward_flops = 1e9;  // 2 ms
  const auto ahead = make_workload(options, one_gpu());
  EXPECT_EQ(ahead->times[0].forward, microseconds(2'000) + nanoseconds(220))
      << "the other layers read 100 and 120 bytes";
}

TEST(Workload, NotesALayerWithoutFlopsWhichTakesNoTime) {
  WorkloadOptions options = three_layers();
  options.batch = 10;
  options.model.variables[3].forward_flops.reset();  // the only variable of the last layer
  options.model.variables[3].backward_flops.reset();
  options.model.variables[2].backward_flops.reset();  // its layer has another variable
  const auto w = make_workload(options, one_gpu());
  ASSERT_TRUE(w) << w.error().front().text;
  EXPECT_EQ(w->times[0].backward[0], Time());
  EXPECT_GT(w->times[0].backward[1], Time());
  EXPECT_THAT(w->timing, HasSubstr("1 of 3 layers have no time"));
}

TEST(Workload, DividesGivenTotalsInProportionWithoutRoundingErrors) {
  WorkloadOptions options = three_layers();
  options.forward = Time(1'000);
  options.backward = Time(1'000'003);
  const auto w = make_workload(options, one_gpu({}));
  ASSERT_TRUE(w) << w.error().front().text;
  EXPECT_EQ(w->times[0].forward, Time(1'000));
  EXPECT_EQ(w->times[0].backward_total(), Time(1'000'003));
  EXPECT_EQ(w->times[0].backward[0], Time(461'539)) << "6 of 13 parts";
}

/// The part of a layer's time that its operations need at the usual efficiency is limited by
/// multiprocessors. The rest is limited by memory.
TEST(Workload, TimeBeyondTheOperationsOfALayerIsMemoryBound) {
  constexpr std::int64_t kAll = 1'000'000;
  WorkloadOptions options = three_layers();
  options.batch = 10;
  const auto from_flops = make_workload(options, one_gpu());
  ASSERT_TRUE(from_flops);
  EXPECT_EQ(from_flops->times[0].forward_compute_bound, kAll)
      << "times that follow from operations";
  EXPECT_THAT(from_flops->times[0].backward_compute_bound, ElementsAre(kAll, kAll, kAll));
  // The 120 us of forward operations are given 480 us, and the 260 us of backward operations are
  // given 520 us in proportion.
  options.forward = microseconds(480);
  options.backward = microseconds(520);
  const auto given = make_workload(options, one_gpu());
  ASSERT_TRUE(given);
  EXPECT_EQ(given->times[0].forward_compute_bound, kAll / 4);
  EXPECT_THAT(given->times[0].backward_compute_bound, ElementsAre(kAll / 2, kAll / 2, kAll / 2));
  options.batch = 1000;
  EXPECT_EQ(make_workload(options, one_gpu())->times[0].forward_compute_bound, kAll)
      << "never more than all of it";
  options.batch.reset();
  EXPECT_EQ(make_workload(options, one_gpu())->times[0].forward_compute_bound, kAll)
      << "operations are not known";
  options.compute_bound_ppm = 300'000;
  const auto stated = make_workload(options, one_gpu());
  EXPECT_EQ(stated->times[0].forward_compute_bound, 300'000);
  EXPECT_THAT(stated->times[0].backward_compute_bound, ElementsAre(300'000, 300'000, 300'000));
}

TEST(Workload, AddingGradientsIsMemoryBound) {
  WorkloadOptions options = three_layers();
  options.forward = options.backward = microseconds(130);
  options.micro_batches = 2;
  options.accumulate =
      microseconds(65);  // by bytes: 30 of 65 go to the first segment, whose layer takes 60 us
  const auto w = make_workload(options, one_gpu({}));
  ASSERT_TRUE(w);
  EXPECT_EQ(w->times[0].compute_bound_in_pass(0, 0), 1'000'000);
  EXPECT_EQ(w->times[0].compute_bound_in_pass(0, 1), 1'000'000 * 60 / 90);
}

TEST(Workload, ReportsWhatIsMissingToComputeTimesFromFlops) {
  WorkloadOptions options = three_layers();
  EXPECT_EQ(make_workload(options, one_gpu()).error().front().code, ProblemCode::kMissing);
  options.batch = 1;
  EXPECT_EQ(make_workload(options, one_gpu({})).error().front().code, ProblemCode::kUnsupported)
      << "no rate";
  options.batch = 1'000'000'000;
  options.model.variables[0].backward_flops = 1e20;
  EXPECT_EQ(make_workload(options, one_gpu()).error().front().code, ProblemCode::kTooLarge)
      << "days";
}

TEST(Workload, MeasuredLayersDetermineWhenGradientsAreReady) {
  WorkloadOptions options = three_layers();
  options.batch = 64;
  options.layer_times = LayerTimes{"profile",
                                   "test",
                                   GpuModel::kNone,
                                   32,
                                   {{"first", microseconds(1), microseconds(10), {"a"}},
                                    {"relu", microseconds(2), microseconds(5), {}},
                                    {"last", microseconds(3), microseconds(20), {"c", "b", "b2"}}}};
  const auto w = make_workload(options, one_gpu());
  ASSERT_TRUE(w) << w.error().front().text;
  EXPECT_EQ(w->times[0].forward, microseconds(12)) << "measured for half the batch";
  EXPECT_THAT(w->times[0].backward,
              ElementsAre(microseconds(40), microseconds(10), microseconds(20)));
  EXPECT_THAT(ready_together(*w), ElementsAre(ElementsAre(3, 1, 2), ElementsAre(), ElementsAre(0)));
}

TEST(Workload, RefusesAProfileThatDoesNotMatchTheModel) {
  WorkloadOptions options = three_layers();
  const auto error_with = [&](std::vector<std::string> names) {
    options.layer_times =
        LayerTimes{"p", "", GpuModel::kNone, 1, {{"l", {}, {}, std::move(names)}}};
    const WorkloadProblem problem = make_workload(options, one_gpu()).error().front();
    EXPECT_EQ(problem.field, "layer_times");
    return problem.code;
  };
  EXPECT_EQ(error_with({"a", "b", "b2", "x"}), ProblemCode::kConflict) << "the model has no x";
  EXPECT_EQ(error_with({"a", "b", "b2"}), ProblemCode::kMissing) << "c";
  EXPECT_EQ(error_with({"a", "b", "b2", "c", "a"}), ProblemCode::kDuplicate) << "a";
}

TEST(Workload, WithoutTimesGradientsAreReadyAtOnceOrEvenlySpaced) {
  WorkloadOptions options = three_layers();
  for (Variable& v : options.model.variables) v.forward_flops = v.backward_flops = std::nullopt;
  auto w = make_workload(options, one_gpu());
  EXPECT_EQ(w->times[0].backward_total(), Time());
  options.backward = Time(10);
  w = make_workload(options, one_gpu());
  EXPECT_THAT(w->times[0].backward, ElementsAre(Time(3), Time(3), Time(4)));
}

TEST(Workload, GradientsMayBeSentInAnotherType) {
  WorkloadOptions options = three_layers();
  options.gradient_type = DataType::kFloat16;
  options.batch = 1;
  EXPECT_EQ(make_workload(options, one_gpu())->bytes(), Bytes(2 * 65));
}

TEST(Workload, UpdateTimesDependOnTheTypeOfVariables) {
  WorkloadOptions options = three_layers();
  options.batch = 1;
  const auto as_stored = make_workload(options, one_gpu());
  options.gradient_type = DataType::kFloat16;
  EXPECT_EQ(make_workload(options, one_gpu())->times[0].update, as_stored->times[0].update);
}

TEST(ShippedLayerTimes, MatchTheModelsThatTheyAreNamedAfter) {
  const Library& library = test::shipped_library();
  const std::vector<std::string> profiles = library.names(Library::Kind::kLayerTimes);
  EXPECT_GE(profiles.size(), 6u);
  for (const std::string& profile : profiles) {
    const std::string model = profile.substr(0, profile.rfind('_'));
    WorkloadOptions options;
    options.model = *load_model(library.folder() + "/models/" + model + ".csv");
    const auto times = load_layer_times(library.folder() + "/layer_times/" + profile + ".csv");
    ASSERT_TRUE(times) << times.error().message();
    options.layer_times = *times;
    EXPECT_TRUE(make_workload(options, one_gpu())) << profile;
  }
}

}  // namespace
}  // namespace tutti::core
