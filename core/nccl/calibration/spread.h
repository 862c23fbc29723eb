#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core::nccl {

/// The scale parameters of the process that describes the difference between one system's times and
/// the predictions (time_process.h). Standard deviations are of natural logarithms.
enum class Scale {
  kLaunch,    ///< sd of a system's launch
  kHops,      ///< sd of a system's hops
  kFill,      ///< sd of a system's fill
  kTransfer,  ///< sd of a system's transfer
  kProtocol,  ///< sd of the latency specific to a protocol
  kPattern,   ///< sd of the latency specific to a message pattern: rings, chains, trees, sends, …
  kCollective,        ///< sd of the latency specific to a collective
  kSmoothSystem,      ///< sd of the smooth curve over sizes shared by all tables of a system
  kSmoothProtocol,    ///< sd of the smooth curve shared by rows of a protocol
  kSmoothPattern,     ///< sd of the smooth curve shared by rows of a pattern
  kSmoothCollective,  ///< sd of the smooth curve shared by rows of a collective
  kSmoothTable,       ///< sd of the smooth curve specific to a table
  kLength,            ///< distance over which a curve changes, in doublings of size
  kNodesLength,       ///< distance over which a collective's curve changes, in doublings of ranks
  kSeveralNodes,      ///< factor on smooth curves between nodes
  kAcross,        ///< correlation of hops and of transfer inside a node with those between nodes
  kOtherPattern,  ///< correlation of hops and of transfer of one pattern with those of another
  kSettings,      ///< correlation of all parts but launch under different variables
  kRowSmall,      ///< sd of a row below 16 MiB
  kRowLarge,      ///< sd of a row from 16 MiB on
};
inline constexpr std::size_t kScales = static_cast<std::size_t>(Scale::kRowLarge) + 1;

/// The spread of systems, estimated from the systems of the fit (tools/nccl_spread), and the factor
/// by which bands must be wider to cover 80 % of the measurements of systems that were left out.
class Spread {
 public:
  static constexpr std::size_t kSizes = 4;  ///< number of size ranges, as in ErrorBands

  /// Before any estimate: no systematic difference larger than 50 % is known.
  static Spread initial();
  /// CSV: name,value,how. ERRORS: a name that is unknown, missing or duplicate; a value that is not
  /// a positive number.
  static Expected<Spread> parse(std::string_view text, const std::string& file);
  /// Loads nccl_spread.csv from the library folder.
  static Expected<Spread> load(const std::string& library_folder);
  static Expected<Spread> load_file(const std::string& path);
  [[nodiscard]] std::string to_csv(const std::string& how) const;

  [[nodiscard]] double& at(Scale scale) { return scales_[static_cast<std::size_t>(scale)]; }
  [[nodiscard]] double at(Scale scale) const { return scales_[static_cast<std::size_t>(scale)]; }
  [[nodiscard]] double& widening(bool several_nodes, std::size_t size) {
    return widening_[several_nodes ? 1 : 0][size];
  }
  [[nodiscard]] double widening(bool several_nodes, std::size_t size) const {
    return widening_[several_nodes ? 1 : 0][size];
  }

 private:
  std::array<double, kScales> scales_{};
  std::array<std::array<double, kSizes>, 2> widening_{};
};

}  // namespace tutti::core::nccl
