#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/explore/space.h"

namespace tutti::core {

/// A field of the space: its axis, and its values in the order in which they come.
struct SweepColumn {
  std::size_t axis = 0;
  std::string name;
  std::vector<std::string> values;
  std::vector<std::size_t> of_row;  ///< by row of the axis: which value
  std::size_t numbers = 0;          ///< so many of the values are numbers
};

/// A line for each value of a field, if it has no more than that.
inline constexpr std::size_t kMostCurves = 8;

std::vector<SweepColumn> columns_of(const Space& space);
/// Null if there is none of that name.
const SweepColumn* find(const std::vector<SweepColumn>& columns, const std::string& name);
/// The one that is drawn over where nobody says which: that with the most numbers. Null if there is none at all.
const SweepColumn* most_numbers(const std::vector<SweepColumn>& columns);
/// The one that has a line for each value where nobody says which: of those with 2 to kMostCurves values besides `x`, one with names
/// rather than numbers first. Null if there is none.
const SweepColumn* few_values(const std::vector<SweepColumn>& columns, const SweepColumn* x);

}  // namespace tutti::core
