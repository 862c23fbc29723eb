#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// A cause of time on the critical path, such as "backward" or "transfer over network links", and
/// the total time with this cause.
struct PathCause {
  std::string name;
  Time time;          ///< total time of this cause, over all pieces of the path
  std::string where;  ///< for transfers and waits: link of the longest transfer or wait; otherwise
                      ///< empty
};

/// Returns the causes of the critical path's time, the largest first. Causes inside collectives
/// have the names of named_parts(); all other causes have the names of span_name(). The times add
/// up to the length of the path. Time of collectives without recorded parts, such as NCCL's, counts
/// as "pack in flight".
std::vector<PathCause> causes_of(std::span<const PathPiece> path);

}  // namespace tutti::core
