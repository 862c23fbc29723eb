#pragma once

// A device's compute stream, and the share of the device that communication takes meanwhile
// (docs/interference.md, decision 28).
//
// A task of nominal length d that begins at t0 ends at the first t with
//
//     t - t0 - lost(t0, t) ≥ d
//     lost = ⌈φ Σ held · dt / M + (1 - φ) busy / T⌉ + ⌈(1 - φ) bytes / B⌉
//
// φ is the share of the task that is limited by multiprocessors; the rest is limited by memory.
// `held`: the multiprocessors, of M, that kernels of collectives currently have, at most M - 1.
// `bytes`: what communication reads and writes in memory of bandwidth B, counted at the moment when
// it happens. `busy`: the time that reductions and copies take of the device, which has T threads,
// each of which serves one at a time. All are sums that only grow, kept as integers; on a CPU, φ is
// 0. Multiprocessors, bytes and threads that are taken at a time count for computation after that
// time; arrivals count for computation up to it. So the order of events at one time does not
// matter, as long as tasks that began earlier end before anything arrives.

#include <cstdint>

#include "core/cluster/machine.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/short_queue.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

class ComputeStream {
 public:
  /// `replica`: the number that its events carry.
  explicit ComputeStream(std::uint32_t replica) : replica_(replica) {}

  /// From now on communication slows down computation on the device. To be called before the first
  /// task.
  void share(const core::Part& part);

  // --- computing ---

  /// Starts a step: the stream does not continue from the task before.
  void begin_step() { goes_on_from_ = core::kNever; }
  /// Starts a task that takes `duration` alone. An event of kind kCompute follows. REQUIRES: no
  /// task is running; now is no earlier than the end of the one before.
  void begin(core::Time now, core::Time duration, std::int64_t compute_bound_ppm,
             EventQueue& events);
  /// Handles kCompute. Returns true if the task is done; otherwise another event follows, or is
  /// pending.
  bool end(const Event& event, EventQueue& events);
  [[nodiscard]] core::Time start() const { return start_; }
  /// Returns how much longer the last task took than alone.
  [[nodiscard]] core::Time slowed() const { return slowed_; }

  // --- communicating; only if the device is shared ---

  /// Adds `change` to the number of multiprocessors that kernels hold.
  void hold(int change, core::Time now, EventQueue& events);
  /// Counts bytes that are read or written from now on.
  void move(core::Bytes bytes, core::Time now);
  /// Counts bytes that were read or written up to now. REQUIRES: events of kind kCompute at this
  /// time have been handled.
  void moved(core::Bytes bytes, core::Time now);
  /// Marks the state as unfit while a task is running, since its losses are counted in sums, which
  /// cannot be shifted in time.
  void visit_state(StateVisitor& visitor);
  /// Returns how long a reduction or copy takes that takes `duration` on an idle device, if it is
  /// the `nth` in service there: a memory-bound task shares the memory evenly with them.
  [[nodiscard]] core::Time longer(core::Time duration, int nth, core::Time now) const;
  /// Records that a reduction or copy that takes `duration` alone is served from `start` to `end`.
  /// REQUIRES: start ≥ now.
  void serve(core::Time start, core::Time end, core::Time duration, core::Time now);

 private:
  /// A sum of bytes, with those of the last moment counted separately.
  struct Moved {
    core::Wide before = 0;
    core::Wide at_last = 0;
    core::Time last{-1};
  };
  struct Service {
    core::Time start, end, duration;
  };
  /// Sums since the run began.
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
  void forget_served(core::Time now);
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
  core::Time expected_ = core::kNever;  ///< the time of the pending event for the task's end
  std::uint32_t stamp_ = 0;             ///< the number of the pending event for the task's end
  core::Time busy_since_;
  core::Time goes_on_from_ = core::kNever;  ///< end of the previous task of the same step
  core::Time slowed_;

  // The share of communication.
  std::int64_t held_by_all_ = 0;  ///< multiprocessors held by kernels
  std::int64_t holding_ = 0;  ///< multiprocessors that the task lacks; it always keeps at least one
  core::Time held_at_;
  core::Wide held_ = 0;
  Moved sum_of_bytes_;
  ShortQueue<Service> services_;  ///< current and future services
  core::Wide served_ = 0;         ///< the `busy` sum of past services
};

}  // namespace tutti::sim
