#include "core/workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "core/scenario/library.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string folder() { return test::source_folder() + "/scenarios"; }

std::string write_file(const std::string& name, const std::string& content) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path) << content;
  return path;
}

std::string errors_of(const std::string& name, const std::string& content) {
  const std::string path = write_file(name, content);
  const auto model = load_model(path);
  std::string text = model ? "" : model.error().message();
  for (std::size_t at; (at = text.find(path)) != std::string::npos;) text.replace(at, path.size(), "f");
  return text;
}

TEST(ShippedModels, AreThirtyFiveAndAddUpToTheirPublishedSizes) {
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
    // The file's own remark: "# parameters: P in V variables".
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line) && !line.starts_with("# parameters: ")) {
    }
    EXPECT_EQ(line, "# parameters: " + std::to_string(parameters) + " in " + std::to_string(model->variables.size()) +
                        " variables")
        << name;
  }
}

TEST(LoadModel, ReadsCsvAndJsonAlike) {
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

TEST(LoadModel, ReportsEveryMistakeAtItsPlace) {
  EXPECT_EQ(errors_of("bad.csv", "name,shape,typ\na,2x-3,\na,99999999999x99999999999,\n,1,\nb,2y3,\n"),
            "f:1:1: there is no column \"type\"; the columns are name,shape,type and optional ones\n"
            "f:1:12: unknown column \"typ\"; did you mean \"type\"?\n"
            "f:2:3: shape 2x-3: sides must be 0 or more and multiply to at most 2^46 elements\n"
            "f:3:1: variable \"a\" is listed twice (first in line 2); names must differ\n"
            "f:3:3: shape 99999999999x99999999999: sides must be 0 or more and multiply to at most 2^46 elements\n"
            "f:4:1: a variable needs a name\n"
            "f:5:3: shape \"2y3\" does not look like 64x3x7x7");
  EXPECT_EQ(
      errors_of("bad.json", "[{\"name\": \"a\", \"type\": \"float8\", \"backward_us\": -1},\n {\"shape\": [1]}, 5]"),
      "f:1:2: a variable needs a shape; [] is a scalar's\n"
      "f:1:24: type \"float8\" is none of float32, float64, float16, bfloat16, int32, int64\n"
      "f:1:49: backward_us must be from 0 to 100000000000 (got -1)\n"
      "f:2:2: a variable needs a name\n"
      "f:2:18: expected a variable {\"name\": …, \"shape\": [ … ]}, found 5");
  EXPECT_EQ(errors_of("none.json", "{\"variables\": []}"), "f: there are no variables in it");
  EXPECT_THAT(errors_of("syntax.json", "{\"variables\": [}"), HasSubstr("f:1:16: this is not JSON"));
}

TEST(LoadModel, ColumnsThatEveryModelNeedsAreMissed) {
  EXPECT_EQ(errors_of("bare.csv", "name\na\n"),
            "f:1:1: there is no column \"shape\"; the columns are name,shape,type and optional ones\n"
            "f:1:1: there is no column \"type\"; the columns are name,shape,type and optional ones");
  EXPECT_THAT(errors_of("nameless.csv", "shape,type\n3,float32\n"), HasSubstr("there is no column \"name\""));
}

TEST(LoadModel, ValuesOfTheWrongKindAreNotGuessedAt) {
  const auto shape = [](const std::string& written) {
    return errors_of("shape.json", "[{\"name\": \"a\", \"shape\": " + written + "}]");
  };
  EXPECT_EQ(shape("[2, 3]"), "");
  EXPECT_EQ(shape("{}"),
            "f:1:25: shape: expected a list of whole numbers, such as [64, 3, 7, 7], found a message { … }");
  EXPECT_EQ(shape("\"2x3\""), "f:1:25: shape: expected a list of whole numbers, such as [64, 3, 7, 7], found \"2x3\"");
  EXPECT_EQ(shape("5"), "f:1:25: shape: expected a list of whole numbers, such as [64, 3, 7, 7], found 5");
  EXPECT_EQ(shape("[[2, 3]]"), "f:1:26: shape: expected a whole number, found a list [ … ]");
  EXPECT_EQ(shape("[2, \"3\"]"), "f:1:29: shape: expected a whole number, found \"3\"");
  EXPECT_EQ(shape("[2.5]"), "f:1:25: shape \"2.5\" does not look like 64x3x7x7");
  EXPECT_EQ(shape("null"), "f:1:2: a variable needs a shape; [] is a scalar's");
  EXPECT_EQ(errors_of("kinds.json",
                      "{\"batch\": {}, \"title\": 3, \"bach\": 3, \"variables\": [\n"
                      "{\"name\": 7, \"shape\": []},\n"
                      "{\"name\": \"a\", \"shape\": [], \"type\": {}, \"layer\": [1]},\n"
                      "{\"name\": \"b\", \"shape\": [], \"shape\": [3], \"layr\": [1], \"forward_us\": null}]}"),
            "f:1:11: batch: expected a number, found a message { … }\n"
            "f:1:24: title: expected a text in quotes, found 3\n"
            "f:1:27: unknown field \"bach\"; did you mean \"batch\"?\n"
            "f:2:10: name: expected a text in quotes, found 7\n"
            "f:3:36: type: expected a text in quotes, found a message { … }\n"
            "f:3:49: layer: expected a number, found a list [ … ]\n"
            "f:4:28: \"shape\" is given twice; keep one\n"
            "f:4:42: unknown column \"layr\"; did you mean \"layer\"?");
}

TEST(LoadModel, TextsAreUtf8) {
  EXPECT_EQ(errors_of("latin1.csv", "# title: caf\xe9\nname,shape,type\na,1,\n"),
            "f:1:13: the byte 0xe9 here is not UTF-8; save this file in UTF-8 (iconv and most editors can)");
  EXPECT_EQ(errors_of("mark.json", "\xEF\xBB\xBF[{\"name\": \"a\", \"shape\": [1]}]"), "");
}

// --- times ---

Cluster one_gpu(std::map<DataType, double> flops = {{DataType::kFloat32, 1e12}}) {
  Part gpu;
  gpu.name = "gpu0";
  gpu.device = {Bandwidth(1'000'000'000), Bandwidth(333'333'333), Bandwidth(500'000'000), 1, std::move(flops)};
  auto machine = std::make_shared<const Machine>("m", std::vector<Part>{gpu}, std::vector<MachineLink>{},
                                                 std::vector<RingOrder>{}, std::vector<RingOrder>{});
  return Cluster({{machine, 1}}, 1, std::nullopt);
}

Variable variable(const std::string& name, std::int64_t elements, std::int64_t layer, double forward_flops,
                  double backward_flops) {
  Variable v;
  v.name = name;
  v.shape = {elements};
  v.elements = elements;
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

TEST(Workload, TimesFollowFromFlopsAndTheDevicesRate) {
  WorkloadOptions options = three_layers();
  options.batch = 10;
  options.flops_efficiency = 0.5;
  const auto w = make_workload(options, one_gpu());
  ASSERT_TRUE(w) << w.error().front().text;
  // 0.5 · 10^12 operations per second: a million take 2 us, ten samples 20.
  EXPECT_EQ(w->times[0].forward, microseconds(6 * 20));
  EXPECT_THAT(w->times[0].backward, ElementsAre(microseconds(6 * 20), microseconds(5 * 20), microseconds(2 * 20)));
  EXPECT_THAT(ready_together(*w), ElementsAre(ElementsAre(3), ElementsAre(1, 2), ElementsAre(0)))
      << "the last layer's gradients come first";
  EXPECT_EQ(w->times[0].update, nanoseconds(65 * 4 * 5)) << "five passes over 260 bytes at 1 GB/s";
}

TEST(Workload, ALayerWithoutFlopsTakesNoTimeAndIsTold) {
  WorkloadOptions options = three_layers();
  options.batch = 10;
  options.model.variables[3].forward_flops.reset();  // the only variable of the last layer
  options.model.variables[3].backward_flops.reset();
  options.model.variables[2].backward_flops.reset();  // its layer has another
  const auto w = make_workload(options, one_gpu());
  ASSERT_TRUE(w) << w.error().front().text;
  EXPECT_EQ(w->times[0].backward[0], Time());
  EXPECT_GT(w->times[0].backward[1], Time());
  EXPECT_THAT(w->timing, HasSubstr("1 of 3 layers have none"));
}

TEST(Workload, GivenTotalsAreSharedOutInProportionAndExactly) {
  WorkloadOptions options = three_layers();
  options.forward = Time(1'000);
  options.backward = Time(1'000'003);
  const auto w = make_workload(options, one_gpu({}));
  ASSERT_TRUE(w) << w.error().front().text;
  EXPECT_EQ(w->times[0].forward, Time(1'000));
  EXPECT_EQ(w->times[0].backward_total(), Time(1'000'003));
  EXPECT_EQ(w->times[0].backward[0], Time(461'539)) << "6 of 13 parts";
}

/// What of a layer's time its operations take at the usual efficiency is limited by multiprocessors.
TEST(Workload, WhatOperationsDoNotExplainOfALayersTimeWaitsForMemory) {
  constexpr std::int64_t kAll = 1'000'000;
  WorkloadOptions options = three_layers();
  options.batch = 10;
  const auto from_flops = make_workload(options, one_gpu());
  ASSERT_TRUE(from_flops);
  EXPECT_EQ(from_flops->times[0].forward_compute_bound, kAll) << "times that follow from operations";
  EXPECT_THAT(from_flops->times[0].backward_compute_bound, ElementsAre(kAll, kAll, kAll));
  // 120 us of operations take 480, and 260 take 520 in proportion.
  options.forward = microseconds(480);
  options.backward = microseconds(520);
  const auto given = make_workload(options, one_gpu());
  ASSERT_TRUE(given);
  EXPECT_EQ(given->times[0].forward_compute_bound, kAll / 4);
  EXPECT_THAT(given->times[0].backward_compute_bound, ElementsAre(kAll / 2, kAll / 2, kAll / 2));
  options.batch = 1000;
  EXPECT_EQ(make_workload(options, one_gpu())->times[0].forward_compute_bound, kAll) << "never more than all of it";
  options.batch.reset();
  EXPECT_EQ(make_workload(options, one_gpu())->times[0].forward_compute_bound, kAll) << "operations are not known";
  options.compute_bound_ppm = 300'000;
  const auto said = make_workload(options, one_gpu());
  EXPECT_EQ(said->times[0].forward_compute_bound, 300'000);
  EXPECT_THAT(said->times[0].backward_compute_bound, ElementsAre(300'000, 300'000, 300'000));
}

TEST(Workload, AddingGradientsWaitsForMemory) {
  WorkloadOptions options = three_layers();
  options.forward = options.backward = microseconds(130);
  options.micro_batches = 2;
  options.accumulate = microseconds(65);  // by bytes: 30 of 65 to the first segment, 60 us of which the layer takes
  const auto w = make_workload(options, one_gpu({}));
  ASSERT_TRUE(w);
  EXPECT_EQ(w->times[0].compute_bound_in_pass(0, 0), 1'000'000);
  EXPECT_EQ(w->times[0].compute_bound_in_pass(0, 1), 1'000'000 * 60 / 90);
}

TEST(Workload, SaysWhatIsMissingForTimesFromFlops) {
  WorkloadOptions options = three_layers();
  EXPECT_EQ(make_workload(options, one_gpu()).error().front().code, ProblemCode::kMissing);
  options.batch = 1;
  EXPECT_EQ(make_workload(options, one_gpu({})).error().front().code, ProblemCode::kUnsupported) << "no rate";
  options.batch = 1'000'000'000;
  options.model.variables[0].backward_flops = 1e20;
  EXPECT_EQ(make_workload(options, one_gpu()).error().front().code, ProblemCode::kTooLarge) << "days";
}

TEST(Workload, MeasuredLayersDecideWhenGradientsAreReady) {
  WorkloadOptions options = three_layers();
  options.batch = 64;
  options.layer_times = LayerTimes{"profile",
                                   "test",
                                   32,
                                   {{"first", microseconds(1), microseconds(10), {"a"}},
                                    {"relu", microseconds(2), microseconds(5), {}},
                                    {"last", microseconds(3), microseconds(20), {"c", "b", "b2"}}}};
  const auto w = make_workload(options, one_gpu());
  ASSERT_TRUE(w) << w.error().front().text;
  EXPECT_EQ(w->times[0].forward, microseconds(12)) << "measured for half the batch";
  EXPECT_THAT(w->times[0].backward, ElementsAre(microseconds(40), microseconds(10), microseconds(20)));
  EXPECT_THAT(ready_together(*w), ElementsAre(ElementsAre(3, 1, 2), ElementsAre(), ElementsAre(0)));
}

TEST(Workload, AProfileMustFitTheModel) {
  WorkloadOptions options = three_layers();
  const auto error_with = [&](std::vector<std::string> names) {
    options.layer_times = LayerTimes{"p", "", 1, {{"l", {}, {}, std::move(names)}}};
    const WorkloadProblem problem = make_workload(options, one_gpu()).error().front();
    EXPECT_EQ(problem.field, "layer_times");
    return problem.code;
  };
  EXPECT_EQ(error_with({"a", "b", "b2", "x"}), ProblemCode::kConflict) << "the model has no x";
  EXPECT_EQ(error_with({"a", "b", "b2"}), ProblemCode::kMissing) << "c";
  EXPECT_EQ(error_with({"a", "b", "b2", "c", "a"}), ProblemCode::kDuplicate) << "a";
}

TEST(Workload, WithoutAnyTimesGradientsAreReadyAtOnceOrEvenly) {
  WorkloadOptions options = three_layers();
  for (Variable& v : options.model.variables) v.forward_flops = v.backward_flops = std::nullopt;
  auto w = make_workload(options, one_gpu());
  EXPECT_EQ(w->times[0].backward_total(), Time());
  options.backward = Time(10);
  w = make_workload(options, one_gpu());
  EXPECT_THAT(w->times[0].backward, ElementsAre(Time(3), Time(3), Time(4)));
}

TEST(Workload, GradientsMayTravelInAnotherType) {
  WorkloadOptions options = three_layers();
  options.gradient_type = DataType::kFloat16;
  options.batch = 1;
  EXPECT_EQ(make_workload(options, one_gpu())->bytes(), Bytes(2 * 65));
}

TEST(Workload, UpdatesTouchTheVariablesWhateverTheirGradientsTravelIn) {
  WorkloadOptions options = three_layers();
  options.batch = 1;
  const auto as_stored = make_workload(options, one_gpu());
  options.gradient_type = DataType::kFloat16;
  EXPECT_EQ(make_workload(options, one_gpu())->times[0].update, as_stored->times[0].update);
}

TEST(ShippedLayerTimes, FitTheModelsTheyAreNamedAfter) {
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
