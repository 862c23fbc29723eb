#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/advice/comparable.h"
#include "core/explore/space.h"
#include "sim/sweep/base_scenario.h"

namespace tutti::tools {

/// Decides which points of a search space have a step time that is comparable with the step time of
/// the current scenario.
class ComparablePoints {
 public:
  /// `base`: the scenario that the points modify; `now`: the current scenario. REQUIRES: all
  /// arguments outlive this object.
  ComparablePoints(const core::Space& space, const sim::BaseScenario& base,
                   const core::Library& library, const core::Scenario& now)
      : space_(space), base_(base), library_(library), data_movers_(core::data_movers_of(now)) {}

  /// Returns the reason why the step time of a point is not comparable with the step time of the
  /// current scenario; empty if the times are comparable.
  [[nodiscard]] std::string why_not(std::int64_t point);
  /// Returns a key with all settings of a point except packing. The settings in the key determine
  /// which software moves the packs.
  [[nodiscard]] std::string key_of(std::int64_t point) const;
  /// Returns the scenario at a point, with further overrides. ERRORS: the scenario is invalid.
  [[nodiscard]] core::Expected<core::Scenario> with_point(
      std::int64_t point, const std::vector<core::Override>& more = {}) const {
    std::vector<core::Override> changes = space_.overrides(point);
    changes.insert(changes.end(), more.begin(), more.end());
    return with(std::move(changes));
  }
  /// Returns true if the same software moves the gradients in the current scenario and in `other`.
  [[nodiscard]] bool same_data_movers(const core::Scenario& other) const {
    return core::same_data_movers(data_movers_, core::data_movers_of(other));
  }

  /// The rows of each axis, divided into two lists. A row has one value for each field of the axis,
  /// and a point consists of one row of each axis. A point is comparable only if all its rows are
  /// in `compared`, so other points need not be simulated.
  struct Rows {
    std::vector<std::vector<std::int64_t>> compared,
        others;            ///< for each axis, indices of rows
    bool nothing = false;  ///< true: for some axis, all rows are in `others`
  };
  [[nodiscard]] Rows rows() const;

 private:
  [[nodiscard]] core::Expected<core::Scenario> with(std::vector<core::Override> changes) const;

  const core::Space& space_;
  const sim::BaseScenario& base_;
  const core::Library& library_;
  core::DataMovers data_movers_;  ///< the software that moves packs in the current scenario
  std::map<std::string, std::string> known_;  ///< results of why_not(), by key_of()
};

}  // namespace tutti::tools
