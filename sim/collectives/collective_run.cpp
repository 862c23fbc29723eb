#include "sim/collectives/collective_run.h"

#include <algorithm>

#include "core/base/check.h"
#include "sim/collectives/collective_engines.h"

namespace tutti::sim {
namespace {

class Ends : public CollectiveListener {
 public:
  explicit Ends(std::size_t ranks) : rank_end(ranks, core::kNever) {}
  void rank_done(std::uint32_t, core::Rank rank, core::Time now, const CausalChain& done) override {
    rank_end[rank] = now;
    causal_chain = done;
    ++ranks_done;
  }
  void step_done(const StepDone&) override {}

  std::vector<core::Time> rank_end;
  CausalChain causal_chain;
  std::size_t ranks_done = 0;
};

}  // namespace

CollectiveRun run_alone(const core::Collective& collective, core::NetworkModel model,
                        const std::vector<core::Time>& start, bool keep_causal_chain) {
  const core::Cluster& cluster = collective.group.cluster();
  const std::size_t ranks = collective.schedule->ranks();
  TUTTI_CHECK(start.empty() || start.size() == ranks, "{} start times for {} ranks", start.size(),
              ranks);
  EventQueue events;
  Network network(cluster, model, {}, keep_causal_chain);
  Devices devices(cluster);
  Ties ties;
  Ends ends(ranks);
  CollectiveEngines engines(network, devices, events, ties, ends, false);
  engines.expect(collective, [] { return true; });
  network.expect_no_other();
  const std::uint32_t handle = engines.open(collective);
  for (std::size_t r = 0; r < ranks; ++r) {
    events.push({start.empty() ? core::Time() : start[r], r, EventKind::kStart, handle,
                 static_cast<std::uint32_t>(r)});
  }
  std::int64_t handled = 0;
  for (; !events.empty(); ++handled) engines.handle(events.pop());
  TUTTI_CHECK(ends.ranks_done == ranks, "only {} of {} ranks completed; the schedule deadlocks",
              ends.ranks_done, ranks);
  const core::Time end = *std::max_element(ends.rank_end.begin(), ends.rank_end.end());
  return {end,     std::move(ends.rank_end), ends.causal_chain, engines.steps_executed(),
          handled, network.loads()};
}

}  // namespace tutti::sim
