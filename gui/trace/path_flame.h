#pragma once

#include <string>
#include <vector>

#include "gui/trace/trace.h"

namespace tutti::gui {

/// A box in the flame view of the critical path: the part of the path's time that has one cause.
/// There are four levels of boxes, and each level divides the boxes of the level above. Level 0 is
/// the whole path. Level 1 has computation, communication and other work. Level 2 has the causes,
/// such as "backward" or "link latency". Level 3 has the layers, packs or links.
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
/// Boxes of one level are in descending order of their times. With two timelines, the boxes of the
/// second path begin where the boxes of the first path end. Empty if the timelines have no critical
/// path.
std::vector<FlameBox> path_flame(const Trace& trace);

/// The number of levels in the result of path_flame(), unless the result is empty.
inline constexpr int kFlameLevels = 4;

}  // namespace tutti::gui
