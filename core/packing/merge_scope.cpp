#include "core/packing/merge_scope.h"

#include <algorithm>

namespace tutti::core {

std::vector<std::vector<int>> merge_consecutive(int count, int scope) {
  std::vector<std::vector<int>> groups;
  const int size = std::max(1, scope);
  for (int i = 0; i < count; ++i) {
    if (i % size == 0) groups.emplace_back();
    groups.back().push_back(i);
  }
  return groups;
}

}  // namespace tutti::core
