// Visits the state of collectives in flight, so that rounds of a collective can be compared and
// skipped (sim/interpreter/rounds.h).

#include <algorithm>
#include <limits>

#include "sim/engine/state_visitor.h"
#include "sim/interpreter/interpreter.h"

namespace tutti::sim {

std::optional<Interpreter::Pace> Interpreter::find_pace(std::int64_t max_lanes) const {
  const Instance* only = nullptr;
  for (const std::unique_ptr<Instance>& instance : instances_) {
    if (!instance) continue;
    if (only) return std::nullopt;
    only = instance.get();
  }
  if (!only || watch_steps_ || std::ssize(only->lanes) > max_lanes) return std::nullopt;
  std::optional<Pace> pace;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < only->lanes.size(); ++i) {
    const LaneState& state = only->lanes[i];
    if (state.next == state.steps) continue;
    const core::IdenticalSteps identical =
        only->schedule->identical_from(state.rank, state.lane, state.next);
    if (identical.period == 0 || identical.end - state.next <= longest) continue;
    longest = identical.end - state.next;
    pace = Pace{only->id, only->serial, serial_, i, std::ssize(only->lanes), identical};
  }
  return pace;
}

std::optional<std::int64_t> Interpreter::progress(const Pace& pace) const {
  const Instance* const instance = instances_[pace.instance].get();
  if (!instance || instance->serial != pace.serial || serial_ != pace.opened) return std::nullopt;
  return instance->lanes[pace.lane].next;
}

void Interpreter::visit_state(const Pace& pace, StateVisitor& visitor) {
  Instance& instance = *instances_[pace.instance];
  visitor.counted(steps_executed_);
  if (!instance.arrivals.empty()) visitor.unfit();
  for (LaneState& state : instance.lanes) {
    visit(state, visitor);
    CausalChain& causal_chain = instance.causal_chains[&state - instance.lanes.data()];
    visit_causal_chain(causal_chain, visitor);
  }
  for (Waiting& waiting : instance.waiting) {
    visitor.same(waiting.first_waiter);
    visitor.same(waiting.next_waiter);
    visitor.counted(waiting.wake_at);
    visitor.counted(waiting.awaited_steps);
  }
  visitor.same(std::ssize(instance.connections));
  for (const Connection& connection : instance.connections) {
    for (const std::int32_t number :
         {connection.path, connection.arrived, connection.occupied, connection.blocked_sender})
      visitor.same(number);
  }
  for (const std::int32_t left : instance.lanes_left) visitor.same(left);
}

void Interpreter::visit(LaneState& state, StateVisitor& visitor) {
  visitor.counted(state.next);
  visitor.seen(state.ready);
  visitor.counted(state.ready);
  visitor.same(state.step_known ? 1 : 0);
  if (state.step_known) {
    const StepFields& step = state.step;
    visitor.same(static_cast<std::int64_t>(step.kind));
    for (const std::int32_t number : {step.accumulate ? 1 : 0, step.inputs, step.wait_lane,
                                      step.from, step.to, step.from_away, step.to_away})
      visitor.same(number);
    visitor.same(step.source.count());
    visitor.same(step.target.count());
    if (step.wait_lane >= 0) visitor.same(step.wait_count);
  }
  visitor.same(static_cast<std::int64_t>(state.blocked));
  visitor.same(static_cast<std::int64_t>(state.phase));
  visitor.same(static_cast<std::int64_t>(state.receiving));
  visitor.same(state.awaited ? 1 : 0);
  std::uint64_t sent = state.sent;
  visitor.numbered(sent, 16);
  state.sent = static_cast<std::uint16_t>(sent);
  for (const std::int32_t number :
       {state.device, state.held_connection, state.last_in, state.last_out, state.arrivals})
    visitor.same(number);
}

std::int64_t Interpreter::rounds_left(const Pace& pace,
                                      const std::vector<std::int64_t>& before) const {
  const Instance& instance = *instances_[pace.instance];
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < instance.lanes.size(); ++i) {
    const LaneState& state = instance.lanes[i];
    const std::int64_t steps = (state.next - before[i]) / 2;
    if (steps == 0) continue;
    const core::IdenticalSteps identical =
        instance.schedule->identical_from(state.rank, state.lane, before[i]);
    // After the skip, the lane's current step must be identical to its current step before the
    // skip.
    if (identical.period == 0 || steps % identical.period != 0 || identical.end <= state.next)
      return 0;
    least = std::min(least, (identical.end - 1 - state.next) / steps);
    // Do not skip the step at which this lane wakes a waiting lane.
    if (state.awaited)
      least = std::min(least, (instance.waiting[i].wake_at - 1 - state.next) / steps);
  }
  return least;
}

std::vector<std::int64_t> Interpreter::progress_of_lanes(const Pace& pace) const {
  std::vector<std::int64_t> all;
  for (const LaneState& state : instances_[pace.instance]->lanes) all.push_back(state.next);
  return all;
}

}  // namespace tutti::sim
