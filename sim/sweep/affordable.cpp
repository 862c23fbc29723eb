#include "sim/sweep/affordable.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/explore/space.h"
#include "core/scenario/scenario.h"

namespace tutti::sim {
namespace {

/// Limits on the work of one point, in schedule steps. At either limit, a run takes about ten
/// seconds. The limit of a folded run is higher, because it skips repeated rounds.
constexpr double kMaxWhole = 5e6, kMaxFolded = 20e6;

}  // namespace

std::optional<Folds> MostWork::folds(const core::Scenario& scenario) const {
  const double all = work_of(scenario, Folds::kNever);
  if (all <= whole) return Folds::kAutomatic;
  const double one = work_of(scenario);
  return one < all && one <= folded ? std::optional(Folds::kAlways) : std::nullopt;
}

MostWork max_work(const core::Scenario& base) {
  const double all = work_of(base, Folds::kNever), one = work_of(base);
  return {one < all ? kMaxWhole : std::max(kMaxWhole, all), std::max(kMaxFolded, one)};
}

std::vector<std::string> leave_out_long_ones(std::vector<core::Axis>& axes,
                                             const BaseScenario& base, const core::Library& library,
                                             const MostWork& most) {
  std::vector<std::string> names;
  for (core::Axis& axis : axes) {
    if (axis.fields.front() != "strategy.algorithm") continue;
    const auto takes_long = [&](const std::vector<std::string>& row) {
      std::vector<core::Override> all = base.set;
      for (core::Override& change : core::overrides_of(axis.fields, axis.paths, row))
        all.push_back(std::move(change));
      const auto scenario = core::read_scenario(base.text, base.path, library, all);
      if (!scenario || most.folds(*scenario)) return false;
      if (std::find(names.begin(), names.end(), row.front()) == names.end())
        names.push_back(row.front());
      return true;
    };
    std::erase_if(axis.rows, takes_long);
  }
  return names;
}

std::vector<std::string> note_on_left_out(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  return {
      fmt::format("not tried: {}, because a simulation takes long with this many devices; to try "
                  "these algorithms, use --over strategy.algorithm=…",
                  fmt::join(names, ", "))};
}

}  // namespace tutti::sim
