#include "sim/interpreter/rounds.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::sim {
namespace {

using core::Time;

std::int64_t wrapped(std::int64_t number, int bits) {
  return number & ((std::int64_t{1} << bits) - 1);
}

/// Changes the state as if a number of further rounds had been simulated, each of which is
/// identical to the round between two snapshots.
class Mover : public StateVisitor {
 public:
  Mover(const StateSnapshot& before, const StateSnapshot& now, std::int64_t rounds)
      : before_(before), now_(now), rounds_(rounds) {}

  [[nodiscard]] Time later() const { return rounds_ * (now_.at - before_.at); }

  [[nodiscard]] Time now() const override { return now_.at; }
  void same(std::int64_t) override {}
  void seen(Time) override {}
  void until(Time& time) override {
    if (time >= now_.at && time != core::kNever) time += later();
  }
  void moment(Time& time) override {
    if (time != core::kNever) time += later();
  }
  void counted(std::int64_t& count) override {
    count += rounds_ * (now_.counted[counted_] - before_.counted[counted_]);
    ++counted_;
  }
  void numbered(std::uint64_t& number, int bits) override {
    const std::int64_t grown =
        wrapped(now_.numbered[numbered_] - before_.numbered[numbered_], bits);
    number = static_cast<std::uint64_t>(
        wrapped(static_cast<std::int64_t>(number) + wrapped(rounds_, bits) * grown, bits));
    ++numbered_;
  }
  void recorded(std::int64_t) override {}
  void unfit() override {}

 private:
  const StateSnapshot& before_;
  const StateSnapshot& now_;
  std::int64_t rounds_;
  std::size_t counted_ = 0;
  std::size_t numbered_ = 0;
};

/// True if the same events follow from both snapshots, shifted in time.
bool looks_like(const StateSnapshot& a, const StateSnapshot& b) {
  return a.same == b.same && a.counted.size() == b.counted.size() && a.bits == b.bits &&
         a.recorded.size() == b.recorded.size();
}

/// Compares three snapshots that were taken one round apart. Returns true if this round and all
/// later rounds add the same amounts to all counters.
bool grow_evenly(const StateSnapshot& a, const StateSnapshot& b, const StateSnapshot& c) {
  for (std::size_t i = 0; i < a.counted.size(); ++i) {
    if (b.counted[i] - a.counted[i] != c.counted[i] - b.counted[i]) return false;
  }
  for (std::size_t i = 0; i < a.numbered.size(); ++i) {
    if (wrapped(b.numbered[i] - a.numbered[i], a.bits[i]) !=
        wrapped(c.numbered[i] - b.numbered[i], a.bits[i]))
      return false;
  }
  return b.recorded == c.recorded;
}

bool is_ours(const Event& event) {
  return event.kind == EventKind::kLane || event.kind == EventKind::kHop ||
         event.kind == EventKind::kDeliver || event.kind == EventKind::kArrive;
}

}  // namespace

Time Rounds::compare_rounds(Time now) {
  idle_ = 0;
  if (!pace_) {
    begin();
    return {};
  }
  const std::optional<std::int64_t> progress = interpreter_.progress(*pace_);
  if (!progress || pace_->identical.end - *progress < 4 * round_) {
    give_up();
    return {};
  }
  StateSnapshot last = snapshot(now);
  if (!last.fit) {
    give_up();
    return {};
  }
  due_ = *progress + round_;
  if (!snapshots_.empty() && !looks_like(snapshots_.back(), last)) {
    longer_rounds(std::move(last));
    return {};
  }
  snapshots_.push_back(std::move(last));
  if (snapshots_.size() < 3) return {};
  if (grow_evenly(snapshots_[0], snapshots_[1], snapshots_[2])) return skip(now);
  longer_rounds(std::move(snapshots_.back()));
  return {};
}

void Rounds::begin() {
  pace_ = interpreter_.find_pace(kMaxLanes);
  if (!pace_) return;
  rest_ = std::max(kRest, kRestPerLane * pace_->lanes);
  round_ = pace_->identical.period;
  due_ = *interpreter_.progress(*pace_) + round_;
  if (pace_->identical.end - due_ < kFewRounds * round_) give_up();
}

void Rounds::give_up() {
  pace_.reset();
  snapshots_.clear();
}

/// Assumes a longer round for the next attempt. The lengths that are tried are 1, 2, 3, 4, 6, 8,
/// 12, … times the period of identical steps.
void Rounds::longer_rounds(StateSnapshot last) {
  const std::int64_t times = round_ / pace_->identical.period;
  const bool three = times % 3 == 0;
  round_ = pace_->identical.period * (times == 1 ? 2 : (three ? times / 3 * 4 : times / 2 * 3));
  due_ = last.progress[pace_->lane] + round_;
  snapshots_.clear();
  snapshots_.push_back(std::move(last));
}

/// Divides the pending events: returns those of the collective, in order, and appends all others to
/// `others`.
std::vector<Event> Rounds::ours(std::vector<Event>& others) const {
  std::vector<Event> all = events_.all();
  const auto rest = std::partition(all.begin(), all.end(), is_ours);
  others.assign(rest, all.end());
  all.erase(rest, all.end());
  std::sort(all.begin(), all.end(), [](const Event& a, const Event& b) { return a.before(b); });
  return all;
}

void Rounds::visit(StateVisitor& visitor, std::vector<Event>& ours) {
  interpreter_.visit_state(*pace_, visitor);
  network_.visit_state(visitor);
  devices_.visit_state(visitor);
  ties_.visit_state(visitor);
  visitor.same(std::ssize(ours));
  for (Event& event : ours) {
    visitor.moment(event.time);
    visit_order(event.order, visitor);
    visitor.same(static_cast<std::int64_t>(event.kind));
    visitor.same(event.b);
    if (event.kind == EventKind::kHop || event.kind == EventKind::kDeliver) {
      network_.visit_message(event.a, visitor);
    } else {
      visitor.same(event.a);
    }
  }
}

StateSnapshot Rounds::snapshot(Time now) {
  std::vector<Event> others;
  std::vector<Event> events = ours(others);
  StateSnapshot snapshot = snapshot_of(now, [&](StateVisitor& visitor) { visit(visitor, events); });
  snapshot.progress = interpreter_.progress_of_lanes(*pace_);
  snapshot.carried = network_.loads().totals();
  return snapshot;
}

/// Skips as many identical rounds as possible before the next event that does not belong to the
/// collective.
Time Rounds::skip(Time now) {
  const StateSnapshot before = std::move(snapshots_[1]);
  const StateSnapshot last = std::move(snapshots_[2]);
  const Time round = last.at - before.at;
  std::vector<Event> others;
  std::vector<Event> events = ours(others);
  std::int64_t rounds = interpreter_.rounds_left(*pace_, snapshots_[0].progress);
  Time end = core::kHorizon;
  for (const Event& event : others) end = std::min(end, event.time);
  if (round > Time()) rounds = std::min(rounds, (end - now - Time(1)) / round);
  if (rounds <= 0) {
    give_up();
    return {};
  }
  const std::int64_t steps = interpreter_.steps_executed();
  Mover mover(before, last, rounds);
  visit(mover, events);
  steps_skipped_ += interpreter_.steps_executed() - steps;
  network_.carry_again(before.carried, rounds);
  events_.replace(events, others);
  give_up();
  return mover.later();
}

}  // namespace tutti::sim
