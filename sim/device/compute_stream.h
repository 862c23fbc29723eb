#pragma once

// A device's compute stream, and what communication takes of the device meanwhile (docs/models.md, decision 28).
//
// A task of nominal length d that begins at t0 ends at the first t with
//
//     t - t0 - lost(t0, t) ≥ d,   lost = ⌈φ Σ held · dt / M + (1 - φ) busy / T⌉ + ⌈(1 - φ) bytes / B⌉
//
// φ: what of the task is limited by multiprocessors; the rest waits for memory. `held`: multiprocessors, of M, that kernels of
// collectives have at the moment, at most M - 1. `bytes`: read and written in memory of bandwidth B by what communicates,
// counted at the moment when it happens. `busy`: what additions and copies take of the device, of whose T threads each has
// one while it is served. All of it are sums that only grow, kept as integers, and nothing of a CPU counts as limited by
// multiprocessors. What is held, read or asked for at a time belongs to what runs behind that time, what has arrived to what ran
// up to it; so the order of events at one time makes no difference, as long as tasks that began earlier end before anything
// arrives.

#include <cstdint>
#include <deque>

#include "core/cluster/machine.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/state_visitor.h"

namespace tutti::sim {

class ComputeStream {
 public:
  /// Of the replica whose number its events carry.
  explicit ComputeStream(std::uint32_t replica) : replica_(replica) {}

  /// From now on communication takes from the device what it needs. Before the first task.
  void share(const core::Part& part);

  // --- computing ---

  /// A step begins: what the stream was busy with before is over.
  void begin_step() { goes_on_from_ = core::kNever; }
  /// Begins a task that takes `duration` alone. An event of kind kCompute follows. REQUIRES: none is under way; now is no
  /// earlier than the end of the one before.
  void begin(core::Time now, core::Time duration, std::int64_t compute_bound_ppm, EventQueue& events);
  /// Handles kCompute. True if the task is done; else another event follows, or is on its way.
  bool end(const Event& event, EventQueue& events);
  [[nodiscard]] core::Time start() const { return start_; }
  /// How much longer than alone the task that ended last took.
  [[nodiscard]] core::Time slowed() const { return slowed_; }

  // --- communicating; all of it only where it is shared ---

  /// Kernels get so many multiprocessors more, or less.
  void hold(int change, core::Time now, EventQueue& events);
  /// So many bytes are read or written from now on.
  void move(core::Bytes bytes, core::Time now);
  /// So many were written up to now, or read. REQUIRES: events of kind kCompute at this time have been handled.
  void moved(core::Bytes bytes, core::Time now);
  /// Unfit while a task is under way: what is taken from it is counted, and counts are not moved.
  void visit_state(StateVisitor& visitor);
  /// How long an addition or copy takes that takes `duration` on an idle device, the `nth` of those under way there: what is
  /// limited by memory shares that with it evenly.
  [[nodiscard]] core::Time longer(core::Time duration, int nth, core::Time now) const;
  /// An addition or copy that takes `duration` alone is served from `start` to `end`. REQUIRES: start ≥ now.
  void serve(core::Time start, core::Time end, core::Time duration, core::Time now);

 private:
  /// Bytes, those of the last moment apart.
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
  [[nodiscard]] std::int64_t multiprocessors_or_one() const { return multiprocessors_ > 0 ? multiprocessors_ : 1; }

  static constexpr std::int64_t kAll = 1'000'000;

  std::uint32_t replica_;
  // Of the device.
  bool shared_ = false;
  bool cpu_ = false;
  std::int64_t multiprocessors_ = 0;
  std::int64_t threads_ = 1;
  std::int64_t memory_ = 1;  ///< bytes per second

  // The task at hand.
  bool running_ = false;
  core::Time start_, duration_;
  std::int64_t compute_bound_ = kAll;
  Taken at_start_;
  core::Time expected_ = core::kNever;  ///< the time of the event under way
  std::uint32_t stamp_ = 0;             ///< and its number
  core::Time busy_since_;
  core::Time goes_on_from_ = core::kNever;  ///< end of the task before, if it was in the same step
  core::Time slowed_;

  // What communication takes.
  std::int64_t held_by_all_ = 0;  ///< multiprocessors that kernels have
  std::int64_t holding_ = 0;      ///< of those that count: one is always left
  core::Time held_at_;
  core::Wide held_ = 0;
  Moved sum_of_bytes_;
  std::deque<Service> services_;  ///< under way and to come
  core::Wide served_ = 0;         ///< those that are over
};

}  // namespace tutti::sim
