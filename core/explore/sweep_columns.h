#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/explore/space.h"

namespace tutti::core {

/// A field of a sweep, with the axis that varies it and its distinct values. Values are in the
/// order of their first occurrence.
struct SweepColumn {
  std::size_t axis = 0;
  std::string name;
  std::vector<std::string> values;
  std::vector<std::size_t> of_row;  ///< for each row of the axis: the index of the row's value
  std::size_t numbers = 0;          ///< number of values that can be parsed as numbers
};

/// The maximum number of curves in a plot. A field with more values than this is not chosen for the
/// curves.
inline constexpr std::size_t kMaxCurves = 8;

std::vector<SweepColumn> columns_of(const Space& space);
/// Returns the column with this name; null if there is none.
const SweepColumn* find(const std::vector<SweepColumn>& columns, const std::string& name);
/// Returns the column that is shown on the x axis by default: the one with the most numeric values.
/// Returns null if there are no columns.
const SweepColumn* max_numbers(const std::vector<SweepColumn>& columns);
/// Returns the column whose values are drawn as separate curves by default: a column other than `x`
/// with 2 to kMaxCurves values. A column whose values are names is preferred to a column of
/// numbers. Returns null if there is no such column.
const SweepColumn* few_values(const std::vector<SweepColumn>& columns, const SweepColumn* x);

}  // namespace tutti::core
