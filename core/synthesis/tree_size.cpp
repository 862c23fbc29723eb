#include "core/synthesis/tree_size.h"

#include <numeric>

namespace tutti::core::synthesis {
namespace {

constexpr std::int64_t kParts = 1024;  // longer times are tried in steps of 1/kParts of the optimum

std::vector<std::int64_t> capacities_with(const FabricGraph& graph, const Optimum& optimum,
                                          std::int64_t trees, std::int64_t more) {
  std::vector<std::int64_t> capacities;
  for (const FabricLink& link : graph.links) {
    const Wide in_time = static_cast<Wide>(link.capacity) * static_cast<Wide>(trees) *
                         static_cast<Wide>(optimum.time.numerator) *
                         static_cast<Wide>(kParts + more);
    capacities.push_back(static_cast<std::int64_t>(
        in_time / (static_cast<Wide>(optimum.time.denominator) * static_cast<Wide>(kParts))));
  }
  return capacities;
}

}  // namespace

std::optional<TreeSize> exact_tree_size(const FabricGraph& graph, const Optimum& optimum,
                                        std::int64_t most) {
  std::int64_t common = optimum.time.denominator;
  for (const FabricLink& link : graph.links)
    common = std::gcd(common, link.capacity * optimum.time.numerator);
  const std::int64_t trees = optimum.time.denominator / common;
  if (trees > most) return std::nullopt;
  return TreeSize{trees, capacities_with(graph, optimum, trees, 0), 0};
}

std::optional<TreeSize> tree_size_with(const FabricGraph& graph, const Contributions& contributions,
                                       const Optimum& optimum, std::int64_t trees, double spare) {
  std::int64_t fits = kParts;
  if (!carries(graph, capacities_with(graph, optimum, trees, fits), contributions, trees))
    return std::nullopt;
  for (std::int64_t too_short = -1; fits - too_short > 1;) {
    const std::int64_t tried = (fits + too_short + 1) / 2;
    const bool good =
        carries(graph, capacities_with(graph, optimum, trees, tried), contributions, trees);
    (good ? fits : too_short) = tried;
  }
  fits += static_cast<std::int64_t>(spare * static_cast<double>(kParts));
  return TreeSize{trees, capacities_with(graph, optimum, trees, fits),
                  static_cast<double>(fits) / static_cast<double>(kParts)};
}

}  // namespace tutti::core::synthesis
