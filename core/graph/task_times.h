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

/// When each task of a replica ran in one step, and which tasks the end of the step waited for.
struct TaskTimes {
  struct Interval {
    Time start;  ///< start of the first iteration, since the step began
    Time end;    ///< end of the last iteration
    Time busy;   ///< time of all iterations together
  };
  std::vector<Interval> of;   ///< per task; for marks and tasks that took no part: when reached
  std::vector<bool> on_path;  ///< for each task: true if the end of the step waited for it
  Time step;                  ///< duration of the step
  std::string source;         ///< source of the times, such as "simulated, step 2 on w0/gpu0"
};

/// The task times if nothing is simulated: collectives start as early as possible, and any number
/// of them runs at the same time. The critical path is the longest path over the durations that are
/// known. `duration`: of a communicate task; zero if it is not known.
TaskTimes times_by_durations(const Program& program, const Durations& durations,
                             const ComputeRates& rates,
                             const std::function<Time(const Task&)>& duration);

/// Keeps of a run what task_times() needs: the spans of every step until the next one begins, and
/// the critical path.
class StepSpans : public DeafSink {
 public:
  void track(const Track& track) override;
  void span(TrackId track, const Span& span) override;
  void step(const StepRecord& step) override { last_ = step; }
  void path(const PathPiece& piece) override { path_.push_back(piece); }

  /// True if a step ended and computation was recorded.
  [[nodiscard]] bool complete() const { return last_.step >= 0 && !devices_.empty(); }
  /// The device whose tasks are drawn: the recorded one that computed most of the critical path.
  /// REQUIRES: complete().
  [[nodiscard]] std::pair<std::int32_t, std::string> device() const;
  /// The times of that device's tasks. Spans belong to tasks by their labels, in order.
  /// `communicator`: the name of that of an exchange task, as the path has it. REQUIRES:
  /// complete(); `program` is that of the device.
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
      devices_;  ///< spans of the newest step, and of steps that may not be over
  StepRecord last_ = no_step();
  std::vector<PathPiece> path_;
};

}  // namespace tutti::core
