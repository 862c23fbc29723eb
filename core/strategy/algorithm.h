#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::core {

/// The algorithms that reduce or move packs. Each algorithm has one row in
/// core/strategy/algorithm_table.cpp, which contains all properties that other code uses.
enum class BaseAlgorithm : std::uint8_t {
  kRing,
  kXring,
  kHalvingDoubling,
  kRecursiveDoubling,
  kDoubleTree,
  kPscpu,
  kPsgpu,
  kNccl,
  kTfRing,
  kReductionToOneDevice,
  kHierarchicalCopy,
  /// An algorithm that a file describes (Strategy::custom). A custom algorithm has no name in
  /// scenarios.
  kCustom,
  /// Servers that store the variables sum the gradients (Strategy::servers). The algorithm
  /// kOnServers has no name in scenarios.
  kOnServers,
};

/// A strategy's algorithm: either one algorithm over all replicas, or a combination of one inside
/// every worker and another across workers.
struct AlgorithmChoice {
  /// The algorithm that every worker runs first. nullopt: `across` runs over all replicas.
  std::optional<BaseAlgorithm> inside;
  BaseAlgorithm across = BaseAlgorithm::kRing;

  constexpr AlgorithmChoice() = default;
  /// The conversion from a base algorithm is implicit, because a base algorithm alone is a valid
  /// choice.
  constexpr AlgorithmChoice(BaseAlgorithm alone) : across(alone) {}
  constexpr AlgorithmChoice(BaseAlgorithm inside_workers, BaseAlgorithm across_workers)
      : inside(inside_workers), across(across_workers) {}

  friend constexpr bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
  friend constexpr auto operator<=>(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};

/// Returns the algorithm's name in scenarios: "ring", "nccl/pscpu".
std::string to_string(AlgorithmChoice algorithm);
/// Returns the algorithm with this name or alias; nullopt if there is none. TensorFlow's names
/// "rechd" and "nccl/rechd" are aliases.
std::optional<AlgorithmChoice> parse_algorithm(std::string_view name);
/// Returns the reason why the combination `name` ("nccl/psgpu") of two known algorithms does not
/// exist, and lists the combinations that exist. Returns nullopt if the combination exists, or if
/// `name` does not combine two known names.
std::optional<std::string> why_no_combination(std::string_view name);
/// Returns the names and then the aliases of all algorithms that a scenario can select.
std::vector<std::string> algorithm_names();
/// Returns every algorithm that a scenario can select: first base algorithms, then combinations. An
/// algorithm with aliases occurs once.
std::vector<AlgorithmChoice> algorithms();

}  // namespace tutti::core

template <>
struct std::hash<tutti::core::AlgorithmChoice> {
  std::size_t operator()(const tutti::core::AlgorithmChoice& algorithm) const noexcept {
    const std::size_t inside =
        algorithm.inside ? 1 + static_cast<std::size_t>(*algorithm.inside) : 0;
    return std::hash<std::size_t>()((inside << 8) + static_cast<std::size_t>(algorithm.across));
  }
};
