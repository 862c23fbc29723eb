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
  std::string source;  ///< "A.log:12"
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int nodes = 1;  ///< as NCCL counts them: hosts, or racks that NVLink joins
  int gpus = 1;   ///< of each of them
  Version version;
  Driving driving = Driving::kProcessPerGpu;
  Transport transport = Transport::kNone;  ///< of several nodes
  std::vector<std::string> set;            ///< "NCCL_ALGO=Ring"
  std::vector<MeasuredPoint> rows;         ///< their `table` means nothing here
};

/// The machines that a calibration is of, as far as predictions depend on them.
struct CalibratedSystem {
  std::string cluster;  ///< as it was given, for readers alone
  GpuGeneration generation = GpuGeneration::kAmpere;
  Inside inside = Inside::kNvswitch;
  int nvlinks = 0;
  double cards_gb_per_s = 0;  ///< of a machine
};
CalibratedSystem calibrated_system(std::string cluster, const System& system);

/// Tells sets of figures apart.
std::string digest_of(const Parameters& figures);

/// What a cluster's own measurements say about NCCL's times there: a value that is written to a
/// file (calibration_file.h), extended by further measurements, and taken by whoever predicts.
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

  /// Why predictions of `system` with these figures cannot take it; empty if they can.
  [[nodiscard]] std::string why_not(const System& system, const Parameters& figures) const;

  /// Under which of NCCL's variables times are asked for, as (name, value). Default: none is set.
  void set_variables(const std::vector<std::pair<std::string, std::string>>& variables) {
    asked_settings_ = settings_digest(variables);
  }

  /// A correction, and the band around the corrected time; `cold`: that of the prediction.
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

/// The band of a corrected time: `cold` as much narrower as the process is surer than before, and
/// not less than what bands of systems that were left out needed.
ErrorBand calibrated_band(const TimedPoint& point, const TimeCorrection& known,
                          const ErrorBand& cold, const Spread& spread);

}  // namespace tutti::core::nccl
