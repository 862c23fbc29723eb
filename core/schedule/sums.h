#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/step.h"

namespace tutti::core {

/// Sums as symbols: the set of ranks whose contribution each contains. Sets are interned, so a sum is one 32-bit number and
/// adding two is a table look-up.
class Sums {
 public:
  using Id = std::uint32_t;
  static constexpr Id kUndefined = 0;
  static constexpr Id kTwice = 1;   ///< some contribution is in there more than once
  static constexpr Id kUnlike = 2;  ///< elements were added that are not each other's like

  explicit Sums(std::int32_t ranks) : words_((static_cast<std::size_t>(ranks) + 63) / 64) { sets_.assign(3, {}); }

  /// What rank `rank` contributes.
  Id single(Rank rank);
  Id add(Id a, Id b);

  /// Ranks whose contribution is in there; 0 of kUndefined, kTwice and kUnlike.
  [[nodiscard]] std::int32_t contributions(Id id) const;
  [[nodiscard]] bool contains(Id id, Rank rank) const;
  /// "everything", "all but the contribution of rank 3", …
  [[nodiscard]] std::string show(Id id, const RankSet& contributors) const;

 private:
  Id intern(std::vector<std::uint64_t> set);

  std::size_t words_;
  std::vector<std::vector<std::uint64_t>> sets_;
  std::map<std::vector<std::uint64_t>, Id> ids_;
  std::map<std::pair<Id, Id>, Id> added_;
};

}  // namespace tutti::core
