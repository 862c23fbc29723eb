#include "core/plan/gate/credit_gate.h"

#include <fmt/format.h>

namespace tutti::core {

std::vector<GateDecision> CreditGate::ready(const GateRequest& request, Time) {
  const Key key{request.step, request.item};
  if (++ready_[key] < members_.replicas) return {};
  ready_.erase(key);
  waiting_.insert({item(request.item).priority, request.step, request.item});
  return start();
}

std::vector<GateDecision> CreditGate::done(const GateRequest& request) {
  const Key key{request.step, request.item};
  if (++done_[key] < members_.replicas) return {};
  done_.erase(key);
  credit_ += item(request.item).bytes;
  return start();
}

std::vector<GateDecision> CreditGate::start() {
  std::vector<GateDecision> started;
  for (auto turn = waiting_.begin(); turn != waiting_.end();) {
    const auto [priority, step, index] = *turn;
    if (item(index).bytes > credit_) {
      ++turn;
      continue;
    }
    credit_ -= item(index).bytes;
    started.push_back({members_.first_replica, members_.replicas,
                       std::make_shared<const GateBatch>(GateBatch{step, {index}})});
    turn = waiting_.erase(turn);
  }
  return started;
}

void CreditGate::visit_state(StateVisitor& visitor) {
  visitor.same(credit_.count());
  // The keys of items in flight contain the step's number, so states with items in flight never
  // compare equal.
  if (!ready_.empty() || !done_.empty() || !waiting_.empty()) visitor.unfit();
}

std::string CreditRule::starts_when() const {
  return fmt::format("when the pack is ready, in order of priority, with up to {} bytes in flight",
                     credit_.count());
}

}  // namespace tutti::core
