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

/// The measured times of one run of an nccl-tests program, with the conditions of the run.
struct CalibratedTable {
  std::string source;  ///< file and line of the table: "A.log:12"
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int nodes = 1;  ///< number of nodes in NCCL's sense: a node is a host, or a rack whose GPUs
                  ///< NVLink connects
  int gpus = 1;   ///< number of GPUs per node
  Version version;
  Driving driving = Driving::kProcessPerGpu;
  Transport transport = Transport::kNone;  ///< network between nodes; only set if there are several
                                           ///< nodes
  std::vector<std::string> set;  ///< environment variables that were set, such as "NCCL_ALGO=Ring"
  std::vector<MeasuredPoint> rows;  ///< measured times; MeasuredPoint::table is not set
};

/// The properties of the machines on which a calibration was measured. A calibration applies only
/// to machines with the same properties.
struct CalibratedSystem {
  std::string cluster;  ///< name of the cluster as the user specified it; only for information
  GpuGeneration generation = GpuGeneration::kAmpere;
  Inside inside = Inside::kNvswitch;
  int nvlinks = 0;
  double cards_gb_per_s = 0;  ///< total rate of a machine's network cards
};
CalibratedSystem calibrated_system(std::string cluster, const System& system);

/// Returns a digest that identifies the parameters of the time model.
std::string digest_of(const Parameters& figures);

/// Measured times of NCCL on a cluster, which are used to correct predictions for this cluster. A
/// calibration can be written to a file (calibration_file.h) and extended with more measurements.
class Calibration {
 public:
  /// `figures` is the digest of the time model's parameters. REQUIRES: each table has rows.
  Calibration(CalibratedSystem system, std::string figures, std::vector<CalibratedTable> tables,
              const Spread& spread);

  [[nodiscard]] const CalibratedSystem& system() const { return system_; }
  [[nodiscard]] const std::string& figures() const { return figures_; }
  [[nodiscard]] const std::vector<CalibratedTable>& tables() const { return tables_; }
  [[nodiscard]] const Spread& spread() const { return spread_; }
  [[nodiscard]] const TimeProcess& process() const { return process_; }

  /// Returns the reason why the calibration cannot be used for predictions of `system` with these
  /// parameters; "" if the calibration can be used.
  [[nodiscard]] std::string why_not(const System& system, const Parameters& figures) const;

  /// Specifies the environment variables of NCCL in the runs to predict, as pairs of name and
  /// value. By default, no variable is set.
  void set_variables(const std::vector<std::pair<std::string, std::string>>& variables) {
    requested_settings_ = settings_digest(variables);
  }

  /// The factor by which a predicted time is multiplied, and the error band of the product.
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
  std::uint64_t requested_settings_ = 0;
  TimeProcess process_;
};

/// Returns the error band of a corrected time. `cold` is the band of the uncorrected prediction.
/// The logarithms of both its ends are multiplied by known.sd / known.sd_before, the ratio of the
/// standard deviations after and before the correction, and by Spread::widening().
ErrorBand calibrated_band(const TimedPoint& point, const TimeCorrection& known,
                          const ErrorBand& cold, const Spread& spread);

}  // namespace tutti::core::nccl
