#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/explore/outcome.h"
#include "core/explore/space.h"

namespace tutti::core {

/// The field with the seed of a run. A sweep over seeds reports the distribution of the results,
/// because the result of the best seed would only be luck.
inline constexpr const char* kSeedField = "run.seed";

/// Returns the index of run.seed in space.fields(); nullopt if the sweep does not vary run.seed.
std::optional<std::size_t> seed_field(const Space& space);

/// The completed points that differ only in run.seed.
struct SeedGroup {
  std::vector<std::string> values;   ///< values of all fields except run.seed
  std::vector<std::int64_t> points;  ///< numbers of the points, in ascending order
};

/// Returns one group for each combination of values of the other fields, in lexicographic order of
/// SeedGroup::values. Points that were not completed are left out. `seed` is the index of run.seed
/// among the fields.
std::vector<SeedGroup> seed_groups(const Space& space,
                                   const std::vector<std::optional<Outcome>>& outcomes,
                                   std::size_t seed);

/// Returns the quartile `quarters` of the times: 0 is the minimum, 2 the median and 4 the maximum.
/// Interpolates linearly between neighbours (type 7 of Hyndman & Fan, "Sample Quantiles in
/// Statistical Packages", 1996).
/// REQUIRES: `ascending` is sorted and has at least one time; quarters is 0 … 4.
Time quantile(const std::vector<Time>& ascending, int quarters);

}  // namespace tutti::core
