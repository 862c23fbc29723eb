// The times of layers that are limited by memory: the weights and activations that a layer moves,
// batch normalizations, activation functions, and the layout of convolutions.

#include "core/workload/layer_traffic.h"

#include <gtest/gtest.h>

#include "tests/core/workload/workloads.h"

namespace tutti::core {
namespace {

using test::one_gpu;
using test::three_layers;
using test::variable;

TEST(Workload, ALayerTakesAtLeastTheTimeToMoveItsWeights) {
  WorkloadOptions options = three_layers();
  options.batch = 10;
  options.model.variables[3].elements = 1'000'000;  // layer c: 4 MB at 1 GB/s
  const auto w = make_workload(options, one_gpu());
  ASSERT_TRUE(w) << w.error().front().text;
  EXPECT_EQ(w->times[0].forward_by_segment[0], microseconds(4'000)) << "reads the weights";
  EXPECT_EQ(w->times[0].backward[0], microseconds(8'000)) << "also writes the gradients";
  EXPECT_EQ(w->times[0].forward, microseconds(4'000 + 3 * 20));
  EXPECT_EQ(w->times[0].forward_compute_bound, 29'557)
      << "the multiprocessors limit only the time of the operations";
  // A multiplication and an addition use one weight, so 0.2 million operations for each of ten
  // samples read at most a million weights.
  options.model.variables[3].elements = 100'000'000;
  options.model.variables[3].forward_flops = 2e5;
  EXPECT_EQ(make_workload(options, one_gpu())->times[0].forward_by_segment[0], microseconds(4'000));
}

/// A layer with one variable, in which operations take no time, on a GPU whose memory moves 1 GB/s.
struct PassTimes {
  Time forward, backward;
};
PassTimes moved(std::vector<std::int64_t> shape, double operations, double backward_operations,
                Precision precision = Precision::kFloat32) {
  WorkloadOptions options;
  options.model.name = "m";
  options.model.variables = {
      variable("v", *elements_of(shape), 0, operations, backward_operations)};
  options.model.variables[0].shape = std::move(shape);
  options.batch = 1000;
  options.precision = precision;
  const auto w = make_workload(options, one_gpu({{precision, 1e18}}));
  EXPECT_TRUE(w);
  return {w->times[0].forward, w->times[0].backward[0]};
}

TEST(Workload, ALayerTakesAtLeastTheTimeToMoveItsActivations) {
  // A matrix of 100 x 50 that each of 1000 samples uses twice: 300 numbers of input and output for
  // each sample, and twice as many in the two products of the backward pass.
  const Time weights = nanoseconds(100 * 50 * 4);
  const PassTimes matrix = moved({100, 50}, 4 * 100 * 50, 8 * 100 * 50);
  EXPECT_EQ(matrix.forward, weights + nanoseconds(1000 * 300 * 4));
  EXPECT_EQ(matrix.backward, 2 * weights + nanoseconds(1000 * 600 * 4));
  // A convolution of 3x3 at 7 positions reads 16 and writes 32 channels. PyTorch's shapes begin
  // with the channels; TensorFlow's end with them.
  const double operations = 2.0 * 7 * 3 * 3 * 16 * 32;
  const Time kernel = nanoseconds(3 * 3 * 16 * 32 * 4);
  for (const auto& shape : {std::vector<std::int64_t>{32, 16, 3, 3}, {3, 3, 16, 32}}) {
    const PassTimes convolution = moved(shape, operations, 2 * operations);
    EXPECT_EQ(convolution.forward, kernel + nanoseconds(1000 * 7 * (16 + 32) * 4));
    EXPECT_EQ(convolution.backward, 2 * kernel + nanoseconds(1000 * 14 * (16 + 32) * 4));
  }
  // A normalization of 600 numbers has 5 and 10 operations for each. The forward pass reads and
  // writes each number; the backward pass reads two numbers and writes one.
  const Time scales = nanoseconds(20 * 4);
  const PassTimes norm = moved({20}, 600 * 5, 600 * 10);
  EXPECT_EQ(norm.forward, scales + nanoseconds(1000 * 600 * 2 * 4));
  EXPECT_EQ(norm.backward, 2 * scales + nanoseconds(1000 * 600 * 3 * 4));
  // A depthwise convolution reads as many channels as it writes.
  const PassTimes depthwise = moved({32, 1, 3, 3}, 2.0 * 7 * 9 * 32, 4.0 * 7 * 9 * 32);
  EXPECT_EQ(depthwise.forward, nanoseconds(9 * 32 * 4 + 1000 * 7 * (32 + 32) * 4));
  // A vector of all weights of a layer is no normalization; only its weights move.
  EXPECT_EQ(moved({100'000}, 1e6, 2e6).forward, microseconds(400));
}

/// A convolution with 7 outputs of 32 channels, and a normalization of them, on a GPU whose memory
/// moves 1 GB/s. Operations take no time.
StepTimes normalized(std::vector<std::int64_t> kernel, Precision precision,
                     std::optional<bool> channels_last = {}) {
  WorkloadOptions options;
  options.model.name = "m";
  const double operations = 2.0 * 7 * 3 * 3 * 16 * 32;
  options.model.variables = {
      variable("kernel", *elements_of(kernel), 0, operations, 2 * operations),
      variable("scale", 32, 1, 7 * 32 * 5, 7 * 32 * 10)};
  options.model.variables[0].shape = std::move(kernel);
  options.model.variables[1].shape = {32};
  options.batch = 1000;
  options.precision = precision;
  options.channels_last = channels_last;
  const auto w = make_workload(options, one_gpu({{precision, 1e18}}));
  EXPECT_TRUE(w);
  return w->times[0];
}

TEST(Workload, ABatchNormalizationReadsItsInputTwiceAndAnActivationFunctionFollows) {
  const StepTimes times = normalized({32, 16, 3, 3}, Precision::kFloat32);
  const std::int64_t elements = 1000 * 7 * 32;
  EXPECT_EQ(times.forward_by_segment[0], nanoseconds(32 * 4 + elements * (3 + 2) * 4));
  EXPECT_EQ(times.backward[0], nanoseconds(2 * 32 * 4 + elements * (5 + 3) * 4));
  EXPECT_EQ(times.forward_by_segment[1],
            nanoseconds(3 * 3 * 16 * 32 * 4 + 1000 * 7 * (16 + 32) * 4));
}

TEST(Workload, ConvolutionsOnTensorCoresTransposeTensorsWithTheChannelsFirst) {
  const std::vector<std::int64_t> pytorch{32, 16, 3, 3}, tensorflow{3, 3, 16, 32};
  const Time last = normalized(pytorch, Precision::kFloat16, true).forward_by_segment[1];
  const Time transposes = nanoseconds(1000 * 7 * (16 + 32) * 2 * 2);
  EXPECT_EQ(normalized(pytorch, Precision::kFloat16).forward_by_segment[1], last + transposes);
  EXPECT_EQ(normalized(tensorflow, Precision::kFloat16).forward_by_segment[1], last)
      << "TensorFlow changes the layout";
  EXPECT_EQ(normalized(tensorflow, Precision::kFloat16, false).forward_by_segment[1],
            last + transposes);
  EXPECT_GT(normalized(tensorflow, Precision::kTf32).forward_by_segment[1],
            normalized(tensorflow, Precision::kTf32, true).forward_by_segment[1]);
  EXPECT_EQ(normalized(pytorch, Precision::kFloat32).forward_by_segment[1],
            normalized(pytorch, Precision::kFloat32, true).forward_by_segment[1])
      << "no tensor cores";
}

TEST(Workload, ThePrecisionDeterminesTheSizeOfActivations) {
  const Time scales = nanoseconds(20 * 4);  // stored as float32
  const auto forward = [](Precision precision) {
    return moved({20}, 600 * 5, 600 * 10, precision).forward;
  };
  for (const Precision wide : {Precision::kFloat32, Precision::kTf32})
    EXPECT_EQ(forward(wide), scales + nanoseconds(1000 * 600 * 2 * 4));
  for (const Precision narrow : {Precision::kFloat16, Precision::kBfloat16, Precision::kFloat8})
    EXPECT_EQ(forward(narrow), scales + nanoseconds(1000 * 600 * 2 * 2));
}

}  // namespace
}  // namespace tutti::core
