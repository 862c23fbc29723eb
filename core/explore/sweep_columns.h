#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/explore/space.h"

namespace tutti::core {

/// A field of the space, with its axis and its values in the order of their first occurrence.
struct SweepColumn {
  std::size_t axis = 0;
  std::string name;
  std::vector<std::string> values;
  std::vector<std::size_t> of_row;  ///< index of the value of each row of the axis
  std::size_t numbers = 0;          ///< number of values that are numbers
};

/// The maximum number of values of a field for which each value gets a curve.
inline constexpr std::size_t kMaxCurves = 8;

std::vector<SweepColumn> columns_of(const Space& space);
/// Returns the column of that name; null if there is none.
const SweepColumn* find(const std::vector<SweepColumn>& columns, const std::string& name);
/// Returns the default field of the horizontal axis: the one with the most numbers. Null if there
/// are no columns.
const SweepColumn* most_numbers(const std::vector<SweepColumn>& columns);
/// Returns the default field for separate curves: among those other than `x` with 2 to kMaxCurves
/// values, preferably one with names rather than numbers. Null if there is none.
const SweepColumn* few_values(const std::vector<SweepColumn>& columns, const SweepColumn* x);

}  // namespace tutti::core
