#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/timeline/timeline.h"

namespace tutti::core {

/// A part of the critical path that has one cause: "backward", "transfer over network links", ….
struct PathCause {
  std::string name;
  Time time;          ///< the sum over the pieces of the path
  std::string where;  ///< for transfers and waits: the link of the longest one; otherwise empty
};

/// Returns what the critical path spends its time on, the largest cause first. Names of causes
/// inside collectives are those of named_parts(); the others are those of span_name(). The times
/// add up to the length of the path if all its collectives have recorded parts; NCCL's do not, and
/// count as "pack in flight".
std::vector<PathCause> causes_of(std::span<const PathPiece> path);

}  // namespace tutti::core
