#include "core/plan/gate/cycle_gate.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::core {

CycleGate::CycleGate(GateItems items, const Options& options, GateMembers members)
    : items_(items->size()),
      items_in_step_(
          std::count_if(items->begin(), items->end(), [](const GateItem& i) { return i.passes; })),
      options_(options),
      members_(members),
      order_(std::move(items), options.threshold, options.cached),
      reported_(members.replicas),
      completed_(members.replicas) {}

// --- requests ---

std::vector<GateDecision> CycleGate::ready(const GateRequest& request, Time now) {
  pass_idle_rounds(now);
  std::int32_t& reported = reported_[request.replica - members_.first_replica];
  const std::int64_t order = request.replica * items_in_step_ + reported;
  reported = static_cast<std::int32_t>((reported + 1) % items_in_step_);
  Pending& pending = pending_[{request.step, request.item}];
  const std::int64_t round = rounds_ + 1;
  pending.order = pending.round == round ? std::max(pending.order, order) : order;
  pending.round = round;
  if (++pending.replicas == members_.replicas) ++ready_here_;
  return {};
}

// --- rounds ---

/// Adds the time of each idle round that the executor skipped, in order.
void CycleGate::pass_idle_rounds(Time now) {
  if (!options_.idle || in_round_ || announced_ || next_ >= now) return;
  const Time period = std::max(options_.cycle, *options_.idle);
  const std::int64_t passed = (now - next_ + period - Time(1)) / period;
  next_ += passed * period;
  rounds_ += passed;
}

std::optional<Time> CycleGate::next_round(Time now) {
  if (in_round_ || announced_ || (options_.idle && ready_here_ == 0)) return std::nullopt;
  pass_idle_rounds(now);
  announced_ = true;
  return std::max(next_, now);
}

GateProposal CycleGate::begin_round(Time now) {
  TUTTI_CHECK(!in_round_, "a round begins before the previous round has ended");
  in_round_ = true;
  announced_ = false;
  began_ = now;
  ++rounds_;
  GateProposal proposal{step_, std::vector<std::int64_t>(2 * items_)};
  for (auto at = pending_.lower_bound({step_, 0}); at != pending_.end() && at->first.first == step_;
       ++at) {
    const Pending& pending = at->second;
    if (pending.replicas < members_.replicas) continue;
    const std::size_t i = at->first.second;
    proposal.numbers[2 * i] = 1;
    proposal.numbers[2 * i + 1] = pending.round == rounds_ ? -1 - pending.order : 0;
  }
  return proposal;
}

std::vector<GateDecision> CycleGate::end_round(const GateProposal& agreed, Time now) {
  TUTTI_CHECK(in_round_ && agreed.step == step_ && agreed.numbers.size() == 2 * items_,
              "the round agreed on step {} instead of {}", agreed.step, step_);
  in_round_ = false;
  next_ = std::max(began_ + options_.cycle, now);
  std::vector<FusionOrder::Arrival> arrivals;
  for (std::size_t i = 0; i < items_; ++i) {
    if (agreed.numbers[2 * i] != 1) continue;
    const auto item = static_cast<std::int32_t>(i);
    arrivals.push_back({item, -1 - agreed.numbers[2 * i + 1]});
    pending_.erase({step_, item});
  }
  const std::int64_t count = std::ssize(arrivals);
  ready_here_ -= count;
  agreed_in_step_ += count;
  std::vector<GateDecision> decisions;
  for (std::vector<std::int32_t>& items : order_.cycle(std::move(arrivals)))
    start(std::make_shared<const GateBatch>(GateBatch{step_, std::move(items)}), decisions);
  if (agreed_in_step_ == items_in_step_) {
    ++step_;
    agreed_in_step_ = 0;
  }
  return decisions;
}

// --- streams ---

/// Starts the batch on all replicas that have no batch in flight. All other replicas start the
/// batch later, when done() reports that their earlier batches are complete.
void CycleGate::start(std::shared_ptr<const GateBatch> batch,
                      std::vector<GateDecision>& decisions) {
  const std::int64_t number = first_in_queue_ + std::ssize(queue_);
  queue_.push_back({batch, members_.replicas});
  const std::size_t before = decisions.size();
  for (std::int64_t r = members_.first_replica; r < members_.first_replica + members_.replicas;
       ++r) {
    if (completed_by(r) < number) continue;
    if (decisions.size() > before &&
        decisions.back().first_replica + decisions.back().replicas == r) {
      ++decisions.back().replicas;
    } else {
      decisions.push_back({r, 1, batch});
    }
  }
  if (decisions.size() == before)
    decisions.push_back({members_.first_replica, 0, std::move(batch)});
}

std::vector<GateDecision> CycleGate::done(const GateRequest& request) {
  std::int64_t& completed = completed_by(request.replica);
  const std::size_t at = completed - first_in_queue_;
  TUTTI_CHECK(at < queue_.size(), "replica {} has no gradient in flight", request.replica);
  --queue_[at].left;
  ++completed;
  while (!queue_.empty() && queue_.front().left == 0) {
    queue_.pop_front();
    ++first_in_queue_;
  }
  const std::size_t next = completed - first_in_queue_;
  if (next >= queue_.size()) return {};
  return {{request.replica, 1, queue_[next].batch}};
}

std::unique_ptr<Gate> CycleRule::make(GateItems items, GateMembers members,
                                      const GateRounds& rounds) const {
  const CycleGate::Options options{
      settings_.threshold, settings_.cached, rounds.cycle.value_or(settings_.cycle),
      rounds.skip_idle ? std::optional(settings_.agreement) : std::nullopt};
  return std::make_unique<CycleGate>(std::move(items), options, members);
}

std::vector<std::int64_t> CycleRule::settings() const {
  return {settings_.threshold.count(), settings_.cycle.count(), settings_.agreement.count(),
          settings_.first_agreement.count(), settings_.cached ? 1 : 0};
}

}  // namespace tutti::core
