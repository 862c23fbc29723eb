#include "core/nccl/validation/quality.h"

#include <algorithm>
#include <cmath>

namespace tutti::core::nccl {

Quality Errors::quality() const {
  Quality quality;
  quality.rows = all_.size();
  if (all_.empty()) return quality;
  std::vector<One> sorted = all_;
  std::sort(sorted.begin(), sorted.end(),
            [](const One& a, const One& b) { return std::abs(a.error) < std::abs(b.error); });
  double total = 0;
  for (const One& one : sorted) total += one.weight;
  const auto quantile = [&](double share) {
    double seen = 0;
    for (const One& one : sorted) {
      seen += one.weight;
      if (seen >= share * total * (1 - 1e-12)) return std::abs(one.error);
    }
    return std::abs(sorted.back().error);
  };
  quality.median = quantile(0.5);
  quality.p90 = quantile(0.9);
  for (const One& one : sorted) {
    quality.mean += std::abs(one.error) * one.weight / total;
    quality.bias += one.error * one.weight / total;
  }
  return quality;
}

}  // namespace tutti::core::nccl
