#include "sim/collective_run.h"

#include <algorithm>

#include "core/base/check.h"
#include "sim/interpreter.h"

namespace tutti::sim {
namespace {

class Ends : public InterpreterListener {
 public:
  explicit Ends(std::size_t ranks) : rank_end(ranks, core::kNever) {}
  void rank_done(std::uint32_t, core::Rank rank, core::Time now, const Trail& done) override {
    rank_end[static_cast<std::size_t>(rank)] = now;
    trail = done;
    ++ranks_done;
  }
  void step_done(const StepDone&) override {}

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
  interpreter.expect(collective, [] { return true; });
  network.expect_no_other();
  const std::uint32_t instance = interpreter.open(collective);
  for (std::size_t r = 0; r < ranks; ++r) {
    events.push(
        {start.empty() ? core::Time() : start[r], r, EventKind::kStart, instance, static_cast<std::uint32_t>(r)});
  }
  std::int64_t handled = 0;
  for (; !events.empty(); ++handled) {
    const Event event = events.pop();
    switch (event.kind) {
      case EventKind::kStart: interpreter.start(event.a, static_cast<core::Rank>(event.b), event.time); break;
      case EventKind::kLane: interpreter.go_on(event); break;
      case EventKind::kHop: network.reach(event, events); break;
      case EventKind::kSent: interpreter.buffer_free(event); break;
      case EventKind::kDeliver: interpreter.deliver(event); break;
      case EventKind::kArrive: interpreter.arrive(event); break;
      case EventKind::kShare: network.share(event, events); break;
      case EventKind::kCompute:
      case EventKind::kTimed:
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
