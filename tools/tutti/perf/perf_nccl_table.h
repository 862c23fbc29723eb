#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/prediction.h"
#include "tools/tutti/perf/nccl_subject.h"
#include "tools/tutti/perf/perf_nccl.h"

namespace tutti::tools {

/// A setting that is faster than NCCL's choice.
struct QuickerSetting {
  std::string set;  ///< variables of the setting, such as "NCCL_ALGO=Ring NCCL_PROTO=Simple"
  double us = 0;
};

/// A row of the table: one size.
struct NcclPerfRow {
  std::int64_t bytes = 0;
  std::int64_t count = 0;  ///< number of elements, as passed to the collective
  core::nccl::Prediction time;
  core::nccl::ErrorBand band;
  std::optional<core::nccl::Choice> choice;       ///< nullopt for sends and receives
  std::vector<core::nccl::Candidate> candidates;  ///< empty for sends and receives
  /// Setting that is faster by the model, by more than the error band.
  std::optional<QuickerSetting> quicker;
  std::optional<double> measured_us;  ///< time in the log, in microseconds

  [[nodiscard]] double algbw() const { return static_cast<double>(bytes) / time.us() / 1e3; }
};

/// The table as text or JSON. REQUIRES: at least one row.
std::string nccl_perf_table(const NcclPerfRequest& request, const NcclPerfSubject& subject,
                            const std::vector<NcclPerfRow>& rows);

}  // namespace tutti::tools
