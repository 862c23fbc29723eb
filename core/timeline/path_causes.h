#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// The time of the critical path that has one cause: "backward", "transfer over network links", ….
struct PathCause {
  std::string name;
  Time time;          ///< sum over all pieces of the path
  std::string where;  ///< for transfers and waits: link of the longest one; otherwise empty
};

/// Returns the causes of the critical path's time, the largest first. Names of causes inside
/// collectives are those of named_parts(); all others are those of span_name(). The times add up to
/// the length of the path. Time of collectives without recorded parts, such as NCCL's, counts as
/// "pack in flight".
std::vector<PathCause> causes_of(std::span<const PathPiece> path);

}  // namespace tutti::core
