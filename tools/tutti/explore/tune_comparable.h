#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/advice/comparable.h"
#include "core/explore/space.h"
#include "sim/sweep/base_scenario.h"

namespace tutti::tools {

/// Which points of a space have a step time that can be compared with that of the scenario as it is.
class ComparablePoints {
 public:
  /// All outlive it. `base`: the scenario of which the points are; `now`: as it is.
  ComparablePoints(const core::Space& space, const sim::BaseScenario& base, const core::Library& library,
                   const core::Scenario& now)
      : space_(space), base_(base), library_(library), travel_(core::travel_of(now)) {}

  /// Why a point's step time says nothing against that of the scenario as it is; empty if they can be compared.
  [[nodiscard]] std::string why_not(std::int64_t point);
  /// What a point has besides packing: that decides who moves the packs.
  [[nodiscard]] std::string key_of(std::int64_t point) const;
  /// ERRORS: there is no such scenario.
  [[nodiscard]] core::Expected<core::Scenario> with_point(std::int64_t point) const {
    return with(space_.overrides(point));
  }
  /// True if the same programs move gradients in the scenario as it is and in `other`.
  [[nodiscard]] bool same_movers(const core::Scenario& other) const {
    return core::same_movers(travel_, core::travel_of(other));
  }

  /// The rows of each axis, divided. Simulating many points that cannot be compared would say nothing.
  struct Rows {
    std::vector<std::vector<std::int64_t>> compared, others;  ///< by axis
    bool nothing = false;                                     ///< all rows of an axis are others
  };
  [[nodiscard]] Rows rows() const;

 private:
  [[nodiscard]] core::Expected<core::Scenario> with(std::vector<core::Override> changes) const;

  const core::Space& space_;
  const sim::BaseScenario& base_;
  const core::Library& library_;
  core::Travel travel_;                       ///< as it is now
  std::map<std::string, std::string> known_;  ///< by key_of()
};

}  // namespace tutti::tools
