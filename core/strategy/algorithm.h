#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::core {

/// The algorithms by which packs are reduced or moved. Each algorithm has one row in
/// core/strategy/algorithm_table.cpp. Other code reads all properties of an algorithm from this
/// table.
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
  /// An algorithm from a file (Strategy::custom). A custom algorithm has no name for the scenario's
  /// field `algorithm`.
  kCustom,
  /// The servers that store a variable sum its gradients (Strategy::servers). kOnServers has no
  /// name for the scenario's field `algorithm`.
  kOnServers,
};

/// The algorithm of a strategy: a single algorithm over all replicas, or a combination of one
/// algorithm inside every worker and another one across workers.
struct AlgorithmChoice {
  /// The algorithm that runs first, inside every worker; nullopt: `across` runs over all replicas.
  std::optional<BaseAlgorithm> inside;
  BaseAlgorithm across = BaseAlgorithm::kRing;

  constexpr AlgorithmChoice() = default;
  /// A base algorithm alone is a valid choice, so it converts implicitly to an AlgorithmChoice.
  constexpr AlgorithmChoice(BaseAlgorithm alone) : across(alone) {}
  constexpr AlgorithmChoice(BaseAlgorithm inside_workers, BaseAlgorithm across_workers)
      : inside(inside_workers), across(across_workers) {}

  friend constexpr bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
  friend constexpr auto operator<=>(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};

/// Returns the algorithm's name in scenarios, such as "ring" or "nccl/pscpu".
std::string to_string(AlgorithmChoice algorithm);
/// Returns the algorithm with this name or alias; nullopt if the name is unknown. TensorFlow's
/// names "rechd" and "nccl/rechd" are aliases.
std::optional<AlgorithmChoice> parse_algorithm(std::string_view name);
/// If `name` (such as "nccl/psgpu") combines two known algorithms but the combination does not
/// exist, returns the reason and the combinations that exist. If the combination exists, or if
/// `name` does not combine two known names, returns nullopt.
std::optional<std::string> why_no_combination(std::string_view name);
/// Returns the names of all algorithms that a scenario can select, followed by their aliases.
std::vector<std::string> algorithm_names();
/// Returns all algorithms that a scenario can select: first base algorithms, then combinations.
/// Aliases are not listed separately.
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
