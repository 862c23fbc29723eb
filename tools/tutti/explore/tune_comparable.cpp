#include "tools/tutti/explore/tune_comparable.h"

#include <algorithm>

#include "core/explore/plan_key.h"

namespace tutti::tools {

core::Expected<core::Scenario> ComparablePoints::with(std::vector<core::Override> changes) const {
  changes.insert(changes.begin(), base_.set.begin(), base_.set.end());
  return core::read_scenario(base_.text, base_.path, library_, changes);
}

std::string ComparablePoints::key_of(std::int64_t point) const {
  std::string key;
  for (const core::Override& change : space_.overrides(point)) {
    if (!core::decides_packing_only(change.path)) key += change.label + '\n';
  }
  return key;
}

std::string ComparablePoints::why_not(std::int64_t point) {
  std::string key = key_of(point);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const auto scenario = with_point(point);
  if (!scenario) return "";  // its outcome reports the error, which may depend on the packing
  std::string why = core::why_not_comparable(data_movers_, core::data_movers_of(*scenario));
  return known_.emplace(std::move(key), std::move(why)).first->second;
}

ComparablePoints::Rows ComparablePoints::rows() const {
  Rows rows;
  for (const core::Axis& axis : space_.axes()) {
    std::vector<std::int64_t> compared, others;
    const bool packing_only =
        std::all_of(axis.paths.begin(), axis.paths.end(), core::decides_packing_only);
    for (std::int64_t r = 0; r < std::ssize(axis.rows); ++r) {
      bool is_compared = true;
      if (!packing_only) {
        const auto scenario = with(core::overrides_of(axis.fields, axis.paths, axis.rows[r]));
        is_compared =
            !scenario ||
            core::why_not_comparable(data_movers_, core::data_movers_of(*scenario)).empty();
      }
      (is_compared ? compared : others).push_back(r);
    }
    rows.nothing = rows.nothing || compared.empty();
    rows.compared.push_back(std::move(compared));
    rows.others.push_back(std::move(others));
  }
  return rows;
}

}  // namespace tutti::tools
