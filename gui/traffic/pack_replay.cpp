// For each recorded lane, the timeline gives the number of steps that had ended at a time. The
// function push() executes such a step after the steps of other lanes on which it depends. For a
// received message, push() also executes the sending step, even if the sender was not recorded or
// had not completed the step. The function push() uses a list of waiting lanes instead of
// recursion, because the list may have all lanes of the collective. If a lane would occur in the
// list twice, the timeline contradicts the schedule, so the replay stops. A symbolic run cannot go
// back in time, so a request for an earlier time starts a new symbolic run. Chunks are the
// intervals between the boundaries of all ranges that occur in the schedule.

#include "gui/traffic/pack_replay.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace tutti::gui {

using core::Error;
using core::Lane;
using core::Range;
using core::Rank;
using core::Step;
using core::StepKind;
using core::SymbolicRun;
using core::Time;

namespace {

/// Calls `what` for each range of the pack's buffer that a schedule step reads or writes.
template <class What>
void each_range(const Step& step, What what) {
  const auto in_pack = [&](const Range& range) {
    if (range.buffer == core::Buffer::kData && range.count > 0) what(range);
  };
  const StepKind kind = step.kind;
  if (kind == StepKind::kSend || kind == StepKind::kMulticast || kind == StepKind::kCopy ||
      kind == StepKind::kReceiveReduceSend || kind == StepKind::kSwitchReduce)
    in_pack(step.source);
  if (kind != StepKind::kSend && kind != StepKind::kMulticast &&
      kind != StepKind::kReceiveReduceSend && kind != StepKind::kNop)
    in_pack(step.target);
}

}  // namespace

core::Expected<std::unique_ptr<PackReplay>> PackReplay::of(
    std::shared_ptr<const core::Scenario> plan, std::shared_ptr<const Traffic> traffic,
    std::int32_t step, std::int32_t pack) {
  const auto& packs = plan->plan.packs;
  if (!traffic->has_steps() && pack >= 0 && static_cast<std::size_t>(pack) < packs.size() &&
      plan->plan.collective(packs[pack]).nccl) {
    return tl::make_unexpected(
        Error::request({core::ProblemCode::kMissing, "--record"},
                       "this NCCL collective is recorded without schedule steps, so its chunks "
                       "cannot be followed; simulate with --nccl rings"));
  }
  if (!traffic->has_steps()) {
    return tl::make_unexpected(
        Error::request({core::ProblemCode::kMissing, "--record"},
                       "the timeline has no schedule steps, so chunks cannot be followed; record "
                       "the run with --record steps"));
  }
  if (pack < 0 || static_cast<std::size_t>(pack) >= plan->plan.packs.size())
    return tl::make_unexpected(Error::request({core::ProblemCode::kUnknownName, "pack"},
                                              fmt::format("the plan has no pack {}", pack)));
  const core::Collective& collective = plan->plan.collective(plan->plan.packs[pack]);
  std::vector<std::int32_t> devices = devices_of_ranks(collective, *traffic);
  if (devices.empty()) {
    return tl::make_unexpected(Error::request(fmt::format(
        "pack {} cannot be followed: it has too many ranks ({}), or several ranks share a device",
        pack, collective.group.size())));
  }
  std::int64_t steps = 0;
  for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
    for (Lane l = 0; l < collective.schedule->lanes(r); ++l)
      steps += collective.schedule->steps(r, l);
  }
  if (steps > kMaxSteps)
    return tl::make_unexpected(Error::request(
        {core::ProblemCode::kTooLarge, "pack"},
        fmt::format("pack {} cannot be followed: it has {} schedule steps (limit: {})", pack, steps,
                    kMaxSteps)));
  return std::unique_ptr<PackReplay>(new PackReplay(std::move(plan), std::move(traffic), collective,
                                                    step, pack, std::move(devices)));
}

PackReplay::PackReplay(std::shared_ptr<const core::Scenario> plan,
                       std::shared_ptr<const Traffic> traffic, core::Collective collective,
                       std::int32_t step, std::int32_t pack, std::vector<std::int32_t> devices)
    : plan_(std::move(plan)),
      traffic_(std::move(traffic)),
      collective_(std::move(collective)),
      step_(step),
      pack_(pack),
      devices_(std::move(devices)),
      contract_(collective_.contract()) {
  begin();
  find_edges();
}

void PackReplay::begin() {
  run_ =
      std::make_unique<SymbolicRun>(*collective_.schedule, contract_, SymbolicRun::Races::kIgnored);
  shown_ = Time();
}

void PackReplay::find_edges() {
  std::set<std::int64_t> edges{0, collective_.elements};
  const core::Schedule& schedule = *collective_.schedule;
  for (std::size_t n = 0; n < run_->lanes(); ++n) {
    const SymbolicRun::LaneState& lane = run_->lane(n);
    for (std::int64_t i = 0; i < lane.steps; ++i) {
      each_range(schedule.step(lane.rank, lane.lane, i), [&](const Range& range) {
        edges.insert(range.offset);
        edges.insert(range.end());
      });
    }
  }
  edges_.assign(edges.begin(), edges.end());
}

Rank PackReplay::rank(std::int32_t device) const {
  const auto rank = std::find(devices_.begin(), devices_.end(), device);
  return device < 0 || rank == devices_.end() ? -1 : static_cast<Rank>(rank - devices_.begin());
}

/// Returns the lane that sends the message for the next step of lane `number`, according to the
/// timeline. Steps that accept a message from any lane need this information.
std::optional<std::size_t> PackReplay::sender_of(std::size_t number) const {
  const SymbolicRun::LaneState& lane = run_->lane(number);
  const std::int32_t device = devices_[lane.rank];
  const Traffic::Sender sender = traffic_->sender(device, lane.lane, step_, pack_, lane.next);
  const Rank from = rank(sender.device);
  if (from < 0 || sender.lane < 0 || sender.lane >= collective_.schedule->lanes(from))
    return std::nullopt;
  return run_->lane_number(from, sender.lane);
}

/// Executes the next step of lane `wanted`. First executes all steps of other lanes on which it
/// depends. If the step
/// receives a message, also executes the sending step, even if the sending step had not ended at
/// this time. Returns false if the step cannot be executed.
bool PackReplay::push(std::size_t wanted) {
  std::vector<std::size_t> chain{wanted};  // each lane waits for the one after it
  while (!chain.empty()) {
    const std::size_t number = chain.back();
    const SymbolicRun::LaneState& lane = run_->lane(number);
    if (lane.done()) return false;
    const StepKind kind = collective_.schedule->step(lane.rank, lane.lane, lane.next).kind;
    const std::optional<std::size_t> sender =
        kind == StepKind::kReceiveAny ? sender_of(number) : std::nullopt;
    if (run_->try_step(number, sender)) {
      chain.pop_back();
      continue;
    }
    const SymbolicRun::Obstacle obstacle = run_->obstacle(number, sender);
    if (obstacle.kind == SymbolicRun::Obstacle::Kind::kNone) return false;
    if (obstacle.kind == SymbolicRun::Obstacle::Kind::kAnyMessage) {
      // The sender of the message is unknown, so it may be any lane that can advance.
      bool moved = false;
      for (std::size_t other = 0; other < run_->lanes() && !moved; ++other)
        moved =
            std::find(chain.begin(), chain.end(), other) == chain.end() && run_->try_step(other);
      if (!moved) return false;
    } else if (std::find(chain.begin(), chain.end(), obstacle.lane) != chain.end()) {
      return false;
    } else {
      chain.push_back(obstacle.lane);
    }
  }
  return true;
}

void PackReplay::show(Time t) {
  if (t < shown_) begin();
  shown_ = t;
  for (std::size_t n = 0; n < run_->lanes(); ++n) {
    const SymbolicRun::LaneState& lane = run_->lane(n);
    const std::int32_t device = devices_[lane.rank];
    if (device < 0) continue;
    const std::int64_t wanted =
        std::min(lane.steps, traffic_->steps_done(device, lane.lane, step_, pack_, t));
    while (lane.next < wanted && push(n)) {
    }
  }
}

std::vector<PackReplay::Piece> PackReplay::held(Rank rank) const {
  std::vector<Piece> pieces;
  for (const core::SymbolicBuffer::Cell& cell : run_->data(rank).cells()) {
    const std::int32_t contributions = run_->sums().contributions(cell.sum);
    if (!pieces.empty() && pieces.back().contributions == contributions) {
      pieces.back().count += cell.end - cell.begin;
    } else {
      pieces.push_back({cell.begin, cell.end - cell.begin, contributions});
    }
  }
  return pieces;
}

std::vector<Rank> PackReplay::contributions(Rank rank, std::int64_t element) const {
  std::vector<Rank> ranks;
  for (const core::SymbolicBuffer::Cell& cell : run_->data(rank).cells()) {
    if (element < cell.begin || element >= cell.end) continue;
    for (Rank r = 0; r < collective_.schedule->ranks(); ++r) {
      if (run_->sums().contains(cell.sum, r)) ranks.push_back(r);
    }
  }
  return ranks;
}

std::optional<Range> PackReplay::range_of(const Transfer& message) const {
  const Rank to = rank(message.to);
  if (to < 0 || message.step != step_ || message.pack != pack_) return std::nullopt;
  const core::Schedule& schedule = *collective_.schedule;
  if (message.to_lane < 0 || message.to_lane >= schedule.lanes(to) || message.to_index < 0 ||
      message.to_index >= schedule.steps(to, message.to_lane))
    return std::nullopt;
  const Step step = schedule.step(to, message.to_lane, message.to_index);
  const Range range = step.kind == StepKind::kReceiveReduceSend ? step.source : step.target;
  if (range.buffer != core::Buffer::kData || range.count == 0) return std::nullopt;
  return range;
}

std::string PackReplay::name_of(std::int64_t offset, std::int64_t count) const {
  const auto chunk = [this](std::int64_t element) {
    return std::upper_bound(edges_.begin(), edges_.end(), element) - edges_.begin() - 1;
  };
  const auto first = chunk(offset), last = chunk(offset + std::max<std::int64_t>(count, 1) - 1);
  if (first != last) return fmt::format("chunks {} to {}", first, last);
  const auto at = static_cast<std::size_t>(first);
  const bool part =
      at + 1 < edges_.size() && (offset > edges_[at] || offset + count < edges_[at + 1]);
  return fmt::format("{}chunk {}", part ? "part of " : "", first);
}

}  // namespace tutti::gui
