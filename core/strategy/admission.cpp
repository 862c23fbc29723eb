#include "core/strategy/admission.h"

namespace tutti::core {

Bytes Admission::bytes(int pack) const { return plan_->packs[static_cast<std::size_t>(pack)].collective.bytes(); }

std::vector<Admission::Push> Admission::ready(Push push) {
  const std::pair key{push.step, push.pack};
  if (++ready_[key] < replicas_) return {};
  ready_.erase(key);
  const Member& member = plan_->packs[static_cast<std::size_t>(push.pack)].payload.members.front();
  waiting_.insert({member.variable, member.first, push.step, push.pack});
  return begin();
}

std::vector<Admission::Push> Admission::through(Push push) {
  const std::pair key{push.step, push.pack};
  if (++through_[key] < replicas_) return {};
  through_.erase(key);
  credit_ += bytes(push.pack);
  return begin();
}

std::vector<Admission::Push> Admission::begin() {
  std::vector<Push> begun;
  for (auto turn = waiting_.begin(); turn != waiting_.end();) {
    const auto [variable, first, step, pack] = *turn;
    if (bytes(pack) > credit_) {
      ++turn;
      continue;
    }
    credit_ -= bytes(pack);
    begun.push_back({step, pack});
    turn = waiting_.erase(turn);
  }
  return begun;
}

}  // namespace tutti::core
