#include "core/export/collective_messages.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core {
namespace {

std::int32_t max_lanes(const Schedule& schedule) {
  std::int32_t most = 1;
  for (Rank r = 0; r < schedule.ranks(); ++r) most = std::max(most, schedule.lanes(r));
  return most;
}

/// Returns one thread's share of the total rate of `threads` threads, as in sim/device/device.h.
Bandwidth part_of(Bandwidth rate, int threads) {
  return rate.count() == 0 ? rate : Bandwidth(std::max<std::int64_t>(1, rate.count() / threads));
}

/// Returns the time that the reductions and copies of a schedule step take on the device.
Time work_of(const Step& step, const DeviceRates& rates, Bytes item) {
  const Bytes target = step.target.count * item;
  const auto time = [&](std::int64_t times, Bandwidth rate) {
    return rate.count() == 0 ? Time() : transfer_time(times, target, part_of(rate, rates.threads));
  };
  if (step.kind == StepKind::kCopy || step.kind == StepKind::kScale) return time(1, rates.copy);
  if (step.kind == StepKind::kUpdate) return time(step.inputs, rates.memory);
  if (step.kind == StepKind::kReduce)
    return time(step.inputs + (step.accumulate ? 1 : 0) - 1, rates.reduce);
  return reduces_received(step.kind) ? time(1, rates.reduce) : Time();
}

}  // namespace

std::int32_t GoalRankBuilder::add(GoalOperation operation, const std::vector<std::int32_t>& after) {
  const auto index = static_cast<std::int32_t>(rank_.operations.size());
  rank_.operations.push_back(operation);
  for (const std::int32_t on : after) require(index, on);
  return index;
}

std::int32_t GoalRankBuilder::compute(Time duration, std::uint8_t cpu,
                                      const std::vector<std::int32_t>& after) {
  std::int64_t& carried = carried_[cpu];
  const std::int64_t exact = duration.count() + carried;
  GoalOperation one;
  one.cpu = cpu;
  one.size = std::max<std::int64_t>(0, (exact + 500) / 1000);
  carried = exact - one.size * 1000;
  return add(one, after);
}

std::string why_no_messages(const Collective& collective) {
  const Schedule& schedule = *collective.schedule;
  constexpr std::int64_t kMaxSteps = 1'000'000;
  std::int64_t steps = 0;
  for (Lane l = 0; l < schedule.lanes(0); ++l) steps += schedule.steps(0, l);
  if (steps > kMaxSteps)
    return fmt::format(
        "a collective of the scenario has {} schedule steps per rank, which is too many", steps);
  for (Lane l = 0; l < schedule.lanes(0); ++l) {
    for (std::int64_t i = 0; i < schedule.steps(0, l); ++i) {
      const StepKind kind = schedule.step(0, l, i).kind;
      if (kind == StepKind::kMulticast || kind == StepKind::kSwitchReduce)
        return "a collective uses multicasts or reductions in switches, which GOAL cannot express";
    }
  }
  return "";
}

std::int64_t CollectiveMessages::tags_of(const Collective& collective) {
  const std::int64_t lanes = max_lanes(*collective.schedule);
  return lanes * lanes;
}

bool CollectiveMessages::takes_any(const Schedule& schedule, Rank rank, Lane lane) {
  const auto [known, fresh] = takes_any_.try_emplace({&schedule, {rank, lane}}, false);
  if (!fresh) return known->second;
  for (std::int64_t i = 0; i < schedule.steps(rank, lane); ++i) {
    const StepKind kind = schedule.step(rank, lane, i).kind;
    if (!receives(kind)) continue;
    known->second = kind == StepKind::kReceiveAny;
    break;
  }
  return known->second;
}

std::int32_t CollectiveMessages::add(const Use& use, const std::vector<std::int32_t>& after,
                                     GoalRankBuilder& to) {
  const Collective& c = use.collective;
  const Schedule& schedule = *c.schedule;
  const Bytes item = size_of(c.type);
  const DeviceRates& rates = c.group.cluster().part(c.group.device(use.rank)).device;
  const std::int64_t lanes = max_lanes(schedule);
  const auto tag = [&](Rank receiver, Lane to_lane, Lane from_lane) {
    return use.first_tag + to_lane * lanes +
           (takes_any(schedule, receiver, to_lane) ? 0 : from_lane);
  };
  const std::int32_t begin =
      use.launch > Time()
          ? to.compute(use.launch,
                       static_cast<std::uint8_t>(kFirstLaunchCpu + use.first_tag % kLaunchCpus),
                       after)
          : to.join(after);
  std::vector<std::int32_t> last;
  // ends[lane][step]: the operation whose end is the end of the step.
  std::vector<std::vector<std::int32_t>> ends;
  struct Waiting {
    std::int32_t operation;
    Wait wait;
  };
  std::vector<Waiting> waiting;
  for (Lane lane = 0; lane < schedule.lanes(use.rank); ++lane) {
    const auto cpu = static_cast<std::uint8_t>(kFirstLaneCpu + lane % kLaneCpus);
    std::int32_t before = begin;
    std::vector<std::int32_t>& ended = ends.emplace_back();
    for (std::int64_t i = 0; i < schedule.steps(use.rank, lane); ++i) {
      const Step step = schedule.step(use.rank, lane, i);
      bool first = true;
      const auto next = [&](std::int32_t operation) {
        if (first && step.wait.lane >= 0 && step.wait.count > 0)
          waiting.push_back({operation, step.wait});
        first = false;
        before = operation;
      };
      if (receives(step.kind)) {
        GoalOperation one;
        one.kind = GoalOperation::Kind::kReceive;
        one.cpu = cpu;
        const bool any = step.kind == StepKind::kReceiveAny;
        const Rank from = any ? 0 : step.from.rank(use.rank, schedule.ranks());
        one.peer = any ? GoalOperation::kAny : use.peer(from);
        one.tag = tag(use.rank, lane, any ? 0 : step.from.lane);
        one.size = std::max<std::int64_t>(1, (step.target.count * item).count());
        next(to.add(one, {before}));
      }
      const Time work = work_of(step, rates, item);
      if (work > Time() || (!receives(step.kind) && !sends(step.kind)))
        next(to.compute(work, cpu, {before}));
      if (sends(step.kind)) {
        GoalOperation one;
        one.kind = GoalOperation::Kind::kSend;
        one.cpu = cpu;
        const Rank peer = step.to.rank(use.rank, schedule.ranks());
        one.peer = use.peer(peer);
        one.tag = tag(peer, step.to.lane, lane);
        const Range& range = step.kind == StepKind::kSend ? step.source : step.target;
        one.size = std::max<std::int64_t>(1, (range.count * item).count());
        next(to.add(one, {before}));
      }
      ended.push_back(before);
    }
    last.push_back(before);
  }
  for (const Waiting& one : waiting)
    to.require(one.operation, ends[one.wait.lane][one.wait.count - 1]);
  if (last.size() == 1) return last.front();
  return to.join(last.empty() ? std::vector{begin} : last);
}

}  // namespace tutti::core
