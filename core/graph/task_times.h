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

/// The times of a replica's tasks in one training step, and the tasks on the critical path.
struct TaskTimes {
  struct Interval {
    Time start;  ///< start of the first iteration, from the start of the step
    Time end;    ///< end of the last iteration, from the start of the step
    Time busy;   ///< total time of all iterations
  };
  std::vector<Interval> of;  ///< by task: its time range; for marks and tasks that did not run: the
                             ///< time at which all predecessors were complete
  std::vector<bool> on_path;  ///< by task: true if the task is on the critical path of the step
  Time step;                  ///< duration of the step
  std::string source;         ///< the source of the times: "simulated, step 2 on w0/gpu0"
};

/// Computes task times without a simulation: collectives start as early as possible and do not slow
/// each other. `duration` returns the duration of a communicate task, or 0 if it is not known. The
/// critical path is the longest path, measured with the durations of the tasks.
TaskTimes times_by_durations(const Program& program, const Durations& durations,
                             const ComputeRates& rates,
                             const std::function<Time(const Task&)>& duration);

/// Collects the records of a run from which task times are made: the spans of the latest complete
/// step, and the critical path.
class StepSpans : public NullSink {
 public:
  void track(const Track& track) override;
  void span(TrackId track, const Span& span) override;
  void step(const StepRecord& step) override { last_ = step; }
  void path(const PathPiece& piece) override { path_.push_back(piece); }

  /// True if a step ended and computation was recorded.
  [[nodiscard]] bool complete() const { return last_.step >= 0 && !devices_.empty(); }
  /// Returns the device whose tasks are drawn (worker and name): the recorded device with the most
  /// computation on the critical path.
  /// REQUIRES: complete().
  [[nodiscard]] std::pair<std::int32_t, std::string> device() const;
  /// Returns the times of the tasks on device(). Spans are matched with tasks by their labels, in
  /// order. `communicator` returns the name of an exchange task's communicator, as the critical
  /// path names it.
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
