// A collective moves its data in pieces, and each piece occupies all links of the
// collective for some time. If the links serve traffic in order of arrival, the end of each
// occupation is known when it begins. In this case, a single event ends the piece, at the end of
// its last occupation. If links are shared fairly, the end of an occupation depends on future
// traffic. With fair sharing, each occupation therefore ends with its own event, and the last of
// these events starts the next piece.
//
// A piece has 512 KiB per channel, which is one slot of NCCL's buffer; a collective has at most
// 1024 pieces. To compute the work and the bytes of a piece, cumulative values are rounded and
// subtracted. The sum over all pieces is therefore exactly the predicted work and bytes. The links
// of a collective are computed once for each schedule and group. core/strategy/nccl_links.cpp
// determines the links, and core/nccl/time determines the times.

#include "sim/collectives/timed_collectives.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace tutti::sim {

using core::Rank;
using core::Time;

namespace {

/// The size of a piece on each channel: one slot of the buffer of NCCL's Simple protocol.
constexpr double kSlot = 512 << 10;
constexpr double kMaxPieces = 1024;

Time part_of(Time whole, std::int64_t part, std::int64_t parts) {
  // Use 64 bits if the product fits, because a 64-bit division is several times as fast as a
  // 128-bit division.
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(whole.count(), part, &product)) return Time(product / parts);
  return Time(static_cast<std::int64_t>(static_cast<core::Wide>(whole.count()) *
                                        static_cast<core::Wide>(part) /
                                        static_cast<core::Wide>(parts)));
}

}  // namespace

std::int64_t TimedCollectives::pieces_of(const core::nccl::CollectiveTime& time) {
  const double bytes = std::max(time.time.links.bytes, time.time.cards.bytes);
  return static_cast<std::int64_t>(
      std::clamp(std::ceil(bytes / (time.channels * kSlot)), 1.0, kMaxPieces));
}

TimedCollectives::KnownLinks& TimedCollectives::known_links(const core::Collective& collective,
                                                            std::int32_t worker) {
  const std::shared_ptr<const core::Schedule>& what =
      worker < 0 ? collective.schedule : collective.nccl_ways;
  KnownLinks& known = links_[{what.get(), worker < 0 ? collective.group.number() : worker}];
  if (!known.links || known.of.expired()) {
    const core::Group group = worker < 0 ? collective.group : collective.group.in(worker);
    known.of = what;
    known.links = std::make_shared<const core::NcclLinks>(collective, group, network_.paths());
    if (last_links_ && *last_links_ == *known.links) known.links = last_links_;
    last_links_ = known.links;
    known.all_expected = false;
  }
  return known;
}

void TimedCollectives::expect(const core::Collective& collective, const GoOn&) {
  expect_inside(collective, -1);
}

void TimedCollectives::expect_inside(const core::Collective& collective, std::int32_t worker) {
  KnownLinks& known = known_links(collective, worker);
  // A training step may have a million collectives of a group with thousands of links.
  if (known.all_expected) return;
  const std::vector<core::LinkUse> uses = known.links->uses(*collective.nccl);
  for (const Network::Occupation& use : uses) network_.expect(use);
  known.all_expected = uses.size() == known.links->size();
}

std::uint32_t TimedCollectives::open(const core::Collective& collective,
                                     CollectiveListener& listener) {
  auto job = std::make_unique<Job>(collective, listener);
  job->serial = interpreter_.take_serial();
  return add(std::move(job));
}

std::uint32_t TimedCollectives::open_inside(const core::Collective& collective, std::int32_t worker,
                                            std::uint64_t serial, CollectiveListener& listener) {
  auto job = std::make_unique<Job>(collective, listener);
  job->group = collective.group.in(worker);
  job->worker = worker;
  job->serial = serial;
  return add(std::move(job));
}

std::uint32_t TimedCollectives::add(std::unique_ptr<Job> job) {
  if (free_.empty()) free_.push(instances_++);
  const std::uint32_t instance = free_.top();
  free_.pop();
  const core::Collective& collective = *job->collective;
  job->instance = instance;
  job->waits_for = job->worker < 0 ? collective.schedule->ranks() : 1;
  job->all_pieces = pieces_of(*collective.nccl);
  job->occupations = links_of(collective, job->worker).uses(*collective.nccl);
  Time most;
  for (Network::Occupation& use : job->occupations) {
    if (use.busy > most) {
      most = use.busy;
      job->busiest = use.link;
    }
    use.busy = part_of(use.busy, 1, job->all_pieces);
  }
  jobs_[instance] = std::move(job);
  return instance;
}

void TimedCollectives::start(std::uint32_t instance, Rank rank, Time now) {
  Job& job = *jobs_.at(instance);
  const bool alone = job.worker < 0;
  const Rank ranks = job.collective->schedule->ranks();
  for (Rank r = alone ? rank : 0; r < (alone ? rank + 1 : ranks); ++r)
    hold_multiprocessors(job, r, time_of(job).channels, now);
  job.last = rank;
  if (--job.waits_for > 0) return;
  job.began = now;
  expect_piece(job, now + time_of(job).delay);
}

std::uint64_t TimedCollectives::order_of(Job& job) {
  return event_order(job.serial, static_cast<std::uint64_t>(std::max(0, job.worker)), ++job.events);
}

void TimedCollectives::expect_piece(Job& job, Time at) {
  events_.push({at, order_of(job), EventKind::kTimed, job.instance, 0});
}

void TimedCollectives::handle(const Event& event) {
  event.kind == EventKind::kReleased ? released(event) : go_on(event);
}

/// Begins the next piece. Called at the end of the previous piece or, for the first piece, at the
/// end of the delay.
void TimedCollectives::go_on(const Event& event) {
  Job& job = *jobs_.at(event.a);
  if (!is_whole(job, event.time)) return;
  if (network_.shares() && job.piece >= 0) {
    for (const Network::Occupation& use : job.occupations)
      network_.carry(of_piece(job, use), job.piece_began, event.time);
  }
  if (++job.piece == job.all_pieces) return finish(job, event.time);
  begin_piece(job, event.time);
}

/// Returns the part of an occupation that belongs to the current piece. The durations of all parts
/// add up exactly to the duration of the occupation.
Network::Occupation TimedCollectives::of_piece(const Job& job, Network::Occupation use) {
  const Time carried(use.carried.count());
  use.carried = core::Bytes((part_of(carried, job.piece + 1, job.all_pieces) -
                             part_of(carried, job.piece, job.all_pieces))
                                .count());
  return use;
}

/// True if no worker of the group is lost. If a worker is lost, all other ranks wait forever.
bool TimedCollectives::is_whole(const Job& job, Time now) const {
  const DeviceFaults& device_faults = devices_.device_faults();
  if (!device_faults.loses_workers()) return true;
  for (Rank rank = 0; rank < job.collective->schedule->ranks(); ++rank) {
    if (device_faults.gone(job.group.device(rank).worker, now)) return false;
  }
  return true;
}

void TimedCollectives::begin_piece(Job& job, Time now) {
  ++pieces_;
  const Time work = time_of(job).work;
  job.piece_began = now;
  job.piece_ends =
      now + part_of(work, job.piece + 1, job.all_pieces) - part_of(work, job.piece, job.all_pieces);
  if (devices_.any_shared()) move_in_memory(job, now);
  if (!network_.shares()) {
    Time end = job.piece_ends;
    core::LinkId last = -1;
    for (const Network::Occupation& use : job.occupations) {
      const Time over = network_.occupy(of_piece(job, use), now);
      if (over > end) {
        end = over;
        last = use.link;
      }
    }
    if (end == core::kNever) return;  // a link is down and stays down, so the collective never ends
    waited(job, last, end);
    return expect_piece(job, end);
  }
  for (const Network::Occupation& use : job.occupations) {
    if (use.busy == Time() || use.link < 0) continue;
    ++job.occupied;
    network_.occupy(use, now, order_of(job), {job.instance, static_cast<std::uint32_t>(use.link)},
                    events_);
  }
  if (job.occupied == 0) expect_piece(job, job.piece_ends);
}

/// Handles the end of the current piece's occupation of one link.
void TimedCollectives::released(const Event& event) {
  const Network::Arrival arrival = network_.deliver(event);
  Job& job = *jobs_.at(arrival.address.instance);
  if (event.time > job.piece_ends) waited(job, job.busiest, event.time);
  if (--job.occupied > 0) return;
  expect_piece(job, std::max(event.time, job.piece_ends));
}

void TimedCollectives::waited(Job& job, core::LinkId link, Time until) {
  if (until - job.piece_ends <= job.queued) return;
  job.queued = until - job.piece_ends;
  job.queued_at = link;
}

void TimedCollectives::move_in_memory(const Job& job, Time now) {
  const core::Bytes bytes(time_of(job).memory.count() / job.all_pieces);
  for (Rank rank = 0; rank < job.collective->schedule->ranks(); ++rank) {
    ComputeStream* const stream = devices_.stream(devices_.id(job.group.device(rank)));
    if (stream) stream->move(bytes, now);
  }
}

/// Changes the number of multiprocessors that the collective holds on the rank's GPU. The thread
/// block of each channel holds one multiprocessor, even while it waits for other ranks.
void TimedCollectives::hold_multiprocessors(const Job& job, Rank rank, int change, Time now) {
  if (!devices_.any_shared()) return;
  ComputeStream* const stream = devices_.stream(devices_.id(job.group.device(rank)));
  if (stream) stream->occupy(change, now, events_);
}

void TimedCollectives::finish(Job& job, Time now) {
  const core::nccl::CollectiveTime& time = time_of(job);
  const Time moving = std::min(time.work, core::time_from_us(time.time.transfer));
  const bool far = time.cards > time.links;
  CausalChain causal_chain;
  causal_chain.origin = job.last;
  causal_chain.parts.latency = time.delay + time.work - moving;
  causal_chain.moved(
      far ? core::LinkKind::kNetwork : links_of(*job.collective, job.worker).inside(), job.busiest,
      moving);
  causal_chain.parts.queue = now - job.began - time.delay - time.work;
  causal_chain.waited_at(job.queued_at, job.queued);
  const std::uint32_t instance = job.instance;
  const Rank ranks = job.collective->schedule->ranks();
  for (Rank rank = 0; rank < ranks; ++rank) hold_multiprocessors(job, rank, -time.channels, now);
  // The listener closes the instance when the last rank is reported.
  CollectiveListener& listener = *job.listener;
  for (Rank rank = 0; rank < ranks; ++rank) listener.rank_done(instance, rank, now, causal_chain);
}

}  // namespace tutti::sim
