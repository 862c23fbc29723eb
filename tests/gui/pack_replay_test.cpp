// The contributions that each device holds at a time of the replay of a pack, compared with those
// that the collective must have combined by then.

#include "gui/traffic/pack_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/random.h"
#include "core/timeline/writer.h"
#include "sim/simulator.h"
#include "tests/gui/simulated.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::gui {
namespace {

using core::Rank;
using core::Time;
using test::FailsWith;
using test::Mistake;
using test::ProblemCode;
using testing::ElementsAre;

struct Ran {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const core::Scenario> plan;
  std::shared_ptr<const Traffic> traffic;

  explicit Ran(const std::string& text) : trace(test::simulated_trace(text)) {
    plan = *plan_of_run(*trace, test::shipped_library());
    traffic = *Traffic::read(*trace);
  }
  [[nodiscard]] std::unique_ptr<PackReplay> replay(std::int32_t step, std::int32_t pack) const {
    auto replay = PackReplay::of(plan, traffic, step, pack);
    EXPECT_TRUE(replay) << replay.error().message();
    return replay ? std::move(*replay) : nullptr;
  }
};

std::vector<std::string> strategies() {
  std::vector<std::string> all;
  for (const std::string& name : core::algorithm_names())
    all.push_back("algorithm: \"" + name + "\"");
  all.emplace_back("algorithm: \"ring\" shards: 2 reduction: MEAN");
  all.emplace_back("algorithm: \"pscpu\" shards: 2");
  all.emplace_back("algorithm: \"nccl\" channels: 2 bytes_per_pack: 0 reduction: MEAN");
  return all;
}

/// Returns a scenario on two workers with two GPUs each, or on one worker with four GPUs if the
/// algorithm supports only one machine.
std::string where_it_runs(const std::string& strategy) {
  const bool one = strategy.find("hierarchical_copy") != std::string::npos;
  return test::small_scenario(strategy, one ? 1 : 2, one ? 4 : 2);
}

TEST(PackReplay, EveryAlgorithmEndsWithTheSumOnAllDevices) {
  for (const std::string& strategy : strategies()) {
    int tried = 0;
    for (const auto& [workers, gpus] :
         {std::pair(2, 2), std::pair(2, 4), std::pair(1, 4), std::pair(4, 1)}) {
      const std::string text = test::small_scenario(strategy, workers, gpus);
      // Some algorithms require certain numbers of devices or workers.
      if (!core::read_scenario(text, "s", test::shipped_library())) continue;
      ++tried;
      const Ran run(text);
      for (const core::PackRecord& record : run.trace->packs()) {
        const auto replay = run.replay(record.step, record.pack);
        ASSERT_TRUE(replay);
        const std::int64_t elements = replay->collective().elements;
        replay->show(record.first_start - Time(1));
        for (Rank r = 0; r < replay->contributors(); ++r)
          EXPECT_THAT(replay->held(r), ElementsAre(PackReplay::Piece{0, elements, 1}))
              << strategy << ": its own";
        replay->show(record.end);
        for (Rank r = 0; r < replay->contributors(); ++r) {
          EXPECT_THAT(replay->held(r),
                      ElementsAre(PackReplay::Piece{0, elements, replay->contributors()}))
              << strategy << ", " << workers << " x " << gpus << ", step " << record.step
              << ", pack " << record.pack << ", rank " << r;
        }
      }
    }
    EXPECT_GT(tried, 0) << strategy;
  }
}

TEST(PackReplay, TheStateAtATimeDoesNotDependOnEarlierCalls) {
  for (const std::string& strategy : strategies()) {
    const Ran run(where_it_runs(strategy));
    const core::PackRecord record = run.trace->packs().front();
    const auto forward = run.replay(record.step, record.pack),
               about = run.replay(record.step, record.pack);
    ASSERT_TRUE(forward && about);
    core::Random random(3);
    const std::int64_t length = (record.end - record.first_start).count();
    for (std::int64_t i = 0; i <= 40; ++i) {
      about->show(record.first_start + Time(static_cast<std::int64_t>(
                                           random.below(static_cast<std::uint64_t>(length)))));
      const Time t = record.first_start + Time(length / 40 * i);
      forward->show(t);
      about->show(t);
      for (Rank r = 0; r < forward->contributors(); ++r)
        EXPECT_EQ(forward->held(r), about->held(r)) << strategy;
    }
  }
}

TEST(PackReplay, ContributionsNeverDecreaseAndCoverThePack) {
  for (const std::string& strategy : strategies()) {
    const Ran run(where_it_runs(strategy));
    const core::PackRecord record = run.trace->packs().back();
    const auto replay = run.replay(record.step, record.pack);
    ASSERT_TRUE(replay);
    std::vector<std::int64_t> before(static_cast<std::size_t>(replay->contributors()), 0);
    const std::int64_t length = (record.end - record.first_start).count();
    bool partly = false;
    for (std::int64_t i = 0; i <= 200; ++i) {
      replay->show(record.first_start + Time(length * i / 200));
      for (Rank r = 0; r < replay->contributors(); ++r) {
        std::int64_t sum = 0, elements = 0;
        for (const PackReplay::Piece& piece : replay->held(r)) {
          EXPECT_EQ(piece.offset, elements);
          elements += piece.count;
          sum += piece.count * piece.contributions;
          partly =
              partly || (piece.contributions > 1 && piece.contributions < replay->contributors());
        }
        EXPECT_EQ(elements, replay->collective().elements);
        EXPECT_GE(sum, before[r]) << strategy;
        before[r] = sum;
      }
    }
    if (strategy == "algorithm: \"halving_doubling\"") {
      EXPECT_TRUE(partly) << "it keeps what is partly reduced";
    }
  }
}

/// In a ring of four ranks and 4 equal chunks, after its first receive of a complete chunk, rank r
/// holds the complete chunk (r + 1) mod 4.
TEST(PackReplay, ReportsTheContributorsOfAChunk) {
  const Ran run(test::small_scenario("algorithm: \"ring\"", 2, 2));
  const core::PackRecord record = run.trace->packs().front();
  const auto replay = run.replay(record.step, record.pack);
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->chunks(), 4u);
  replay->show(record.first_start);
  EXPECT_THAT(replay->contributions(2, 0), ElementsAre(2));
  replay->show(record.end);
  EXPECT_THAT(replay->contributions(2, 0), ElementsAre(0, 1, 2, 3));
  const std::vector<std::int64_t>& edges = replay->edges();
  EXPECT_EQ(replay->name_of(edges[1], edges[2] - edges[1]), "chunk 1");
  EXPECT_EQ(replay->name_of(edges[1], edges[3] - edges[1]), "chunks 1 to 2");
  EXPECT_EQ(replay->name_of(edges[1], 1), "part of chunk 1");
}

TEST(PackReplay, TransfersCarryRangesOfThePack) {
  for (const std::string& strategy : strategies()) {
    const Ran run(where_it_runs(strategy));
    std::int64_t with_range = 0;
    for (const core::PackRecord& record : run.trace->packs()) {
      const auto replay = run.replay(record.step, record.pack);
      ASSERT_TRUE(replay);
      for (const Transfer& transfer : test::transfers_of(*run.traffic)) {
        const auto range = replay->range_of(transfer);
        if (!range) continue;
        ++with_range;
        EXPECT_EQ(range->count * core::size_of(replay->collective().type), transfer.bytes)
            << strategy;
        EXPECT_LE(range->end(), replay->collective().elements);
      }
    }
    EXPECT_GT(with_range, 0) << strategy;
  }
}

TEST(PackReplay, RecordedDevicesAreCorrectIfOthersWereNotRecorded) {
  const std::string text = test::small_scenario("algorithm: \"ring\"", 3, 2);
  const Ran whole(text);
  // The same run, with only worker 1 recorded.
  std::ostringstream out;
  core::TimelineWriter writer(out);
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  record.first_worker = record.last_worker = 1;
  const auto scenario = core::read_scenario(text, "s", test::shipped_library());
  ASSERT_TRUE(sim::Simulator().run(*scenario, record, {}, writer));
  const auto trace = Trace::from_bytes(out.str(), "part");
  ASSERT_TRUE(trace);
  const auto plan = plan_of_run(**trace, test::shipped_library());
  const auto traffic = Traffic::read(**trace);
  ASSERT_TRUE(plan && traffic);
  const core::PackRecord pack = whole.trace->packs().front();
  const auto all = whole.replay(pack.step, pack.pack);
  const auto part = PackReplay::of(*plan, *traffic, pack.step, pack.pack);
  ASSERT_TRUE(part) << part.error().message();
  const std::int64_t length = (pack.end - pack.first_start).count();
  for (std::int64_t i = 0; i <= 50; ++i) {
    all->show(pack.first_start + Time(length * i / 50));
    (*part)->show(pack.first_start + Time(length * i / 50));
    for (const Rank r : {2, 3}) EXPECT_EQ(all->held(r), (*part)->held(r)) << i;
  }
}

TEST(PackReplay, StatesWhyAPackCannotBeReplayed) {
  const std::string text = test::small_scenario("algorithm: \"ring\"", 2, 2);
  const auto trace = test::simulated_trace(text, core::RecordLevel::kPacks);
  const auto plan = *plan_of_run(*trace, test::shipped_library());
  const auto traffic = *Traffic::read(*trace);
  EXPECT_THAT(PackReplay::of(plan, traffic, 0, 0),
              FailsWith(Mistake{ProblemCode::kMissing, "--record"}));
  const Ran run(text);
  EXPECT_THAT(PackReplay::of(run.plan, run.traffic, 0, 99),
              FailsWith(Mistake{ProblemCode::kUnknownName, "pack"}));
}

}  // namespace
}  // namespace tutti::gui
