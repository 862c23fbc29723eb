#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/explore/axis.h"

namespace tutti::core {

/// The points of a sweep: all combinations of one row from each axis. Points are numbered in the
/// order of nested loops, in which the last axis varies fastest. Points are computed when needed
/// and not stored.
class Space {
 public:
  /// Returns the space that the given axes span.
  /// ERRORS (requests): a field is on two axes; there are more than kMaxPoints points.
  static Expected<Space> of(std::vector<Axis> axes);

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  /// The fields of all axes.
  [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }
  /// Returns the values of the fields at a point (0 … size() - 1).
  [[nodiscard]] std::vector<std::string> values(std::int64_t point) const;
  /// Returns the values at a point as overrides of the scenario. Error messages name an override in
  /// the form `FIELD=VALUE`.
  [[nodiscard]] std::vector<Override> overrides(std::int64_t point) const;
  /// Returns, for each axis, the index of the row that the point uses. point() is the inverse
  /// function.
  [[nodiscard]] std::vector<std::int64_t> rows(std::int64_t point) const;
  [[nodiscard]] std::int64_t point(const std::vector<std::int64_t>& rows) const;

 private:
  std::vector<Axis> axes_;
  std::vector<std::string> fields_;
  std::int64_t size_ = 1;
};

/// Returns overrides that set fields of a scenario to values. Error messages name an override in
/// the form `FIELD=VALUE`.
std::vector<Override> overrides_of(const std::vector<std::string>& fields,
                                   const std::vector<FieldPath>& paths,
                                   const std::vector<std::string>& values);

}  // namespace tutti::core
