#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core::nccl {

/// The parameters of the process that describes how the times of one system differ from the
/// predictions (time_process.h). Each standard deviation is that of the natural logarithm of a
/// factor.
enum class Scale {
  kLaunch,    ///< standard deviation of a system's launch time
  kHops,      ///< standard deviation of a system's hop time
  kFill,      ///< standard deviation of a system's fill time
  kTransfer,  ///< standard deviation of a system's transfer time
  kProtocol,  ///< standard deviation of the latency that is specific to one protocol
  kPattern,   ///< standard deviation of the latency that is specific to one message pattern: rings,
              ///< chains, trees, sends, …
  kCollective,        ///< standard deviation of the latency that is specific to one collective
  kSmoothSystem,      ///< standard deviation of the smooth curve over sizes of one system
  kSmoothProtocol,    ///< standard deviation of the smooth curve over sizes of one protocol
  kSmoothPattern,     ///< standard deviation of the smooth curve over sizes of one pattern
  kSmoothCollective,  ///< standard deviation of the smooth curve over sizes of one collective
  kSmoothTable,       ///< standard deviation of the smooth curve over sizes of one table
  kLength,            ///< length scale of the curves over sizes, in doublings of size
  kNodesLength,   ///< length scale of the curves over ranks, in doublings of the number of ranks
  kSeveralNodes,  ///< ratio of the curves for several nodes to the curves for one node
  kAcross,  ///< correlation between the errors on one node and on several nodes, for hops, transfer
            ///< and curves
  kOtherPattern,  ///< correlation between the errors of two different patterns, for hops and
                  ///< transfer
  kSettings,  ///< correlation between the errors with different environment variables, for hops,
              ///< transfer and curves
  kRowSmall,  ///< standard deviation of the noise of a row with a size below 16 MiB
  kRowLarge,  ///< standard deviation of the noise of a row with a size of 16 MiB or more
};
inline constexpr std::size_t kScales = static_cast<std::size_t>(Scale::kRowLarge) + 1;

/// The differences between systems, estimated from the systems of the fit (tools/nccl_spread). The
/// class also contains the factors by which bands are widened so that they cover 80 % of the
/// measurements of systems that were not used for the estimate.
class Spread {
 public:
  static constexpr std::size_t kSizes = 4;  ///< number of ranges of sizes, as in ErrorBands

  /// Returns the parameters that are used before any estimate. The default parameters assume
  /// systematic differences of up to 50 %.
  static Spread initial();
  /// Parses a CSV with the columns name, value, how. ERRORS: an unknown, missing or duplicate name;
  /// a value that is not a positive number.
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
