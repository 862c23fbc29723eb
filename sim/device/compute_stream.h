#pragma once

// The compute stream of a device. Communication that the device executes at the same time slows
// down the tasks of this stream (docs/interference.md, decision 28).
//
// A task of nominal duration d that begins at t0 ends at the first time t with
//
//     t - t0 - lost(t0, t) ≥ d
//     lost = ⌈φ Σ held · dt / M + (1 - φ) busy / T⌉ + ⌈(1 - φ) bytes / B⌉
//
// φ is the share of the task that multiprocessors limit; memory bandwidth limits the rest. On a
// CPU, φ is 0. `held` is the number of the M multiprocessors that kernels of collectives hold (at
// most M - 1). `bytes` is the number of bytes that communication has read and written in the
// memory, whose bandwidth is B. `busy` is the time that reductions and copies have taken on the T
// threads of the device, each of which executes one operation at a time. These three quantities are
// stored as integer sums that never decrease.
//
// If communication begins to use a multiprocessor, memory or a thread at time t, computation is
// slower after t. If bytes arrive at time t, computation was slower before t. The order of
// simultaneous events therefore has no effect, provided that a task that ends at time t is handled
// before bytes that arrive at time t.

#include <cstdint>

#include "core/cluster/machine.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/short_queue.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

class ComputeStream {
 public:
  /// `replica` is the number by which events (Event::a) refer to this stream.
  explicit ComputeStream(std::uint32_t replica) : replica_(replica) {}

  /// Enables interference, so that communication slows down computation on the device. Must be
  /// called before the first task.
  void share(const core::Part& part);

  // --- computing ---

  /// Begins a training step. After this call, the next task begins a new interval of
  /// computation, even if it begins exactly when the previous task ended.
  void begin_step() { goes_on_from_ = core::kNever; }
  /// Starts a task, and adds an event of kind kCompute for its end. `duration` is the time of the
  /// task without interference. REQUIRES: no task is running; `now` is not before the end of the
  /// previous task.
  void begin(core::Time now, core::Time duration, std::int64_t compute_bound_ppm,
             EventQueue& events);
  /// Starts an idle time, in which the device waits for its host. Communication does not extend
  /// this time.
  /// REQUIRES: as for begin().
  void begin_idle(core::Time now, core::Time duration, EventQueue& events);
  /// Handles kCompute. Returns true if the task is complete. If the task is not complete, adds
  /// another event for its end, unless such an event is pending.
  bool end(const Event& event, EventQueue& events);
  [[nodiscard]] core::Time start() const { return start_; }
  /// Returns the time by which interference extended the last task.
  [[nodiscard]] core::Time slowed() const { return slowed_; }

  // --- communicating; only after share() was called ---

  /// Adds `change` to the number of multiprocessors that kernels hold.
  void occupy(int change, core::Time now, EventQueue& events);
  /// Counts bytes that communication will read or write after `now`.
  void move(core::Bytes bytes, core::Time now);
  /// Counts bytes that communication has read or written until `now`. REQUIRES: events of kind
  /// kCompute at this time have been handled.
  void moved(core::Bytes bytes, core::Time now);
  /// Visits the state of the stream. While a task is running, the state cannot be compared, because
  /// the end of the task depends on sums that cannot be shifted in time. In this case, this
  /// function calls StateVisitor::unfit().
  void visit_state(StateVisitor& visitor);
  /// Returns the duration of a reduction or copy that starts at `now`. `duration` is the
  /// operation's duration on an idle device, and `nth` is the operation's position among the
  /// operations that the device executes at the same time. The operation takes longer if a compute
  /// task is running, because the operation then shares the memory bandwidth with the memory-bound
  /// part of the task.
  [[nodiscard]] core::Time longer(core::Time duration, int nth, core::Time now) const;
  /// Records that a reduction or copy runs from `start` to `end`. `duration` is the operation's
  /// duration on an idle device. REQUIRES: start ≥ now.
  void serve(core::Time start, core::Time end, core::Time duration, core::Time now);

 private:
  /// A sum of moved bytes. Bytes that were moved exactly at the time of the last change are counted
  /// separately.
  struct Moved {
    core::Wide before = 0;
    core::Wide at_last = 0;
    core::Time last{-1};
  };
  struct Service {
    core::Time start, end, duration;
  };
  /// The resources that communication has used since the beginning of the run.
  struct Taken {
    core::Wide held = 0;  ///< number of held multiprocessors, integrated over time in ps
    core::Wide bytes = 0;
    core::Wide busy = 0;  ///< number of busy threads, integrated over time in ps
  };

  [[nodiscard]] core::Wide held_until(core::Time t) const;
  [[nodiscard]] core::Wide moved_before(core::Time t) const;
  [[nodiscard]] core::Wide busy_until(core::Time t) const;
  [[nodiscard]] core::Time lost_to(core::Wide bytes) const;
  [[nodiscard]] core::Wide lost_to(core::Wide held, core::Wide busy) const;
  [[nodiscard]] core::Wide unit() const;
  [[nodiscard]] bool is_done(core::Time t, core::Wide moved) const;
  [[nodiscard]] core::Time end_if_busy(core::Wide busy, core::Time now) const;
  [[nodiscard]] core::Time foreseen_end(core::Time now) const;
  void expect_end(core::Time at, EventQueue& events);
  void remove_finished(core::Time now);
  [[nodiscard]] std::int64_t memory_bound() const { return cpu_ ? kAll : kAll - compute_bound_; }
  [[nodiscard]] std::int64_t multiprocessors_or_one() const {
    return multiprocessors_ > 0 ? multiprocessors_ : 1;
  }

  static constexpr std::int64_t kAll = 1'000'000;

  std::uint32_t replica_;
  // The device.
  bool shared_ = false;
  bool cpu_ = false;
  std::int64_t multiprocessors_ = 0;
  std::int64_t threads_ = 1;
  std::int64_t memory_ = 1;  ///< bytes per second

  // The current task.
  bool running_ = false;
  bool idle_ = false;  ///< true if the current task is an idle time, which nothing extends
  core::Time start_, duration_;
  std::int64_t compute_bound_ = kAll;
  Taken at_start_;
  core::Time expected_ = core::kNever;  ///< time of the pending event for the task's end
  std::uint32_t stamp_ = 0;             ///< number of the pending event for the task's end
  core::Time busy_since_;
  core::Time goes_on_from_ = core::kNever;  ///< end of the previous task of the same step
  core::Time slowed_;

  // The resources that communication uses.
  std::int64_t held_by_all_ = 0;  ///< multiprocessors held by kernels
  /// The number of multiprocessors that kernels take from the task, which always keeps at least
  /// one.
  std::int64_t holding_ = 0;
  core::Time held_at_;
  core::Wide held_ = 0;
  Moved sum_of_bytes_;
  ShortQueue<Service> services_;  ///< current and future reductions and copies
  core::Wide served_ = 0;         ///< sum of the busy times of past reductions and copies
};

}  // namespace tutti::sim
