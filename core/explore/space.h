#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/explore/axis.h"

namespace tutti::core {

/// Every combination of the axes' rows, in the order in which nested loops would visit them: the last axis varies fastest. No point is
/// stored.
class Space {
 public:
  /// ERRORS (requests): a field on two axes; more than kMostPoints points.
  static Expected<Space> of(std::vector<Axis> axes);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  /// The fields of all axes.
  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  /// What they are at a point, 0 … size() - 1.
  [[nodiscard]] std::vector<std::string> values(std::int64_t point) const;
  /// The same as changes of the scenario. Errors call them `FIELD=VALUE`.
  [[nodiscard]] std::vector<Override> overrides(std::int64_t point) const;
  /// By axis: which of its rows a point has; and the point that has them.
  [[nodiscard]] std::vector<std::int64_t> rows(std::int64_t point) const;
  [[nodiscard]] std::int64_t point(const std::vector<std::int64_t>& rows) const;

 private:
  std::vector<Axis> axes_;
  std::vector<std::string> fields_;
  std::int64_t size_ = 1;
};

/// Changes of a scenario that give its fields these values. Errors call them `FIELD=VALUE`.
std::vector<Override> overrides_of(const std::vector<std::string>& fields, const std::vector<FieldPath>& paths,
                                   const std::vector<std::string>& values);

}  // namespace tutti::core
