#pragma once

// The compute stream of a device. Communication on the device at the same time slows down the tasks
// of this stream (docs/interference.md, decision 28).
//
// A task of nominal duration d that begins at t0 ends at the first time t with
//
//     t - t0 - lost(t0, t) ≥ d
//     lost = ⌈φ Σ held · dt / M + (1 - φ) busy / T⌉ + ⌈(1 - φ) bytes / B⌉
//
// φ is the share of the task that is limited by multiprocessors; the rest is limited by memory. On
// a CPU, φ is 0. `held`: the number of multiprocessors, out of M, that kernels of collectives hold,
// at most M - 1. `bytes`: the bytes that communication has read and written in memory of bandwidth
// B. `busy`: the time that reductions and copies have taken on the T threads of the device, each of
// which serves one operation at a time. These three quantities are stored as integer sums that
// never decrease.
//
// Multiprocessors, bytes and threads that are taken at time t slow down computation after t; bytes
// that have arrived by t slow down computation until t. So the order of simultaneous events has no
// effect, provided that the ends of earlier tasks are handled before arrivals.

#include <cstdint>

#include "core/cluster/machine.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/short_queue.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

class ComputeStream {
 public:
  /// `replica`: the number that this stream's events carry.
  explicit ComputeStream(std::uint32_t replica) : replica_(replica) {}

  /// Enables interference: communication then slows down computation on the device. Must be called
  /// before the first task.
  void share(const core::Part& part);

  // --- computing ---

  /// Begins a training step; the next task then does not count as a continuation of the previous
  /// task.
  void begin_step() { goes_on_from_ = core::kNever; }
  /// Starts a task that takes `duration` without interference, and adds an event of kind kCompute
  /// for its end. REQUIRES: no task is running; `now` is not before the end of the previous task.
  void begin(core::Time now, core::Time duration, std::int64_t compute_bound_ppm,
             EventQueue& events);
  /// Handles kCompute. Returns true if the task is complete; otherwise another event for its end is
  /// pending.
  bool end(const Event& event, EventQueue& events);
  [[nodiscard]] core::Time start() const { return start_; }
  /// Returns the time by which interference extended the last task.
  [[nodiscard]] core::Time slowed() const { return slowed_; }

  // --- communicating; only after share() was called ---

  /// Adds `change` to the number of multiprocessors that kernels hold.
  void hold(int change, core::Time now, EventQueue& events);
  /// Counts bytes that are read or written after `now`.
  void move(core::Bytes bytes, core::Time now);
  /// Counts bytes that were read or written until `now`. REQUIRES: events of kind kCompute at this
  /// time have been handled.
  void moved(core::Bytes bytes, core::Time now);
  /// Visits the state of the stream. If a task is running, calls unfit(), because the sums from
  /// which the end of the task is computed cannot be shifted in time.
  void visit_state(StateVisitor& visitor);
  /// Returns the duration of a reduction or copy that starts at `now` and takes `duration` on an
  /// idle device. `nth`: its position among the operations that the device executes at the same
  /// time. A memory-bound compute task shares the memory bandwidth evenly with the reductions and
  /// copies.
  [[nodiscard]] core::Time longer(core::Time duration, int nth, core::Time now) const;
  /// Records that a reduction or copy runs from `start` to `end`. The operation would take
  /// `duration` on an idle device. REQUIRES: start ≥ now.
  void serve(core::Time start, core::Time end, core::Time duration, core::Time now);

 private:
  /// A sum of bytes. The bytes that were moved at the latest time are counted separately.
  struct Moved {
    core::Wide before = 0;
    core::Wide at_last = 0;
    core::Time last{-1};
  };
  struct Service {
    core::Time start, end, duration;
  };
  /// Totals since the beginning of the run.
  struct Taken {
    core::Wide held = 0;  ///< multiprocessors times ps
    core::Wide bytes = 0;
    core::Wide busy = 0;  ///< threads times ps
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
  core::Time start_, duration_;
  std::int64_t compute_bound_ = kAll;
  Taken at_start_;
  core::Time expected_ = core::kNever;  ///< time of the pending event for the task's end
  std::uint32_t stamp_ = 0;             ///< number of the pending event for the task's end
  core::Time busy_since_;
  core::Time goes_on_from_ = core::kNever;  ///< end of the previous task of the same step
  core::Time slowed_;

  // The share of communication.
  std::int64_t held_by_all_ = 0;  ///< multiprocessors held by kernels
  /// The number of multiprocessors that kernels take from the task. The task always keeps at least
  /// one multiprocessor.
  std::int64_t holding_ = 0;
  core::Time held_at_;
  core::Wide held_ = 0;
  Moved sum_of_bytes_;
  ShortQueue<Service> services_;  ///< current and future services
  core::Wide served_ = 0;         ///< sum of the `busy` times of past services
};

}  // namespace tutti::sim
