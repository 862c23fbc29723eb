#pragma once

#include <string>
#include <vector>

#include "gui/trace/trace.h"

namespace tutti::gui {

/// A box in the flame view of the critical path: a part of its time with one cause. The boxes of a
/// level divide the boxes of the level above: the whole path; computation, communication and other
/// work; the cause, such as "backward" or "link latency"; the layer, pack or link.
struct FlameBox {
  std::string name;
  int level = 0;
  core::Time begin;    ///< position on the axis of the flame view, not of the run
  core::Time time;     ///< the total time with this cause
  int kind = 0;        ///< the kind of span whose colour the box has
  bool waits = false;  ///< true: the time is spent waiting
  TimeRange longest;   ///< the longest piece of the critical path with this cause
  std::string where;   ///< the link of the longest transfer or wait; empty: there is none
  std::size_t side = 0;
};

/// Returns the boxes of the critical path of each side, level by level, and from left to right.
/// Boxes of one level are in descending order of their times. With two timelines, the path of the
/// second one begins where the first one ends. Empty if the timelines have no critical path.
std::vector<FlameBox> path_flame(const Trace& trace);

/// Returns the number of levels of path_flame(), unless it is empty.
inline constexpr int kFlameLevels = 4;

}  // namespace tutti::gui
