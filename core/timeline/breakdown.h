#pragma once

#include <array>

#include "core/base/units.h"
#include "core/cluster/machine.h"

namespace tutti::core {

/// What the time of a chain of steps went into. Along one chain of causes the parts add up to its whole length exactly.
struct Breakdown {
  Time launch;                        ///< starting the collective
  std::array<Time, kLinkKinds> wire;  ///< bytes moving, by the kind of the route's narrowest link
  Time latency;                       ///< of links
  Time queue;                         ///< waiting for a link, port, engine or slot that others were using
  Time reduce;                        ///< adding
  Time copy;                          ///< copying and scaling in memory

  [[nodiscard]] Time total() const {
    Time sum = launch + latency + queue + reduce + copy;
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
    return *this;
  }
};

}  // namespace tutti::core
