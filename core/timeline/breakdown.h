#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/cluster/machine.h"

namespace tutti::core {

/// The duration of a causal chain of schedule steps, divided by cause. The sum of all parts equals
/// the duration exactly.
struct Breakdown {
  Time launch;  ///< launch of the collective
  std::array<Time, kLinkKinds>
      wire;  ///< transfers, divided by the kind of the slowest link on the route of each transfer
  Time latency;  ///< latency of links
  Time queue;    ///< waiting for a busy link, port or copy engine, or for a free slot
  Time reduce;   ///< reductions
  Time copy;     ///< copies and scaling in memory
  Time host;     ///< work of host threads that move bytes

  bool operator==(const Breakdown&) const = default;
  [[nodiscard]] Time total() const {
    Time sum = launch + latency + queue + reduce + copy + host;
    for (const Time t : wire) sum += t;
    return sum;
  }
  Breakdown& operator+=(const Breakdown& other) {
    launch += other.launch;
    for (std::size_t i = 0; i < wire.size(); ++i) wire[i] += other.wire[i];
    latency += other.latency;
    queue += other.queue;
    reduce += other.reduce;
    copy += other.copy;
    host += other.host;
    return *this;
  }
};

/// Returns all parts with their names in reports: "link latency", "transfer over nvlink links", …
std::vector<std::pair<std::string, Time>> named_parts(const Breakdown& parts);

}  // namespace tutti::core
