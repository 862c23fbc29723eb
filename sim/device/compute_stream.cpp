// The header defines the end t of a task by the time that the task loses to communication. This
// file computes t without simulating small time steps. begin() stores the sums (of held
// multiprocessors, busy time and bytes) at t0, so that later losses are differences of sums.
// begin() also adds an event at the predicted end. Lost time only grows, so t can be found by
// bisection. end_if_busy() solves the formula for a given busy time of the device. The current busy
// time gives a lower bound of t, and the busy time after all known reductions and copies gives an
// upper bound. If more communication arrives than was predicted, the task is not complete when the
// event occurs, and end() adds another event. If multiprocessors are released, the task may end
// earlier, so occupy() adds an earlier event, and `stamp_` marks the old event as invalid. Lost
// times are rounded up in 128-bit integers, so no result depends on floating-point arithmetic.

#include "sim/device/compute_stream.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::sim {

using core::Time;
using core::Wide;

namespace {

Wide wide(std::int64_t n) { return static_cast<Wide>(n); }
Wide wide(Time t) { return static_cast<Wide>(t.count()); }

Wide quotient_up(Wide dividend, Wide divisor) { return (dividend + divisor - 1) / divisor; }

/// Converts a number of picoseconds to a time, at most the longest duration.
Time time_of(Wide picoseconds) {
  return Time(static_cast<std::int64_t>(std::min(picoseconds, wide(core::kLongestDuration))));
}

}  // namespace

void ComputeStream::share(const core::Part& part) {
  shared_ = true;
  cpu_ = part.kind == core::PartKind::kCpu;
  multiprocessors_ = part.device.multiprocessors;
  threads_ = part.device.threads;
  memory_ = part.device.memory.count();
}

// --- computing ---

void ComputeStream::begin(Time now, Time duration, std::int64_t compute_bound_ppm,
                          EventQueue& events) {
  TUTTI_CHECK(!running_, "a task begins at {} ps while another runs", now.count());
  running_ = true;
  idle_ = false;
  start_ = now;
  duration_ = duration;
  if (!shared_) return expect_end(core::later(now, duration), events);
  if (goes_on_from_ != now) busy_since_ = now;
  compute_bound_ = compute_bound_ppm;
  remove_finished(now);
  at_start_ = {held_until(now), moved_before(now), busy_until(now)};
  expect_end(foreseen_end(now), events);
}

void ComputeStream::begin_idle(Time now, Time duration, EventQueue& events) {
  TUTTI_CHECK(!running_, "a task begins at {} ps while another runs", now.count());
  running_ = idle_ = true;
  start_ = now;
  duration_ = duration;
  expect_end(core::later(now, duration), events);
}

bool ComputeStream::end(const Event& event, EventQueue& events) {
  if (event.b != stamp_) return false;
  const Time now = event.time;
  const bool extended = shared_ && !idle_;
  if (extended && !is_done(now, moved_before(now))) {
    expect_end(foreseen_end(now), events);
    return false;
  }
  running_ = false;
  expected_ = core::kNever;
  ++stamp_;
  goes_on_from_ = idle_ ? core::kNever : now;
  slowed_ = extended ? now - start_ - duration_ : Time();
  return true;
}

void ComputeStream::expect_end(Time at, EventQueue& events) {
  expected_ = at;
  events.push({at, replica_, EventKind::kCompute, replica_, ++stamp_});
}

/// Returns the time by which the task is delayed because communication moves `bytes` in memory.
Time ComputeStream::lost_to(Wide bytes) const {
  return time_of(quotient_up(bytes * wide(memory_bound()) * wide(core::kPicosecondsPerSecond),
                             wide(kAll) * wide(memory_)));
}

/// Returns the time by which the task is delayed because kernels hold multiprocessors and the
/// device executes reductions and copies. The unit is 1/unit() picoseconds.
Wide ComputeStream::lost_to(Wide held, Wide busy) const {
  return wide(compute_bound_) * held * wide(threads_) +
         wide(memory_bound()) * busy * wide(multiprocessors_or_one());
}

/// Returns how many units of lost_to(held, busy) make up one picosecond.
Wide ComputeStream::unit() const {
  return wide(kAll) * wide(multiprocessors_or_one()) * wide(threads_);
}

/// True if the task completes at `t` or earlier. `moved` is the sum of bytes that communication has
/// moved by then.
bool ComputeStream::is_done(Time t, Wide moved) const {
  const Wide lost = lost_to(held_until(t) - at_start_.held, busy_until(t) - at_start_.busy);
  return t - start_ - lost_to(moved - at_start_.bytes) - time_of(quotient_up(lost, unit())) >=
         duration_;
}

/// Returns the end of the task under two assumptions: the total busy time of the device at the end
/// is `busy`, and kernels keep the number of multiprocessors that they hold now.
Time ComputeStream::end_if_busy(Wide busy, Time now) const {
  const Time end = core::later(core::later(start_, duration_),
                               lost_to(moved_before(core::kNever) - at_start_.bytes));
  // Find the first t ≥ now with (t - end) · unit ≥ (time lost until now) + φ held (t - now).
  Wide left = lost_to(held_until(now) - at_start_.held, busy - at_start_.busy);
  if (end > now) {
    left += unit() * wide(end - now);
  } else {
    left -= std::min(left, unit() * wide(now - end));
  }
  return core::later(now, time_of(quotient_up(left, unit() - lost_to(wide(holding_), 0))));
}

/// Returns the end of the task as predicted from the current state. Later transfers can delay this
/// end, and released multiprocessors can make it earlier.
Time ComputeStream::foreseen_end(Time now) const {
  if (is_done(now, moved_before(now))) return now;
  Time least = end_if_busy(busy_until(now), now);
  if (services_.empty()) return least;
  Time most = end_if_busy(busy_until(core::kNever), now);
  const Wide moved = moved_before(core::kNever);
  // The busy time is a piecewise linear function of time, so the end has no closed form. Use
  // bisection.
  while (least < most) {
    const Time middle = least + Time((most - least).count() / 2);
    if (is_done(middle, moved)) {
      most = middle;
    } else {
      least = middle + Time(1);
    }
  }
  return least;
}

// --- communicating ---

void ComputeStream::occupy(int change, Time now, EventQueue& events) {
  if (multiprocessors_ == 0) return;
  held_ = held_until(now);
  held_at_ = now;
  held_by_all_ += change;
  TUTTI_CHECK(held_by_all_ >= 0, "{} multiprocessors are held", held_by_all_);
  // The task always keeps at least one multiprocessor. Without any multiprocessor, the task might
  // never end.
  holding_ = std::min(held_by_all_, multiprocessors_ - 1);
  if (change > 0 || !running_ || idle_ || expected_ <= now) return;
  const Time end = foreseen_end(now);
  if (end < expected_) expect_end(end, events);
}

void ComputeStream::move(core::Bytes bytes, Time now) {
  if (now != sum_of_bytes_.last) {
    sum_of_bytes_.before += sum_of_bytes_.at_last;
    sum_of_bytes_.at_last = 0;
    sum_of_bytes_.last = now;
  }
  sum_of_bytes_.at_last += wide(bytes.count());
}

void ComputeStream::moved(core::Bytes bytes, Time now) {
  sum_of_bytes_.before += wide(bytes.count());
  // These bytes were moved before the task began, so they do not slow it down.
  if (running_ && start_ == now) at_start_.bytes += wide(bytes.count());
}

Time ComputeStream::longer(Time duration, int nth, Time now) const {
  if (!running_ || idle_ || busy_since_ >= now) return duration;
  const Wide more =
      wide(duration) * wide(memory_bound()) * wide(std::min<std::int64_t>(nth, threads_));
  return core::later(duration, time_of(quotient_up(more, wide(kAll) * wide(threads_))));
}

void ComputeStream::serve(Time start, Time end, Time duration, Time now) {
  remove_finished(now);
  if (start < end) services_.push_back({start, end, duration});
}

/// A task depends only on the growth of the sums since its start. While no task is running, the
/// sums need not be visited.
void ComputeStream::visit_state(StateVisitor& visitor) {
  if (running_) return visitor.unfit();
  remove_finished(visitor.now());
  visitor.same(held_by_all_);
  visitor.until(sum_of_bytes_.last);
  visitor.same(static_cast<std::int64_t>(services_.size()));
  for (Service& service : services_) {
    visitor.moment(service.start);
    visitor.moment(service.end);
    visitor.same(service.duration.count());
  }
}

void ComputeStream::remove_finished(Time now) {
  while (!services_.empty() && services_.front().end <= now) {
    served_ += wide(services_.front().duration);
    services_.pop_front();
  }
}

// --- sums ---

Wide ComputeStream::held_until(Time t) const { return held_ + wide(holding_) * wide(t - held_at_); }

Wide ComputeStream::moved_before(Time t) const {
  return sum_of_bytes_.before + (sum_of_bytes_.last < t ? sum_of_bytes_.at_last : 0);
}

/// Returns the total busy time of the device until `t`. The busy time of a reduction or copy is
/// spread evenly over its duration.
Wide ComputeStream::busy_until(Time t) const {
  Wide sum = served_;
  for (const Service& s : services_) {
    if (t >= s.end) {
      sum += wide(s.duration);
    } else if (t > s.start) {
      sum += wide(s.duration) * wide(t - s.start) / wide(s.end - s.start);
    }
  }
  return sum;
}

}  // namespace tutti::sim
