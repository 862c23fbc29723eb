#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/program.h"
#include "core/plan/runner.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// The times of a replica's tasks in one training step, with a mark for each task on the critical
/// path.
struct TaskTimes {
  struct Interval {
    Time start;  ///< start of the first execution, relative to the start of the step
    Time end;    ///< end of the last execution, relative to the start of the step
    Time busy;   ///< total time of all executions
  };
  std::vector<Interval>
      of;  ///< for each task: its start, end and total time. For tasks that take no time and tasks
           ///< that did not run, start and end are the time at which all predecessors were complete
  std::vector<bool> on_path;  ///< for each task: true if it is on the critical path
  Time step;                  ///< duration of the step
  std::string source;         ///< description of where the times come from, such as "simulated,
                              ///< step 2 on w0/gpu0"
};

/// Computes the times of tasks from given durations, as if collectives started as early as possible
/// and did not slow each other. `duration` returns the duration of a collective task; 0 if it is
/// unknown. The critical path is the longest path through the graph, measured in these durations.
TaskTimes times_by_durations(const Program& program, const Durations& durations,
                             const ComputeRates& rates,
                             const std::function<Time(const Task&)>& duration);

/// Collects the records of a run from which the times of tasks follow: the spans of the latest
/// complete step, and the critical path.
class StepSpans : public NullSink {
 public:
  void track(const Track& track) override;
  void span(TrackId track, const Span& span) override;
  void step(const StepRecord& step) override { last_ = step; }
  void path(const PathPiece& piece) override { path_.push_back(piece); }

  /// True if at least one step has ended and has recorded computation.
  [[nodiscard]] bool complete() const { return last_.step >= 0 && !devices_.empty(); }
  /// Returns the device (worker and name) whose tasks are drawn. The result is the recorded device
  /// with the most computation on the critical path.
  /// REQUIRES: complete().
  [[nodiscard]] std::pair<std::int32_t, std::string> device() const;
  /// Returns the times of the tasks that ran on device(). Spans are matched with tasks by label. If
  /// several spans have the same label, they are matched, in the order of their start times, with
  /// the tasks that have this label. For a task of an exchange, `communicator` returns the
  /// communicator's name in the critical path.
  /// REQUIRES: complete(); `program` is the program of this device.
  [[nodiscard]] TaskTimes task_times(
      const Program& program, const std::function<std::string(const Task&)>& communicator) const;

 private:
  using Device = std::pair<std::int32_t, std::string>;  ///< worker and name

  static StepRecord no_step() {
    StepRecord none;
    none.step = -1;
    return none;
  }

  std::map<TrackId, Device> device_of_;
  std::map<Device, std::vector<Span>>
      devices_;  ///< spans of the latest complete step and of later steps
  StepRecord last_ = no_step();
  std::vector<PathPiece> path_;
};

}  // namespace tutti::core
