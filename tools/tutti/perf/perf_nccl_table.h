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

/// A setting with which NCCL is faster than with its own choice.
struct FasterSetting {
  /// The variables, such as "NCCL_ALGO=Ring NCCL_PROTO=Simple".
  std::string set;
  double us = 0;
};

/// A row of the table, for one size.
struct NcclPerfRow {
  std::int64_t bytes = 0;
  std::int64_t count = 0;  ///< number of elements, as passed to the collective
  core::nccl::Prediction time;
  core::nccl::ErrorBand band;
  std::optional<core::nccl::Choice>
      choice;  ///< the choice of algorithm and protocol; nullopt for sends and receives
  std::vector<core::nccl::Candidate> candidates;  ///< empty for sends and receives
  /// A setting that is faster according to the model, by more than the error band; nullopt if there
  /// is none.
  std::optional<FasterSetting> quicker;
  std::optional<double> measured_us;  ///< the time in the log, in microseconds

  [[nodiscard]] double algbw() const { return static_cast<double>(bytes) / time.us() / 1e3; }
};

/// Returns the table as text or JSON. REQUIRES: there is at least one row.
std::string nccl_perf_table(const NcclPerfRequest& request, const NcclPerfSubject& subject,
                            const std::vector<NcclPerfRow>& rows);

}  // namespace tutti::tools
