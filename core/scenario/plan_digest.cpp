#include "core/scenario/plan_digest.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include "core/base/fnv.h"

namespace tutti::core {

namespace {

/// FNV-1a over numbers and texts. The length of each text is hashed too, so that ("ab", "c") and
/// ("a", "bc") have different digests.
class Digest {
 public:
  void number(std::int64_t n) {
    for (int byte = 0; byte < 8; ++byte)
      fnv_.byte(static_cast<std::uint8_t>(static_cast<std::uint64_t>(n) >> (8 * byte)));
  }
  void text(std::string_view text) {
    number(static_cast<std::int64_t>(text.size()));
    fnv_.bytes(text);
  }
  void range(const Range& r) {
    number(static_cast<int>(r.buffer));
    number(r.offset);
    number(r.count);
  }
  [[nodiscard]] std::uint64_t value() const { return fnv_.value(); }

 private:
  Fnv fnv_;
};

void add_step(Digest& digest, const Step& step, Rank rank, std::int32_t ranks) {
  digest.number(static_cast<int>(step.kind));
  digest.number(step.wait.lane);
  digest.number(step.wait.count);
  if (receives(step.kind) && step.kind != StepKind::kReceiveAny) {
    digest.number(step.from.rank(rank, ranks));
    digest.number(step.from.lane);
  }
  if (sends(step.kind)) {
    digest.number(step.to.rank(rank, ranks));
    digest.number(step.to.lane);
  }
  digest.range(step.source);
  digest.range(step.target);
  digest.number(step.inputs);
  digest.number(step.accumulate ? 1 : 0);
  digest.number(step.stride);
  if (step.kind == StepKind::kScale) digest.number(std::bit_cast<std::int64_t>(step.factor));
  digest.number(step.group.first);
  digest.number(step.group.count);
  digest.number(step.group.stride);
}

std::int64_t steps_of(const Schedule& schedule) {
  std::int64_t steps = 0;
  for (Rank r = 0; r < schedule.ranks(); ++r) {
    for (Lane l = 0; l < schedule.lanes(r); ++l) steps += schedule.steps(r, l);
  }
  return steps;
}

/// Adds the number of steps of each lane, and every `stride`-th step of the schedule.
void add_schedule(Digest& digest, const Schedule& schedule, std::int64_t stride) {
  digest.number(schedule.ranks());
  std::int64_t seen = 0;
  for (Rank r = 0; r < schedule.ranks(); ++r) {
    digest.number(schedule.lanes(r));
    digest.number(schedule.scratch(r));
    for (Lane l = 0; l < schedule.lanes(r); ++l) {
      const std::int64_t steps = schedule.steps(r, l);
      digest.number(steps);
      digest.number(schedule.credits(r, l));
      for (std::int64_t i = (stride - seen % stride) % stride; i < steps; i += stride)
        add_step(digest, schedule.step(r, l, i), r, schedule.ranks());
      seen += steps;
    }
  }
}

void add_collective(Digest& digest, const PlannedCollective& planned, std::int64_t stride) {
  const Collective& first = planned.first;
  digest.number(static_cast<int>(first.type));
  digest.number(first.elements);
  digest.number(first.contributors);
  digest.number(planned.groups ? 1 : 0);
  if (planned.groups) {
    digest.number(planned.groups->size);
    digest.number(planned.groups->stride);
    digest.number(planned.groups->is_across ? 1 : 0);
  }
  if (planned.members) {
    for (const std::int64_t replica : planned.members->replicas()) digest.number(replica);
  }
  digest.number(planned.sizes ? planned.sizes->min_filled_ppm : -1);
  add_schedule(digest, *first.schedule, stride);
}

}  // namespace

std::uint64_t plan_digest(const Scenario& scenario) {
  constexpr std::int64_t kMaxDigested = 1 << 20;
  Digest digest;
  const Cluster& cluster = *scenario.cluster;
  digest.number(cluster.workers());
  digest.number(cluster.replicas());
  digest.text(describe(scenario.strategy, ShownSizes::kInBytes));
  digest.number(static_cast<int>(scenario.strategy.reduction));
  digest.number(scenario.plan.computation_waits ? 1 : 0);
  digest.number(scenario.plan.checkpoint_every);
  digest.text(scenario.plan.gate ? scenario.plan.gate->name() : "");
  if (scenario.plan.gate) {
    for (const std::int64_t number : scenario.plan.gate->settings()) digest.number(number);
  }
  if (scenario.plan.graph) digest.number(scenario.plan.graph->tasks());
  std::int64_t steps = 0;
  for (const PlannedCollective& planned : scenario.plan.collectives)
    steps += steps_of(*planned.first.schedule);
  const std::int64_t stride = std::max<std::int64_t>(1, steps / kMaxDigested + 1);
  digest.number(static_cast<std::int64_t>(scenario.plan.collectives.size()));
  for (const PlannedCollective& planned : scenario.plan.collectives)
    add_collective(digest, planned, stride);
  digest.number(static_cast<std::int64_t>(scenario.plan.packs.size()));
  for (const Pack& pack : scenario.plan.packs) {
    for (const Member& member : pack.payload.members) {
      digest.text(scenario.workload.gradients[member.variable].name);
      digest.number(member.first);
      digest.number(member.count);
      digest.number(member.offset);
    }
    digest.number(pack.entry);
    digest.number(pack.after);
    digest.number(pack.answers);
    digest.number(pack.needs_all_gradients ? 1 : 0);
    digest.number(pack.also_needs);
    digest.number(static_cast<int>(pack.phase));
    digest.number(static_cast<int>(reduction_of(scenario.strategy, pack)));
    digest.number(pack.collective);
  }
  digest.number(static_cast<std::int64_t>(scenario.plan.exchanges.size()));
  for (const PlannedExchange& planned : scenario.plan.exchanges) {
    digest.number(planned.communicator);
    digest.number(planned.exchange.per_forward);
    digest.number(planned.exchange.per_backward);
    digest.number(planned.exchange.overlaps ? 1 : 0);
    digest.number(planned.collective);
  }
  return digest.value();
}

}  // namespace tutti::core
