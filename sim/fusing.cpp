#include "sim/fusing.h"

#include <algorithm>

#include "core/base/format.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/fusion.h"

namespace tutti::sim {

using core::Bytes;
using core::Time;

Fusing::Fusing(const core::Scenario& scenario) : scenario_(scenario), order_(scenario.plan) {
  if (any()) streams_.resize(static_cast<std::size_t>(scenario.cluster->replicas()));
}

std::vector<core::Collective> Fusing::largest() const {
  std::map<core::DataType, std::int64_t> elements;
  for (const core::Pack& pack : scenario_.plan.packs) {
    if (pack.phase == core::PackPhase::kGradients) elements[pack.collective.type] += pack.collective.elements;
  }
  std::vector<core::Collective> all;
  for (const auto& [type, count] : elements) all.push_back(make(type, count));
  return all;
}

core::Collective Fusing::make(core::DataType type, std::int64_t elements) const {
  core::Collective made = core::make_collective(*scenario_.cluster, scenario_.strategy, type, elements, 0);
  core::assign_time(scenario_.plan.collective_times.get(), made);
  return made;
}

bool Fusing::ask(std::int32_t step, std::int32_t pack, std::int64_t replica, Asked asked) {
  Pending& pending = pending_[{step, pack}];
  pending.asked.resize(streams_.size());
  pending.asked[static_cast<std::size_t>(replica)] = asked;
  pending.places.resize(streams_.size());
  pending.places[static_cast<std::size_t>(replica)] = asked_++;
  if (++pending.replicas < std::ssize(streams_)) return false;
  ready_.emplace_back(step, pack);
  return true;
}

Fusing::Asked Fusing::asked(const FusedPacks& packs, std::int64_t replica) const {
  Asked last;
  for (const int pack : packs.packs) {
    const Asked& one = pending_.at({packs.step, pack}).asked[static_cast<std::size_t>(replica)];
    if (one.at >= last.at) last = one;
  }
  return last;
}

/// Cycles begin one after the other, each its length after the one before, or as soon as that is over. Those in which nothing is ready
/// take as long as it takes to agree on that.
std::optional<Time> Fusing::next_cycle(Time now) {
  if (due_) return std::nullopt;
  due_ = true;
  const core::Fusion& fusion = *scenario_.plan.fusion;
  const Time period = std::max(fusion.cycle, fusion.agreement);
  Time next = next_free_;
  if (next < now) next += period * ((now - next).count() / period.count());
  if (next < now) next += period;
  previous_cycle_ = next - next_free_ >= period ? next - period : last_cycle_;
  return next;
}

/// Replicas that were ready by the cycle before have reported the pack to the coordinator then.
core::FusionOrder::Arrival Fusing::arrival(std::int32_t step, std::int32_t pack) const {
  const Pending& pending = pending_.at({step, pack});
  for (std::size_t r = pending.asked.size(); r > 0; --r) {
    if (pending.asked[r - 1].at > previous_cycle_ || r == 1)
      return {pack, static_cast<std::int64_t>(r) - 1, pending.places[r - 1]};
  }
  return {pack};
}

Time Fusing::begin_cycle(Time now) {
  due_ = false;
  const core::Fusion& fusion = *scenario_.plan.fusion;
  // The first time of each is in the first step.
  const bool fresh =
      !fusion.cached || std::any_of(ready_.begin(), ready_.end(), [](const auto& r) { return r.first == 0; });
  const Time took = fresh ? fusion.first_agreement : fusion.agreement;
  std::vector<std::shared_ptr<const FusedPacks>> groups;
  // Steps do not mix: a replica begins the next when all packs of the one before are through.
  for (std::size_t begin = 0; begin < ready_.size();) {
    const std::int32_t step = ready_[begin].first;
    std::vector<core::FusionOrder::Arrival> arrivals;
    for (; begin < ready_.size() && ready_[begin].first == step; ++begin)
      arrivals.push_back(arrival(step, ready_[begin].second));
    for (std::vector<int>& packs : order_.cycle(std::move(arrivals))) groups.push_back(fuse(step, std::move(packs)));
  }
  ready_.clear();
  agreeing_.push_back(std::move(groups));
  last_cycle_ = now;
  next_free_ = now + std::max(fusion.cycle, took);
  return now + took;
}

std::shared_ptr<const FusedPacks> Fusing::fuse(std::int32_t step, std::vector<int> packs) {
  auto made = std::make_shared<FusedPacks>();
  made->step = step;
  const auto of = [&](int p) -> const core::Collective& {
    return scenario_.plan.packs[static_cast<std::size_t>(p)].collective;
  };
  std::int64_t elements = 0;
  for (const int p : packs) elements += of(p).elements;
  const core::Collective& first = of(packs.front());
  if (packs.size() == 1) {
    // The plan's own: what is known of a collective is known by where it lies.
    made->collective = {std::shared_ptr<const void>(), &first};
  } else {
    auto& known = made_[{first.type, elements}];
    if (!known) known = std::make_shared<const core::Collective>(make(first.type, elements));
    made->collective = known;
    made->copied = made->collective->bytes();
  }
  made->packs = std::move(packs);
  sizes_[step].push_back(made->collective->bytes());
  for (auto& time : core::nccl_times(*made->collective)) times_.push_back(std::move(time));
  return made;
}

std::vector<std::shared_ptr<const FusedPacks>> Fusing::agreed() {
  auto groups = std::move(agreeing_.front());
  agreeing_.pop_front();
  return groups;
}

void Fusing::forget(const FusedPacks& packs) {
  for (const int pack : packs.packs) pending_.erase({packs.step, pack});
}

std::vector<std::string> Fusing::notes() const {
  std::vector<std::string> notes{core::describe_fused(scenario_.plan, sizes_)};
  std::vector<const core::nccl::CollectiveTime*> times;
  for (const auto& time : times_) times.push_back(time.get());
  const core::CollectiveTimes* const known = scenario_.plan.collective_times.get();
  const char* const where = known && known->only_inside_workers() ? " inside workers" : "";
  for (std::string note : {core::nccl_note(times, where), core::capped_note(times)}) {
    if (!note.empty()) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace tutti::sim
