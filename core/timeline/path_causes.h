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
  Time time;          ///< total time of this cause on the critical path
  std::string where;  ///< link of the longest transfer or wait, if the cause is transfers or
                      ///< waiting; otherwise empty
};

/// Returns the causes of the critical path's time, the largest first. Causes inside collectives
/// have the names of named_parts(); all other causes have the names of span_name(). The sum of the
/// times is the duration of the path. If a collective has no recorded parts, because NCCL's cost
/// model predicted its time, its whole time counts as "pack in flight".
std::vector<PathCause> causes_of(std::span<const PathPiece> path);

}  // namespace tutti::core
