#pragma once

// A thread block's knowledge of messages has two counts for each inbox, which is a lane that
// receives the messages of one sender (lanes.h). `known` is the number of messages that the thread
// block knows to have been sent; signals, barriers and semaphores pass this number on to other
// thread blocks. `landed` is the number of messages that are certain to have arrived before the
// thread block's next step.

#include <algorithm>
#include <map>
#include <memory>

#include "core/custom/mscclpp/lanes.h"

namespace tutti::core::custom {

using Counts = std::map<int, int>;  ///< number of messages per inbox; the key is the lane of the
                                    ///< inbox

inline void join(Counts& counts, const Counts& other) {
  for (const auto& [lane, count] : other) {
    int& mine = counts[lane];
    mine = std::max(mine, count);
  }
}

struct Knowledge {
  Counts known;
  Counts landed;
  void add(const Knowledge& other) { join(known, other.known), join(landed, other.landed); }
};

/// An event for which a thread block can wait. An event consists of an instruction, and of the
/// messages that are known to have been sent when the instruction is done.
struct Event {
  InstructionId at;  ///< index -1: there is nothing to wait for
  std::shared_ptr<const Knowledge> knows;
};

}  // namespace tutti::core::custom
