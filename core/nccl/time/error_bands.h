#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::core::nccl {

/// Between what and what of its prediction a measurement lay, in eight of ten cases.
struct ErrorBand {
  double low = 1;
  double high = 1;
};

/// What the validation has taught of predictions' errors: by size, and inside a node or between nodes. Learned on systems that the figures were not fitted to.
class ErrorBands {
 public:
  static constexpr std::size_t kSizes = 4;
  static constexpr std::array<const char*, kSizes> kSizeNames = {"below 64 KiB", "64 KiB to 1 MiB", "1 MiB to 64 MiB",
                                                                 "64 MiB and more"};
  static std::size_t size_of(std::int64_t bytes);

  /// CSV: nodes ("one", "several"), size (one of kSizeNames), low, high. ERRORS: a cell that is missing, there twice or wrong.
  static Expected<ErrorBands> parse(std::string_view text, const std::string& file);
  /// nccl_error.csv of the library folder.
  static Expected<ErrorBands> load(const std::string& library_folder);
  [[nodiscard]] std::string to_csv() const;

  [[nodiscard]] ErrorBand& at(bool several_nodes, std::size_t size) { return bands_[several_nodes ? 1 : 0][size]; }
  [[nodiscard]] const ErrorBand& of(int nodes, std::int64_t bytes) const {
    return bands_[nodes > 1 ? 1 : 0][size_of(bytes)];
  }

 private:
  std::array<std::array<ErrorBand, kSizes>, 2> bands_{};
};

}  // namespace tutti::core::nccl
