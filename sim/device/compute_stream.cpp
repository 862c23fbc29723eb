// The header defines the end t of a task by its losses. This file computes t without simulating
// small time steps. begin() stores the sums at t0, so that each loss is a difference of two sums.
// begin() also adds an event at the predicted end. Losses only grow, so t can be found by
// bisection. end_if_busy() solves the formula for a given busy time. The current busy time gives a
// lower bound, and the busy time after all known services gives an upper bound. If communication
// takes more than predicted, the task is not complete when the event occurs, and end() adds another
// event. If multiprocessors are released, the end may be earlier, so hold() adds an earlier event;
// `stamp_` invalidates the old event. Losses are rounded up in 128 bits, so no result depends on
// floating-point arithmetic.

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

/// Converts a number to a time, and saturates at the longest duration.
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
  start_ = now;
  duration_ = duration;
  if (!shared_) return expect_end(core::later(now, duration), events);
  if (goes_on_from_ != now) busy_since_ = now;
  compute_bound_ = compute_bound_ppm;
  remove_finished(now);
  at_start_ = {held_until(now), moved_before(now), busy_until(now)};
  expect_end(foreseen_end(now), events);
}

bool ComputeStream::end(const Event& event, EventQueue& events) {
  if (event.b != stamp_) return false;
  const Time now = event.time;
  if (shared_ && !is_done(now, moved_before(now))) {
    expect_end(foreseen_end(now), events);
    return false;
  }
  running_ = false;
  expected_ = core::kNever;
  ++stamp_;
  goes_on_from_ = now;
  slowed_ = shared_ ? now - start_ - duration_ : Time();
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
/// device reduces and copies, in units of 1/unit() ps.
Wide ComputeStream::lost_to(Wide held, Wide busy) const {
  return wide(compute_bound_) * held * wide(threads_) +
         wide(memory_bound()) * busy * wide(multiprocessors_or_one());
}

/// Returns the number of units of lost_to() in one picosecond.
Wide ComputeStream::unit() const {
  return wide(kAll) * wide(multiprocessors_or_one()) * wide(threads_);
}

/// True if the task completes its work at `t` or earlier, given that `moved` bytes are moved in the
/// meantime.
bool ComputeStream::is_done(Time t, Wide moved) const {
  const Wide lost = lost_to(held_until(t) - at_start_.held, busy_until(t) - at_start_.busy);
  return t - start_ - lost_to(moved - at_start_.bytes) - time_of(quotient_up(lost, unit())) >=
         duration_;
}

/// Returns the end of the task for a total busy time `busy` of the device, if kernels keep their
/// current number of multiprocessors.
Time ComputeStream::end_if_busy(Wide busy, Time now) const {
  const Time end = core::later(core::later(start_, duration_),
                               lost_to(moved_before(core::kNever) - at_start_.bytes));
  // Find the first t ≥ now with (t - end) · unit ≥ lost by now + φ held (t - now).
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
  // Services make the busy time piecewise linear, so there is no closed form for the end.
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

void ComputeStream::hold(int change, Time now, EventQueue& events) {
  if (multiprocessors_ == 0) return;
  held_ = held_until(now);
  held_at_ = now;
  held_by_all_ += change;
  TUTTI_CHECK(held_by_all_ >= 0, "{} multiprocessors are held", held_by_all_);
  // The task always keeps one multiprocessor. Otherwise, work that waits for the computation would
  // wait forever.
  holding_ = std::min(held_by_all_, multiprocessors_ - 1);
  if (change > 0 || !running_ || expected_ <= now) return;
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
  // Bytes that were moved before the task began do not slow it down.
  if (running_ && start_ == now) at_start_.bytes += wide(bytes.count());
}

Time ComputeStream::longer(Time duration, int nth, Time now) const {
  if (!running_ || busy_since_ >= now) return duration;
  const Wide more =
      wide(duration) * wide(memory_bound()) * wide(std::min<std::int64_t>(nth, threads_));
  return core::later(duration, time_of(quotient_up(more, wide(kAll) * wide(threads_))));
}

void ComputeStream::serve(Time start, Time end, Time duration, Time now) {
  remove_finished(now);
  if (start < end) services_.push_back({start, end, duration});
}

/// Only the growth of the sums since the start of a task affects the future, so the sums are
/// ignored while no task is running.
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

/// Returns the total busy time of the device until `t`. Each service occupies its share of the
/// device evenly over time.
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
