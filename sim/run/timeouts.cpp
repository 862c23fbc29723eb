#include "sim/run/timeouts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/format.h"
#include "sim/device/gone.h"

namespace tutti::sim {

using core::Rank;
using core::Time;

namespace {

/// Formats a list of workers: "w1, w2". After the eighth worker, the list ends with an ellipsis.
std::string named(const std::vector<std::int32_t>& workers) {
  constexpr std::size_t kMaxNamed = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(workers.size(), kMaxNamed); ++i)
    text += fmt::format("{}w{}", i == 0 ? "" : ", ", workers[i]);
  return workers.size() > kMaxNamed ? text + ", …" : text;
}

}  // namespace

void Timeouts::launched(Flight& flight, std::int64_t replica, Rank rank, Time now) {
  if (!deadlines_.any()) return;
  flight.rank_started.resize(
      static_cast<std::size_t>(collectives_.planned(flight.work).first.contributors), false);
  flight.done.resize(flight.rank_started.size(), false);
  flight.rank_started[rank] = true;
  const bool last = deadlines_.joins(replica);
  arm(flight, rank, now);
  if (!last) return;
  // The group is resolved now. Start the second timer of all collectives that waited for the
  // resolution.
  flights_.visit([&](const Flight& other) {
    for (std::size_t r = 0; r < other.rank_started.size(); ++r) {
      if (other.rank_started[r] && !other.done[r] &&
          !(&other == &flight && static_cast<Rank>(r) == rank))
        arm(other, static_cast<Rank>(r), now);
    }
  });
}

void Timeouts::arm(const Flight& flight, Rank rank, Time now) {
  const Time at = later(now, deadlines_.timeout());
  if (at > core::kHorizon) return;
  const std::uint32_t number = deadlines_.arm(
      {flight.step, flight.number, flight.work.place.group, rank, deadlines_.resolved()});
  events_.push({at, static_cast<std::uint64_t>(rank), EventKind::kTimer, number, 0});
}

void Timeouts::fires(const Event& event) {
  const Deadlines::Timer& timer = deadlines_.timer(event.a);
  const Flight* const flight = flights_.find(timer.step, timer.number, timer.group);
  if (!flight) return;
  if (flight->done[timer.rank] || (!timer.execution && deadlines_.resolved())) return;
  exceeded_ = deadline_exceeded(*flight, timer, event.time);
  sink_.note(exceeded_->message());
  // Record the packs that are in flight, up to this time.
  flights_.visit([&](const Flight& open) {
    if (open.ranks_left == 0 || open.work.pack < 0) return;
    const core::Group group = group_of(open);
    for (std::size_t r = 0; r < open.rank_started.size(); ++r) {
      if (open.rank_started[r] && !open.done[r])
        recorder_.pack_done(group.device(static_cast<Rank>(r)), open.instance, open.step,
                            open.work.pack, open.started[r], event.time);
    }
  });
}

core::Error Timeouts::deadline_exceeded(const Flight& flight, const Deadlines::Timer& timer,
                                        Time now) const {
  const core::Group group = group_of(flight);
  const std::int64_t rank_started =
      std::count(flight.rank_started.begin(), flight.rank_started.end(), true);
  const std::vector<std::int32_t> absent = not_come(flight);
  std::string awaited = named(absent);
  if (awaited.empty()) awaited = lost_worker_text(scenario_);
  const bool pack = flight.work.pack >= 0;
  std::string what = pack ? fmt::format("pack {}", flight.work.pack)
                          : fmt::format("exchange {}", flight.work.exchange);
  if (pack && scenario_.plan.packs[flight.work.pack].payload.instance_key > 0)
    what +=
        fmt::format(" (instance {})", scenario_.plan.packs[flight.work.pack].payload.instance_key);
  return core::Error::run(
      {core::ProblemCode::kTimeout, "CommunicationOptions.timeout_seconds",
       absent.empty() ? -1 : absent.front()},
      fmt::format("DeadlineExceeded at {}, in step {}: Collective has timed out {}. {} on {} had "
                  "been {} for {}; {} of {} devices had started this collective{}. Set "
                  "timeout_seconds to more "
                  "than the longest collective takes, or to 0 for no timeout",
                  core::show(now), timer.step,
                  timer.execution ? "during execution" : "waiting for other workers", what,
                  scenario_.cluster->part_name(group.device(timer.rank)),
                  timer.execution ? "running" : "waiting", core::show(deadlines_.timeout()),
                  rank_started, flight.rank_started.size(),
                  awaited.empty() ? "" : "; waited for: " + awaited));
}

/// Returns the workers that have at least one replica which has not started the collective.
std::vector<std::int32_t> Timeouts::not_come(const Flight& flight) const {
  const core::Group group = group_of(flight);
  std::vector<std::int32_t> workers;
  for (std::size_t r = 0; r < flight.rank_started.size(); ++r) {
    const std::int32_t worker = group.device(static_cast<Rank>(r)).worker;
    if (!flight.rank_started[r] && (workers.empty() || workers.back() != worker))
      workers.push_back(worker);
  }
  return workers;
}

}  // namespace tutti::sim
