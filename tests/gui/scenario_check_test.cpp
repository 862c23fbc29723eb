// The editor's check of a scenario: each problem is shown at its field and at its place in the
// text, and a valid scenario has a card with its main figures.

#include "gui/documents/scenario_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "core/base/random.h"
#include "core/edit/field_edits.h"
#include "core/strategy/bounds.h"
#include "gui/documents/examples.h"
#include "gui/documents/file_kind.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"

namespace tutti::gui {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const core::Schema& schema() {
  static const core::Schema schema = core::Schema::scenario();
  return schema;
}
std::string folder() { return test::source_folder() + "/scenarios"; }
CheckedScenario check(const std::string& text) {
  return check_scenario(text, "f.textproto", test::shipped_library(), schema());
}

std::string file_text(const std::string& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string example(const std::string& name) {
  return file_text(folder() + "/" + name + ".textproto");
}

/// Returns "field | underlined text" for every problem.
std::vector<std::string> places(const std::string& text) {
  std::vector<std::string> found;
  for (const PlacedProblem& problem : check(text).problems)
    found.push_back(to_string(problem.field) + " | " +
                    text.substr(problem.text.from, problem.text.to - problem.text.from));
  return found;
}

TEST(CheckScenario, ProblemsHaveTheirFieldAndTheirRangeOfText) {
  const std::string right = example("04_resnet50_ring");
  ASSERT_EQ(places(right), std::vector<std::string>());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = right;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return places(text.replace(at, from.size(), to));
  };
  using Places = std::vector<std::string>;
  EXPECT_EQ(with("count: 2", "count: \"two\""), Places{"cluster.workers.count | \"two\""});
  EXPECT_EQ(with("\"dgx1-v100\"", "\"dgx1-v10\""),
            Places{"cluster.workers.machine | \"dgx1-v10\""});
  EXPECT_EQ(with("latency_us: 1.5", "latency_us: -1.5"),
            Places{"cluster.network.latency_us | -1.5"});
  EXPECT_EQ(with("latency_us: 1.5", ""), Places{"cluster.network.latency_us | {"})
      << "what is not written";
  EXPECT_EQ(with("algorithm: \"ring\"", ""), Places{"strategy.algorithm | {"});
  EXPECT_EQ(with("kind: ONE_SWITCH", "kind: ONE"), Places{"cluster.network.kind | ONE"});
  EXPECT_EQ(with("bytes_per_pack: 26214400", "bytes_per_pack: 26214400 num_packs: 3"),
            Places{"strategy.num_packs | num_packs"});
  EXPECT_EQ(with("batch: 32", "bacth: 32"), Places{"workload | bacth"})
      << "what the schema does not know";
  EXPECT_EQ(with("batch: 32", "batch 32"), Places{"workload.batch | 32"});
  EXPECT_EQ(places("nmae: \"x\" " + right), Places{" | nmae"});
  EXPECT_EQ(places(""), Places({"strategy | ", "cluster | ", "workload | "}));
}

TEST(CheckScenario, ProblemsOfOtherFilesHaveNoPositionInTheText) {
  const test::TemporaryFolder own;
  const std::string machine = own.write("m.textproto", "name: \"m\" device { nmae: \"gpu0\" }");
  std::string text = example("04_resnet50_ring");
  text.replace(text.find("dgx1-v100"), 9, machine);
  const CheckedScenario checked = check(text);
  ASSERT_FALSE(checked.problems.empty());
  EXPECT_EQ(checked.problems.front().problem.where.file, machine);
  EXPECT_EQ(checked.problems.front().problem.where.line, 1);
  EXPECT_EQ(checked.problems.front().text.to, 0u);
}

/// Expects that checking any text yields a card or problems, and that all places are inside the
/// text.
void expect_places_inside(const std::string& text) {
  const CheckedScenario checked = check(text);
  EXPECT_EQ(checked.problems.empty(), checked.card.has_value());
  for (const PlacedProblem& problem : checked.problems) {
    EXPECT_LE(problem.text.from, problem.text.to);
    EXPECT_LE(problem.text.to, text.size());
    EXPECT_TRUE(problem.field.empty() || core::ScenarioText(text, schema()).type(problem.field))
        << to_string(problem.field);
  }
}

TEST(CheckScenario, ReportsTruncatedAndDamagedTexts) {
  const std::string whole = example("01_two_ranks");
  for (std::size_t length = 0; length < whole.size(); length += 7)
    expect_places_inside(whole.substr(0, length));
  core::Random random(3);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    for (int n = 0; n < 3; ++n)
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    expect_places_inside(damaged);
  }
  expect_places_inside(std::string(100'000, '{'));
  expect_places_inside(std::string(100'000, '\0'));
  expect_places_inside("\t\t\xc3\xa9");
}

TEST(ScenarioText, DamagedTextsCanStillBeReadAndEdited) {
  const std::string whole = example("01_two_ranks");
  core::Random random(4);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole.substr(0, random.below(whole.size()) + 1);
    for (int n = 0; n < 2; ++n)
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    const core::ScenarioText text(damaged, schema());
    for (std::size_t at = 0; at <= damaged.size(); at += 11)
      EXPECT_TRUE(text.find(text.path_at(at))) << damaged;
    const auto edits = core::set_field(text, {{"run", 0}, {"steps", 0}}, "7");
    EXPECT_NE(edits.has_value(), text.broken().has_value());
    if (edits) {
      const std::string after = core::with_edits(damaged, *edits);
      EXPECT_EQ(core::ScenarioText(after, schema()).value({{"run", 0}, {"steps", 0}}), "7")
          << damaged << "\n====\n"
          << after;
    }
  }
}

std::string fact(const Card& card, const std::string& what) {
  for (const auto& [name, value] : card.facts) {
    if (name == what) return value;
  }
  return "";
}

TEST(Card, ShowsFactsOfThePlan) {
  const auto card = check(example("04_resnet50_ring")).card;
  ASSERT_TRUE(card);
  EXPECT_EQ(fact(*card, "ranks"), "2 × dgx1-v100, 16 GPUs");
  EXPECT_EQ(fact(*card, "bytes"), "102 MB on every rank: 161 gradients in 4 packs");
  EXPECT_EQ(card->binds, Card::Binds::kBandwidth);
  const auto scenario =
      core::read_scenario(example("04_resnet50_ring"), "f", test::shipped_library());
  const core::Bound bound = core::all_reduce_bound(*scenario->cluster, scenario->workload.bytes());
  EXPECT_THAT(fact(*card, "lower bound of communication"), HasSubstr(bound.reason));
}

TEST(Card, ShowsFurtherCommunicators) {
  const auto card = check(example("13_tensor_parallel")).card;
  ASSERT_TRUE(card);
  EXPECT_EQ(fact(*card, "communicator"),
            "tensor: 4 groups of 8, in each step 96 all_reduce of 33.6 MB");
  EXPECT_EQ(
      fact(*card, "gradients"),
      "reduced in 8 groups of 4 replicas; the replicas of a group hold the same part of the model");
  EXPECT_THAT(fact(*card, "lower bound of the step time"), HasSubstr("unknown"));
  EXPECT_EQ(fact(*check(example("04_resnet50_ring")).card, "communicator"), "");
}

TEST(Card, StatesWhetherLatencyOrBandwidthLimitsMessages) {
  const auto binds = [](const std::string& elements) {
    std::string text = example("01_two_ranks");
    text.replace(text.find("[500, 500]"), 10, elements);
    const auto card = check(text).card;
    EXPECT_TRUE(card) << text;
    return card->binds;
  };
  // Sending n elements of 4 bytes at 10 GB/s takes as long as the latency of 2 us if n is 5000.
  EXPECT_EQ(binds("4900"), Card::Binds::kLatency);
  EXPECT_EQ(binds("5100"), Card::Binds::kBandwidth);
}

TEST(Card, StatesThatOneRankSendsNothing) {
  const auto card = check(
                        "cluster { workers { machine: \"dgx1-v100\" replicas: 1 } } workload { "
                        "variable { name: \"v\" "
                        "shape: 5 } update_ms: 0 } strategy { algorithm: \"nccl\" }")
                        .card;
  ASSERT_TRUE(card);
  EXPECT_EQ(card->binds, Card::Binds::kNothing);
}

TEST(Suggestions, NameExistingFields) {
  std::set<std::string> with;  // a message type may be used in several places
  std::vector<const core::MessageType*> open{&schema().root()};
  while (!open.empty()) {
    const core::MessageType& type = *open.back();
    open.pop_back();
    for (const core::FieldType& field : type.fields) {
      if (field.message) open.push_back(field.message);
      if (!suggestions(field.full_name, test::shipped_library()).empty())
        with.insert(field.full_name);
    }
  }
  EXPECT_EQ(with.size(), 7u);
}

TEST(Examples, AreTheShippedScenariosWithTheirFirstComment) {
  const std::vector<Example> examples = examples_in(folder());
  ASSERT_GE(examples.size(), 6u);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    EXPECT_GT(examples[i].number, i == 0 ? 0 : examples[i - 1].number);
    EXPECT_FALSE(examples[i].about.empty()) << examples[i].path;
    EXPECT_TRUE(check(file_text(examples[i].path)).card) << examples[i].path;
  }
  EXPECT_EQ(examples[0].title, "Two GPUs and one link");
  EXPECT_EQ(examples[0].question, "How does an all-reduce work?");
  for (const Example& example : examples) EXPECT_FALSE(example.question.empty()) << example.path;
  const test::TemporaryFolder own;
  static_cast<void>(own.write("01_my_ring.textproto", "# My own.\n"));
  ASSERT_EQ(examples_in(own.path()).size(), 1u);
  EXPECT_EQ(examples_in(own.path())[0].title, "my ring") << "without a title";
  EXPECT_THAT(examples[0].about, StartsWith("Two GPUs, "));
  EXPECT_TRUE(examples_in(folder() + "/nowhere").empty());
}

TEST(FileKind, IsRecognisedByContentOrElseByName) {
  const test::TemporaryFolder own;
  EXPECT_EQ(file_kind(own.write("a", "TUTTITL1xyz")), FileKind::kTimeline);
  EXPECT_EQ(file_kind(own.write("b.tutti", "a letter")), FileKind::kTimeline);
  EXPECT_EQ(file_kind(own.write("c.textproto", "TUTTI")), FileKind::kScenario);
  EXPECT_EQ(file_kind(own.write("d.json", "{}")), FileKind::kScenario);
  EXPECT_EQ(file_kind(own.file("nothing.tutti")), FileKind::kTimeline);
  EXPECT_THAT(
      file_kind("/dev/null"),
      test::FailsWith(test::Mistake{.code = core::ProblemCode::kWrongType, .file = "/dev/null"}));
  EXPECT_THAT(
      file_kind(own.path()),
      test::FailsWith(test::Mistake{.code = core::ProblemCode::kWrongType, .file = own.path()}));
}

}  // namespace
}  // namespace tutti::gui
