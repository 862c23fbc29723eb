#include "core/lowering/ready_segments.h"

#include <algorithm>

namespace tutti::core {

std::vector<int> segments_of_gradients(const Workload& workload) {
  std::vector<int> segment_of(workload.gradients.size(), -1);
  for (std::size_t s = 0; s < workload.segments.size(); ++s) {
    for (const int v : workload.segments[s].variables) segment_of[v] = static_cast<int>(s);
  }
  return segment_of;
}

int last_segment(const Pack& pack, const std::vector<int>& segment_of) {
  int last = pack.also_needs >= 0 ? segment_of[pack.also_needs] : -1;
  for (const Member& member : pack.payload.members)
    last = std::max(last, segment_of[member.variable]);
  return last;
}

}  // namespace tutti::core
