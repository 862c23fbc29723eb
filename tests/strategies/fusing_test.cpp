// Horovod's fusion of packs in cycles. Horovod's fusion rule, the times of cycles and the response
// cache are compared with closed forms and with a slow model.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>

#include "core/lowering/fusion.h"
#include "core/nccl/collective_time.h"
#include "core/plan/gate/fusion_order.h"
#include "core/scenario/nccl_model.h"
#include "sim/collectives/collective_run.h"
#include "sim/folding/folding.h"
#include "sim/run/fusing.h"
#include "tests/sim/simulated.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti {
namespace {

using core::Bytes;
using core::DataType;
using core::GateItem;
using core::PackRecord;
using core::Time;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::vector<int>> fused(const std::vector<int>& sizes, int threshold) {
  std::vector<GateItem> ready;
  for (const int size : sizes) ready.push_back({Bytes(size)});
  return core::fused(ready, Bytes(threshold));
}

TEST(FuseResponses, FillsUpToTheThreshold) {
  EXPECT_THAT(fused({10, 20, 30}, 60), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(fused({10, 20, 30}, 59), ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_THAT(fused({100, 1, 1}, 50), ElementsAre(ElementsAre(0), ElementsAre(1, 2)))
      << "a gradient above the threshold is not fused";
  EXPECT_THAT(fused({1, 2, 3}, 0), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_TRUE(fused({}, 10).empty());
}

/// Gradients of another type are skipped, as long as the skipped gradients would still fit.
TEST(FuseResponses, SkipsOtherTypes) {
  const std::vector<GateItem> mixed{
      {Bytes(10), 0, 1}, {Bytes(20), 0, 2}, {Bytes(10), 0, 1}, {Bytes(20), 0, 2}};
  EXPECT_THAT(core::fused(mixed, Bytes(40)), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(core::fused(mixed, Bytes(29)),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
}

TEST(FuseResponses, OnlyAllReducesAreFused) {
  const std::vector<GateItem> ready{{Bytes(1)}, {Bytes(1), 0, 0, true}, {Bytes(1)}};
  EXPECT_THAT(core::fused(ready, Bytes(9)), ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

// --- order ---

/// A model of Horovod's response cache: a list in the order of last use, and bits that are assigned
/// again after each cycle.
class ResponseCache {
 public:
  [[nodiscard]] int bit(int pack) const {
    return static_cast<int>(std::find(bits_.begin(), bits_.end(), pack) - bits_.begin());
  }
  [[nodiscard]] bool has(int pack) const { return bit(pack) < std::ssize(bits_); }
  void use(int pack) {
    list_.remove(pack);
    list_.push_front(pack);
  }
  void update_bits() { bits_.assign(list_.rbegin(), list_.rend()); }

 private:
  std::list<int> list_;
  std::vector<int> bits_;
};

TEST(FusionOrder, IsThatOfTheCoordinatorFirstAndOfTheResponseCacheLater) {
  const auto items =
      std::make_shared<const std::vector<GateItem>>(std::vector<GateItem>{{Bytes(40), 0, 1},
                                                                          {Bytes(40), 0, 2},
                                                                          {Bytes(120), 0, 1},
                                                                          {Bytes(80), 0, 2},
                                                                          {Bytes(200), 0, 1},
                                                                          {Bytes(240), 0, 1}});
  core::Random random(7);
  for (const bool cached : {true, false}) {
    core::FusionOrder order(items, Bytes(400), cached);
    ResponseCache cache;
    int moved = 0;
    for (int step = 0; step < 200; ++step) {
      std::vector<int> left{0, 1, 2, 3, 4, 5};
      while (!left.empty()) {
        std::vector<core::FusionOrder::Arrival> arrivals;
        for (std::uint64_t n = 1 + random.below(left.size()); n > 0; --n) {
          const std::size_t i = random.below(left.size());
          arrivals.push_back(
              {left[i], 100 * static_cast<std::int64_t>(random.below(3)) + std::ssize(arrivals)});
          left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
        }
        auto expected = arrivals;
        const bool hits = cached && step > 0;
        std::sort(expected.begin(), expected.end(), [&](const auto& a, const auto& b) {
          return hits ? cache.bit(a.item) < cache.bit(b.item) : a.order < b.order;
        });
        std::vector<GateItem> ready;
        for (const auto& a : expected) {
          ready.push_back((*items)[a.item]);
          if (hits) cache.use(a.item);
        }
        std::vector<std::vector<int>> groups;
        for (const auto& group : core::fused(ready, Bytes(400))) {
          std::vector<int>& packs = groups.emplace_back();
          for (const int i : group) packs.push_back(expected[i].item);
          for (const int pack : packs) {
            if (!hits) cache.use(pack);
          }
        }
        cache.update_bits();
        moved += expected.front().item != arrivals.front().item ? 1 : 0;
        ASSERT_EQ(order.cycle(arrivals), groups) << "step " << step;
      }
    }
    EXPECT_GT(moved, 50) << "otherwise the order of arrival would suffice";
  }
}

// --- cycles ---

/// Returns a scenario with six gradients of 1 MB, which become ready 1 ms apart in a backward pass
/// that starts at 1 ms: at 2, 3, … 7 ms.
core::Scenario horovod(const std::string& settings, int workers = 2, const std::string& more = "",
                       int steps = 1) {
  std::string variables;
  for (int v = 0; v < 6; ++v)
    variables += fmt::format("variable {{ name: \"v{}\" shape: 250000 backward_ms: 1 }} ", v);
  return test::read(fmt::format(
      "cluster {{ workers {{ machine: \"m\" count: {} }} network {{ kind: ONE_SWITCH latency_us: "
      "10 }} "
      "machine {{ name: \"m\" "
      "device {{ name: \"cpu0\" kind: CPU memory_gb_per_s: 1000 }} nic {{ name: \"nic0\" "
      "bandwidth_gb_per_s: 10 }} link {{ from: "
      "\"cpu0\" to: \"nic0\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 }} }} }}\nworkload {{ "
      "{} "
      "forward_ms: 1 update_ms: 0 "
      "}}\nstrategy {{ algorithm: \"ring\" horovod {{ {} }} {} }}\nrun {{ steps: {} }}\n",
      workers, variables, settings, more, steps));
}

struct FusedRun : core::NullSink {
  std::vector<PackRecord> packs;
  std::vector<std::string> notes;
  std::vector<core::StepRecord> steps;
  std::vector<core::PathPiece> pieces;
  void pack(const PackRecord& pack) override { packs.push_back(pack); }
  void note(const std::string& text) override { notes.push_back(text); }
  void step(const core::StepRecord& step) override { steps.push_back(step); }
  void path(const core::PathPiece& piece) override { pieces.push_back(piece); }
};
FusedRun fused_run(const core::Scenario& s) {
  FusedRun recorded;
  const auto ran = sim::Simulator().run(s, {}, {}, recorded);
  EXPECT_TRUE(ran) << (ran ? "" : ran.error().message());
  return recorded;
}

/// Returns the gradients of each collective of the step, in the order of their starts.
std::vector<int> together(const FusedRun& recorded, std::int32_t step = 0) {
  std::map<Time, int> by_start;
  for (const PackRecord& pack : recorded.packs) {
    if (pack.step == step) ++by_start[pack.first_start];
  }
  std::vector<int> counts;
  for (const auto& [start, count] : by_start) counts.push_back(count);
  return counts;
}

/// Cycles of c ms start at 0, c, 2c, …. Each cycle fuses the gradients that have become ready since
/// the previous cycle. An agreement takes several latencies. With two workers, each of the 3
/// exchanges of an agreement takes 2 latencies in the first step.
TEST(Horovod, CyclesFusePacksThatAreReadyAtTheirStart) {
  const FusedRun three = fused_run(horovod("cycle_time_ms: 3"));
  EXPECT_THAT(together(three), ElementsAre(2, 3, 1)) << "2 and 3 ms; 4 to 6 ms; 7 ms";
  const Time agreement = 6 * core::microseconds(10);
  EXPECT_EQ(three.packs.front().first_start, core::milliseconds(3) + agreement);
  EXPECT_THAT(together(fused_run(horovod("cycle_time_ms: 1"))), ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(together(fused_run(horovod("cycle_time_ms: 100"))), ElementsAre(6));
  EXPECT_THAT(together(fused_run(horovod("cycle_time_ms: 100 fusion_threshold: 2000000"))),
              ElementsAre(2, 2, 2));
  EXPECT_THAT(together(fused_run(horovod("cycle_time_ms: 100 fusion_threshold: 0"))),
              ElementsAre(1, 1, 1, 1, 1, 1));
}

/// The step ends with the last all-reduce, which takes as long as if it ran alone.
TEST(Horovod, AFusedPackTakesTheTimeOfAPackOfItsSize) {
  const core::Scenario s = horovod("cycle_time_ms: 100");
  const FusedRun recorded = fused_run(s);
  const core::Collective whole =
      core::make_collective(*s.cluster, s.strategy, DataType::kFloat32, 1'500'000, 0);
  const Time copies =
      2 * core::transfer_time(whole.bytes(), s.cluster->part(s.cluster->replica(0)).device.copy);
  const Time begun = core::milliseconds(100) + 6 * core::microseconds(10);
  ASSERT_EQ(recorded.steps.size(), 1u);
  EXPECT_EQ(recorded.steps.front().end,
            begun + copies + sim::run_alone(whole, core::NetworkModel::kFifo).end);
  Time path;
  for (const core::PathPiece& piece : recorded.pieces) path += piece.end - piece.start;
  EXPECT_EQ(path, recorded.steps.front().end) << "the critical path has no gap";
}

/// In the second step, replicas agree in less time than in the first step, unless the response
/// cache is disabled.
TEST(Horovod, TheResponseCacheSkipsNegotiation) {
  const auto wait = [](const std::string& settings) {
    const FusedRun recorded = fused_run(horovod(settings, 4, "", 2));
    std::vector<Time> waits;
    for (const PackRecord& pack : recorded.packs) {
      if (pack.pack == 5 || pack.pack == 0) waits.push_back(pack.first_start);
    }
    // Cycles start at multiples of 4 ms, so the remainder is the time since the start of the cycle.
    std::vector<std::int64_t> since;
    for (const Time t : waits) since.push_back((t.count() / 1'000'000) % 4000);
    return since;
  };
  // log2(4) = 2 rounds of 10 us in both directions: 40 us for each exchange.
  const auto cached = wait("cycle_time_ms: 4");
  EXPECT_EQ(cached.front(), 120);
  EXPECT_EQ(cached.back(), 80);
  const auto none = wait("cycle_time_ms: 4 cache_capacity: 0");
  EXPECT_EQ(none.front(), 40);
  EXPECT_EQ(none.back(), 40);
  const auto small = wait("cycle_time_ms: 4 cache_capacity: 3");
  EXPECT_EQ(small.back(), 120);
}

TEST(Horovod, FusedPacksRunOneAfterTheOther) {
  const FusedRun recorded = fused_run(horovod("cycle_time_ms: 100 fusion_threshold: 2000000"));
  Time before;
  std::vector<PackRecord> packs = recorded.packs;
  std::sort(packs.begin(), packs.end(),
            [](const PackRecord& a, const PackRecord& b) { return a.first_start < b.first_start; });
  for (std::size_t i = 0; i < packs.size(); i += 2) {
    EXPECT_GE(packs[i].first_start, before);
    EXPECT_EQ(packs[i].end, packs[i + 1].end) << "fused packs end at the same time";
    before = packs[i].end;
  }
}

/// Returns a scenario with sixteen gradients of 64 KiB on two DGX-1s, reduced by NCCL. NCCL's times
/// are known for this machine.
core::Scenario by_nccl(const std::string& settings) {
  std::string variables;
  for (int v = 0; v < 16; ++v)
    variables += fmt::format("variable {{ name: \"v{}\" shape: 16384 backward_ms: 0.1 }} ", v);
  return test::read(fmt::format(
      "cluster {{ workers {{ machine: \"dgx1-v100\" count: 2 }} network {{ kind: ONE_SWITCH "
      "link: \"edr\" }} }} workload {{ {} forward_ms: 1 update_ms: 0 }} strategy {{ "
      "algorithm: \"nccl\" horovod {{ {} }} }} run {{ steps: 2 }}",
      variables, settings));
}

/// The fused buffer is launched with its own size, not with that of a gradient in it.
TEST(Horovod, AFusedBufferHasOneLaunch) {
  const core::Scenario s = by_nccl("cycle_time_ms: 100");
  const auto whole =
      s.plan.collective_times
          ->of(core::make_collective(*s.cluster, s.strategy, DataType::kFloat32, 16 * 16384, 0))
          .whole;
  ASSERT_TRUE(whole && s.plan.collective(s.plan.packs.front()).nccl);
  ASSERT_NE(whole->launch, s.plan.collective(s.plan.packs.front()).nccl->launch)
      << "otherwise the test shows nothing";
  const Bytes bytes(16 * 65536);
  const Time copies =
      2 * core::transfer_time(bytes, s.cluster->part(s.cluster->replica(0)).device.copy);
  const FusedRun recorded = fused_run(s);
  ASSERT_THAT(together(recorded), ElementsAre(16));
  EXPECT_EQ(recorded.packs.front().end - recorded.packs.front().first_start,
            copies + whole->whole());
}

/// If only a separate exchange uses NCCL, NCCL's times do not apply to fused buffers.
TEST(Horovod, ExchangesKeepTheirOwnTimes) {
  const auto read = [](const char* algorithm) {
    return test::read(
        fmt::format("cluster {{ workers {{ machine: \"dgx1-v100\" count: 1 }} }} workload {{ "
                    "variable {{ name: \"v\" "
                    "shape: 16384 backward_ms: 0.1 }} forward_ms: 1 }} strategy {{ algorithm: "
                    "\"{}\" horovod {{ }} }} "
                    "communicator {{ name: \"t\" size: 8 algorithm: \"nccl\" exchange {{ bytes: "
                    "4096 per_forward: 1 }} "
                    "}}",
                    algorithm));
  };
  EXPECT_NE(read("nccl").plan.collective_times, nullptr);
  const core::Scenario ring = read("ring");
  ASSERT_TRUE(ring.plan.fuses() && ring.plan.collective(ring.plan.exchanges.front()).nccl);
  EXPECT_EQ(ring.plan.collective_times, nullptr);
}

/// The error band of NCCL's times, and the note about it, are those of the fused buffer.
TEST(Horovod, ErrorBandsAreThoseOfTheFusedBuffers) {
  const core::Scenario usual = by_nccl("cycle_time_ms: 100");
  const core::Collective whole =
      core::make_collective(*usual.cluster, usual.strategy, DataType::kFloat32, 16 * 16384, 0);
  const auto time = usual.plan.collective_times->of(whole).whole;
  for (const core::BandEnd end : {core::BandEnd::kLow, core::BandEnd::kHigh}) {
    core::Scenario s = usual;
    ASSERT_TRUE(core::take_band_end(s, end));
    const double factor = end == core::BandEnd::kLow ? time->band.low : time->band.high;
    EXPECT_EQ(s.plan.collective_times->of(whole).whole->work.count(),
              std::llround(static_cast<double>(time->work.count()) * factor));
    const auto took = [](const FusedRun& recorded) {
      return recorded.packs.front().end - recorded.packs.front().first_start;
    };
    EXPECT_EQ(took(fused_run(s)) < took(fused_run(usual)), end == core::BandEnd::kLow);
  }
  const std::vector<std::string> notes = fused_run(usual).notes;
  EXPECT_THAT(notes,
              testing::Contains(AllOf(
                  HasSubstr(describe(*time)),
                  HasSubstr(fmt::format("{:.2f} and {:.2f}", time->band.low, time->band.high)))));
  EXPECT_TRUE(core::nccl_notes(usual).empty()) << "gradients are not sent individually";
}

/// A pack that is alone is always the plan's pack, so its properties are known at all times.
TEST(Horovod, APackThatIsNotFusedKeepsItsPlan) {
  const core::Scenario s = horovod("cycle_time_ms: 1 fusion_threshold: 0");
  sim::Fusing fusing(s);
  for (std::int32_t step = 0; step < 3; ++step) {
    const auto batch = std::make_shared<const core::GateBatch>(core::GateBatch{step, {4}});
    EXPECT_EQ(fusing.of(batch)->collective.get(), &s.plan.collective(s.plan.packs[4]));
    EXPECT_EQ(fusing.of(batch)->copied, Bytes(0));
  }
  const auto two = std::make_shared<const core::GateBatch>(core::GateBatch{0, {3, 4}});
  EXPECT_EQ(fusing.of(two)->collective->bytes(), Bytes(2'000'000));
  EXPECT_EQ(fusing.of(two).get(), fusing.of(two).get()) << "made once";
}

TEST(Horovod, NotesWhatItFused) {
  EXPECT_THAT(fused_run(horovod("cycle_time_ms: 3")).notes,
              testing::Contains(HasSubstr("6 gradients were fused into 3 all-reduces per step")));
}

TEST(Horovod, WorkersAreNotFolded) { EXPECT_FALSE(sim::fold(horovod("", 8)).why_not.empty()); }

/// Memoized steps must not change the results, even with cycles in between.
TEST(Horovod, SkippingRoundsDoesNotChangeTheResult) {
  for (const char* settings :
       {"cycle_time_ms: 3", "cycle_time_ms: 0.7 fusion_threshold: 2000000"}) {
    const core::Scenario s = horovod(settings, 64, "", 2);
    const auto every = test::simulated(s, sim::Folds::kNever, sim::SkipRepeats::kNever);
    const auto remembered = test::simulated(s, sim::Folds::kNever, sim::SkipRepeats::kAlways);
    ASSERT_TRUE(every && remembered);
    EXPECT_EQ(test::summary_values(*every), test::summary_values(*remembered)) << settings;
  }
}

/// All other replicas wait for the gradients of a straggler: no gradient is reduced before the last
/// replica has it.
TEST(Horovod, ReducesAGradientOnlyWhenAllReplicasHaveIt) {
  std::string text = horovod("cycle_time_ms: 1").text;
  text += "conditions { slow { worker: 1 slowdown: 2 } }\n";
  const FusedRun recorded = fused_run(test::read(text));
  // The slow replica has its gradients at 4, 6, … 14 ms.
  EXPECT_THAT(together(recorded), ElementsAre(1, 1, 1, 1, 1, 1));
  for (const PackRecord& pack : recorded.packs) {
    EXPECT_EQ(pack.ready, core::milliseconds(4 + 2 * pack.pack)) << pack.pack;
    EXPECT_EQ(pack.first_start, pack.ready + 6 * core::microseconds(10));
  }
}

TEST(Horovod, RefusesUnsupportedSettings) {
  const auto wrong = [](const std::string& strategy) {
    return test::kinds_of(core::read_scenario(
        fmt::format("cluster {{ workers {{ machine: \"dgx1-v100\" count: 2 }} network "
                    "{{ kind: ONE_SWITCH latency_us: 1 }} }} workload "
                    "{{ variable {{ name: \"v\" shape: 8 }} }} strategy {{ {} }}",
                    strategy),
        "f", test::shipped_library()));
  };
  EXPECT_THAT(wrong("algorithm: \"pscpu\" horovod {}"), ElementsAre("conflict Strategy.horovod"));
  EXPECT_THAT(wrong("algorithm: \"ring\" horovod { cycle_time_ms: 0 }"),
              ElementsAre("too-small Horovod.cycle_time_ms"));
  EXPECT_THAT(wrong("algorithm: \"ring\" horovod {} launch: CONCURRENT"),
              ElementsAre("unused Strategy.launch"));
  EXPECT_THAT(wrong("algorithm: \"ring\" horovod {} bytes_per_pack: 5"),
              ElementsAre("conflict Strategy.bytes_per_pack"));
  EXPECT_THAT(wrong("algorithm: \"ring\" horovod {} compression { type: FLOAT16 of: PACKS }"),
              ElementsAre("conflict Strategy.compression"));
}

}  // namespace
}  // namespace tutti
