#pragma once

// Decides where an exported execution plan puts messages in memory, and by which channels it
// connects ranks. The decisions need the whole schedule, so they are made before the plan is
// written.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/schedule/schedule.h"

namespace tutti::core::custom {

/// One end of a connection.
struct LaneEnd {
  Rank rank = 0;
  Lane lane = 0;
  auto operator<=>(const LaneEnd&) const = default;
};

/// The range of the receiver's memory to which one message is written.
struct Landing {
  Range range;
  bool in_scratch = false;  ///< true: the range is in the receiver's scratch buffer and reserved
                            ///< for this message; the receiver copies the data from there, or
                            ///< adds it to its own data
};

struct RangeUse {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  Lane lane = 0;
  std::int64_t index = 0;
};

class ExportLayout {
 public:
  ExportLayout(const Schedule& schedule, std::int32_t per_node);

  /// True if the ranks are on different nodes, which port channels connect.
  [[nodiscard]] bool port(Rank a, Rank b) const { return a / per_node_ != b / per_node_; }

  std::vector<std::int64_t> scratch;                ///< number of scratch chunks of each rank
  std::set<std::pair<LaneEnd, LaneEnd>> receivers;  ///< pairs of sending lane and receiving lane
  std::map<std::pair<LaneEnd, LaneEnd>, int> channels;
  std::map<std::pair<LaneEnd, LaneEnd>, std::vector<Landing>> landings;
  /// The semaphore that each step acquires, and the semaphores that are released after each step.
  /// Only steps that acquire or release semaphores have entries.
  std::map<std::pair<LaneEnd, std::int64_t>, int> acquires;
  std::map<std::pair<LaneEnd, std::int64_t>, std::vector<int>> releases;
  std::vector<int> semaphore_counts;  ///< number of semaphores of each rank

 private:
  [[nodiscard]] Rank ranks() const { return schedule_.ranks(); }

  template <class Visit>
  void for_each_step(Visit visit) {
    for (Rank rank = 0; rank < ranks(); ++rank) {
      for (Lane lane = 0; lane < schedule_.lanes(rank); ++lane) {
        const std::int64_t count = schedule_.steps(rank, lane);
        for (std::int64_t i = 0; i < count; ++i)
          visit(rank, lane, i, schedule_.step(rank, lane, i));
      }
    }
  }

  void find_uses();
  /// True if this step is the first use of the range: no other lane and no earlier step of the lane
  /// uses it.
  bool first_use(Rank rank, Lane lane, std::int64_t index, const Range& range);
  void find_landings();
  void connect(const LaneEnd& a, const LaneEnd& b);
  /// Numbers the channels. The k-th channel from rank a to rank b and the k-th channel from b to a
  /// are the two ends of one channel.
  void find_channels();
  /// Finds each step for which another thread block waits, and adds the release of a semaphore
  /// after it.
  void find_waits();

  const Schedule& schedule_;
  std::int32_t per_node_;
  std::vector<std::vector<RangeUse>> uses_[2];  ///< for each rank: ranges in the data buffer ([0])
                                                ///< and in the scratch buffer ([1]) that steps use
  std::set<std::pair<LaneEnd, LaneEnd>> connections_;  ///< pairs of connected lanes, with the
                                                       ///< smaller one first
};

}  // namespace tutti::core::custom
