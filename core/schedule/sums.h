#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/step.h"

namespace tutti::core {

/// Symbolic sums. A sum is represented by the set of ranks whose contributions it contains. Each
/// distinct set has a 32-bit number, and an addition is a lookup in a table.
class Sums {
 public:
  using Id = std::uint32_t;
  static constexpr Id kUndefined = 0;
  static constexpr Id kTwice = 1;   ///< a sum that contains the contribution of some rank more than
                                    ///< once
  static constexpr Id kUnlike = 2;  ///< a sum that combines elements with different indices

  explicit Sums(std::int32_t ranks) : words_((static_cast<std::size_t>(ranks) + 63) / 64) {
    sets_.assign(3, {});
  }

  /// Returns the sum that contains only the contribution of one rank.
  Id single(Rank rank);
  Id add(Id a, Id b);

  /// The number of contributions in the sum; 0 for kUndefined, kTwice and kUnlike.
  [[nodiscard]] std::int32_t contributions(Id id) const;
  [[nodiscard]] bool contains(Id id, Rank rank) const;
  /// Describes a sum: "everything", "all but the contribution of rank 3", ….
  [[nodiscard]] std::string show(Id id, const RankSet& contributors) const;

 private:
  Id intern(std::vector<std::uint64_t> set);

  std::size_t words_;
  std::vector<std::vector<std::uint64_t>> sets_;
  std::map<std::vector<std::uint64_t>, Id> ids_;
  std::map<std::pair<Id, Id>, Id> added_;
};

}  // namespace tutti::core
