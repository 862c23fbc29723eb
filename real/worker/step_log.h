#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/plan/compute_task.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "real/interpreter/interpreter.h"

namespace tutti::real {

/// The times of one replica in a training step.
struct ReplicaStep {
  std::string device;
  Transport::Clock::time_point start, end;
  Transport::Clock::duration forward{}, backward{}, other{};
  Transport::Clock::duration communication{};  ///< time with at least one pack in flight
  /// The part of `communication` during which the replica does not compute.
  Transport::Clock::duration exposed{};
};

/// The times of one pack of a training step on one worker, as minima and maxima over the worker's
/// replicas.
struct PackStep {
  int pack = 0;
  Transport::Clock::time_point ready, first_start, last_start, end;
};

/// Converts a time of the monotonic clock to a core::Time for the spans that a worker records. In
/// these spans, core::Time counts nanoseconds, although it otherwise counts picoseconds.
core::Time stamp(Transport::Clock::time_point t);

/// The spans of one track. The times of the spans are results of stamp().
struct RecordedSpans {
  core::Track track;
  std::vector<core::Span> spans;
};

/// One worker's record of a training step.
struct WorkerStep {
  std::int32_t step = 0;
  std::vector<ReplicaStep> replicas;
  std::vector<PackStep> packs;
  std::vector<RecordedSpans> recorded;
  bool spans_left_out = false;
  std::chrono::nanoseconds core_wait{};  ///< time that the thread waited for a core (core_wait.h)
};

struct LogOptions {
  bool packs = false;  ///< true: record spans of packs and of computation
  bool steps = false;  ///< true: record spans of every schedule step of every lane
  std::int64_t most_spans = 2'000'000;
};

/// Records the activity of a worker's replicas in a batch of training steps (WorkerRun).
class StepLog {
 public:
  using Clock = Transport::Clock;

  /// REQUIRES: the scenario outlives this object.
  StepLog(const core::Scenario& scenario, std::int32_t worker, const LogOptions& options)
      : scenario_(scenario), worker_(worker), options_(options) {}

  /// Begins the records of the training steps first … first + count - 1, and removes the records of
  /// earlier steps.
  void begin(std::int32_t first, std::int32_t count, std::size_t replicas);
  [[nodiscard]] ReplicaStep& replica(std::int32_t step, std::size_t replica) {
    return at(step).replicas[replica];
  }
  /// Returns the current record of the step, and removes the record from the log.
  [[nodiscard]] WorkerStep take(std::int32_t step);

  void computed(std::int32_t step, core::Rank rank, const core::ComputeTask& task,
                Clock::time_point start, Clock::time_point end);
  void ready(std::int32_t step, int pack, Clock::time_point now);
  void launched(CollectiveTag collective, core::Rank rank, Clock::time_point now);
  /// Records that the rank has completed its part of a pack. `replica`: true if the rank is a
  /// replica.
  void done(CollectiveTag collective, core::Rank rank, bool replica, Clock::time_point now);
  void lane_step(const StepDone& done);
  /// Records for how long the worker's thread waited for a core in the step while packs were in
  /// flight.
  void waited_for_core(std::int32_t step, std::chrono::nanoseconds wait) {
    at(step).core_wait = wait;
  }
  /// Records the span of an NCCL channel. If take() has already returned the record of the
  /// channel's training step, the span is added to the record of a later step of the batch. If no
  /// later step is left, the span is dropped.
  void channel(const ChannelDone& done);

 private:
  using Row = std::tuple<int, core::Rank, std::int32_t, core::Lane>;
  struct Flight {
    Clock::time_point launched;
    std::int32_t slot = 0;
  };

  /// The place at which the next span of a row is appended. A row contains the spans of one track,
  /// which do not overlap.
  struct Tail {
    std::vector<core::Span>* spans = nullptr;
    core::Time* end = nullptr;  ///< end of the row's last span
    void add(core::Span span) const;
  };

  WorkerStep& at(std::int32_t step) { return steps_[step - first_]; }
  std::optional<Tail> tail_of(std::int32_t step, core::TrackKind kind, core::Rank rank,
                              std::int32_t slot, core::Lane lane);

  const core::Scenario& scenario_;
  std::int32_t worker_;
  LogOptions options_;
  std::int32_t first_ = 0;
  std::int32_t taken_ = 0;  ///< the first step whose record take() has not returned yet
  std::vector<WorkerStep> steps_;
  std::vector<std::map<Row, RecordedSpans>> rows_;  ///< for each step, the step's spans by row
  std::map<std::pair<CollectiveTag, core::Rank>, Flight> flights_;
  std::map<core::Rank, std::vector<bool>> slots_in_use_;
  std::map<Row, core::Time> ends_;  ///< for each row, the end of the row's last span
  std::int64_t spans_ = 0;
};

}  // namespace tutti::real
