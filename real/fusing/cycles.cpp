// The agreement of the workers is itself a collective: an all-reduce by minimum of two 32-bit
// numbers per pack, over a star of the workers' first replicas. Each agreement is opened right
// after the previous agreement, before its cycle begins, because messages of faster workers may
// arrive early. The tags of agreements and fused packs follow the tags of the plan's packs. All
// workers number agreements and fused packs in the same order, so a tag identifies the same
// collective on all workers.
//
// The end of a collective is reported by a callback from inside the code that executes collectives.
// The callback therefore only stores the report, and go_on() processes it later. A single pack
// travels from its own buffer; several packs are copied to a fusion buffer and back. The gate
// decides which packs are fused (core/plan/gate/cycle_gate.h).

#include "real/fusing/cycles.h"

#include <algorithm>
#include <limits>

#include "core/algorithm/star_tree.h"
#include "core/base/check.h"
#include "core/lowering/fusion.h"
#include "core/schedule/stages.h"

namespace tutti::real {

using core::Bytes;
using core::Rank;

namespace {

constexpr std::int64_t kPicoseconds = 1000;  // picoseconds in a nanosecond

/// Returns the agreement, an all-reduce of flags by minimum. The first replica of every worker
/// sends its flags to the first replica of the first worker, which returns the result.
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
  made.schedule = core::in_stages(
      {workers, per_worker, false}, flags,
      {{core::StageScope::kLeaders, core::tree_reduce(tree, flags, kCpu, kCpu)},
       {core::StageScope::kLeaders, core::tree_broadcast(tree, flags, kCpu, kCpu)}});
  return made;
}

}  // namespace

Cycles::Cycles(const core::Scenario& scenario, std::vector<Rank> replicas,
               std::chrono::nanoseconds period, Devices& devices, Timers& timers,
               Collectives& collectives, Hooks hooks)
    : scenario_(scenario),
      replicas_(std::move(replicas)),
      devices_(devices),
      timers_(timers),
      collectives_(collectives),
      hooks_(std::move(hooks)),
      agreement_(agreement_of(*scenario.cluster, 2 * std::ssize(scenario.plan.packs))),
      flags_(devices.take(replicas_.front(), agreement_.bytes().count(), true)),
      origin_(timers.now()) {
  const core::PlanGate gates(scenario.plan);
  TUTTI_CHECK(gates.any() && gates.scope() == core::GateScope::kAll, "no cycles among {} packs",
              scenario.plan.packs.size());
  // Every cycle exchanges messages, even if no pack is ready, since workers know only from messages
  // that no pack is ready on any worker.
  gate_ = gates.make({replicas_.front(), std::ssize(replicas_)},
                     {core::Time(kPicoseconds * period.count()), false});
  for (int p = 0; p < static_cast<int>(scenario.plan.packs.size()); ++p)
    packs_in_step_ += gates.governs(p) ? 1 : 0;
}

core::Time Cycles::now() const {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(timers_.now() - origin_);
  return core::Time(kPicoseconds * since.count());
}

void Cycles::prepare(std::int32_t first, std::int32_t count) {
  first_ = first;
  count_ = count;
  numbers_ = 0;
  packs_to_agree_ = std::int64_t{count} * packs_in_step_;
  collectives_.allow_early_messages(
      {static_cast<std::uint32_t>(first + count - 1), std::numeric_limits<std::uint32_t>::max()});
  open_agreement();
}

void Cycles::begin(Clock::time_point begin) {
  timers_.at(begin, [this] { begin_cycle(); });
}

/// Returns the tag of the next collective that this class opens. The tags of cycles follow the tags
/// of the plan's packs, and all workers assign them in the same order. A tag's step has no meaning
/// for cycles, so all tags have the number of the last step.
CollectiveTag Cycles::next_tag() {
  return {static_cast<std::uint32_t>(first_ + count_ - 1),
          static_cast<std::uint32_t>(scenario_.plan.packs.size()) + numbers_++};
}

// --- cycles ---

void Cycles::open_agreement() {
  agreement_at_ = next_tag();
  collectives_.open(*agreement_at_, agreement_, Operation::kMin, {replicas_.front()},
                    {flags_.get()});
}

void Cycles::begin_cycle() {
  const core::GateProposal proposal = gate_->begin_round(now());
  step_ = proposal.step;
  auto* const flags = reinterpret_cast<std::int32_t*>(flags_.get());
  TUTTI_CHECK(std::ssize(proposal.numbers) <= agreement_.elements,
              "a gate proposes {} numbers, but there is space for {}", proposal.numbers.size(),
              agreement_.elements);
  for (std::size_t i = 0; i < proposal.numbers.size(); ++i) {
    TUTTI_CHECK(proposal.numbers[i] > std::numeric_limits<std::int32_t>::min(),
                "too many ranks and packs: {}", proposal.numbers[i]);
    flags[i] = static_cast<std::int32_t>(proposal.numbers[i]);
  }
  collectives_.start(*agreement_at_, replicas_.front());
}

void Cycles::go_on() {
  if (std::exchange(decided_, false)) agreed();
  for (const CollectiveTag tag : std::exchange(over_, {})) {
    if (const auto known = fused_.find(tag); known != fused_.end()) {
      tags_.erase(known->second.batch.get());
      fused_.erase(known);
    }
    collectives_.close(tag);
  }
}

/// Selects the packs to execute: the packs that are ready on all workers.
void Cycles::agreed() {
  over_.push_back(*std::exchange(agreement_at_, std::nullopt));
  const auto* const flags = reinterpret_cast<const std::int32_t*>(flags_.get());
  const core::GateProposal least{step_, {flags, flags + agreement_.elements}};
  const std::vector<core::GateDecision> decisions = gate_->end_round(least, now());
  const core::GateBatch* last = nullptr;
  for (const core::GateDecision& decision : decisions) {
    if (std::exchange(last, decision.batch.get()) != decision.batch.get())
      packs_to_agree_ -= std::ssize(decision.batch->items);
  }
  apply_decisions(decisions);
  if (packs_to_agree_ == 0) return;
  open_agreement();
  if (const auto next = gate_->next_round(now()))
    timers_.at(origin_ + std::chrono::nanoseconds(next->count() / kPicoseconds),
               [this] { begin_cycle(); });
}

// --- fused packs ---

const core::Collective& Cycles::collective_of(core::DataType type, std::int64_t elements) {
  auto& known = made_[{type, elements}];
  if (!known)
    known = std::make_unique<const core::Collective>(
        core::make_collective(*scenario_.cluster, scenario_.strategy, type, elements, 0));
  return *known;
}

/// Executes the gate's decisions. All workers open the collectives of fused packs in the same
/// order, even while replicas of this process are busy with earlier collectives.
void Cycles::apply_decisions(const std::vector<core::GateDecision>& decisions) {
  for (const core::GateDecision& decision : decisions) {
    const CollectiveTag tag = open(decision.batch);
    for (std::int64_t r = 0; r < decision.replicas; ++r)
      start(tag, static_cast<std::size_t>(decision.first_replica + r - replicas_.front()));
  }
}

/// Opens the batch's collective, unless it is open already.
CollectiveTag Cycles::open(const std::shared_ptr<const core::GateBatch>& batch) {
  if (const auto known = tags_.find(batch.get()); known != tags_.end()) return known->second;
  const std::vector<std::int32_t>& packs = batch->items;
  Fused made;
  made.batch = batch;
  made.left = replicas_.size();
  std::vector<std::byte*> data;
  if (packs.size() == 1) {
    made.collective = &scenario_.plan.collective(pack(packs.front()));
    for (std::size_t r = 0; r < replicas_.size(); ++r)
      data.push_back(hooks_.data(batch->step, packs.front(), r));
  } else {
    std::int64_t elements = 0;
    for (const int p : packs) elements += scenario_.plan.collective(pack(p)).elements;
    made.collective = &collective_of(scenario_.plan.collective(pack(packs.front())).type, elements);
    for (const Rank rank : replicas_) {
      made.buffers.push_back(devices_.take(rank, made.collective->buffer_bytes().count(), false));
      data.push_back(made.buffers.back().get());
    }
  }
  sizes_[batch->step].push_back(made.collective->bytes());
  const Operation operation = [&] {
    switch (core::reduction_of(scenario_.strategy, pack(packs.front()))) {
      case core::Reduction::kMin: return Operation::kMin;
      case core::Reduction::kMax: return Operation::kMax;
      case core::Reduction::kProduct: return Operation::kProduct;
      default: return Operation::kSum;
    }
  }();
  const CollectiveTag tag = next_tag();
  tags_[batch.get()] = tag;
  collectives_.open(tag, *made.collective, operation, replicas_, data);
  fused_.emplace(tag, std::move(made));
  return tag;
}

void Cycles::start(CollectiveTag tag, std::size_t replica) {
  const Fused& fused = fused_.at(tag);
  for (const int p : fused.batch->items) hooks_.launched(fused.batch->step, p, replica);
  copy(fused, replica, false);
  collectives_.start(tag, replicas_[replica]);
}

/// Copies a replica's packs into the fusion buffer, or out of it.
void Cycles::copy(const Fused& fused, std::size_t replica, bool out) {
  if (fused.buffers.empty()) return;
  const std::int64_t item = core::size_of(fused.collective->type).count();
  std::byte* at = fused.buffers[replica].get();
  for (const int p : fused.batch->items) {
    const core::Collective& c = scenario_.plan.collective(pack(p));
    std::byte* const data = hooks_.data(fused.batch->step, p, replica);
    if (out) {
      devices_.copy_now(data, at, c.bytes().count());
    } else {  // the input may begin at an offset in either buffer
      devices_.copy_now(at + fused.collective->contract().input_shift * item,
                        data + c.contract().input_shift * item, c.bytes().count());
    }
    at += c.bytes().count();
  }
}

void Cycles::ask(std::int32_t step, int pack, std::size_t replica) {
  apply_decisions(gate_->ready({replicas_[replica], step, pack}, now()));
}

bool Cycles::rank_done(CollectiveTag tag, Rank rank) {
  if (!is_one(tag)) return false;
  if (agreement_at_ == tag) {
    decided_ = true;
    return true;
  }
  const std::size_t replica =
      std::find(replicas_.begin(), replicas_.end(), rank) - replicas_.begin();
  Fused& fused = fused_.at(tag);
  copy(fused, replica, true);
  if (--fused.left == 0) over_.push_back(tag);
  const std::shared_ptr<const core::GateBatch> batch = fused.batch;
  apply_decisions(gate_->done({rank, batch->step, batch->items.front()}));
  for (const int p : batch->items) hooks_.done(batch->step, p, replica);
  return true;
}

void Cycles::close() {
  go_on();
  TUTTI_CHECK(fused_.empty() && !agreement_at_, "{} collectives are in flight", fused_.size());
}

// --- in words ---

std::optional<CollectiveTag> Cycles::pack_of(CollectiveTag tag) const {
  const auto known = fused_.find(tag);
  if (known == fused_.end()) return std::nullopt;
  return CollectiveTag{static_cast<std::uint32_t>(known->second.batch->step),
                       static_cast<std::uint32_t>(known->second.batch->items.front())};
}

std::string Cycles::describe() const {
  return sizes_.empty() ? "" : core::describe_fused(scenario_.plan, sizes_);
}

}  // namespace tutti::real
