#include "core/custom/compiler/lane_families.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::core::custom {
namespace {

constexpr std::int64_t kMaxLanes = 1024;  // of one rank

}  // namespace

void LaneFamilies::declare(const LaneText& lane) {
  LaneFamily family;
  family.name = lane.name;
  family.first = static_cast<Lane>(program_.family_of_lane.size());
  if (!lane.name.empty() && family_called(lane.name))
    complain(ProblemCode::kDuplicate, lane.at, "lane \"{}\" is declared twice; names must differ",
             lane.name);
  if (!lane.variable.empty()) {
    family.numbered = true;
    family.first_number = expressions_.number(lane.first, "the first lane", -kMaxLanes, kMaxLanes);
    const std::int64_t last =
        expressions_.number(lane.last, "the last lane", family.first_number - 1, kMaxLanes);
    family.count = static_cast<std::int32_t>(last - family.first_number + 1);
  }
  if (static_cast<std::int64_t>(program_.family_of_lane.size()) + family.count > kMaxLanes) {
    complain(ProblemCode::kTooLarge, lane.at, "a rank has more than {} lanes; use fewer",
             kMaxLanes);
    family.count = 0;
  }
  program_.family_of_lane.insert(program_.family_of_lane.end(),
                                 static_cast<std::size_t>(family.count),
                                 static_cast<int>(program_.families.size()));
  program_.families.push_back(std::move(family));
}

std::optional<int> LaneFamilies::family_called(const std::string& name) const {
  for (std::size_t i = 0; i < program_.families.size(); ++i) {
    if (program_.families[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::optional<int> LaneFamilies::find(const std::string& name, bool has_number, Position at) {
  const std::optional<int> family = family_called(name);
  if (!family) {
    std::vector<std::string> names;
    for (const LaneFamily& one : program_.families) names.push_back(one.name);
    complain(ProblemCode::kUnknownName, at, "there is no lane \"{}\"{}", name,
             did_you_mean(name, names));
    return std::nullopt;
  }
  const LaneFamily& named = program_.families[*family];
  if (named.count == 0) {
    complain(ProblemCode::kInvalid, at,
             "the range of lanes \"{}\" is empty: its end is below its start", name);
    return std::nullopt;
  }
  if (named.numbered == has_number) return family;
  if (named.numbered)
    complain(ProblemCode::kWrongType, at, "lanes \"{}\" are numbered; select one, as in {}[0]",
             name, name);
  else
    complain(ProblemCode::kWrongType, at, "lane \"{}\" is not numbered; remove the brackets", name);
  return std::nullopt;
}

}  // namespace tutti::core::custom
