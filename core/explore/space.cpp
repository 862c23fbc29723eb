#include "core/explore/space.h"

#include <set>
#include <utility>

namespace tutti::core {

Expected<Space> Space::of(std::vector<Axis> axes) {
  Space space;
  std::set<FieldPath> seen;
  for (const Axis& axis : axes) {
    for (std::size_t f = 0; f < axis.fields.size(); ++f) {
      if (!seen.insert(axis.paths[f]).second)
        return tl::make_unexpected(Error::request(
            {ProblemCode::kDuplicate, "--over"},
            fmt::format("field {} is varied twice; remove one of the two", axis.fields[f])));
      space.fields_.push_back(axis.fields[f]);
    }
    const std::int64_t rows = std::ssize(axis.rows);
    if (rows > kMaxPoints / space.size_) {
      return tl::make_unexpected(Error::request(
          {ProblemCode::kTooLarge, "--over"},
          fmt::format("the fields and values make more than {} points; use fewer values, or use "
                      "tutti tune, which simulates only some of the points",
                      kMaxPoints)));
    }
    space.size_ *= rows;
  }
  space.axes_ = std::move(axes);
  return space;
}

std::vector<std::int64_t> Space::rows(std::int64_t point) const {
  std::vector<std::int64_t> rows(axes_.size());
  for (std::size_t a = axes_.size(); a-- > 0;) {
    const std::int64_t count = std::ssize(axes_[a].rows);
    rows[a] = point % count;
    point /= count;
  }
  return rows;
}

std::int64_t Space::point(const std::vector<std::int64_t>& rows) const {
  std::int64_t point = 0;
  for (std::size_t a = 0; a < axes_.size(); ++a)
    point = point * std::ssize(axes_[a].rows) + rows[a];
  return point;
}

std::vector<std::string> Space::values(std::int64_t point) const {
  const std::vector<std::int64_t> chosen = rows(point);
  std::vector<std::string> values;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const std::vector<std::string>& row = axes_[a].rows[chosen[a]];
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

std::vector<Override> Space::overrides(std::int64_t point) const {
  std::vector<FieldPath> paths;
  for (const Axis& axis : axes_) paths.insert(paths.end(), axis.paths.begin(), axis.paths.end());
  return overrides_of(fields_, paths, values(point));
}

std::vector<Override> overrides_of(const std::vector<std::string>& fields,
                                   const std::vector<FieldPath>& paths,
                                   const std::vector<std::string>& values) {
  std::vector<Override> made;
  for (std::size_t f = 0; f < fields.size(); ++f)
    made.push_back({paths[f], values[f], fields[f] + "=" + values[f]});
  return made;
}

}  // namespace tutti::core
