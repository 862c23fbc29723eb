#include "core/explore/seed_groups.h"

#include <cstddef>
#include <map>
#include <utility>

namespace tutti::core {

std::optional<std::size_t> seed_field(const Space& space) {
  std::size_t first = 0;
  for (const Axis& axis : space.axes()) {
    for (std::size_t f = 0; f < axis.fields.size(); ++f) {
      if (axis.fields[f] == kSeedField && axis.rows.size() > 1) return first + f;
    }
    first += axis.fields.size();
  }
  return std::nullopt;
}

std::vector<SeedGroup> seed_groups(const Space& space,
                                   const std::vector<std::optional<Outcome>>& outcomes,
                                   std::size_t seed) {
  std::map<std::vector<std::string>, std::vector<std::int64_t>> found;
  for (std::int64_t p = 0; p < std::ssize(outcomes); ++p) {
    if (!outcomes[p] || outcomes[p]->status != Outcome::Status::kDone) continue;
    std::vector<std::string> values = space.values(p);
    values.erase(values.begin() + seed);
    found[std::move(values)].push_back(p);
  }
  std::vector<SeedGroup> groups;
  for (auto& [values, points] : found) groups.push_back({values, std::move(points)});
  return groups;
}

Time quantile(const std::vector<Time>& ascending, int quarters) {
  const std::size_t position = (ascending.size() - 1) * static_cast<std::size_t>(quarters);
  const Time low = ascending[position / 4];
  if (position % 4 == 0) return low;
  const Time gap = ascending[position / 4 + 1] - low;
  return low + Time(gap.count() / 4 * static_cast<std::int64_t>(position % 4) +
                    gap.count() % 4 * static_cast<std::int64_t>(position % 4) / 4);
}

}  // namespace tutti::core
