// Adds a framework that Tutti does not have, with a folder (toy/), a schema file and one line of a
// registry. Scenarios that name the framework can be read, planned, simulated, edited and searched,
// their problems are reported with places, and they yield settings to paste.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/advice/snippets.h"
#include "core/edit/overrides.h"
#include "core/explore/default_axes.h"
#include "core/explore/plan_key.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/core/framework/toy/toy.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Returns a scenario with five gradients. The strategy is in line 3.
std::string text_of(const std::string& strategy) {
  std::string variables;
  for (const char* name : {"a", "b", "c", "d", "e"})
    variables +=
        fmt::format("variable {{ name: \"{}\" shape: 100 forward_ms: 1 backward_ms: 1 }} ", name);
  return fmt::format(
      "cluster {{ workers {{ machine: \"dgx1-v100\" count: 2 }} network {{ kind: ONE_SWITCH "
      "latency_us: 1 }} }}\n"
      "workload {{ {}}}\n"
      "strategy {{ {} }}\n",
      variables, strategy);
}

class ToyFrameworkTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool registered = (core::register_framework(test::toy_kind()), true);
    ASSERT_TRUE(registered);
  }

  static core::Expected<core::Scenario> read(const std::string& strategy) {
    return core::read_scenario(text_of(strategy), "f", test::shipped_library());
  }
  static core::Scenario good(const std::string& strategy) {
    auto scenario = read(strategy);
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message());
    return scenario ? std::move(*scenario) : core::Scenario{};
  }
  /// Returns the place of each problem.
  static std::vector<std::string> places(const std::string& strategy) {
    std::vector<std::string> list;
    const auto scenario = read(strategy);
    if (scenario) return list;
    for (const core::Problem& problem : scenario.error().problems())
      list.push_back(to_string(problem.where));
    return list;
  }
};

TEST_F(ToyFrameworkTest, ReadsAndPacks) {
  const core::Scenario s = good("algorithm: \"ring\" toy { gradients_per_pack: 2 updates: EACH }");
  EXPECT_EQ(s.strategy.framework->name(), "toy");
  std::vector<std::vector<int>> packs;
  for (const core::Pack& pack : s.plan.packs) {
    packs.emplace_back();
    for (const core::Member& m : pack.payload.members) packs.back().push_back(m.variable);
  }
  EXPECT_THAT(packs, ElementsAre(ElementsAre(4, 3), ElementsAre(2, 1), ElementsAre(0)));
  EXPECT_EQ(s.plan.packs[1].after, 0) << "in one stream";
  EXPECT_EQ(s.plan.update, core::Update::kPerPack);
  EXPECT_EQ(good("algorithm: \"ring\" toy { gradients_per_pack: 2 }").plan.update,
            core::Update::kAfterAll);
  EXPECT_THAT(describe(s.strategy), testing::HasSubstr("packs of Toy, 2 gradients each"));
  EXPECT_THAT(s.plan.notes.codes(), ElementsAre("toy.by-number"));
}

TEST_F(ToyFrameworkTest, IsSimulated) {
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  core::Summary summary;
  ASSERT_TRUE(sim::Simulator().run(good("algorithm: \"ring\" toy { gradients_per_pack: 3 }"),
                                   record, {}, summary));
  EXPECT_THAT(summary.last_packs(), SizeIs(2));
}

TEST_F(ToyFrameworkTest, ReportsErrorsAtTheirPosition) {
  EXPECT_THAT(places("algorithm: \"ring\" toy { gradients_per_pack: 0 }"), ElementsAre("f:3:56"))
      << "while it is read";
  EXPECT_THAT(places("algorithm: \"ring\" toy { }"), ElementsAre("f:3:34"));
  EXPECT_THAT(places("algorithm: \"ring\" toy { gradients_per_pack: 1 most_workers: 1 }"),
              ElementsAre("f:3:72"))
      << "while it is lowered";
  EXPECT_THAT(places("algorithm: \"ring\" toy { per_pack: 1 }"), ElementsAre("f:3:34", "f:3:36"))
      << "no such field";
  EXPECT_THAT(places("algorithm: \"ring\" toy { gradients_per_pack: 1 } num_packs: 2"),
              ElementsAre("f:3:71"));
  EXPECT_THAT(places("algorithm: \"ring\" toy { gradients_per_pack: 1 } horovod { }"),
              ElementsAre("f:3:68"))
      << "of two frameworks";
  EXPECT_THAT(
      places("algorithm: \"ring\" toy { gradients_per_pack: 1 } toy { gradients_per_pack: 1 }"),
      SizeIs(1));
}

TEST_F(ToyFrameworkTest, SupportsOverridesSearchesAndSnippets) {
  const auto change = core::parse_override("--set", "strategy.toy.gradients_per_pack=5");
  ASSERT_TRUE(change) << change.error().message();
  const auto changed =
      core::read_scenario(text_of("algorithm: \"ring\" toy { gradients_per_pack: 2 }"), "f",
                          test::shipped_library(), {*change});
  ASSERT_TRUE(changed) << changed.error().message();
  EXPECT_THAT(changed->plan.packs, SizeIs(1));
  EXPECT_FALSE(core::parse_override("--set", "strategy.toy.gradients=5"));

  EXPECT_TRUE(core::decides_packing_only(change->path));

  const auto axes = core::default_axes(*changed);
  ASSERT_TRUE(axes) << axes.error().message();
  EXPECT_THAT(*axes, ElementsAre(testing::Field(&core::Axis::fields,
                                                ElementsAre("strategy.toy.gradients_per_pack"))));

  const core::Snippets snippets = core::snippets_of(*changed, test::shipped_library());
  EXPECT_THAT(snippets.list,
              ElementsAre(testing::Field(&core::Snippet::text, "toy --per-pack=5\n")));
}

}  // namespace
}  // namespace tutti
