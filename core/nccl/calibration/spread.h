#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core::nccl {

/// The parameters of the Gaussian process (time_process.h) for the ratio of measured to predicted
/// time on one system. All standard deviations are those of the natural logarithm of the ratio.
enum class Scale {
  kLaunch,    ///< standard deviation of the error of the launch time, between systems
  kHops,      ///< standard deviation of the error of the hop time, between systems
  kFill,      ///< standard deviation of the error of the fill time, between systems
  kTransfer,  ///< standard deviation of the error of the transfer time, between systems
  kProtocol,  ///< standard deviation of the latency error that all calls with one protocol have in
              ///< common
  kPattern,   ///< standard deviation of the latency error that all calls with one message pattern
              ///< (rings, chains, trees, sends, …) have in common
  kCollective,        ///< standard deviation of the latency error that all calls of one collective
                      ///< have in common
  kSmoothSystem,      ///< standard deviation of the error that varies smoothly with the size and is
                      ///< common to all measurements of a system
  kSmoothProtocol,    ///< standard deviation of the error that varies smoothly with the size and is
                      ///< common to all measurements with one protocol
  kSmoothPattern,     ///< standard deviation of the error that varies smoothly with the size and is
                      ///< common to all measurements with one message pattern
  kSmoothCollective,  ///< standard deviation of the error that varies smoothly with the size and is
                      ///< common to all measurements of one collective
  kSmoothTable,       ///< standard deviation of the error that varies smoothly with the size and is
                      ///< common to all rows of one nccl-tests table
  kLength,            ///< length scale over which smooth errors change with the size, in doublings
                      ///< of the size
  kNodesLength,   ///< length scale over which smooth errors change with the ranks, in doublings of
                  ///< the number of ranks
  kSeveralNodes,  ///< ratio of the standard deviation of smooth errors on several nodes to that on
                  ///< one node
  kAcross,  ///< correlation between the errors on one node and on several nodes, for hops, transfer
            ///< and smooth errors
  kOtherPattern,  ///< correlation between the errors of two different patterns, for hops and
                  ///< transfer
  kSettings,  ///< correlation between the errors under different environment variables, for hops,
              ///< transfer and smooth errors
  kRowSmall,  ///< standard deviation of the noise of a measurement below 16 MiB
  kRowLarge,  ///< standard deviation of the noise of a measurement of 16 MiB or more
};
inline constexpr std::size_t kScales = static_cast<std::size_t>(Scale::kRowLarge) + 1;

/// The variation of prediction errors between systems, as estimated by tools/nccl_spread from
/// measured systems. The class also has factors that widen error bands, so that the bands cover 80
/// % of the measurements of systems that were not used for the estimate.
class Spread {
 public:
  static constexpr std::size_t kSizes = 4;  ///< number of ranges of sizes, as in ErrorBands

  /// Returns initial parameters for the estimate. The initial parameters assume that times differ
  /// from the predictions by up to 50 %.
  static Spread initial();
  /// Parses a CSV with the columns `name`, `value` and `how`. The column `how` states the origin of
  /// each value, and is ignored. ERRORS: an unknown, missing or duplicate name; a value that is not
  /// a number from 1e-6 to 1000.
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
