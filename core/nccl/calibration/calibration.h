#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/calibration/time_process.h"
#include "core/nccl/driving.h"
#include "core/nccl/names.h"
#include "core/nccl/system.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/parameters.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// One run of an nccl-tests program.
struct CalibratedTable {
  std::string source;  ///< file and line of the table: "A.log:12"
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int nodes = 1;  ///< nodes as NCCL counts them: hosts, or racks connected by NVLink
  int gpus = 1;   ///< GPUs per node
  Version version;
  Driving driving = Driving::kProcessPerGpu;
  Transport transport = Transport::kNone;  ///< network between several nodes
  std::vector<std::string> set;            ///< variables that were set: "NCCL_ALGO=Ring"
  std::vector<MeasuredPoint> rows;         ///< measured times; their `table` is unused
};

/// The machines of a calibration, described by all facts that affect predictions.
struct CalibratedSystem {
  std::string cluster;  ///< name of the cluster as given, only for readers
  GpuGeneration generation = GpuGeneration::kAmpere;
  Inside inside = Inside::kNvswitch;
  int nvlinks = 0;
  double cards_gb_per_s = 0;  ///< total rate of a machine's network cards
};
CalibratedSystem calibrated_system(std::string cluster, const System& system);

/// Identifies a set of parameters.
std::string digest_of(const Parameters& figures);

/// The information about NCCL's times on a cluster from measurements there: a value that can be
/// written to a file (calibration_file.h), extended by further measurements, and used for
/// predictions.
class Calibration {
 public:
  /// REQUIRES: each table has rows.
  Calibration(CalibratedSystem system, std::string figures, std::vector<CalibratedTable> tables,
              const Spread& spread);

  [[nodiscard]] const CalibratedSystem& system() const { return system_; }
  [[nodiscard]] const std::string& figures() const { return figures_; }
  [[nodiscard]] const std::vector<CalibratedTable>& tables() const { return tables_; }
  [[nodiscard]] const Spread& spread() const { return spread_; }
  [[nodiscard]] const TimeProcess& process() const { return process_; }

  /// Returns the reason why predictions of `system` with these parameters cannot use it; empty if
  /// they can.
  [[nodiscard]] std::string why_not(const System& system, const Parameters& figures) const;

  /// Sets the NCCL variables for which times are requested, as (name, value). Default: none is set.
  void set_variables(const std::vector<std::pair<std::string, std::string>>& variables) {
    asked_settings_ = settings_digest(variables);
  }

  /// A correction, and the band around the corrected time; `cold` is the band of the uncorrected
  /// prediction.
  struct Corrected {
    double factor = 1;
    ErrorBand band;
  };
  [[nodiscard]] Corrected correct(TimedPoint point, const ErrorBand& cold) const;

 private:
  CalibratedSystem system_;
  std::string figures_;
  std::vector<CalibratedTable> tables_;
  Spread spread_;
  std::uint64_t asked_settings_ = 0;
  TimeProcess process_;
};

/// Returns the band of a corrected time: `cold`, narrowed by the reduction of the process's
/// uncertainty, but not below the width that systems left out of the fit needed.
ErrorBand calibrated_band(const TimedPoint& point, const TimeCorrection& known,
                          const ErrorBand& cold, const Spread& spread);

}  // namespace tutti::core::nccl
