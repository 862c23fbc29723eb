#include "real/worker_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::real {

using core::ComputeKind;
using core::ComputeTask;
using core::Rank;
using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackKind;
using Clock = Transport::Clock;

namespace {

/// A point of the monotonic clock as a span has it: nanoseconds.
Time stamp(Clock::time_point t) { return Time(std::chrono::nanoseconds(t.time_since_epoch()).count()); }

std::uint64_t key_of(std::int32_t step, std::size_t pack) {
  return static_cast<std::uint64_t>(step) << 32 ^ static_cast<std::uint64_t>(pack) * 0x9e3779b97f4a7c15u;
}

Operation operation_of(core::Reduction reduction) {
  switch (reduction) {
    case core::Reduction::kMin: return Operation::kMin;
    case core::Reduction::kMax: return Operation::kMax;
    case core::Reduction::kProduct: return Operation::kProduct;
    default: return Operation::kSum;  // a mean is a sum that is then divided
  }
}

}  // namespace

/// Something that a compute stream is busy with.
struct WorkerRun::Task {
  ComputeTask task;
  Clock::time_point start, end;
};

struct WorkerRun::Replica : core::DriverActions {
  Replica(WorkerRun& r, core::Driver d, Rank k, core::PartId p) : run(r), driver(std::move(d)), rank(k), device(p) {}

  void compute(const ComputeTask& task) override { run.compute(*this, task); }
  void pack_ready(int pack) override { run.packs_[static_cast<std::size_t>(pack)].ready = run.timers_.now(); }
  void launch(int pack) override { run.launch(*this, pack); }
  void step_done() override {
    done.end = run.timers_.now();
    --run.replicas_left_;
  }

  WorkerRun& run;
  core::Driver driver;
  Rank rank;
  core::PartId device;
  Clock::time_point stream_free;
  std::optional<Clock::time_point> cause;  ///< of what the driver asks for at the moment; now, if not set
  int in_flight = 0;
  Clock::time_point in_flight_since;
  ReplicaStep done;
};

WorkerRun::WorkerRun(const core::Scenario& scenario, std::int32_t worker, Transport& transport, Devices& devices,
                     Timers& timers, const WorkerOptions& options)
    : scenario_(scenario),
      worker_(worker),
      transport_(transport),
      devices_(devices),
      timers_(timers),
      options_(options),
      tables_(scenario.workload, scenario.plan),
      interpreter_(transport, devices, *this, options.record_steps) {
  const core::Cluster& cluster = *scenario.cluster;
  std::size_t group = 0;
  for (std::int64_t before = cluster.groups()[0].count; worker >= before; before += cluster.groups()[++group].count) {
  }
  const int per_worker = cluster.replicas_per_worker();
  for (int i = 0; i < per_worker; ++i) {
    const auto rank = static_cast<Rank>(worker * per_worker + i);
    const core::PartId device = cluster.replica(rank);
    replicas_.push_back(std::make_unique<Replica>(
        *this, core::Driver(tables_, scenario.workload.times[group], cluster.part(device).device.copy), rank, device));
    ranks_.push_back(rank);
  }
  if (scenario.plan.packs.front().collective.schedule->ranks() > cluster.replicas())
    ranks_.push_back(static_cast<Rank>(cluster.replicas() + worker));
  buffers_.resize(scenario.plan.packs.size());
  for (std::size_t p = 0; p < buffers_.size(); ++p) {
    const std::int64_t bytes = scenario.plan.packs[p].collective.bytes().count();
    for (std::size_t r = 0; r < replicas_.size(); ++r) buffers_[p].push_back(devices.take(ranks_[r], bytes, false));
  }
}

WorkerRun::~WorkerRun() = default;

Receiver& WorkerRun::receiver() { return interpreter_; }

void WorkerRun::prepare(std::int32_t step) {
  for (std::size_t p = 0; p < buffers_.size(); ++p) {
    const core::Collective& collective = scenario_.plan.packs[p].collective;
    std::vector<std::byte*> data(ranks_.size());
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      data[r] = buffers_[p][r].get();
      fill(reduced(step, p), ranks_[r], data[r], collective.elements);
    }
    interpreter_.open({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(p)}, collective,
                      operation_of(scenario_.strategy.reduction), ranks_, data);
  }
}

/// What the pack's all-reduce of a step is given and must come to.
Reduced WorkerRun::reduced(std::int32_t step, std::size_t pack) const {
  const core::Collective& collective = scenario_.plan.packs[pack].collective;
  const core::Reduction reduction = scenario_.strategy.reduction;
  const auto n = static_cast<std::int32_t>(collective.contributors);
  return {collective.type, operation_of(reduction), key_of(step, pack), n,
          reduction == core::Reduction::kMean && n > 1 ? 1.0 / n : 1};
}

void WorkerRun::fill(const Reduced& reduced, Rank rank, std::byte* buffer, std::int64_t elements) {
  if (devices_.host_reaches(rank)) return fill_inputs(reduced, rank, buffer, elements);
  const std::int64_t bytes = elements * core::size_of(reduced.type).count();
  std::vector<std::byte> inputs(static_cast<std::size_t>(bytes));
  fill_inputs(reduced, rank, inputs.data(), elements);
  devices_.copy_now(buffer, inputs.data(), bytes);
}

void WorkerRun::begin_step(Replica& replica) {
  replica.done = {};
  replica.done.device = scenario_.cluster->part_name(replica.device);
  replica.done.start = replica.stream_free = timers_.now();
  const core::RunOptions& options = scenario_.run;
  replica.driver.begin_step(core::pace_of(options.compute_jitter_ppm, options.seed, replica.rank, step_), replica);
}

core::Expected<WorkerStep> WorkerRun::run(std::int32_t step, Clock::time_point begin,
                                          const std::function<bool()>& idle) {
  step_ = step;
  replicas_left_ = static_cast<int>(replicas_.size());
  ranks_left_ = static_cast<int>(ranks_.size() * buffers_.size());
  packs_.assign(buffers_.size(), {});
  recorded_.clear();
  for (std::size_t p = 0; p < packs_.size(); ++p) packs_[p].pack = static_cast<int>(p);
  for (const std::unique_ptr<Replica>& replica : replicas_)
    timers_.at(begin, [this, r = replica.get()] { begin_step(*r); });
  // The host is there from the beginning.
  for (std::size_t r = replicas_.size(); r < ranks_.size(); ++r) {
    for (std::size_t p = 0; p < packs_.size(); ++p)
      interpreter_.start({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(p)}, ranks_[r]);
  }
  Clock::time_point moved = Clock::now();
  std::int64_t seen = progress_;
  while (replicas_left_ > 0 || ranks_left_ > 0) {
    const Clock::time_point now = Clock::now();
    if (auto done = move(now + std::chrono::milliseconds(20)); !done) return tl::make_unexpected(done.error());
    if (progress_ != seen || timers_.next() != Clock::time_point::max()) {
      seen = progress_;
      moved = now;
    } else if (now - moved > options_.timeout) {
      return tl::make_unexpected(core::Error::run(
          fmt::format("nothing has moved for {:g} s: {}", options_.timeout.count(), interpreter_.where_it_stands())));
    }
    if (!idle()) return tl::make_unexpected(core::Error::run("the run was stopped"));
  }
  WorkerStep result;
  for (const std::unique_ptr<Replica>& replica : replicas_) result.replicas.push_back(replica->done);
  result.packs = packs_;
  for (auto& [key, recorded] : recorded_) result.recorded.push_back(std::move(recorded));
  result.spans_left_out = spans_left_out_;
  for (std::size_t p = 0; p < packs_.size(); ++p)
    interpreter_.close({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(p)});
  return result;
}

/// Everything that can go on goes on; then looks for something new, until `until` if need be.
core::Expected<void> WorkerRun::move(Clock::time_point until) {
  const auto go_on = [this] {
    if (auto polled = devices_.poll(interpreter_); !polled && devices_work_) devices_work_ = polled;
    interpreter_.run_ready();
  };
  timers_.run_due(go_on);
  go_on();
  if (replicas_left_ == 0 && ranks_left_ == 0) until = Clock::now();
  until = std::min({until, timers_.next(), devices_.next_due()});
  if (auto polled = transport_.poll(interpreter_.has_ready() ? Clock::now() : until); !polled) return polled;
  go_on();
  if (!devices_work_) return devices_work_;
  if (!interpreter_.failure().empty()) return tl::make_unexpected(core::Error::run(interpreter_.failure()));
  return {};
}

core::Expected<void> WorkerRun::serve(Clock::time_point until) { return transport_.poll(until); }

core::Expected<void> WorkerRun::flush() {
  const Clock::time_point until = Clock::now() + std::chrono::duration_cast<Clock::duration>(options_.timeout);
  while (!transport_.flushed()) {
    if (auto moved = move(Clock::now() + std::chrono::milliseconds(5)); !moved) return moved;
    if (Clock::now() > until) return tl::make_unexpected(core::Error::run("a peer takes nothing any more"));
  }
  return {};
}

core::Expected<void> WorkerRun::verify(std::int32_t step) {
  if (!options_.verify) return {};
  for (std::size_t p = 0; p < buffers_.size(); ++p) {
    const core::Collective& collective = scenario_.plan.packs[p].collective;
    std::vector<Rank> ranks(ranks_.begin(), ranks_.begin() + static_cast<std::ptrdiff_t>(replicas_.size()));
    std::vector<const std::byte*> results;
    std::vector<std::vector<std::byte>> fetched;
    for (std::size_t r = 0; r < replicas_.size(); ++r) {
      results.push_back(buffers_[p][r].get());
      if (devices_.host_reaches(ranks_[r])) continue;
      fetched.emplace_back(static_cast<std::size_t>(collective.bytes().count()));
      devices_.copy_now(fetched.back().data(), results.back(), collective.bytes().count());
      results.back() = fetched.back().data();
    }
    const auto wrong = find_wrong_element(reduced(step, p), collective.elements, ranks, results);
    if (!wrong) continue;
    return tl::make_unexpected(core::Error::run(
        fmt::format("step {}: element {} of pack {} is wrong on rank {} ({}): {:.17g}, not {:.17g} ± {:.2g}", step,
                    wrong->element, p, wrong->rank, scenario_.cluster->part_name(collective.group.device(wrong->rank)),
                    wrong->got, wrong->expected, wrong->tolerance)));
  }
  return {};
}

// --- computation ---

void WorkerRun::compute(Replica& replica, const ComputeTask& task) {
  const Clock::time_point start = std::max(replica.cause.value_or(timers_.now()), replica.stream_free);
  replica.stream_free = start + options_.scale.here(task.duration);
  timers_.at(replica.stream_free,
             [this, &replica, done = Task{task, start, replica.stream_free}] { compute_done(replica, done); });
}

void WorkerRun::compute_done(Replica& replica, const Task& done) {
  ++progress_;
  ReplicaStep& sums = replica.done;
  (done.task.kind == ComputeKind::kForward    ? sums.forward
   : done.task.kind == ComputeKind::kBackward ? sums.backward
                                              : sums.other) += done.end - done.start;
  if (auto* spans = options_.record_packs && done.end > done.start ? spans_of(TrackKind::kCompute, replica.rank, 0, -1)
                                                                   : nullptr) {
    Span span;
    span.start = stamp(done.start);
    span.duration = stamp(done.end) - span.start;
    span.kind = SpanKind::kFirstCompute + static_cast<std::int32_t>(done.task.kind);
    span.step = step_;
    const bool segment = done.task.kind == ComputeKind::kBackward;
    span.pack = segment ? -1 : done.task.index;
    span.index = segment ? done.task.index : 0;
    spans->push_back(span);
  }
  // What follows on the stream begins where this ended, not where it was noticed: a device's stream is queued ahead.
  replica.cause = done.end;
  replica.driver.compute_done(done.task, replica);
  replica.cause.reset();
}

// --- packs ---

void WorkerRun::launch(Replica& replica, int pack) {
  const Clock::time_point now = timers_.now();
  PackStep& record = packs_[static_cast<std::size_t>(pack)];
  if (record.first_start == Clock::time_point()) record.first_start = now;
  record.last_start = now;
  if (replica.in_flight++ == 0) replica.in_flight_since = now;
  const auto number = static_cast<std::uint32_t>(pack);
  launched_[{number, replica.rank}] = now;
  std::vector<bool>& used = slots_in_use_[replica.rank];
  const auto free = std::find(used.begin(), used.end(), false);
  const auto slot = static_cast<std::int32_t>(free - used.begin());
  if (free == used.end()) {
    used.push_back(true);
  } else {
    *free = true;
  }
  slots_[{number, replica.rank}] = slot;
  const CollectiveTag tag{static_cast<std::uint32_t>(step_), number};
  const Time overhead = scenario_.plan.launch_overhead;
  if (!options_.replay_launch || overhead == Time()) return interpreter_.start(tag, replica.rank);
  timers_.at(now + options_.scale.here(overhead), [this, tag, rank = replica.rank] { interpreter_.start(tag, rank); });
}

void WorkerRun::rank_done(CollectiveTag collective, Rank rank) {
  ++progress_;
  --ranks_left_;
  const Clock::time_point now = timers_.now();
  PackStep& record = packs_[collective.pack];
  record.end = std::max(record.end, now);
  const auto index = static_cast<std::size_t>(std::find(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
  if (index >= replicas_.size()) return;
  Replica& replica = *replicas_[index];
  if (--replica.in_flight == 0) replica.done.communication += now - replica.in_flight_since;
  const std::int32_t slot = slots_.at({collective.pack, rank});
  slots_in_use_[rank][static_cast<std::size_t>(slot)] = false;
  if (auto* spans = options_.record_packs ? spans_of(TrackKind::kPacks, rank, slot, -1) : nullptr) {
    Span span;
    span.start = stamp(launched_.at({collective.pack, rank}));
    span.duration = stamp(now) - span.start;
    span.kind = SpanKind::kPackInFlight;
    span.step = step_;
    span.pack = static_cast<std::int32_t>(collective.pack);
    spans->push_back(span);
  }
  replica.driver.pack_done(static_cast<int>(collective.pack), replica);
}

void WorkerRun::step_done(const StepDone& done) {
  ++progress_;
  if (done.step.kind == core::StepKind::kNop) return;
  const auto slot = slots_.find({done.collective.pack, done.rank});
  auto* const spans = spans_of(TrackKind::kLane, done.rank, slot == slots_.end() ? 0 : slot->second, done.lane);
  if (!spans) return;
  Span span;
  span.start = stamp(done.start);
  span.duration = stamp(done.end) - span.start;
  span.wait = std::min(span.duration, stamp(done.wait) - span.start);
  span.kind = static_cast<std::int32_t>(done.step.kind);
  span.step = step_;
  span.pack = static_cast<std::int32_t>(done.collective.pack);
  span.index = done.index;
  const bool sends_only = done.step.kind == core::StepKind::kSend || done.step.kind == core::StepKind::kMulticast;
  span.bytes = (sends_only ? done.step.source.count : done.step.target.count) *
               core::size_of(scenario_.plan.packs[done.collective.pack].collective.type);
  spans->push_back(span);
}

/// Where a span of the row goes; null once as many as were asked for have been recorded.
std::vector<Span>* WorkerRun::spans_of(TrackKind kind, Rank rank, std::int32_t slot, core::Lane lane) {
  if (spans_ >= options_.most_spans) {
    spans_left_out_ = true;
    return nullptr;
  }
  ++spans_;
  RecordedSpans& row = recorded_[{static_cast<int>(kind), rank, slot, lane}];
  const core::PartId device = scenario_.plan.packs.front().collective.group.device(rank);
  if (row.spans.empty()) row.track = {0, kind, worker_, scenario_.cluster->part(device).name, slot, lane};
  return &row.spans;
}

}  // namespace tutti::real
