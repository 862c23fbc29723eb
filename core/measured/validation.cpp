// Compares the time model of NCCL with published tables of nccl-tests. A prediction uses the
// description of the system in a table's record, but never the table's times. In the overall
// statistics, every configuration has weight 1, regardless of its number of rows and repetitions.
// Otherwise the configuration with the most repetitions would dominate. The statistics include only
// tables whose record says that the system was healthy, and that were not used for calibration. All
// other tables are predicted and listed, but not included in the statistics.
//
// If some tables are used for calibration, each system has a Gaussian process, which corrects the
// logarithm of the predicted time. To show the effect of the calibration, the same tables are also
// predicted without it. table_model.cpp predicts single rows, and quality.cpp computes the
// statistics.

#include "core/measured/validation.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/measured/table_model.h"
#include "core/nccl/calibration/calibration.h"

namespace tutti::core::nccl {
namespace {

/// Returns the name of a range of sizes. Names begin with a digit, which determines their order in
/// Parts. The digit and the space after it are removed from the result.
std::string size_band(std::int64_t bytes) {
  if (bytes < 64 << 10) return "1 below 64 KiB";
  if (bytes < 1 << 20) return "2 64 KiB to 1 MiB";
  if (bytes < 64 << 20) return "3 1 MiB to 64 MiB";
  return "4 64 MiB and more";
}

/// The weighted errors and error bands of rows, from which the statistics are computed.
struct Sums {
  Errors errors;
  Bands bands;

  void add(const ValidatedRow& row, double weight) {
    errors.add(row.predicted_us / row.measured_us - 1, weight);
    bands.add(row.measured_us, row.predicted_us, row.band, weight);
  }
};

std::string nodes_band(std::int64_t nodes) {
  if (nodes == 1) return "1 one node";
  if (nodes == 2) return "2 two";
  return nodes <= 16 ? "3 three to 16" : "4 more than 16";
}

/// Corrections of predictions: one Gaussian process for each system that occurs in the calibration
/// tables.
class Calibrations {
 public:
  explicit Calibrations(const Spread& spread) : spread_(spread) {}

  Expected<void> give(const CollectiveTable& table, const Parameters& parameters) {
    const auto model = TableModel::of(table);
    if (!model) return tl::make_unexpected(model.error());
    std::vector<MeasuredPoint>& rows = rows_[table.facts.system];
    const int number = given_++;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      if (!table.rows[r].outlier)
        rows.push_back({model->point(r, model->predict(r, parameters)), table.rows[r].us, number});
    }
    return {};
  }
  void finish() {
    for (const auto& [system, rows] : rows_) processes_.try_emplace(system, rows, spread_);
  }
  [[nodiscard]] const TimeProcess* of(const std::string& system) const {
    const auto found = processes_.find(system);
    return found == processes_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Spread& spread() const { return spread_; }

 private:
  Spread spread_;
  int given_ = 0;
  std::map<std::string, std::vector<MeasuredPoint>> rows_;
  std::map<std::string, TimeProcess> processes_;
};

ValidatedTable validate(const CollectiveTable& table, const Parameters& parameters,
                        const ErrorBands& bands, const Calibrations* calibrations = nullptr) {
  ValidatedTable made;
  made.table = &table;
  const auto model = TableModel::of(table);
  if (!model) {
    made.reason = model.error().message();
    made.about = model.error().problems().front().kind;
    return made;
  }
  made.assumed = model->system().assumed;
  const TimeProcess* const process = calibrations ? calibrations->of(table.facts.system) : nullptr;
  Sums sums;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const MeasuredTime& row = table.rows[r];
    const Prediction time = model->predict(r, parameters);
    double us = time.us();
    if (!std::isfinite(us) || us <= 0) {
      made.rows.clear();
      made.reason = fmt::format(
          "the model cannot predict a message of {} bytes with the settings that --meta states for "
          "this table",
          row.bytes);
      made.about = {ProblemCode::kUnsupported, "size_bytes"};
      return made;
    }
    const BandFacts known = band_facts(model->system().system, model->kind(), parameters);
    ErrorBand band = bands.of(model->communicator().nodes, row.bytes, known);
    if (process) {
      const TimedPoint point = model->point(r, time);
      const TimeCorrection corrected = process->at(point);
      us *= std::exp(corrected.log_factor);
      band = calibrated_band(point, corrected, band, calibrations->spread());
    }
    made.rows.push_back({row.bytes, row.us, row.outlier, us, band, model->choice(r)});
    if (!row.outlier) sums.add(made.rows.back(), 1);
  }
  made.quality = sums.errors.quality();
  made.bands = sums.bands.quality();
  if (!table.facts.healthy) {
    made.reason =
        "predicted, but excluded from the totals, because the table is not marked as healthy in "
        "its record";
    made.about = {ProblemCode::kUnused, "healthy"};
  }
  if (calibrations && !process) {
    made.reason =
        "predicted, but excluded from the totals, because no table of the same system calibrates "
        "the predictions";
    made.about = {ProblemCode::kUnused, "system"};
  }
  if (table.rows.empty()) {
    made.reason = "the table has no rows";
    made.about = {ProblemCode::kMissing, "size_bytes"};
  }
  return made;
}

/// Adds the problems of the table's unreadable rows to the result.
void add_unread(ValidatedTable& made) {
  const auto& unread = made.table->unread;
  if (unread.empty()) return;
  const std::size_t n = unread.size();
  const std::string rows =
      n == 1 ? "a row cannot be read" : fmt::format("{} rows cannot be read", n);
  if (!made.about) made.about = unread.front().kind;
  if (!made.reason.empty()) made.reason += "; ";
  made.reason += fmt::format("{}: {}", rows, to_string(unread.front()));
  if (n > 1) made.reason += ", …";
}

/// The sums for each ValidatedPart, indexed by its category and name.
using Parts = std::map<std::pair<std::string, std::string>, Sums>;

void add(const ValidatedTable& table, double weight, Sums& whole, Parts& parts) {
  const TableFacts& facts = table.table->facts;
  for (const ValidatedRow& row : table.rows) {
    if (row.outlier) continue;
    whole.add(row, weight);
    parts[{"1 size", size_band(row.bytes)}].add(row, weight);
    parts[{"2 collective", "0 " + facts.collective}].add(row, weight);
    parts[{"3 GPU", "0 " + facts.gpu_model}].add(row, weight);
    parts[{"4 nodes", nodes_band(facts.nodes)}].add(row, weight);
  }
}

/// True if the overall statistics include the rows of the table.
bool counts(const ValidatedTable& table, const Calibrations* calibrations) {
  const TableFacts& facts = table.table->facts;
  return facts.healthy && !table.given && (!calibrations || calibrations->of(facts.system));
}

/// Adds the rows of all tables for which counts() is true. Each configuration has the same total
/// weight.
void add_whole(const std::vector<ValidatedTable>& tables, const Calibrations* calibrations,
               Sums& whole, Parts& parts) {
  std::map<std::string, double> rows_of_config;
  for (const ValidatedTable& table : tables) {
    if (counts(table, calibrations))
      rows_of_config[table.table->facts.config] += static_cast<double>(table.quality.rows);
  }
  for (const ValidatedTable& table : tables) {
    if (counts(table, calibrations) && !table.rows.empty())
      add(table, 1 / rows_of_config[table.table->facts.config], whole, parts);
  }
}

Validation validate_all(const std::vector<CollectiveTable>& tables, const Parameters& parameters,
                        const ErrorBands& bands, const Calibrations* calibrations,
                        const std::vector<std::string>& given) {
  Validation made;
  std::vector<ValidatedTable> before;
  for (const CollectiveTable& table : tables) {
    made.tables.push_back(validate(table, parameters, bands, calibrations));
    ValidatedTable& validated = made.tables.back();
    validated.given = std::find(given.begin(), given.end(), table.facts.table_id) != given.end();
    if (validated.given) {
      validated.reason =
          "excluded from the totals, because predictions are calibrated with this table";
      validated.about = {ProblemCode::kUnused, "table_id"};
    }
    add_unread(validated);
    if (calibrations) {
      before.push_back(validate(table, parameters, bands));
      before.back().given = validated.given;
    }
    if (!counts(validated, calibrations)) {
      made.other_rows += table.rows.size() + table.unread.size();
      continue;
    }
    made.rows += table.unread.size();
    for (const MeasuredTime& row : table.rows) ++(row.outlier ? made.outliers : made.rows);
  }
  Sums whole;
  Parts parts;
  add_whole(made.tables, calibrations, whole, parts);
  made.overall = whole.errors.quality();
  made.overall_bands = whole.bands.quality();
  for (const auto& [key, sums] : parts)
    made.parts.push_back(
        {key.first.substr(2), key.second.substr(2), sums.errors.quality(), sums.bands.quality()});
  if (!calibrations) return made;
  Sums whole_before;
  Parts unused;
  add_whole(before, calibrations, whole_before, unused);
  made.overall_before = whole_before.errors.quality();
  made.overall_bands_before = whole_before.bands.quality();
  return made;
}

}  // namespace

Validation validate(const std::vector<CollectiveTable>& tables, const Parameters& parameters,
                    const ErrorBands& bands) {
  return validate_all(tables, parameters, bands, nullptr, {});
}

Expected<Validation> validate(const std::vector<CollectiveTable>& tables,
                              const Parameters& parameters, const ErrorBands& bands,
                              const CalibrateOn& given) {
  Calibrations calibrations(given.spread);
  for (const std::string& id : given.tables) {
    const auto found =
        std::find_if(tables.begin(), tables.end(),
                     [&](const CollectiveTable& table) { return table.facts.table_id == id; });
    if (found == tables.end())
      return tl::make_unexpected(
          Error::request({ProblemCode::kUnknownName, "--calibrate-on"},
                         fmt::format("--calibrate-on {}: no table has this name", id)));
    if (const auto added = calibrations.give(*found, parameters); !added)
      return tl::make_unexpected(
          Error::request({ProblemCode::kUnsupported, "--calibrate-on"},
                         fmt::format("--calibrate-on {}: {}", id, added.error().message())));
  }
  calibrations.finish();
  return validate_all(tables, parameters, bands, &calibrations, given.tables);
}

}  // namespace tutti::core::nccl
