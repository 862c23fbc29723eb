#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/nccl/driving.h"
#include "core/nccl/time/parameters.h"
#include "core/schedule/contract.h"

namespace tutti::core::nccl {

/// Between what and what of its prediction a measurement lay, in eight of ten cases.
struct ErrorBand {
  double low = 1;
  double high = 1;
};

/// From how many systems the figures of a network are known.
enum class KnownFrom { kSeveral, kOne, kNone };

inline KnownFrom known_from(std::size_t systems) {
  return systems > 1 ? KnownFrom::kSeveral : systems == 1 ? KnownFrom::kOne : KnownFrom::kNone;
}

/// What an error depends on beside bytes and nodes.
struct BandFacts {
  KnownFrom network = KnownFrom::kSeveral;  ///< of several nodes; of one node kSeveral
  Driving driving = Driving::kProcessPerGpu;
  CollectiveKind kind = CollectiveKind::kAllReduce;
};

BandFacts band_facts(const System& system, CollectiveKind kind, const Parameters& parameters);

/// What the validation has taught of predictions' errors. A band by one or several nodes and size,
/// whose ends are farther from the prediction or nearer to it, as logarithms, by a factor for each
/// of the facts. Learned on systems that the figures were not fitted to.
class ErrorBands {
 public:
  static constexpr std::size_t kSizes = 4;
  static constexpr std::array<const char*, kSizes> kSizeNames = {
      "below 64 KiB", "64 KiB to 1 MiB", "1 MiB to 64 MiB", "64 MiB and more"};
  static std::size_t size_of(std::int64_t bytes);

  /// A kind of fact that widens bands, and one of its values.
  struct Factor {
    const char* by;
    const char* name;
    double value = 1;
  };
  static constexpr std::size_t kFactors = 14;
  /// Which factors the facts have, one of every kind: places in factors().
  static std::array<std::size_t, 3> factors_of(const BandFacts& facts);

  ErrorBands();
  /// CSV: part, name, low, high, widen. Of the parts "one node" and "several nodes" the names are
  /// kSizeNames, low and high times the prediction; of factors `widen` counts. ERRORS: a row that
  /// is missing, there twice or wrong.
  static Expected<ErrorBands> parse(std::string_view text, const std::string& file);
  /// nccl_error.csv of the library folder.
  static Expected<ErrorBands> load(const std::string& library_folder);
  [[nodiscard]] std::string to_csv() const;

  [[nodiscard]] ErrorBand& at(bool several_nodes, std::size_t size) {
    return bands_[several_nodes ? 1 : 0][size];
  }
  [[nodiscard]] std::array<Factor, kFactors>& factors() { return factors_; }
  [[nodiscard]] ErrorBand of(int nodes, std::int64_t bytes, const BandFacts& facts) const;

 private:
  std::array<std::array<ErrorBand, kSizes>, 2> bands_{};
  std::array<Factor, kFactors> factors_;
};

}  // namespace tutti::core::nccl
