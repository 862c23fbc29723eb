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

/// The range of the ratio of measured to predicted time that contains 80 % of all cases.
struct ErrorBand {
  double low = 1;
  double high = 1;
};

/// The number of systems to which the parameters of a network were fitted: several, one or none.
enum class KnownFrom { kSeveral, kOne, kNone };

inline KnownFrom known_from(std::size_t systems) {
  return systems > 1 ? KnownFrom::kSeveral : systems == 1 ? KnownFrom::kOne : KnownFrom::kNone;
}

/// The properties on which the error of a prediction depends, besides bytes and nodes.
struct BandFacts {
  KnownFrom network = KnownFrom::kSeveral;  ///< number of systems for the parameters of the
                                            ///< network; kSeveral if there is only one node
  Driving driving = Driving::kProcessPerGpu;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool nearest_gpu = false;  ///< true if the GPUs are unknown and timed as the nearest known model
};

BandFacts band_facts(const System& system, CollectiveKind kind, const Parameters& parameters);

/// The error bands of predictions, as estimated by the validation. There is one band for each range
/// of sizes, for one node and for several nodes. The logarithms of the band's ends are multiplied
/// by one factor for each property in BandFacts. Bands are estimated on systems to which the
/// parameters were not fitted.
class ErrorBands {
 public:
  static constexpr std::size_t kSizes = 4;
  static constexpr std::array<const char*, kSizes> kSizeNames = {
      "below 64 KiB", "64 KiB to 1 MiB", "1 MiB to 64 MiB", "64 MiB and more"};
  static std::size_t size_of(std::int64_t bytes);

  /// The factor by which one value of a property widens bands.
  struct Factor {
    const char* by;
    const char* name;
    double value = 1;
  };
  static constexpr std::size_t kFactors = 16;
  /// Returns the factors that apply to the facts, one per fact, as indices into factors().
  static std::array<std::size_t, 4> factors_of(const BandFacts& facts);

  ErrorBands();
  /// Parses a CSV with the columns part, name, low, high, widen. Rows with the part "one node" or
  /// "several nodes" are bands. The name of a band is one of kSizeNames; the columns low and high
  /// of a band are relative to the prediction. All other rows are factors, with the value in the
  /// column widen.
  /// ERRORS: a missing, duplicate or invalid row.
  static Expected<ErrorBands> parse(std::string_view text, const std::string& file);
  /// Loads nccl_error.csv from the library folder.
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
