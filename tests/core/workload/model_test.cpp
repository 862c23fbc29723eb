// Models: the shipped models and their published sizes, and files of variables.

#include "core/workload/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/scenario/library.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using test::Mistake;

std::string write_file(const std::string& name, const std::string& content) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path) << content;
  return path;
}

TEST(ShippedModels, HaveThePublishedNumbersOfParameters) {
  const Library& library = test::shipped_library();
  const std::vector<std::string> names = library.names(Library::Kind::kModel);
  EXPECT_EQ(names.size(), 35u);
  for (const std::string& name : names) {
    const std::string path = library.folder() + "/models/" + name + ".csv";
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

}  // namespace
}  // namespace tutti::core
