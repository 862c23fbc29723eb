#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::core {

/// The algorithms that move a pack's bytes. Each has one row in core/strategy/algorithm_table.cpp
/// with all the properties that the rest of Tutti needs.
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
  /// A file describes it (Strategy::custom); scenarios cannot ask for it by name.
  kCustom,
  /// Variables lie on servers (Strategy::servers); scenarios cannot ask for it by name.
  kOnServers,
};

/// A strategy's algorithm: one for all replicas, or one inside every worker and another across
/// workers.
struct AlgorithmChoice {
  /// The algorithm that every worker runs first; nullopt: `across` covers all replicas.
  std::optional<BaseAlgorithm> inside;
  BaseAlgorithm across = BaseAlgorithm::kRing;

  constexpr AlgorithmChoice() = default;
  /// Implicit: a base algorithm is a valid choice.
  constexpr AlgorithmChoice(BaseAlgorithm alone) : across(alone) {}
  constexpr AlgorithmChoice(BaseAlgorithm inside_workers, BaseAlgorithm across_workers)
      : inside(inside_workers), across(across_workers) {}

  friend constexpr bool operator==(const AlgorithmChoice&, const AlgorithmChoice&) = default;
  friend constexpr auto operator<=>(const AlgorithmChoice&, const AlgorithmChoice&) = default;
};

/// Returns the name in scenarios: "ring", "nccl/pscpu".
std::string to_string(AlgorithmChoice algorithm);
/// Returns the algorithm with that name or alias ("rechd" and "nccl/rechd" are TensorFlow's);
/// nullopt if there is none.
std::optional<AlgorithmChoice> parse_algorithm(std::string_view name);
/// Returns why the combination `name` ("nccl/psgpu") of two known algorithms does not exist, and
/// which ones do; nullopt if it exists, or if `name` is not a combination of known names.
std::optional<std::string> why_no_combination(std::string_view name);
/// Returns the names and then the aliases of all algorithms that a scenario can select.
std::vector<std::string> algorithm_names();
/// Returns every algorithm that a scenario can select, once: base algorithms, then combinations.
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
