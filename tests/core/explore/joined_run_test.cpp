#include "core/explore/joined_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/timeline/writer.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/program.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;

const std::string kFile = test::source_folder() + "/scenarios/04_resnet50_ring.textproto";

std::string text() {
  std::ifstream file(kFile, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

SweepInfo info() {
  SweepInfo made;
  made.scenario_file = kFile;
  made.scenario_text = text();
  made.set = {"workload.batch=64"};
  made.axes = {*parse_axis("", "strategy.bytes_per_pack=,4MiB,64MiB"),
               *parse_axis("", "strategy.shards=1,2"), *parse_axis("", "run.seed=0,5")};
  return made;
}

Scenario at(const SweepInfo& sweep, const Space& space, std::int64_t point,
            const std::string& also = "") {
  const Library& library = test::shipped_library();
  std::vector<Override> changes{*parse_override("", "workload.batch=64")};
  for (Override& change : space.overrides(point)) changes.push_back(change);
  if (!also.empty()) changes.push_back(*parse_override("", also));
  auto read = read_scenario(sweep.scenario_text, sweep.scenario_file, library, changes);
  EXPECT_TRUE(read) << read.error().message();
  return *read;
}

/// The scenario text of a point of a sweep is recognised as this point.
TEST(JoinedRun, BelongsToThePointWithItsScenario) {
  const SweepInfo sweep = info();
  const auto space = Space::of(sweep.axes);
  for (std::int64_t p = 0; p < space->size(); ++p) {
    const auto found = point_of(sweep, *space, at(sweep, *space, p).text);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(*found, p);
    // The number of steps and the name do not change the point.
    EXPECT_EQ(*point_of(sweep, *space, at(sweep, *space, p, "run.steps=9").text), p);
    EXPECT_EQ(*point_of(sweep, *space, at(sweep, *space, p, "name=real").text), p);
  }
}

TEST(JoinedRun, RefusesARunOfAnotherScenarioAndNamesTheDifference) {
  const SweepInfo sweep = info();
  const auto space = Space::of(sweep.axes);
  const auto why = [&](const std::string& also) {
    return test::kinds_of(point_of(sweep, *space, at(sweep, *space, 0, also).text));
  };
  EXPECT_THAT(why("workload.batch=32"), ElementsAre("conflict workload[0].batch[0]"));
  EXPECT_THAT(why("strategy.algorithm=psgpu"), ElementsAre("conflict strategy[0].algorithm[0]"));
  EXPECT_THAT(why("strategy.launch_us=77"), ElementsAre("conflict strategy[0].launch_us[0]"));
  EXPECT_THAT(why("strategy.shards=4"), ElementsAre("unknown-name strategy.shards"));
  EXPECT_FALSE(point_of(sweep, *space, "cluster {"));
  EXPECT_FALSE(point_of(sweep, *space, ""));
}

/// Writes a simulated timeline as if it were from a real run.
class Real : public TimelineWriter {
 public:
  using TimelineWriter::TimelineWriter;
  void begin(const RunInfo& run) override {
    RunInfo real = run;
    real.executor = "tcp";
    TimelineWriter::begin(real);
  }
};

TEST(JoinedRun, TakesTheStepTimeOfTheTimeline) {
  const test::TemporaryFolder folder;
  const SweepInfo sweep = info();
  const auto space = Space::of(sweep.axes);
  const std::string path = folder.file("r.tutti");
  Summary summary;
  {
    std::ofstream file(path, std::ios::binary);
    Real writer(file);
    TimelineTee tee(summary, writer);
    ASSERT_TRUE(sim::Simulator().run(at(sweep, *space, 3), {}, {}, tee));
  }
  {
    std::ofstream file(folder.file("simulated.tutti"), std::ios::binary);
    TimelineWriter writer(file);
    ASSERT_TRUE(sim::Simulator().run(at(sweep, *space, 3), {}, {}, writer));
  }
  EXPECT_THAT(test::kinds_of(joined_run(sweep, *space, folder.file("simulated.tutti"))),
              ElementsAre("wrong-type"));
  const auto run = joined_run(sweep, *space, path);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(run->point, 3);
  EXPECT_EQ(run->step, summary.step_time());
  EXPECT_FALSE(joined_run(sweep, *space, folder.file("none.tutti")));
  EXPECT_FALSE(joined_run(sweep, *space, folder.write("text.tutti", "a letter")));
}

TEST(SweepStore, StoresMeasuredTimes) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.sweep");
  auto store = SweepStore::resume(path, info());
  ASSERT_TRUE(store);
  EXPECT_TRUE(store->measured()->empty());
  const SweepStore::Measured first{2, Time(5'000), "a.tutti", "real"},
      other{2, Time(6'000), "b.tutti", "real"};
  ASSERT_TRUE(store->add_measured({1, Time(1), "a.tutti", "x"}));
  ASSERT_TRUE(store->add_measured(first)) << "another one of that file takes its place";
  ASSERT_TRUE(store->add_measured(other));
  EXPECT_THAT(*SweepStore::open(path)->measured(), testing::ElementsAre(first, other));
}

TEST(SweepStore, ACompleteOutcomeReplacesAStoppedOne) {
  const test::TemporaryFolder folder;
  auto store = SweepStore::resume(folder.file("a.sweep"), info());
  ASSERT_TRUE(store);
  Outcome stopped, whole;
  stopped.step = Time(7);
  stopped.stopped = true;
  whole.step = Time(9);
  const auto row = [&] {
    Outcome found;
    EXPECT_TRUE(store->each([&](std::int64_t, const Outcome& outcome) { found = outcome; }));
    return found;
  };
  ASSERT_TRUE(store->add(4, stopped));
  EXPECT_TRUE(row().stopped);
  EXPECT_FALSE((*store->done())[4]);
  ASSERT_TRUE(store->add(4, whole));
  EXPECT_FALSE(row().stopped);
  EXPECT_EQ(row().step, Time(9));
  EXPECT_TRUE((*store->done())[4]);
  ASSERT_TRUE(store->add(4, stopped)) << "a later stopped outcome does not replace it";
  EXPECT_EQ(row().step, Time(9));
}

TEST(SweepStore, VersionChangesWhenAnotherProcessWrites) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.sweep");
  auto writer = SweepStore::resume(path, info());
  auto reader = SweepStore::open(path);
  ASSERT_TRUE(reader);
  const auto before = reader->version();
  EXPECT_EQ(*reader->version(), *before);
  ASSERT_TRUE(writer->add(1, Outcome()));
  EXPECT_NE(*reader->version(), *before);
}

}  // namespace
}  // namespace tutti::core
