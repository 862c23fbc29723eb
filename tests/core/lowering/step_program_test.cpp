// Runs the programs of random plans with random completions, and compares the sequence of all calls
// with stored ones.

#include "core/lowering/step_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/fnv.h"
#include "core/base/random.h"
#include "tests/support/clusters.h"
#include "tests/support/step_player.h"

namespace tutti::core {
namespace {

/// Returns a plan with a collective for packs and exchanges. Only the checker of debug builds looks
/// at the collective.
Plan empty_plan() {
  static const std::shared_ptr<const Cluster> cluster = test::plain_cluster(2);
  Plan plan;
  plan.add({make_all_reduce(*cluster, Strategy::for_algorithm(BaseAlgorithm::kRing),
                            DataType::kFloat32, 1, 0)});
  return plan;
}
Pack empty_pack() {
  Pack pack;
  pack.collective = 0;
  return pack;
}
PlannedExchange empty_exchange() { return {0, {}, 0}; }

/// In debug builds, StepPrograms rejects plans that may deadlock. Kinds of device split their
/// backward passes at different layers, so their exchanges come in different orders.
#if !defined(NDEBUG) || defined(TUTTI_SANITIZED)
constexpr bool kChecksPlans = true;
#else
constexpr bool kChecksPlans = false;
#endif

/// A workload with a plan that combines features of all packing rules, so that no single rule would
/// produce it.
struct Case {
  Workload workload;
  Plan plan = empty_plan();
  DeviceRates device{Bandwidth(3'999'999'937), {}, Bandwidth(1'000'000'007), 1, {}};
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Case make() {
    Case c;
    gradients(c.workload);
    c.workload.micro_batches = one_in(2) ? 1 : static_cast<std::int32_t>(1 + below(5));
    c.plan.update = static_cast<Update>(below(3));
    c.plan.computation_waits = one_in(6);
    if (one_in(4)) c.plan.compression = Compression{DataType::kFloat16, one_in(2)};
    if (one_in(5)) reads(c);
    packs(c);
    if (one_in(4)) c.plan.checkpoint_every = static_cast<std::int32_t>(1 + below(3));
    for (std::uint64_t n = c.plan.checkpoint_every > 0 ? 1 + below(3) : 0; n > 0; --n)
      c.plan.packs.emplace_back(empty_pack()).phase = PackPhase::kCheckpoint;
    for (std::uint64_t groups = 1 + below(2); groups > 0; --groups)
      c.workload.times.push_back(times(c.workload));
    if (one_in(3)) exchanges(c.plan);
    return c;
  }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  Time time() { return Time(one_in(8) ? 0 : static_cast<std::int64_t>(below(1'000'000))); }

 private:
  void gradients(Workload& w) {
    const std::uint64_t n = 1 + below(10);
    for (std::uint64_t i = 0; i < n; ++i) {
      Variable& v = w.gradients.emplace_back();
      v.name = std::to_string(i);
      v.elements = static_cast<std::int64_t>(1 + below(1000));
      v.type = one_in(4) ? DataType::kFloat16 : DataType::kFloat32;
    }
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    for (const int v : order) {
      if (w.segments.empty() || one_in(2)) w.segments.emplace_back();
      if (one_in(8)) w.segments.emplace_back();  // a layer without variables
      w.segments.back().variables.push_back(v);
    }
  }
  StepTimes times(const Workload& w) {
    StepTimes t;
    t.update = time();
    t.forward_compute_bound = static_cast<std::int64_t>(below(1'000'001));
    const bool by_segment = one_in(2);
    t.forward = time();
    if (by_segment) t.forward = Time();
    for (std::size_t s = 0; s < w.segments.size(); ++s) {
      t.backward.push_back(time());
      t.backward_compute_bound.push_back(static_cast<std::int64_t>(below(1'000'001)));
      if (by_segment) t.forward += t.forward_by_segment.emplace_back(time());
    }
    if (one_in(2)) {
      for (std::size_t s = 0; s < w.segments.size(); ++s) t.accumulate.push_back(time());
    }
    return t;
  }
  void reads(Case& c) {
    for (int v = 0; v < std::ssize(c.workload.gradients); ++v) {
      if (one_in(3)) continue;
      Pack& pack = c.plan.packs.emplace_back(empty_pack());
      pack.phase = PackPhase::kRead;
      pack.payload.members.push_back({v, 0, c.workload.gradients[v].elements});
      if (one_in(2)) pack.after = static_cast<int>(c.plan.packs.size()) - 2;
    }
  }
  void packs(Case& c) {
    const bool needs_all = one_in(4);
    const int entries = needs_all ? static_cast<int>(1 + below(2)) : 1;
    if (entries > 1) {
      for (std::size_t v = 0; v < c.workload.gradients.size(); ++v)
        c.plan.entry_of_gradient.push_back(static_cast<int>(below(2)));
    }
    std::vector<int> left(c.workload.gradients.size());
    std::iota(left.begin(), left.end(), 0);
    while (!left.empty()) {
      Pack pack = empty_pack();
      pack.needs_all_gradients = needs_all;
      pack.entry = c.plan.entry_of_gradient.empty() ? 0 : c.plan.entry_of_gradient[left.back()];
      const auto take = [&](std::size_t i) {
        pack.payload.members.push_back({left[i], 0, c.workload.gradients[left[i]].elements});
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      };
      take(left.size() - 1);
      while (!left.empty() && one_in(2)) {
        const std::size_t i = below(left.size());
        if (!needs_all || entries == 1 || c.plan.entry_of_gradient[left[i]] == pack.entry) take(i);
      }
      if (!needs_all && !left.empty() && one_in(4)) pack.also_needs = left.back();
      bytes(c, pack);
      if (const int before = static_cast<int>(c.plan.packs.size());
          before > 0 && !c.plan.computation_waits && one_in(2)) {
        const int after =
            one_in(2) ? before - 1 : static_cast<int>(below(static_cast<std::uint64_t>(before)));
        pack.after = after;
      }
      c.plan.packs.push_back(pack);
      if (needs_all || !one_in(5)) continue;
      pack.answers = static_cast<int>(c.plan.packs.size()) - 1;
      // A pull never completes before its push, so it is launched only after the push.
      pack.after = pack.after >= 0 || one_in(2) ? pack.answers : -1;
      if (c.plan.computation_waits) pack.after = -1;
      c.plan.packs.push_back(pack);
    }
  }
  void bytes(const Case& c, Pack& pack) {
    const auto some = [this] {
      return Bytes(one_in(2) ? 0 : static_cast<std::int64_t>(below(5000)));
    };
    pack.copied_in = some();
    pack.copied_out = some();
    if (!c.plan.compression) return;
    pack.converted_out = some();
    if (c.plan.compression->of_packs) pack.converted_in = some();
  }
  void exchanges(Plan& plan) {
    for (std::uint64_t n = 1 + below(3); n > 0; --n) {
      PlannedExchange& e = plan.exchanges.emplace_back(empty_exchange());
      e.communicator = static_cast<int>(below(2));
      e.exchange.per_forward = static_cast<std::int32_t>(below(5));
      e.exchange.per_backward = static_cast<std::int32_t>(below(5));
      e.exchange.overlaps = one_in(2);
    }
  }

  Random random_;
};

/// Records every call, and keeps the operations in flight.
class Recorded : public StepActions {
 public:
  std::vector<std::string> log;
  std::deque<ComputeTask> stream;
  std::vector<int> packs, exchanges;
  bool ended = false;

  void compute(const ComputeTask& t) override {
    log.push_back(fmt::format("{} of {} ps, segment {}, pack {}, {} ppm", to_string(t.kind),
                              t.duration.count(), t.index, t.pack, t.compute_bound_ppm));
    stream.push_back(t);
  }
  void pack_ready(int pack) override { log.push_back(fmt::format("ready {}", pack)); }
  void launch(int pack) override {
    log.push_back(fmt::format("launch {}", pack));
    packs.push_back(pack);
  }
  void exchange(int exchange, std::int64_t number) override {
    log.push_back(fmt::format("exchange {} number {}", exchange, number));
    exchanges.push_back(exchange);
  }
  void step_done() override {
    log.push_back("end");
    ended = true;
  }
  [[nodiscard]] std::size_t in_flight() const {
    return (stream.empty() ? 0 : 1) + packs.size() + exchanges.size();
  }

  void complete(std::size_t which, const Plan& plan, StepPlayer& player) {
    if (!stream.empty() && which-- == 0) {
      const ComputeTask task = stream.front();
      stream.pop_front();
      return player.compute_done(task, *this);
    }
    const auto take = [](std::vector<int>& from, std::size_t i) {
      const int taken = from[i];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(i));
      return taken;
    };
    if (which < packs.size()) {
      // No replica completes a pull before the corresponding push.
      const auto push = std::find(packs.begin(), packs.end(), plan.packs[packs[which]].answers);
      if (push != packs.end()) which = static_cast<std::size_t>(push - packs.begin());
      return player.pack_done(take(packs, which), *this);
    }
    player.exchange_done(take(exchanges, which - packs.size()), *this);
  }
};

/// Returns the features of the generator that a case uses, to count the coverage.
std::vector<std::string> features(const Case& c) {
  std::vector<std::string> all;
  const auto add_if = [&](bool has, const char* name) {
    if (has) all.emplace_back(name);
  };
  const auto any = [&](const auto& is) {
    return std::any_of(c.plan.packs.begin(), c.plan.packs.end(), is);
  };
  add_if(c.workload.micro_batches > 2, "repeated passes");
  add_if(c.workload.micro_batches > 2 && !c.plan.exchanges.empty(), "exchanges in repeated passes");
  add_if(c.plan.computation_waits, "computation waits");
  add_if(c.plan.checkpoint_every > 1, "checkpoints now and then");
  add_if(c.plan.compression && c.plan.compression->of_packs, "packs converted");
  add_if(c.plan.compression && !c.plan.compression->of_packs, "gradients converted");
  add_if(any([](const Pack& p) { return p.phase == PackPhase::kRead; }), "reads");
  add_if(any([](const Pack& p) { return p.needs_all_gradients; }), "concatenation");
  add_if(!c.plan.entry_of_gradient.empty(), "several entries");
  add_if(any([](const Pack& p) { return p.answers >= 0; }), "push and pull");
  add_if(any([](const Pack& p) { return p.also_needs >= 0; }), "waits for another gradient");
  add_if(any([](const Pack& p) { return p.after >= 0; }), "serial launches");
  add_if(c.plan.update == Update::kAfterAll, "update after all");
  add_if(c.plan.update == Update::kPerPack, "update per pack");
  add_if(c.plan.update == Update::kOnServers, "update on servers");
  add_if(c.workload.times.size() > 1, "two kinds of device");
  return all;
}

/// Runs three steps of the case on every kind of device, with random completions. Returns all
/// calls, or nothing if the run deadlocks.
std::optional<std::string> calls_of(Generator& random, const Case& c) {
  const StepPrograms programs(c.workload, c.plan);
  std::string calls;
  for (std::size_t g = 0; g < c.workload.times.size(); ++g) {
    StepPlayer player(programs, g, c.device);
    Recorded actions;
    for (int step = 0; step < 3; ++step) {
      const std::int64_t pace = random.one_in(3)
                                    ? 1'000'000
                                    : static_cast<std::int64_t>(500'000 + random.below(1'000'000));
      actions.ended = false;
      player.begin_step(pace, actions);
      while (!actions.ended) {
        if (actions.in_flight() == 0) return std::nullopt;
        actions.complete(random.below(actions.in_flight()), c.plan, player);
      }
      if (actions.in_flight() != 0) return std::nullopt;
    }
    calls += fmt::format("{}\n", fmt::join(actions.log, "\n"));
  }
  return calls;
}

/// Returns one line for each hundred cases, with the number of calls and a hash of them.
std::string recorded(const std::vector<std::string>& cases) {
  constexpr std::size_t kTogether = 100;
  std::string text;
  for (std::size_t first = 0; first < cases.size(); first += kTogether) {
    Fnv hash;
    std::int64_t calls = 0;
    for (std::size_t i = first; i < std::min(cases.size(), first + kTogether); ++i) {
      calls += std::count(cases[i].begin(), cases[i].end(), '\n');
      hash.bytes(cases[i]);
    }
    text += fmt::format("{} {:016x}\n", calls, hash.value());
  }
  return text;
}

/// The stored calls were compared, one by one, with an independent implementation of training
/// steps: a state machine without task graphs. If a change is meant to alter the order of a step,
/// TUTTI_UPDATE_EXPECTED rewrites the calls.
TEST(StepProgram, MakesTheStoredCalls) {
  constexpr std::uint64_t kCases = 6'000;
  const std::string file = test::source_folder() + "/tests/core/lowering/step_calls.txt";
  std::map<std::string, int> covered;
  std::vector<std::string> everywhere, unchecked;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Generator random(seed);
    const Case c = random.make();
    for (const std::string& feature : features(c)) ++covered[feature];
    const bool may_deadlock = c.workload.times.size() > 1 && !c.plan.exchanges.empty();
    if (may_deadlock && kChecksPlans) continue;
    const auto calls = calls_of(random, c);
    ASSERT_TRUE(calls) << "case " << seed << " waits for nothing, or its tasks outlast their step: "
                       << fmt::format("{}", fmt::join(features(c), ", "));
    (may_deadlock ? unchecked : everywhere).push_back(*calls);
  }
  for (const auto& [feature, cases] : covered) EXPECT_GT(cases, 100) << feature;
  EXPECT_EQ(covered.size(), 16u);
  const std::string ours = recorded(everywhere) + "\n" + recorded(unchecked);
  if (std::getenv("TUTTI_UPDATE_EXPECTED") != nullptr && !kChecksPlans) std::ofstream(file) << ours;
  std::ifstream in(file);
  const std::string theirs(std::istreambuf_iterator<char>(in), {});
  const auto checked = [](const std::string& text) {
    return kChecksPlans ? text.substr(0, text.find("\n\n")) : text;
  };
  EXPECT_EQ(checked(ours), checked(theirs));
}

TEST(StepProgram, GroupsShareOneProgramUnlessExchangesDivideTheirPassesDifferently) {
  Workload w;
  w.gradients.emplace_back().elements = 8;
  w.gradients.emplace_back().elements = 8;
  w.segments = {{"b", {1}}, {"a", {0}}};
  w.times = {{Time(10), {Time(6), Time(2)}, Time(1)}, {Time(30), {Time(4), Time(40)}, Time(1)}};
  Plan plan = empty_plan();
  plan.packs.emplace_back(empty_pack()).payload.members = {{0, 0, 8}, {1, 0, 8}};
  const StepPrograms shared(w, plan);
  EXPECT_EQ(&shared.program(0), &shared.program(1));
  EXPECT_EQ(shared.durations(1).rows[0].time, Time(30));
  plan.exchanges.emplace_back(empty_exchange()).exchange.per_backward =
      2;  // cuts one group's pass in layer b, and the other's in layer a
  const StepPrograms own(w, plan);
  EXPECT_NE(&own.program(0), &own.program(1));
}

TEST(StepProgram, AProgramForManyMicroBatchesIsAsLongAsForThree) {
  Workload w;
  w.gradients.emplace_back().elements = 8;
  w.segments = {{"a", {0}}};
  w.times = {{Time(10), {Time(6)}, Time(1)}};
  Plan plan = empty_plan();
  plan.packs.emplace_back(empty_pack()).payload.members = {{0, 0, 8}};
  w.micro_batches = 3;
  const std::int32_t three = StepPrograms(w, plan).program(0).program.size();
  w.micro_batches = kMaxMicroBatches;
  EXPECT_EQ(StepPrograms(w, plan).program(0).program.size(), three);
}

}  // namespace
}  // namespace tutti::core
