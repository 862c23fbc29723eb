// Workloads: the shipped models and their published sizes, the time of each layer from given times
// or from operations, and the part of that time that waits for memory.

#include "core/workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "core/scenario/library.h"
#include "core/workload/transformer.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::Mistake;
using testing::ElementsAre;
using testing::HasSubstr;

std::string folder() { return test::source_folder() + "/scenarios"; }

std::string write_file(const std::string& name, const std::string& content) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path) << content;
  return path;
}

TEST(ShippedModels, HaveThePublishedNumbersOfParameters) {
  const Library library(folder());
  const std::vector<std::string> names = library.names(Library::Kind::kModel);
  EXPECT_EQ(names.size(), 35u);
  for (const std::string& name : names) {
    const std::string path = folder() + "/models/" + name + ".csv";
    const auto model = load_model(path);
    ASSERT_TRUE(model) << model.error().message();
    std::int64_t parameters = 0;
    for (const Variable& v : model->variables) {
      parameters += v.elements;
      EXPECT_TRUE(v.backward_flops.has_value()) << name << " " << v.name;
    }
    // The comment in the file says: "# parameters: P in V variables".
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line) && !line.starts_with("# parameters: ")) {
    }
    EXPECT_EQ(line, "# parameters: " + std::to_string(parameters) + " in " +
                        std::to_string(model->variables.size()) + " variables")
        << name;
  }
}

TEST(LoadModel, CsvAndJsonAreEquivalent) {
  const std::string csv = write_file("m.csv",
                                     "# batch: 8\nname,shape,type,layer,backward_us\n"
                                     "w,3x4,float16,0,10.5\nb,,,1,2\n");
  const std::string json = write_file("m.json", R"({"batch": 8, "variables": [
      {"name": "w", "shape": [3, 4], "type": "float16", "layer": 0, "backward_us": 10.5},
      {"name": "b", "shape": [], "layer": 1, "backward_us": 2}]})");
  for (const std::string& path : {csv, json}) {
    const auto model = load_model(path);
    ASSERT_TRUE(model) << model.error().message();
    EXPECT_EQ(model->batch, 8);
    ASSERT_EQ(model->variables.size(), 2u);
    EXPECT_EQ(model->variables[0].elements, 12);
    EXPECT_EQ(model->variables[0].bytes(), Bytes(24));
    EXPECT_EQ(model->variables[1].elements, 1) << "a scalar";
    EXPECT_EQ(model->variables[1].type, DataType::kFloat32);
    EXPECT_EQ(*model->variables[0].backward, nanoseconds(10'500));
  }
}

TEST(LoadModel, ReportsAllErrorsAtTheirPosition) {
  using enum ProblemCode;
  const auto all = [](const std::vector<Mistake>& mistakes) {
    return test::FailsWithAll(mistakes);
  };
  EXPECT_THAT(
      read_model("name,shape,typ\na,2x-3,\na,99999999999x99999999999,\n,1,\nb,2y3,\n", "bad.csv"),
      all({{kMissing, "type", 1, 1},
           {kUnknownField, "typ", 1, 12},
           {kInvalid, "shape", 2, 3},
           {kDuplicate, "name", 3, 1},
           {kInvalid, "shape", 3, 3},
           {kMissing, "name", 4, 1},
           {kSyntax, "shape", 5, 3}}));
  EXPECT_THAT(
      read_model(
          "[{\"name\": \"a\", \"type\": \"float8\", \"backward_us\": -1},\n {\"shape\": [1]}, 5]",
          "bad.json"),
      all({{kMissing, "shape", 1, 2},
           {kUnknownName, "type", 1, 24},
           {kTooSmall, "backward_us", 1, 49},
           {kMissing, "name", 2, 2},
           {kWrongType, "variables", 2, 18}}));
  EXPECT_THAT(read_model("{\"variables\": []}", "none.json"), all({{kMissing, "variables"}}));
  EXPECT_THAT(read_model("{\"variables\": 3}", "none.json"), all({{kMissing, "variables", 1, 1}}));
  EXPECT_THAT(read_model("{\"variables\": [}", "syntax.json"), all({{kSyntax, "", 1, 16}}));
  EXPECT_THAT(read_model("name,shape,type\na,1048576x1048576x64,\nb,1,\n", "large.csv"),
              all({{kTooLarge, "shape", 3, 3}}))
      << "the limit is 2^46";
}

TEST(LoadModel, ReportsMissingRequiredColumns) {
  using enum ProblemCode;
  EXPECT_THAT(read_model("name\na\n", "bare.csv"),
              test::FailsWithAll(
                  std::vector<Mistake>{{kMissing, "shape", 1, 1}, {kMissing, "type", 1, 1}}));
  EXPECT_THAT(
      read_model("shape,type\n3,float32\n", "nameless.csv"),
      test::FailsWithAll(std::vector<Mistake>{{kMissing, "name", 1, 1}, {kMissing, "name", 2, 1}}));
}

TEST(LoadModel, RefusesValuesOfTheWrongType) {
  using enum ProblemCode;
  const auto shape = [](const std::string& written) {
    return read_model("[{\"name\": \"a\", \"shape\": " + written + "}]", "shape.json");
  };
  EXPECT_TRUE(shape("[2, 3]"));
  const auto wrong = [&](const std::string& written, ProblemCode code, int column) {
    EXPECT_THAT(shape(written),
                test::FailsWithAll(std::vector<Mistake>{{code, "shape", 1, column}}))
        << written;
  };
  for (const char* no_list : {"{}", "\"2x3\"", "5"}) wrong(no_list, kWrongType, 25);
  wrong("[[2, 3]]", kWrongType, 26);
  wrong("[2, \"3\"]", kWrongType, 29);
  wrong("[2.5]", kSyntax, 25);
  wrong("null", kMissing, 2);
  EXPECT_THAT(
      read_model(
          "{\"batch\": {}, \"title\": 3, \"bach\": 3, \"variables\": [\n"
          "{\"name\": 7, \"shape\": []},\n"
          "{\"name\": \"a\", \"shape\": [], \"type\": {}, \"layer\": [1]},\n"
          "{\"name\": \"b\", \"shape\": [], \"shape\": [3], \"layr\": [1], \"forward_us\": null}]}",
          "kinds.json"),
      test::FailsWithAll(std::vector<Mistake>{{kWrongType, "batch", 1, 11},
                                              {kWrongType, "title", 1, 24},
                                              {kUnknownField, "bach", 1, 27},
                                              {kWrongType, "name", 2, 10},
                                              {kWrongType, "type", 3, 36},
                                              {kWrongType, "layer", 3, 49},
                                              {kDuplicate, "shape", 4, 28},
                                              {kUnknownField, "layr", 4, 42}}));
}

TEST(LoadModel, RefusesTextsThatAreNotUtf8) {
  EXPECT_THAT(read_model("# title: caf\xe9\nname,shape,type\na,1,\n", "latin1.csv"),
              test::FailsWithAll(std::vector<Mistake>{{ProblemCode::kSyntax, "", 1, 13}}));
  EXPECT_TRUE(read_model("\xEF\xBB\xBF[{\"name\": \"a\", \"shape\": [1]}]", "mark.json"));
}

// --- transformers ---

/// Compares the variables of a transformer with those of a shipped model.
void expect_equal(const Model& made, const std::string& shipped) {
  const auto model = load_model(folder() + "/models/" + shipped + ".csv");
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(made.variables.size(), model->variables.size());
  for (std::size_t v = 0; v < made.variables.size(); ++v) {
    const Variable& ours = made.variables[v];
    const Variable& theirs = model->variables[v];
    EXPECT_EQ(ours.name, theirs.name);
    EXPECT_EQ(ours.shape, theirs.shape) << ours.name;
    EXPECT_EQ(ours.elements, theirs.elements) << ours.name;
    EXPECT_EQ(ours.type, theirs.type) << ours.name;
    EXPECT_EQ(ours.forward_flops, theirs.forward_flops) << ours.name;
    EXPECT_EQ(ours.backward_flops, theirs.backward_flops) << ours.name;
    if (v > 0) {
      EXPECT_EQ(ours.layer < made.variables[v - 1].layer,
                theirs.layer < model->variables[v - 1].layer)
          << ours.name;
    }
  }
}

TEST(Transformer, HasTheVariablesOfTheShippedModels) {
  TransformerShape llama{.layers = 32,
                         .hidden = 4096,
                         .heads = 32,
                         .kv_heads = 32,
                         .ffn = 11008,
                         .gated = true,
                         .vocabulary = 32000,
                         .sequence = 4096};
  expect_equal(transformer_model(llama, "llama"), "llama2_7b");
  llama.kv_heads = 8;
  llama.ffn = 14336;
  llama.vocabulary = 128256;
  llama.sequence = 8192;
  expect_equal(transformer_model(llama, "llama"), "llama3_8b");
}

TEST(Transformer, TensorParallelismDividesMatricesAndTheirOperations) {
  TransformerShape shape{.layers = 3,
                         .hidden = 64,
                         .heads = 8,
                         .kv_heads = 4,
                         .ffn = 128,
                         .gated = false,
                         .vocabulary = 96,
                         .sequence = 16};
  const auto sums = [&] {
    double operations = 0, vectors = 0;
    std::int64_t elements = 0;
    for (const Variable& v : transformer_model(shape, "t").variables) {
      (v.shape.size() > 1 ? operations : vectors) += *v.forward_flops + *v.backward_flops;
      if (v.shape.size() > 1) elements += v.elements;
    }
    return std::tuple(operations, vectors, static_cast<double>(elements));
  };
  const auto [whole, norms, elements] = sums();
  shape.tensor_parallel = 4;
  const auto [part, same_norms, of_part] = sums();
  // The gradients of looked-up rows of the embedding are not divided.
  const double embedding = 16 * 64;
  EXPECT_EQ((whole - embedding) / 4, part - embedding);
  EXPECT_EQ(elements / 4, of_part);
  EXPECT_EQ(norms, same_norms);
}

// --- times ---

Cluster one_gpu(std::map<Precision, double> flops = {{Precision::kFloat32, 1e12}}) {
  Part gpu;
  gpu.name = "gpu0";
  gpu.device = {Bandwidth(1'000'000'000), Bandwidth(333'333'333), Bandwidth(500'000'000), 1,
                std::move(flops)};
  auto machine =
      std::make_shared<const Machine>("m", std::vector<Part>{gpu}, std::vector<MachineLink>{},
                                      std::vector<RingOrder>{}, std::vector<RingOrder>{});
  return Cluster({{machine, 1}}, 1, std::nullopt);
}

Variable variable(const std::string& name, std::int64_t elements, std::int64_t layer,
                  double forward_flops, double backward_flops) {
  Variable v;
  v.name = name;
  v.elements = elements;  // without a shape, the activations of the layer are unknown
  v.layer = layer;
  v.forward_flops = forward_flops;
  v.backward_flops = backward_flops;
  return v;
}

WorkloadOptions three_layers() {
  WorkloadOptions options;
  options.model.name = "m";
  options.model.variables = {variable("a", 10, 0, 1e6, 2e6), variable("b", 20, 1, 2e6, 4e6),
                             variable("b2", 5, 1, 0, 1e6), variable("c", 30, 2, 3e6, 6e6)};
  return options;
}

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
struct Moved {
  Time forward, backward;
};
Moved moved(std::vector<std::int64_t> shape, double operations, double backward_operations,
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
  const Moved matrix = moved({100, 50}, 4 * 100 * 50, 8 * 100 * 50);
  EXPECT_EQ(matrix.forward, weights + nanoseconds(1000 * 300 * 4));
  EXPECT_EQ(matrix.backward, 2 * weights + nanoseconds(1000 * 600 * 4));
  // A convolution of 3x3 at 7 positions reads 16 and writes 32 channels. PyTorch's shapes begin
  // with the channels; TensorFlow's end with them.
  const double operations = 2.0 * 7 * 3 * 3 * 16 * 32;
  const Time kernel = nanoseconds(3 * 3 * 16 * 32 * 4);
  for (const auto& shape : {std::vector<std::int64_t>{32, 16, 3, 3}, {3, 3, 16, 32}}) {
    const Moved convolution = moved(shape, operations, 2 * operations);
    EXPECT_EQ(convolution.forward, kernel + nanoseconds(1000 * 7 * (16 + 32) * 4));
    EXPECT_EQ(convolution.backward, 2 * kernel + nanoseconds(1000 * 14 * (16 + 32) * 4));
  }
  // A normalization of 600 numbers has 5 and 10 operations for each. The forward pass reads and
  // writes each number; the backward pass reads two numbers and writes one.
  const Time scales = nanoseconds(20 * 4);
  const Moved norm = moved({20}, 600 * 5, 600 * 10);
  EXPECT_EQ(norm.forward, scales + nanoseconds(1000 * 600 * 2 * 4));
  EXPECT_EQ(norm.backward, 2 * scales + nanoseconds(1000 * 600 * 3 * 4));
  // A depthwise convolution reads as many channels as it writes.
  const Moved depthwise = moved({32, 1, 3, 3}, 2.0 * 7 * 9 * 32, 4.0 * 7 * 9 * 32);
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
  const Library library(folder());
  const std::vector<std::string> profiles = library.names(Library::Kind::kLayerTimes);
  EXPECT_GE(profiles.size(), 6u);
  for (const std::string& profile : profiles) {
    const std::string model = profile.substr(0, profile.rfind('_'));
    WorkloadOptions options;
    options.model = *load_model(folder() + "/models/" + model + ".csv");
    const auto times = load_layer_times(folder() + "/layer_times/" + profile + ".csv");
    ASSERT_TRUE(times) << times.error().message();
    options.layer_times = *times;
    EXPECT_TRUE(make_workload(options, one_gpu())) << profile;
  }
}

}  // namespace
}  // namespace tutti::core
