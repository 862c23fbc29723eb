#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/formats/goal.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// CPUs of GOAL. One of them runs one operation at a time, so what runs side by side has different
/// ones: computation has CPU 0 (and those of its streams), then come lanes of collectives, joins,
/// which take no time, and launches.
inline constexpr int kFirstLaneCpu = 1, kLaneCpus = 31, kJoinCpu = 32, kFirstLaunchCpu = 33,
                     kLaunchCpus = 16;

/// Builds the operations of a GOAL rank.
class GoalRankBuilder {
 public:
  explicit GoalRankBuilder(std::int64_t rank) { rank_.rank = rank; }

  std::int32_t add(GoalOperation operation, const std::vector<std::int32_t>& after);
  /// A computation; fractions of a nanosecond are carried over to the next one of its CPU.
  std::int32_t compute(Time duration, std::uint8_t cpu, const std::vector<std::int32_t>& after);
  /// Something that takes no time.
  std::int32_t join(const std::vector<std::int32_t>& after) {
    return compute(Time(), kJoinCpu, after);
  }
  void require(std::int32_t operation, std::int32_t on, bool at_start = false) {
    rank_.dependencies.push_back({operation, on, at_start});
  }
  [[nodiscard]] GoalRank take() { return std::move(rank_); }

 private:
  GoalRank rank_;
  std::map<std::uint8_t, std::int64_t> carried_;  ///< picoseconds carried over by each CPU
};

/// Returns why a collective cannot be written as messages between two ranks; empty: it can.
std::string why_no_messages(const Collective& collective);

/// Writes what one rank of a collective does: its lanes as chains of sends, receives and
/// reductions, each on a CPU of its own.
class CollectiveMessages {
 public:
  struct Use {
    const Collective& collective;
    Rank rank = 0;
    std::function<std::int64_t(Rank)> peer;  ///< returns GOAL's rank of a rank
    std::int64_t first_tag = 0;              ///< the first of the collective's own tags_of() tags
    Time launch;
  };
  /// Adds the operations. Returns the one that is complete when the rank has completed the
  /// collective.
  std::int32_t add(const Use& use, const std::vector<std::int32_t>& after, GoalRankBuilder& to);
  /// The number of tags that one execution needs.
  static std::int64_t tags_of(const Collective& collective);

 private:
  /// True if the lane takes messages in the order of arrival.
  bool takes_any(const Schedule& schedule, Rank rank, Lane lane);
  std::map<std::pair<const Schedule*, std::pair<Rank, Lane>>, bool> takes_any_;
};

}  // namespace tutti::core
