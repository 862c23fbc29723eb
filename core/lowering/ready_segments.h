#pragma once

#include <vector>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Returns the backward segment of each gradient.
std::vector<int> segments_of_gradients(const Workload& workload);

/// Returns the last backward segment that computes a gradient for which the pack waits. Segments
/// are computed in order, so the pack needs to wait only for this segment. `segment_of`: the
/// segment of each gradient.
int last_segment(const Pack& pack, const std::vector<int>& segment_of);

}  // namespace tutti::core
