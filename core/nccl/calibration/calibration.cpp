#include "core/nccl/calibration/calibration.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/fnv.h"
#include "core/nccl/calibration/calibration_names.h"

namespace tutti::core::nccl {
namespace {

std::vector<std::pair<std::string, std::string>> variables_of(const CalibratedTable& table) {
  std::vector<std::pair<std::string, std::string>> made;
  for (const std::string& one : table.set) {
    const std::size_t equals = std::min(one.find('='), one.size());
    made.emplace_back(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
  }
  return made;
}

std::vector<MeasuredPoint> points_of(const std::vector<CalibratedTable>& tables) {
  std::vector<MeasuredPoint> rows;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const std::uint64_t settings = settings_digest(variables_of(tables[t]));
    for (const MeasuredPoint& row : tables[t].rows) {
      rows.push_back({row.at, row.measured_us, static_cast<int>(t)});
      rows.back().at.settings = settings;
    }
  }
  return rows;
}

}  // namespace

CalibratedSystem calibrated_system(std::string cluster, const System& system) {
  return {std::move(cluster), system.generation, system.inside,
          system.inside == Inside::kPcie ? 0 : system.nvlinks, system.nics * system.nic_gb_per_s};
}

std::string digest_of(const Parameters& figures) {
  Fnv digest;
  for (const Parameter& one : figures.all())
    digest.bytes(fmt::format("{}={:.6g};", one.name, one.value));
  return fmt::format("{:016x}", digest.value());
}

Calibration::Calibration(CalibratedSystem system, std::string figures,
                         std::vector<CalibratedTable> tables, const Spread& spread)
    : system_(std::move(system)),
      figures_(std::move(figures)),
      tables_(std::move(tables)),
      spread_(spread),
      process_(points_of(tables_), spread) {}

std::string Calibration::why_not(const System& system, const Parameters& figures) const {
  if (digest_of(figures) != figures_)
    return "the parameters of NCCL's time model (nccl_time.csv) have changed since the "
           "calibration; run tutti calibrate on its logs again";
  if (system.generation != system_.generation)
    return fmt::format(
        "the calibration was measured on {} GPUs, but the GPUs of this cluster are {}",
        name_of(system_.generation), name_of(system.generation));
  const bool alone = system.inside == Inside::kAlone || system_.inside == Inside::kAlone;
  if (!alone && system.inside != system_.inside)
    return fmt::format(
        "the GPUs of the calibration are connected by {}, but the GPUs of this cluster by {}",
        name_of(system_.inside), name_of(system.inside));
  if (system.nodes == 1) return "";
  for (const CalibratedTable& table : tables_) {
    // Files of older versions do not state the generation of EFA.
    const bool efa = table.transport == Transport::kEfa && is_efa_with_rdma(system.transport);
    if (table.nodes > 1 && table.transport != system.transport && !efa)
      return fmt::format(
          "the nodes of the calibration are connected by {}, but the nodes of this cluster by {}",
          to_string(table.transport), to_string(system.transport));
  }
  return "";
}

Calibration::Corrected Calibration::correct(TimedPoint point, const ErrorBand& cold) const {
  point.settings = requested_settings_;
  const TimeCorrection known = process_.at(point);
  return {std::exp(known.log_factor), calibrated_band(point, known, cold, spread_)};
}

ErrorBand calibrated_band(const TimedPoint& point, const TimeCorrection& known,
                          const ErrorBand& cold, const Spread& spread) {
  const double narrower = known.sd / known.sd_before *
                          spread.widening(point.nodes > 1, ErrorBands::size_of(point.bytes));
  return {std::pow(cold.low, narrower), std::pow(cold.high, narrower)};
}

}  // namespace tutti::core::nccl
