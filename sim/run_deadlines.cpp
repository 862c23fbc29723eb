// Of a run: the timers of TensorFlow's collectives (sim/deadlines.h).

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/format.h"
#include "sim/run_state.h"

namespace tutti::sim {

using core::Rank;
using core::Time;

void Run::arm(Flight& flight, const Replica& replica, Rank rank) {
  flight.came.resize(static_cast<std::size_t>(collectives_.collective(flight.work).contributors), false);
  flight.done.resize(flight.came.size(), false);
  flight.came[static_cast<std::size_t>(rank)] = true;
  const bool last = deadlines_.joins(replica.index);
  arm_timer(flight, rank);
  if (!last) return;
  // The group is resolved now: what was waiting for that is executed from here on.
  for (auto& [instance, other] : flights_) {
    for (std::size_t r = 0; r < other.came.size(); ++r) {
      if (other.came[r] && !other.done[r] && !(&other == &flight && static_cast<Rank>(r) == rank))
        arm_timer(other, static_cast<Rank>(r));
    }
  }
}

void Run::arm_timer(const Flight& flight, Rank rank) {
  const Time at = later(now_, deadlines_.timeout());
  if (at > core::kHorizon) return;
  const std::uint32_t number =
      deadlines_.arm({flight.step, flight.number, flight.work.place.group, rank, deadlines_.resolved()});
  events_.push({at, static_cast<std::uint64_t>(rank), EventKind::kTimer, number, 0});
}

void Run::timer_fires(const Event& event) {
  const Deadlines::Timer& timer = deadlines_.timer(event.a);
  const auto known = flights_by_number_.find({timer.step, timer.number, timer.group});
  if (known == flights_by_number_.end()) return;
  const Flight& flight = flights_[known->second];
  if (flight.done[static_cast<std::size_t>(timer.rank)] || (!timer.execution && deadlines_.resolved())) return;
  exceeded_ = deadline_exceeded(flight, timer);
  sink_.note(exceeded_->message());
  // What was under way is shown up to here.
  for (const auto& [instance, open] : flights_) {
    if (open.ranks_left == 0 || open.work.pack < 0) continue;
    const core::Group& group = collectives_.collective(open.work).group;
    for (std::size_t r = 0; r < open.came.size(); ++r) {
      if (open.came[r] && !open.done[r])
        recorder_.pack_done(group.device(static_cast<Rank>(r)), instance, open.step, open.work.pack, open.started[r],
                            now_);
    }
  }
}

core::Error Run::deadline_exceeded(const Flight& flight, const Deadlines::Timer& timer) const {
  const core::Group& group = collectives_.collective(flight.work).group;
  const std::int64_t came = std::count(flight.came.begin(), flight.came.end(), true);
  std::string awaited = not_come(flight);
  if (awaited.empty()) awaited = what_is_gone();
  const bool pack = flight.work.pack >= 0;
  std::string what = pack ? fmt::format("pack {}", flight.work.pack) : fmt::format("exchange {}", flight.work.exchange);
  if (pack && scenario_.plan.packs[static_cast<std::size_t>(flight.work.pack)].payload.instance_key > 0)
    what += fmt::format(" (instance {})",
                        scenario_.plan.packs[static_cast<std::size_t>(flight.work.pack)].payload.instance_key);
  return core::Error::run(fmt::format(
      "DeadlineExceeded at {}, in step {}: Collective has timed out {}. {} on {} had been {} for {}; {} of {} "
      "devices had come{}. Give timeout_seconds more time than it may take, or 0 for none",
      core::show(now_), timer.step, timer.execution ? "during execution" : "waiting for other workers", what,
      cluster_.part_name(group.device(timer.rank)), timer.execution ? "executed" : "waiting",
      core::show(deadlines_.timeout()), came, flight.came.size(), awaited.empty() ? "" : "; waited for: " + awaited));
}

/// The workers of whose devices some have not started the collective.
std::string Run::not_come(const Flight& flight) const {
  constexpr int kMostNamed = 8;
  const core::Group& group = collectives_.collective(flight.work).group;
  std::string text;
  std::int32_t last = -1;
  int named = 0;
  for (std::size_t r = 0; r < flight.came.size(); ++r) {
    const std::int32_t worker = group.device(static_cast<Rank>(r)).worker;
    if (flight.came[r] || std::exchange(last, worker) == worker) continue;
    if (named++ == kMostNamed) return text + ", …";
    text += fmt::format("{}w{}", text.empty() ? "" : ", ", worker);
  }
  return text;
}

}  // namespace tutti::sim
