// Of a run: packs that answer others (BytePS's pulls).

#include "sim/run_state.h"

namespace tutti::sim {

using core::Rank;

/// The rank gives, or passes on, what another pack brings together, and is not through with that.
bool Run::answers_later(const Flight& flight, Rank rank) const {
  if (flight.work.pack < 0) return false;
  const std::int32_t answered = scenario_.plan.packs[static_cast<std::size_t>(flight.work.pack)].answers;
  if (answered < 0) return false;
  const auto known = flights_by_number_.find({flight.step, answered, flight.work.place.group});
  if (known == flights_by_number_.end()) return false;
  const std::vector<bool>& through = flights_.at(known->second).through;
  return !through[static_cast<std::size_t>(rank)];
}

/// A helper is through with a pack: it begins with the one that answers it, if that is under way.
void Run::answer(const Flight& answered, Rank rank, const Cause& cause) {
  const std::int32_t pack = pull_of_[static_cast<std::size_t>(answered.work.pack)];
  const auto known = flights_by_number_.find({answered.step, pack, answered.work.place.group});
  if (known == flights_by_number_.end()) return;
  Flight& flight = flights_[known->second];
  start_rank(flight, rank, collective_of(flight).group.device(rank), cause, now_);
}

}  // namespace tutti::sim
