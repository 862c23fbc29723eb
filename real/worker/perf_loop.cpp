// Between the timed iterations there are no checks and no messages to the coordinator, and the
// clock is read only when no data moves. The function one() executes an iteration. First, one()
// starts the collective. While the first messages are in flight, one() closes the previous
// iteration, and opens the next iteration for messages of peers that are ahead. The results of an
// iteration are the inputs of the next iteration, so no buffer is filled in between. The measured
// time is the time of all timed iterations together, by this process's clock. The caller divides
// the measured time by the number of iterations. The timeout of a run limits the time without
// progress, not the time of an iteration. The interpreter or NCCL executes the collectives.

#include "real/worker/perf_loop.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"
#include "real/interpreter/gradients.h"
#include "real/process/core_wait.h"
#include "real/worker/patience.h"

namespace tutti::real {

using core::Expected;
using core::Rank;
using Clock = Transport::Clock;

namespace {

core::Expected<void> failed(core::ProblemCode code, const std::string& text) {
  return tl::make_unexpected(core::Error::run({code}, text));
}

std::unique_ptr<Collectives> interpreter(Transport& transport, Devices& devices,
                                         InterpreterListener& listener) {
  return std::make_unique<Interpreter>(transport, devices, listener, false);
}

}  // namespace

PerfLoop::PerfLoop(const core::Scenario& scenario, std::int32_t worker, Transport& transport,
                   Devices& devices, const WorkerOptions& options, const LoopOptions& loop,
                   const CollectivesMaker& maker)
    : scenario_(scenario),
      collective_(scenario.plan.collective(scenario.plan.packs.front())),
      worker_(worker),
      transport_(transport),
      devices_(devices),
      options_(options),
      loop_(loop),
      collectives_(maker ? maker(*this, false) : interpreter(transport, devices, *this)) {
  const core::Cluster& cluster = *scenario.cluster;
  const int per_worker = cluster.replicas_per_worker();
  for (int i = 0; i < per_worker; ++i) ranks_.push_back(static_cast<Rank>(worker * per_worker + i));
  replicas_ = ranks_.size();
  if (collective_.schedule->ranks() > cluster.replicas())
    ranks_.push_back(static_cast<Rank>(cluster.replicas() + worker));
  for (std::size_t r = 0; r < replicas_; ++r)
    data_.push_back(devices.take(ranks_[r], collective_.buffer_bytes().count(), false));
  places_.resize(ranks_.size());
  for (std::size_t r = 0; r < replicas_; ++r) places_[r] = data_[r].get();
  if (!core::synchronises(collective_.kind)) {
    barrier_ = make_barrier();
    for (std::size_t r = 0; r < replicas_; ++r)
      barrier_data_.push_back(devices.take(ranks_[r], barrier_->buffer_bytes().count(), false));
    // The benchmark has two iterations that check results, and three barriers, in addition to the
    // configured iterations.
    collectives_->allow_early_messages(
        {static_cast<std::uint32_t>(loop_.warm_up + loop_.iterations) + 5, 0});
  }
  open(0);
}

std::unique_ptr<core::Collective> PerfLoop::make_barrier() const {
  core::Strategy strategy = scenario_.strategy;
  strategy.collective = core::CollectiveKind::kAllReduce;
  strategy.reduction = core::Reduction::kSum;
  strategy.out_of_place = false;
  return std::make_unique<core::Collective>(
      core::make_collective(*scenario_.cluster, strategy, core::DataType::kInt32, 1, 0));
}

/// Returns true if the iteration with this index is a barrier. The iterations are a check, a
/// barrier, the warm-up, a barrier, the timed iterations, a barrier, and a check, in this order.
bool PerfLoop::is_barrier(std::uint32_t iteration) const {
  const auto warm = static_cast<std::uint32_t>(loop_.warm_up);
  const auto timed = static_cast<std::uint32_t>(loop_.iterations);
  return barrier_ && (iteration == 1 || iteration == 2 + warm || iteration == 3 + warm + timed);
}

std::vector<std::string> PerfLoop::notes() const {
  std::vector<std::string> notes = devices_.notes();
  for (std::string& note : collectives_->notes()) notes.push_back(std::move(note));
  return notes;
}

void PerfLoop::open(std::uint32_t iteration) {
  const CollectiveTag tag{iteration, 0};
  if (!is_barrier(iteration))
    return collectives_->open(tag, collective_, operation_of(scenario_.strategy.reduction), ranks_,
                              places_);
  std::vector<std::byte*> places(ranks_.size());
  for (std::size_t r = 0; r < replicas_; ++r) places[r] = barrier_data_[r].get();
  collectives_->open(tag, *barrier_, Operation::kSum, ranks_, places);
}

Expected<WorkerStep> PerfLoop::run(const std::function<bool()>& idle) {
  if (auto right = checked(idle); !right) return tl::make_unexpected(right.error());
  if (auto all = barrier(idle); !all) return tl::make_unexpected(all.error());
  const std::int32_t warm_up = barrier_ ? loop_.warm_up : std::max(loop_.warm_up, 1);
  if (auto warm = iterate(warm_up, idle); !warm) return tl::make_unexpected(warm.error());
  if (auto all = barrier(idle); !all) return tl::make_unexpected(all.error());
  CoreWait core_wait;
  const Clock::time_point start = Clock::now();
  if (auto timed = iterate(loop_.iterations, idle); !timed)
    return tl::make_unexpected(timed.error());
  const Clock::time_point end = Clock::now();
  const std::chrono::nanoseconds waited = core_wait.lap();
  if (auto all = barrier(idle); !all) return tl::make_unexpected(all.error());
  if (auto right = checked(idle); !right) return tl::make_unexpected(right.error());

  WorkerStep step = as_step(start, end);
  step.core_wait = waited;
  return step;
}

/// Executes a barrier: returns when all ranks have arrived at the barrier.
Expected<void> PerfLoop::barrier(const std::function<bool()>& idle) {
  if (!barrier_) return {};
  TUTTI_CHECK(is_barrier(iteration_), "iteration {} is not a barrier", iteration_);
  return one(idle);
}

WorkerStep PerfLoop::as_step(Clock::time_point start, Clock::time_point end) const {
  WorkerStep result;
  for (std::size_t r = 0; r < replicas_; ++r) {
    const core::PartId device = scenario_.cluster->replica(ranks_[r]);
    result.replicas.push_back(
        {scenario_.cluster->part_name(device), start, end, {}, {}, {}, end - start, end - start});
    core::Span span;
    span.start = stamp(start);
    span.duration = stamp(end) - span.start;
    span.kind = core::SpanKind::kPackInFlight;
    span.pack = 0;
    const core::Track track{
        0, core::TrackKind::kPacks, worker_, scenario_.cluster->part(device).name, 0, -1};
    result.recorded.push_back({track, {span}});
  }
  result.packs.push_back({0, start, start, start, end});
  return result;
}

/// Runs an iteration on fresh inputs and checks its results.
Expected<void> PerfLoop::checked(const std::function<bool()>& idle) {
  const Reduced reduced =
      reduced_of(scenario_.strategy.reduction, collective_, std::uint64_t{iteration_} << 32);
  const std::int64_t bytes = collective_.buffer_bytes().count();
  std::vector<std::vector<std::byte>> bounce(replicas_);  // for memory that the host cannot access
  for (std::size_t r = 0; r < replicas_; ++r) {
    const bool reached = devices_.host_reaches(ranks_[r]);
    if (!reached) bounce[r].resize(bytes);
    std::byte* const to = reached ? places_[r] : bounce[r].data();
    fill_inputs(reduced, collective_.contract(), ranks_[r], to);
    if (!reached) devices_.copy_now(places_[r], to, bytes);
  }
  if (auto done = one(idle); !done || !options_.verify) return done;
  const std::vector<Rank> ranks(ranks_.begin(), ranks_.begin() + replicas_);
  std::vector<const std::byte*> results;
  for (std::size_t r = 0; r < replicas_; ++r) {
    if (!bounce[r].empty()) devices_.copy_now(bounce[r].data(), places_[r], bytes);
    results.push_back(bounce[r].empty() ? places_[r] : bounce[r].data());
  }
  // If a device has failed, report the failure, not the wrong result that it has caused.
  if (auto polled = devices_.poll(*collectives_); !polled) return polled;
  const auto wrong = find_wrong_element(reduced, collective_.contract(), ranks, results);
  if (!wrong) return {};
  return failed(core::ProblemCode::kWrongResult,
                fmt::format("iteration {}: element {} is wrong on rank {}: it is {:.17g}, but must "
                            "be {:.17g} ± {:.2g}",
                            iteration_ - 1, wrong->element, wrong->rank, wrong->got,
                            wrong->expected, wrong->tolerance));
}

Expected<void> PerfLoop::iterate(std::int32_t times, const std::function<bool()>& idle) {
  for (std::int32_t i = 0; i < times; ++i) {
    if (auto done = one(idle); !done) return done;
  }
  return {};
}

/// Executes an iteration. While the first messages are in flight, closes the previous iteration and
/// opens the next iteration.
Expected<void> PerfLoop::one(const std::function<bool()>& idle) {
  const CollectiveTag tag{iteration_, 0};
  ranks_left_ = ranks_.size();
  for (const Rank rank : ranks_) collectives_->start(tag, rank);
  if (auto polled = collectives_->poll(); !polled) return polled;
  if (iteration_ > 0) collectives_->close({iteration_ - 1, 0});
  open(++iteration_);
  // Read the clock only while no data moves, because reading the clock a few times takes as long as
  // a short message.
  Clock::time_point moved{};
  std::int64_t carried = 0;
  for (std::int64_t seen = collectives_->moved(); ranks_left_ > 0;) {
    const Clock::time_point until = std::min(devices_.next_due(), collectives_->next_due());
    if (auto polled = transport_.poll(until); !polled) return polled;
    if (auto polled = devices_.poll(*collectives_); !polled) return polled;
    if (auto polled = collectives_->poll(); !polled) return polled;
    if (collectives_->moved() != seen) {
      seen = collectives_->moved();
      moved = {};
      continue;
    }
    const Clock::time_point now = Clock::now();
    // A long piece on a slow link counts as progress before it has arrived.
    if (moved == Clock::time_point{} || transport_.carried() != carried) moved = now;
    carried = transport_.carried();
    if (now - moved > options_.timeout)
      return failed(core::ProblemCode::kTimeout,
                    nothing_moved(options_.timeout, collectives_->progress_text()));
    if (!idle()) return failed(core::ProblemCode::kStopped, "the run was stopped");
  }
  if (iteration_ % 64 == 0 && !idle())
    return failed(core::ProblemCode::kStopped, "the run was stopped");
  return {};
}

void PerfLoop::rank_done(CollectiveTag, Rank) { --ranks_left_; }

Expected<void> PerfLoop::flush() {
  Clock::time_point moved_at = Clock::now();
  std::int64_t carried = transport_.carried();
  while (!transport_.flushed()) {
    if (auto polled = transport_.poll(Clock::now() + std::chrono::milliseconds(5)); !polled)
      return polled;
    if (transport_.carried() != carried) moved_at = Clock::now();
    carried = transport_.carried();
    if (Clock::now() - moved_at > options_.timeout)
      return failed(core::ProblemCode::kTimeout,
                    "no progress, because a peer does not accept data");
  }
  return {};
}

}  // namespace tutti::real
