#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/explore/strategy_selection.h"

namespace tutti::core {

/// A field of the strategy, with the values that each alternative accepts.
struct AcceptedValues {
  std::string field;
  std::vector<std::vector<std::string>> values;  ///< the accepted values, by alternative; {""} if
                                                 ///< the alternative accepts none
  std::vector<std::string> notes;
};

/// Finds out by trial which alternatives accept which values of the other axes. Each trial reads
/// the scenario once.
class StrategyTrials {
 public:
  StrategyTrials(const StrategySelection& alternatives, const std::vector<std::string>& names,
                 const std::vector<StrategySettings>& selected, const TrialControl& control)
      : alternatives_(alternatives), names_(names), selected_(selected), control_(control) {}

  /// Chooses the axes whose values are tried, so that there are at most kMaxTrials trials. Returns
  /// a note for each axis that has too many values.
  std::vector<std::string> choose(const std::vector<Axis>& axes);
  [[nodiscard]] bool is_tried(std::size_t axis) const { return tried_[axis]; }

  /// Returns, for each alternative, the values of the axis that the alternative accepts; nullopt if
  /// every alternative accepts all values of the axis, or if the trials were stopped. `outside`:
  /// true if another axis varies a field outside the strategy.
  std::optional<AcceptedValues> accepted(const Axis& axis, bool outside);

  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const StrategySelection& alternatives_;
  const std::vector<std::string>& names_;
  const std::vector<StrategySettings>& selected_;
  const TrialControl& control_;
  std::vector<bool> tried_;
  std::size_t all_ = 0, done_ = 0;
  bool stopped_ = false;
};

}  // namespace tutti::core
