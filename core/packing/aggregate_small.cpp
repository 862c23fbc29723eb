#include "core/packing/aggregate_small.h"

#include "core/base/check.h"

namespace tutti::core {

IndexRuns extract_ranges(std::span<const int> indices, std::int64_t limit) {
  IndexRuns result;
  std::vector<int> run;
  const auto close = [&] {
    if (run.size() > 1) {
      result.runs.push_back(run);
    } else {
      result.singles.insert(result.singles.end(), run.begin(), run.end());
    }
    run.clear();
  };
  for (const int index : indices) {
    const bool extends =
        !run.empty() && index == run.back() + 1 && run.back() - run.front() <= limit;
    if (!extends) close();
    run.push_back(index);
  }
  close();
  return result;
}

std::vector<std::vector<int>> aggregate_small(std::span<const SmallGradient> gradients,
                                              Bytes max_bytes, std::int64_t max_group,
                                              bool exact_group) {
  TUTTI_CHECK(max_bytes.count() > 0 && max_group > 0, "max_bytes = {}, max_group = {}",
              max_bytes.count(), max_group);
  std::vector<int> small;
  for (int i = 0; i < static_cast<int>(gradients.size()); ++i) {
    const SmallGradient& gradient = gradients[i];
    if (gradient.type == DataType::kFloat32 &&
        gradient.elements * size_of(gradient.type) <= max_bytes)
      small.push_back(i);
  }
  std::vector<std::vector<int>> units =
      extract_ranges(small, exact_group ? max_group - 2 : max_group).runs;
  std::vector<bool> packed(gradients.size(), false);
  for (const std::vector<int>& run : units) {
    for (const int i : run) packed[i] = true;
  }
  for (int i = 0; i < static_cast<int>(gradients.size()); ++i) {
    if (!packed[i]) units.push_back({i});
  }
  return units;
}

}  // namespace tutti::core
