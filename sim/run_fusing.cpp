// Of a run: packs that are fused in cycles (sim/fusing.h).

#include <limits>

#include "sim/run_state.h"

namespace tutti::sim {

using core::Time;

namespace {
/// What becomes ready when a cycle begins is in it.
constexpr std::uint64_t kAfterOthers = std::numeric_limits<std::uint64_t>::max() - 2;
}  // namespace

void Run::ask(Replica& replica, int pack) {
  if (!fusing_.ask(replica.step, pack, replica.index, {replica.cause, now_})) return;
  if (const auto at = fusing_.next_cycle(now_)) events_.push({*at, kAfterOthers + 1, EventKind::kCycle, 0, 0});
}

void Run::cycle(const Event& event) {
  if (event.a == 0) return events_.push({fusing_.begin_cycle(event.time), kAfterOthers, EventKind::kCycle, 1, 0});
  for (const auto& packs : fusing_.agreed()) {
    for (Replica& replica : replicas_) {
      Fusing::Stream& stream = fusing_.stream(replica.index);
      stream.push_back(packs);
      if (stream.size() == 1) launch_fused(replica, fusing_.asked(*packs, replica.index));
    }
  }
}

/// The first of the replica's stream.
void Run::launch_fused(Replica& replica, const Fusing::Asked& asked) {
  const std::shared_ptr<const FusedPacks> packs = fusing_.stream(replica.index).front();
  const Work work = collectives_.of_pack(packs->packs.front(), replica.index);
  Flight& flight = flight_of(replica.step, replica.cause, work, packs->packs.front(), packs);
  if (replica.in_flight++ == 0) replica.in_flight_since = now_;
  flight.asked[static_cast<std::size_t>(work.place.rank)] = asked.at;
  // Copies into the buffer and out of it take the stream's time; both are counted in front.
  const Time copies = 2 * transfer_time(packs->copied, cluster_.part(replica.device).device.copy);
  flight.copies[static_cast<std::size_t>(work.place.rank)] = copies;
  start_rank(flight, static_cast<core::Rank>(work.place.rank), replica.device, asked.cause, now_, copies);
}

/// The replica is through with what its stream was doing.
void Run::fused_done(Replica& replica, const FusedPacks& packs) {
  Fusing::Stream& stream = fusing_.stream(replica.index);
  stream.pop_front();
  if (!stream.empty()) launch_fused(replica, {replica.cause, now_});
  for (const int pack : packs.packs) replica.driver.pack_done(pack, replica.actions);
}

}  // namespace tutti::sim
