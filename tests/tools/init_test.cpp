// tutti init, which writes a scenario to start from.

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

TEST(Init, WritesAScenarioThatRuns) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_tutti({"init", "--model", "vgg16_torchvision", "--machine", "dgx-a100", "--nodes",
                       "3", "--algorithm", "ring", "-o", folder.file("s.textproto")})
                .status,
            0);
  const Outcome o = run_tutti({"simulate", folder.file("s.textproto"), "--format", "json"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(Data(test::parse_or_throw(o.out, "out"))["cluster"].text(), "3 × dgx-a100, 24 GPUs");
}

TEST(Init, StatesThatAModelWithoutFlopsComputesNothing) {
  const TemporaryFolder folder;
  const std::string model = folder.write("m.csv", "name,shape,type\nw,1000x10,float32\n");
  const std::string file = folder.file("a.textproto");
  ASSERT_EQ(run_tutti({"init", "--model", model, "-o", file}).status, 0);
  EXPECT_THAT(folder.read("a.textproto"), HasSubstr("so computation takes no time here"));
  EXPECT_THAT(folder.read("a.textproto"), testing::Not(HasSubstr("batch:")));
  const auto simulated = [&](const std::vector<std::string>& set) {
    std::vector<std::string> words = {"simulate", file};
    for (const std::string& one : set) words.insert(words.end(), {"--set", one});
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << o.err;
    return o.out + o.err;
  };
  const std::string note = "note: computation takes no time";
  EXPECT_THAT(simulated({"workload.batch=32"}), HasSubstr(note));
  EXPECT_THAT(simulated({}), testing::Not(HasSubstr(note)));
  EXPECT_THAT(simulated({"workload.forward_ms=1", "workload.backward_ms=2"}),
              testing::Not(HasSubstr(note)));
}

TEST(Init, LocatesErrorsOfAModelFile) {
  const TemporaryFolder folder;
  const std::string model = folder.write("m.csv", "name,shape\nw,3\n");
  const Outcome o = run_tutti({"init", "--model", model, "-o", folder.file("a.textproto")});
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("m.csv:1:1: there is no column \"type\""));
}

TEST(Init, PrintsJson) {
  const TemporaryFolder folder;
  EXPECT_THAT(run_tutti({"init", "--list", "--format", "json"}).out, HasSubstr("\"hgx-h100\""));
  const Outcome o = run_tutti({"init", "-o", folder.file("s.textproto"), "--format", "json"});
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(Data(test::parse_or_throw(o.out, "out"))["written"].text(), folder.file("s.textproto"));
  EXPECT_EQ(run_tutti({"init", "--format", "yaml"}).status, 2);
}

TEST(Init, UsesMeasuredTimesOnlyForTheirDevice) {
  EXPECT_THAT(run_tutti({"init", "--machine", "dgx1-v100"}).out,
              HasSubstr("resnet50_torchvision_v100"));
  EXPECT_THAT(run_tutti({"init", "--machine", "hgx-h100"}).out,
              testing::Not(HasSubstr("layer_times")));
  EXPECT_THAT(run_tutti({"init", "--machine", "cpu-host"}).out,
              testing::Not(HasSubstr("layer_times")));
}

TEST(Init, WorksForEveryShippedModelMachineAndAlgorithm) {
  const std::string listed = run_tutti({"init", "--list"}).out;
  std::istringstream lines(listed);
  std::map<std::string, int> counts;
  std::string section;
  const std::map<std::string, std::string> options{{"machines:", "--machine"},
                                                   {"links:", "--link"},
                                                   {"models:", "--model"},
                                                   {"algorithms:", "--algorithm"}};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) {
      section = line;
      continue;
    }
    ++counts[section];
    if (!options.contains(section)) continue;
    std::vector<std::string> words{"init", options.at(section), line.substr(2)};
    if (section == "models:")
      words.insert(words.end(), {"--machine", "hgx-h100"});  // has a rate for every type
    if (words.back() == "hierarchical_copy")
      words.insert(words.end(), {"--nodes", "1"});  // the algorithm is for one machine
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 0) << line << ": " << o.err;
  }
  EXPECT_EQ(counts["models:"], 35);
  EXPECT_EQ(counts["machines:"], 24);
  EXPECT_EQ(counts["links:"], 17);
}

TEST(Init, WorksForEveryNetworkOfAnySize) {
  for (const char* const network : {"one_switch", "rails", "fat_tree", "dragonfly"}) {
    for (const char* const nodes : {"2", "17", "300"}) {
      for (const bool link : {false, true}) {
        std::vector<std::string> words{"init", "--network", network, "--nodes", nodes};
        if (link) words.insert(words.end(), {"--link", "ndr"});
        const Outcome o = run_tutti(words);
        EXPECT_EQ(o.status, 0) << network << " of " << nodes << ": " << o.err;
        EXPECT_EQ(o.out.find("link: \"ndr\"") != std::string::npos, link);
      }
    }
  }
}

TEST(Init, DragonfliesOfManyMachinesHaveLargerGroups) {
  // At most 16 M links between switches can be simulated. With groups of 4 routers with 4 machines
  // each, 64,000 machines would need as many.
  for (const char* const nodes : {"63000", "100000", "300000", "1000000"}) {
    const Outcome o = run_tutti({"init", "--network", "dragonfly", "--nodes", nodes});
    EXPECT_EQ(o.status, 0) << nodes << ": " << o.err;
  }
  EXPECT_THAT(run_tutti({"init", "--network", "dragonfly", "--nodes", "63000"}).out,
              HasSubstr("dragonfly { workers_per_router: 4 routers_per_group: 4 "));
  EXPECT_THAT(run_tutti({"init", "--network", "dragonfly", "--nodes", "300000"}).out,
              HasSubstr("dragonfly { workers_per_router: 8 routers_per_group: 16 "));
}

TEST(Init, OverwritesOnlyWithForce) {
  const TemporaryFolder folder;
  const std::string file = folder.write("mine", "precious");
  expect_refused({"init", "-o", file}, folder,
                 {.code = ProblemCode::kConflict, .field = "-o", .file = file});
  EXPECT_EQ(folder.read("mine"), "precious");
  EXPECT_EQ(run_tutti({"init", "-o", file, "--force"}).status, 0);
  EXPECT_THAT(folder.read("mine"), HasSubstr("cluster {"));
}

TEST(Init, NeverOverwritesItsInput) {
  const TemporaryFolder folder;
  const std::string model =
      folder.write("model.csv", "name,shape,type,backward_flops,forward_flops\na,3,,1,1\n");
  expect_refused({"init", "--model", model, "-o", model, "--force"}, folder,
                 {.code = ProblemCode::kConflict, .file = model});
  EXPECT_THAT(folder.read("model.csv"), StartsWith("name,"));
}

TEST(Init, PutsVariablesOnServers) {
  const TemporaryFolder folder;
  const Outcome made =
      run_tutti({"init", "--nodes", "1", "--servers", "2", "-o", folder.file("s.textproto")});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(run_tutti({"simulate", folder.file("s.textproto")}).out, HasSubstr("2 × cpu-host"));
  expect_refused({"init", "--servers", "2", "--algorithm", "ring"}, folder,
                 {ProblemCode::kConflict, "--servers"});
  expect_refused({"init", "--servers", "-1"}, folder, {ProblemCode::kTooSmall, "--servers"});
}

TEST(Init, RefusesInvalidCombinations) {
  const TemporaryFolder folder;
  expect_refused({"init", "--model", "resnet5", "-o", "x"}, folder,
                 {ProblemCode::kUnknownName, "Workload.model"});
  expect_refused({"init", "--algorithm", "rings", "-o", "x"}, folder,
                 {ProblemCode::kUnknownName, "Strategy.algorithm"});
  expect_refused({"init", "--machine", "a\" b", "-o", "x"}, folder,
                 {ProblemCode::kUnknownField, "Workers.b"});
  expect_refused({"init", "--link", "edrr", "-o", "x"}, folder,
                 {ProblemCode::kUnknownName, "Network.link"});
  expect_refused({"init", "--network", "ring", "-o", "x"}, folder,
                 {ProblemCode::kUnknownName, "--network"});
  expect_refused({"init", "--nodes", "1", "--link", "edr", "-o", "x"}, folder,
                 {ProblemCode::kUnused, "--nodes"});
}

}  // namespace
}  // namespace tutti
