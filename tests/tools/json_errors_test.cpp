// With --format json, errors are printed as JSON, too, with code, field and place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

TEST(JsonErrors, EmptyPathsAreRefused) {
  const TemporaryFolder folder;
  const std::string file = scenario("01_two_ranks");
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"--timeline", {"simulate", file, "--timeline", ""}},
      {"--output", {"tune", file, "-o", ""}},
      {"--csv", {"sweep", file, "--over", "run.seed=1,2", "--csv", ""}},
      {"--plot", {"sweep", file, "--over", "run.seed=1,2", "--plot", ""}},
      {"--database", {"tune", file, "--database", ""}},
      {"--calibration", {"simulate", file, "--calibration", ""}}};
  for (const auto& [option, words] : cases)
    expect_refused(words, folder, {ProblemCode::kMissing, option});
}

TEST(JsonErrors, LongWordsAreShortened) {
  const TemporaryFolder folder;
  const Outcome o = run_tutti(
      {"simulate", scenario("01_two_ranks"), "--network-model", std::string(100'000, 'x')});
  EXPECT_EQ(o.status, 2);
  EXPECT_LT(o.err.size(), 1000u);
  EXPECT_THAT(o.err, HasSubstr("--network-model xxx"));
}

TEST(JsonErrors, EveryProblemHasACodeAFieldAndAPosition) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("s.textproto",
                   "cluster { workers { machine: \"cpu-host\" count: 2 } }\n"
                   "workload { variable { name: \"v\" } batch: -4 }\nstrategy { colour: 1 }\n");
  const Outcome o = run_tutti({"simulate", file, "--format", "json"});
  EXPECT_EQ(o.status, 2);
  EXPECT_FALSE(o.err.empty()) << "in words on stderr, as always";
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data error = Data(document)["error"];
  EXPECT_EQ(error["status"].number(), 2);
  bool batch = false, colour = false, network = false;
  for (const Data& problem : error["problems"].items()) {
    EXPECT_EQ(problem["file"].text(), file);
    EXPECT_FALSE(problem["text"].text().empty());
    const std::string what = problem["code"].text() + " " + problem["field"].text();
    const auto line = problem["line"].number(), column = problem["column"].number();
    batch = batch || (what == "too-small Workload.batch" && line == 2 && column == 42);
    colour = colour || (what == "unknown-field Strategy.colour" && line == 3 && column == 12);
    network = network || (what == "missing Cluster.network" && line == 1 && column == 9);
  }
  EXPECT_TRUE(batch && colour && network) << o.out;
  EXPECT_EQ(run_tutti({"simulate", file}).out, "") << "text has them on stderr alone";
}

TEST(JsonErrors, ErrorsOfTheCommandLineNameTheOption) {
  const auto first = [](const std::vector<std::string>& words) {
    const Outcome o = run_tutti(words);
    EXPECT_EQ(o.status, 2);
    const core::Value document = test::parse_or_throw(o.out, "out");
    const Data problem = Data(document)["error"]["problems"].items().at(0);
    EXPECT_FALSE(problem.has("line"));
    return problem["code"].text() + " " + problem["field"].text();
  };
  EXPECT_EQ(first({"simulate", "s", "--format=json", "--colour", "1"}), "unknown-field --colour");
  EXPECT_EQ(first({"perf", "--cluster", "hgx-h100", "--format", "json", "--op", "mean"}),
            "unknown-name --op");
}

}  // namespace
}  // namespace tutti
