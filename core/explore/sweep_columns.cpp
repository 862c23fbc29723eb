#include "core/explore/sweep_columns.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/number.h"

namespace tutti::core {

std::vector<SweepColumn> columns_of(const Space& space) {
  std::vector<SweepColumn> columns;
  for (std::size_t a = 0; a < space.axes().size(); ++a) {
    const Axis& axis = space.axes()[a];
    for (std::size_t f = 0; f < axis.fields.size(); ++f) {
      SweepColumn column{a, axis.fields[f], {}, {}, 0};
      std::unordered_map<std::string, std::size_t> known;
      for (const auto& row : axis.rows) {
        const auto [found, fresh] = known.try_emplace(row[f], column.values.size());
        if (fresh) column.values.push_back(row[f]);
        if (fresh && number_of(row[f])) ++column.numbers;
        column.of_row.push_back(found->second);
      }
      columns.push_back(std::move(column));
    }
  }
  return columns;
}

const SweepColumn* find(const std::vector<SweepColumn>& columns, const std::string& name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const SweepColumn& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

const SweepColumn* max_numbers(const std::vector<SweepColumn>& columns) {
  const SweepColumn* most = nullptr;
  for (const SweepColumn& column : columns) {
    if (!most || column.numbers > most->numbers) most = &column;
  }
  return most;
}

const SweepColumn* few_values(const std::vector<SweepColumn>& columns, const SweepColumn* x) {
  const SweepColumn* by = nullptr;
  for (const SweepColumn& column : columns) {
    const bool fits =
        &column != x && column.values.size() > 1 && column.values.size() <= kMaxCurves;
    if (fits && (!by || (by->numbers > 0 && column.numbers == 0))) by = &column;
  }
  return by;
}

}  // namespace tutti::core
