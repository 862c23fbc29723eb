#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/formats/goal.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// The numbers of the (modelled) CPUs that execute the operations of a GOAL rank. In GOAL, a CPU
/// runs one operation at a time, so operations that run in parallel need different CPUs. CPU 0
/// executes computation. The other CPUs execute the lanes of collectives, joins (which take no
/// time), and launches.
inline constexpr int kFirstLaneCpu = 1, kLaneCpus = 31, kJoinCpu = 32, kFirstLaunchCpu = 33,
                     kLaunchCpus = 16;

/// Builds the operations of a GOAL rank.
class GoalRankBuilder {
 public:
  explicit GoalRankBuilder(std::int64_t rank) { rank_.rank = rank; }

  std::int32_t add(GoalOperation operation, const std::vector<std::int32_t>& after);
  /// Adds a computation. GOAL counts whole nanoseconds, so the remaining picoseconds are added to
  /// the next computation on the same CPU.
  std::int32_t compute(Time duration, std::uint8_t cpu, const std::vector<std::int32_t>& after);
  /// Adds an operation that takes no time and ends when all operations in `after` have ended.
  std::int32_t join(const std::vector<std::int32_t>& after) {
    return compute(Time(), kJoinCpu, after);
  }
  void require(std::int32_t operation, std::int32_t on, bool at_start = false) {
    rank_.dependencies.push_back({operation, on, at_start});
  }
  [[nodiscard]] GoalRank take() { return std::move(rank_); }

 private:
  GoalRank rank_;
  std::map<std::uint8_t, std::int64_t> carried_;  ///< for each CPU, the picoseconds to add to its
                                                  ///< next computation
};

/// Returns the reason why a collective cannot be expressed by point-to-point messages; empty if the
/// collective can be expressed in this way.
std::string why_no_messages(const Collective& collective);

/// Converts a collective to GOAL operations of one rank. Each lane becomes a sequence of sends,
/// receives and reductions; the lanes are distributed over kLaneCpus CPUs.
class CollectiveMessages {
 public:
  struct Use {
    const Collective& collective;
    Rank rank = 0;
    std::function<std::int64_t(Rank)> peer;  ///< maps a rank of the collective to its GOAL rank
    std::int64_t first_tag = 0;  ///< the first of tags_of() consecutive tags that are reserved for
                                 ///< this collective
    Time launch;
  };
  /// Adds the operations of the collective. The added operations start after the operations in
  /// `after` have ended. Returns the index of the last operation: when it ends, the collective is
  /// complete on this rank.
  std::int32_t add(const Use& use, const std::vector<std::int32_t>& after, GoalRankBuilder& to);
  /// Returns the number of tags that one execution of the collective needs.
  static std::int64_t tags_of(const Collective& collective);

 private:
  /// True if the lane receives messages in the order of their arrival.
  bool takes_any(const Schedule& schedule, Rank rank, Lane lane);
  std::map<std::pair<const Schedule*, std::pair<Rank, Lane>>, bool> takes_any_;
};

}  // namespace tutti::core
