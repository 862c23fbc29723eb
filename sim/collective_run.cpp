#include "sim/collective_run.h"

#include <algorithm>

#include "core/base/check.h"
#include "sim/interpreter.h"
#include "sim/staged_collectives.h"

namespace tutti::sim {
namespace {

class Ends : public InterpreterListener {
 public:
  explicit Ends(std::size_t ranks) : rank_end(ranks, core::kNever) {}
  void rank_done(std::uint32_t instance, core::Rank rank, core::Time now, const Trail& done) override {
    if (staged && staged->has_part(instance)) return staged->part_done(instance, rank, now, done);
    rank_end[static_cast<std::size_t>(rank)] = now;
    trail = done;
    ++ranks_done;
  }
  void step_done(const StepDone&) override {}

  StagedCollectives* staged = nullptr;
  std::vector<core::Time> rank_end;
  Trail trail;
  std::size_t ranks_done = 0;
};

}  // namespace

CollectiveRun run_alone(const core::Collective& collective, core::NetworkModel model,
                        const std::vector<core::Time>& start, bool keep_trail) {
  const core::Cluster& cluster = collective.group.cluster();
  const auto ranks = static_cast<std::size_t>(collective.schedule->ranks());
  TUTTI_CHECK(start.empty() || start.size() == ranks, "{} start times for {} ranks", start.size(), ranks);
  EventQueue events;
  Network network(cluster, model, {}, keep_trail);
  Devices devices(cluster);
  Ends ends(ranks);
  Interpreter interpreter(network, devices, events, ends, false);
  TimedCollectives timed(interpreter, network, devices, events, ends);
  StagedCollectives staged(interpreter, timed, events, ends);
  ends.staged = &staged;
  const bool in_stages = StagedCollectives::takes(collective);
  const auto always = [] { return true; };
  in_stages ? staged.expect(collective, always) : interpreter.expect(collective, always);
  network.expect_no_other();
  const std::uint32_t instance = in_stages ? staged.open(collective) : interpreter.open(collective);
  const auto is_held = [&](const Event& event) { return timed.ever() && Network::is_holder(network.told(event)); };
  const auto begin = [&](const Event& event) {
    const auto rank = static_cast<core::Rank>(event.b);
    if (TimedCollectives::has(event.a)) return timed.start(event.a, rank, event.time);
    in_stages ? staged.start(event.a, rank, event.time) : interpreter.start(event.a, rank, event.time);
  };
  for (std::size_t r = 0; r < ranks; ++r) {
    events.push(
        {start.empty() ? core::Time() : start[r], r, EventKind::kStart, instance, static_cast<std::uint32_t>(r)});
  }
  std::int64_t handled = 0;
  for (; !events.empty(); ++handled) {
    const Event event = events.pop();
    switch (event.kind) {
      case EventKind::kStart: begin(event); break;
      case EventKind::kLane: interpreter.go_on(event); break;
      case EventKind::kHop: network.reach(event, events); break;
      case EventKind::kSent:
        if (!is_held(event)) interpreter.buffer_free(event);
        break;
      case EventKind::kDeliver: is_held(event) ? timed.released(event) : interpreter.deliver(event); break;
      case EventKind::kArrive: interpreter.arrive(event); break;
      case EventKind::kShare: network.share(event, events); break;
      case EventKind::kTimed: timed.go_on(event); break;
      case EventKind::kCompute:
      case EventKind::kTimer:
      case EventKind::kCycle:
      case EventKind::kChange: break;
    }
  }
  TUTTI_CHECK(ends.ranks_done == ranks, "{} of {} ranks are through; the schedule deadlocks", ends.ranks_done, ranks);
  const core::Time end = *std::max_element(ends.rank_end.begin(), ends.rank_end.end());
  return {end, std::move(ends.rank_end), ends.trail, interpreter.steps_executed(), handled, network.loads()};
}

}  // namespace tutti::sim
