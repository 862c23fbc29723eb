#include "real/fusing/cycles.h"

#include <algorithm>
#include <limits>

#include "core/algorithm/star_tree.h"
#include "core/base/check.h"
#include "core/schedule/stages.h"
#include "core/strategy/fusion.h"

namespace tutti::real {

using core::Bytes;
using core::Rank;

namespace {

/// The first replica of every worker tells the first of all, which tells them what all have: the least of everybody's flags.
core::Collective agreement_of(const core::Cluster& cluster, std::int64_t flags) {
  const auto per_worker = static_cast<std::int32_t>(cluster.replicas_per_worker());
  const auto workers = static_cast<std::int32_t>(cluster.replicas() / per_worker);
  const core::StarTree tree{workers, workers, workers, 1, 0};
  constexpr core::Engine kCpu = core::Engine::kCpu;
  core::Collective made{core::Group::of_cluster(cluster, false),
                        nullptr,
                        core::DataType::kInt32,
                        flags,
                        core::Staging::kDirect,
                        cluster.replicas()};
  made.schedule = core::in_stages({workers, per_worker, false}, flags,
                                  {{core::StageScope::kLeaders, core::tree_reduce(tree, flags, kCpu, kCpu)},
                                   {core::StageScope::kLeaders, core::tree_broadcast(tree, flags, kCpu, kCpu)}});
  return made;
}

}  // namespace

Cycles::Cycles(const core::Scenario& scenario, std::vector<Rank> replicas, std::chrono::nanoseconds period,
               Devices& devices, Timers& timers, Collectives& collectives, Hooks hooks)
    : scenario_(scenario),
      replicas_(std::move(replicas)),
      period_(period),
      devices_(devices),
      timers_(timers),
      collectives_(collectives),
      hooks_(std::move(hooks)),
      agreement_(agreement_of(*scenario.cluster, 2 * std::ssize(scenario.plan.packs))),
      flags_(devices.take(replicas_.front(), agreement_.bytes().count(), true)),
      order_(scenario.plan),
      streams_(replicas_.size()) {
  TUTTI_CHECK(scenario.plan.fusion.has_value(), "no cycles among {} packs", scenario.plan.packs.size());
  for (int p = 0; p < static_cast<int>(scenario.plan.packs.size()); ++p) gradient_packs_ += is_fused(p) ? 1 : 0;
}

void Cycles::prepare(std::int32_t first, std::int32_t count) {
  first_ = step_ = first;
  count_ = count;
  numbers_ = 0;
  agreed_.assign(scenario_.plan.packs.size(), false);
  agreed_on_ = 0;
  places_ = 0;
  asked_.clear();
  collectives_.let_peers_be_ahead(
      {static_cast<std::uint32_t>(first + count - 1), std::numeric_limits<std::uint32_t>::max()});
  open_agreement();
}

void Cycles::begin(Clock::time_point begin) {
  timers_.at(begin, [this] { begin_cycle(); });
}

/// They follow those of the plan, in the same order everywhere. Steps do not matter to that: all have the number of the last.
CollectiveTag Cycles::next_tag() {
  return {static_cast<std::uint32_t>(first_ + count_ - 1),
          static_cast<std::uint32_t>(scenario_.plan.packs.size()) + numbers_++};
}

// --- cycles ---

void Cycles::open_agreement() {
  agreement_at_ = next_tag();
  collectives_.open(*agreement_at_, agreement_, Operation::kMin, {replicas_.front()}, {flags_.get()});
}

void Cycles::begin_cycle() {
  cycle_began_ = timers_.now();
  auto* const flags = reinterpret_cast<std::int32_t*>(flags_.get());
  for (int p = 0; p < static_cast<int>(scenario_.plan.packs.size()); ++p) {
    const auto asked = asked_.find({step_, p});
    const bool ready = asked != asked_.end() && asked->second.replicas == replicas_.size();
    flags[2 * p] = ready && !agreed_[static_cast<std::size_t>(p)] ? 1 : 0;
    flags[2 * p + 1] = ready && !asked->second.reported ? -order_of(asked->second) : 0;
    if (ready) asked->second.reported = true;
  }
  collectives_.start(*agreement_at_, replicas_.front());
}

/// Grows with the worker and with the place of the pack among those that became ready here. The coordinator orders by the greatest of
/// all workers'.
std::int32_t Cycles::order_of(const Asked& asked) const {
  const std::int64_t worker = replicas_.front() / std::ssize(replicas_);
  const std::int64_t order = 1 + worker * std::ssize(scenario_.plan.packs) + asked.place;
  TUTTI_CHECK(order <= std::numeric_limits<std::int32_t>::max(), "worker {} and {} packs", worker,
              scenario_.plan.packs.size());
  return static_cast<std::int32_t>(order);
}

void Cycles::go_on() {
  if (std::exchange(decided_, false)) agreed();
  for (const CollectiveTag tag : std::exchange(over_, {})) {
    fused_.erase(tag);
    collectives_.close(tag);
  }
}

/// What is ready on all, as all know it. The next cycle begins its length after this one, or now if that is over.
void Cycles::agreed() {
  over_.push_back(*std::exchange(agreement_at_, std::nullopt));
  const auto* const flags = reinterpret_cast<const std::int32_t*>(flags_.get());
  std::vector<core::FusionOrder::Arrival> ready;
  for (int p = 0; p < static_cast<int>(scenario_.plan.packs.size()); ++p) {
    if (flags[2 * p] != 1) continue;
    ready.push_back({p, 0, -flags[2 * p + 1]});  // worker and place in one number
    agreed_[static_cast<std::size_t>(p)] = true;
    asked_.erase({step_, p});
  }
  agreed_on_ += static_cast<int>(ready.size());
  for (std::vector<int>& packs : order_.cycle(std::move(ready))) fuse(std::move(packs));
  if (agreed_on_ == gradient_packs_) {
    ++step_;
    agreed_on_ = 0;
    places_ = 0;
    agreed_.assign(agreed_.size(), false);
  }
  if (!any_left()) return;
  open_agreement();
  timers_.at(std::max(cycle_began_ + std::chrono::duration_cast<Clock::duration>(period_), timers_.now()),
             [this] { begin_cycle(); });
}

// --- what travels together ---

const core::Collective& Cycles::collective_of(core::DataType type, std::int64_t elements) {
  auto& known = made_[{type, elements}];
  if (!known)
    known = std::make_unique<const core::Collective>(
        core::make_collective(*scenario_.cluster, scenario_.strategy, type, elements, 0));
  return *known;
}

void Cycles::fuse(std::vector<int> packs) {
  Fused made;
  made.step = step_;
  made.left = replicas_.size();
  std::vector<std::byte*> data;
  if (packs.size() == 1) {
    made.collective = &pack(packs.front()).collective;
    for (std::size_t r = 0; r < replicas_.size(); ++r) data.push_back(hooks_.data(step_, packs.front(), r));
  } else {
    std::int64_t elements = 0;
    for (const int p : packs) elements += pack(p).collective.elements;
    made.collective = &collective_of(pack(packs.front()).collective.type, elements);
    for (const Rank rank : replicas_) {
      made.buffers.push_back(devices_.take(rank, made.collective->buffer_bytes().count(), false));
      data.push_back(made.buffers.back().get());
    }
  }
  made.packs = std::move(packs);
  sizes_[step_].push_back(made.collective->bytes());
  const Operation operation = [&] {
    switch (core::reduction_of(scenario_.strategy, pack(made.packs.front()))) {
      case core::Reduction::kMin: return Operation::kMin;
      case core::Reduction::kMax: return Operation::kMax;
      case core::Reduction::kProduct: return Operation::kProduct;
      default: return Operation::kSum;
    }
  }();
  const CollectiveTag tag = next_tag();
  collectives_.open(tag, *made.collective, operation, replicas_, data);
  fused_.emplace(tag, std::move(made));
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    streams_[r].push_back(tag);
    if (streams_[r].size() == 1) begin_next(r);
  }
}

/// The first of the replica's stream.
void Cycles::begin_next(std::size_t replica) {
  const CollectiveTag tag = streams_[replica].front();
  const Fused& fused = fused_.at(tag);
  for (const int p : fused.packs) hooks_.launched(fused.step, p, replica);
  copy(fused, replica, false);
  collectives_.start(tag, replicas_[replica]);
}

/// Into the buffer in which they travel, or out of it.
void Cycles::copy(const Fused& fused, std::size_t replica, bool out) {
  if (fused.buffers.empty()) return;
  const std::int64_t item = core::size_of(fused.collective->type).count();
  std::byte* at = fused.buffers[replica].get();
  for (const int p : fused.packs) {
    const core::Collective& c = pack(p).collective;
    std::byte* const data = hooks_.data(fused.step, p, replica);
    if (out) {
      devices_.copy_now(data, at, c.bytes().count());
    } else {  // from input to input, wherever these lie
      devices_.copy_now(at + fused.collective->contract().input_shift * item, data + c.contract().input_shift * item,
                        c.bytes().count());
    }
    at += c.bytes().count();
  }
}

void Cycles::ask(std::int32_t step, int pack, std::size_t) {
  Asked& asked = asked_[{step, pack}];
  if (++asked.replicas == replicas_.size()) asked.place = places_++;
}

bool Cycles::rank_done(CollectiveTag tag, Rank rank) {
  if (!is_one(tag)) return false;
  if (agreement_at_ == tag) {
    decided_ = true;
    return true;
  }
  const auto replica =
      static_cast<std::size_t>(std::find(replicas_.begin(), replicas_.end(), rank) - replicas_.begin());
  Fused& fused = fused_.at(tag);
  copy(fused, replica, true);
  streams_[replica].pop_front();
  if (--fused.left == 0) over_.push_back(tag);
  if (!streams_[replica].empty()) begin_next(replica);
  for (const int p : fused.packs) hooks_.done(fused.step, p, replica);
  return true;
}

void Cycles::close() {
  go_on();
  TUTTI_CHECK(fused_.empty() && !agreement_at_, "{} collectives are under way", fused_.size());
}

// --- in words ---

std::optional<CollectiveTag> Cycles::pack_of(CollectiveTag tag) const {
  const auto known = fused_.find(tag);
  if (known == fused_.end()) return std::nullopt;
  return CollectiveTag{static_cast<std::uint32_t>(known->second.step),
                       static_cast<std::uint32_t>(known->second.packs.front())};
}

std::string Cycles::describe() const { return sizes_.empty() ? "" : core::describe_fused(scenario_.plan, sizes_); }

}  // namespace tutti::real
