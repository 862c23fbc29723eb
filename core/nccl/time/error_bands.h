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

/// The range that contains the ratio of measured to predicted time in 80 % of all cases.
struct ErrorBand {
  double low = 1;
  double high = 1;
};

/// The number of measured systems to which the parameters of a network were fitted: several, one or
/// none.
enum class KnownFrom { kSeveral, kOne, kNone };

inline KnownFrom known_from(std::size_t systems) {
  return systems > 1 ? KnownFrom::kSeveral : systems == 1 ? KnownFrom::kOne : KnownFrom::kNone;
}

/// The properties on which the error of a prediction depends, besides bytes and nodes.
struct BandFacts {
  /// The number of systems to which the network's parameters were fitted. For a cluster of one
  /// node, which uses no network, the value is kSeveral.
  KnownFrom network = KnownFrom::kSeveral;
  Driving driving = Driving::kProcessPerGpu;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool nearest_gpu = false;  ///< true if the GPU model is unknown, so that the times of the nearest
                             ///< known model are used
};

BandFacts band_facts(const System& system, CollectiveKind kind, const Parameters& parameters);

/// The error bands of predictions, as estimated by the validation. There is one band for each range
/// of sizes, for one node and for several nodes. For each property in BandFacts, the
/// property's value determines a factor. The ends of the band, which are ratios of measured to
/// predicted time, are raised to the power of the product of these factors. The bands were
/// estimated with measurements of systems that were not used to fit the parameters.
class ErrorBands {
 public:
  static constexpr std::size_t kSizes = 4;
  static constexpr std::array<const char*, kSizes> kSizeNames = {
      "below 64 KiB", "64 KiB to 1 MiB", "1 MiB to 64 MiB", "64 MiB and more"};
  static std::size_t size_of(std::int64_t bytes);

  /// A factor that widens the bands if a property (`by`) has a certain value (`name`).
  struct Factor {
    const char* by;
    const char* name;
    double value = 1;
  };
  static constexpr std::size_t kFactors = 16;
  /// Returns the indices in factors() of the factors that apply to `facts`, one for each property.
  static std::array<std::size_t, 4> factors_of(const BandFacts& facts);

  ErrorBands();
  /// Parses a CSV with the columns `part`, `name`, `low`, `high` and `widen`. Rows with the part
  /// "one node" or "several nodes" are bands. The name of a band is one of kSizeNames; `low` and
  /// `high` of a band are relative to the prediction. All other rows are factors, with the value in
  /// the column `widen`.
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
