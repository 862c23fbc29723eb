#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

double step(const std::vector<std::string>& more) {
  std::vector<std::string> words{"simulate", scenario("04_resnet50_ring"), "--format", "json"};
  words.insert(words.end(), more.begin(), more.end());
  return Data(test::parse_or_throw(run_tutti(words).out, "out"))["step_time_us"].real();
}

TEST(Explain, UnboundedTimesHaveNoBound) {
  const std::vector<std::string> few{"--set", "cluster.workers[0].count=2",
                                     "--set", "cluster.workers[0].replicas=1",
                                     "--set", "run.steps=1"};
  std::vector<std::string> explain{"explain", scenario("22_byteps"), "--format", "json"};
  explain.insert(explain.end(), few.begin(), few.end());
  const core::Value document = test::parse_or_throw(run_tutti(explain).out, "out");
  EXPECT_TRUE(test::Data(document)["lower_bound"].is_null());
  const test::TemporaryFolder folder;
  std::vector<std::string> sweep{"sweep",  scenario("22_byteps"),
                                 "--over", "strategy.byteps.scheduling_credit=0,4",
                                 "-o",     folder.file("s.sweep")};
  sweep.insert(sweep.end(), few.begin(), few.end());
  EXPECT_THAT(run_tutti(sweep).out, testing::ContainsRegex("m?s +– "));
}

TEST(Explain, StatesBoundClosedFormCriticalPathAndRemedies) {
  const Outcome o = run_tutti({"explain", scenario("04_resnet50_ring")});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("lower bound "), HasSubstr("critical path"),
                           HasSubstr("2(n - 1)(α + wire(C)) + (n - 1)·add(C)"),
                           HasSubstr("n = 16 ranks, C = 1.89 MB"), HasSubstr("twice ")));
  EXPECT_THAT(o.out, testing::ContainsRegex("batch size 128 .* 32"));
}

/// The times of the answers must equal those of simulations.
TEST(Explain, RemediesAreSimulated) {
  const core::Value document = test::parse_or_throw(
      run_tutti({"explain", scenario("04_resnet50_ring"), "--format", "json"}).out, "out");
  const Data json(document);
  EXPECT_NEAR(json["step_time_us"].real(), step({}), 1e-6);
  bool direct = false, last = false;
  double saved = 1e300;
  for (const Data& answer : json["what_if"].items()) {
    EXPECT_LE(answer["saves_us"].real(), saved) << "those that help most come first";
    saved = answer["saves_us"].real();
    if (answer["what"].text().find("staging: DIRECT") != std::string::npos) {
      direct = true;
      EXPECT_NEAR(answer["step_time_us"].real(), step({"--set", "strategy.staging=DIRECT"}), 1e-6);
    }
    if (answer["what"].text().find("launch: SERIAL") != std::string::npos) {
      last = true;
      EXPECT_NEAR(answer["step_time_us"].real(), step({"--set", "strategy.launch=SERIAL"}), 1e-6);
    }
  }
  EXPECT_TRUE(direct && last);
  for (const Data& pack : json["packs"].items()) {
    EXPECT_LE(pack["least_us"].real(), pack["alone_us"].real());
    EXPECT_LE(pack["least_us"].real(), pack["closed_form_us"].real());
  }
}

TEST(Explain, AcceptsChangedFields) {
  const Outcome o = run_tutti({"explain", scenario("04_resnet50_ring"), "--set",
                               "strategy.bytes_per_pack=6553600", "--format", "json"});
  EXPECT_NEAR(Data(test::parse_or_throw(o.out, "out"))["step_time_us"].real(),
              step({"--set", "strategy.bytes_per_pack=6553600"}), 1e-6);
  EXPECT_EQ(
      run_tutti({"explain", scenario("04_resnet50_ring"), "--set", "strategy.nothing=1"}).status,
      2);
}

}  // namespace
}  // namespace tutti
