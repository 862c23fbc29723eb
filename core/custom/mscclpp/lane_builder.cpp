#include "core/custom/mscclpp/lane_builder.h"

namespace tutti::core::custom {

int LaneBuilder::new_lane(PlanLane::Kind kind, Rank rank, int number) {
  made_.lanes.push_back({kind, rank, number, {}});
  return static_cast<int>(made_.lanes.size()) - 1;
}

InstructionId LaneBuilder::put(int number, Instruction instruction) {
  auto& steps = lane(number).steps;
  steps.push_back(std::move(instruction));
  return {number, static_cast<int>(steps.size()) - 1};
}

int LaneBuilder::inbox(int from, Rank at) {
  const auto [found, is_new] = inboxes_.try_emplace({from, at}, -1);
  if (is_new) found->second = new_lane(PlanLane::Kind::kInbox, at, 0);
  return found->second;
}

int LaneBuilder::multicast_inbox(int from, Rank at) {
  auto [first, is_new] = multicasts_.try_emplace(from, made_.multicasts);
  if (is_new) ++made_.multicasts;
  const auto [found, new_here] = multicast_inboxes_.try_emplace({from, at}, -1);
  if (new_here) found->second = new_lane(PlanLane::Kind::kMulticast, at, first->second);
  return found->second;
}

int LaneBuilder::server(int from, Rank at) {
  const auto [found, is_new] = servers_.try_emplace({from, at}, -1);
  if (is_new) found->second = new_lane(PlanLane::Kind::kServer, at, 0);
  return found->second;
}

Instruction LaneBuilder::receive(int from, const Range& target, Position at) {
  Instruction step;
  step.kind = StepKind::kReceive;
  step.lane = from;
  step.source = step.target = target;
  step.at = at;
  return step;
}

Instruction LaneBuilder::send(int to, const Range& source) {
  Instruction step;
  step.kind = StepKind::kSend;
  step.lane = to;
  step.source = step.target = source;
  return step;
}

}  // namespace tutti::core::custom
