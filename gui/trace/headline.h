#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/trace/trace.h"

namespace tutti::gui {

/// One figure of the headline above a timeline.
struct HeadlineFigure {
  std::string name;    ///< the name of the figure, such as "step time"
  std::string value;   ///< the formatted value, such as "12.3 ms"
  std::string remark;  ///< a remark, such as "1.31 × the lower bound"; may be empty
  std::string detail;  ///< a sentence for a tooltip that explains the figure
};

/// Returns the most important figures of a run: step time, exposed communication, lower bound, the
/// activity with the largest share of the critical path, and the error band of NCCL's times. Omits
/// figures for which the timeline has no data. With two timelines, returns the step time of the
/// first and of the second, and the error.
std::vector<HeadlineFigure> headline_of(const Trace& trace);

/// Returns the step time that the headline of a run shows; nullopt if no step is recorded.
std::optional<core::Time> step_time_of(const Trace& trace);
/// Returns the figure that compares the step time of a run with that of the run before it.
HeadlineFigure compared_with_last_run(core::Time before, core::Time now);

}  // namespace tutti::gui
