#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/explore/space.h"

namespace tutti::core {

/// A field of a sweep, its axis, and its distinct values in the order of their first occurrence.
struct SweepColumn {
  std::size_t axis = 0;
  std::string name;
  std::vector<std::string> values;
  std::vector<std::size_t> of_row;  ///< for each row of the axis: the index of the row's value
  std::size_t numbers = 0;          ///< number of values that can be parsed as numbers
};

/// The maximum number of curves. A field with more than kMaxCurves values is not drawn with one
/// curve per value.
inline constexpr std::size_t kMaxCurves = 8;

std::vector<SweepColumn> columns_of(const Space& space);
/// Returns the column with this name; null if there is none.
const SweepColumn* find(const std::vector<SweepColumn>& columns, const std::string& name);
/// Returns the default field for the x axis, which is the field with the most numeric values; null
/// if there are no columns.
const SweepColumn* max_numbers(const std::vector<SweepColumn>& columns);
/// Returns the default field for separate curves: a field other than `x` with 2 to kMaxCurves
/// values. A field whose values are names is preferred to a field whose values are numbers. Returns
/// null if every other field has more than kMaxCurves values.
const SweepColumn* few_values(const std::vector<SweepColumn>& columns, const SweepColumn* x);

}  // namespace tutti::core
