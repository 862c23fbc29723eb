#include "core/measured/validation.h"

#include <cmath>

#include <fmt/format.h>

#include "core/measured/table_model.h"

namespace tutti::core::nccl {
namespace {

std::string size_band(std::int64_t bytes) {
  if (bytes < 64 << 10) return "1 below 64 KiB";
  if (bytes < 1 << 20) return "2 64 KiB to 1 MiB";
  if (bytes < 64 << 20) return "3 1 MiB to 64 MiB";
  return "4 64 MiB and more";
}

/// Of rows with their weights.
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

ValidatedTable validate(const CollectiveTable& table, const Parameters& parameters, const ErrorBands& bands) {
  ValidatedTable made;
  made.table = &table;
  const auto model = TableModel::of(table);
  if (!model) {
    made.reason = model.error().message();
    made.about = model.error().problems().front().kind;
    return made;
  }
  made.assumed = model->system().assumed;
  Sums sums;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const MeasuredTime& row = table.rows[r];
    const double us = model->predict(r, parameters).us();
    if (!std::isfinite(us) || us <= 0) {
      made.rows.clear();
      made.reason = fmt::format("the model has no time for {} bytes with what its record says", row.bytes);
      made.about = {ProblemCode::kUnsupported, "size_bytes"};
      return made;
    }
    const BandFacts known = band_facts(model->system().system, model->kind(), parameters);
    const ErrorBand band = bands.of(model->communicator().nodes, row.bytes, known);
    made.rows.push_back({row.bytes, row.us, row.outlier, us, band, model->choice(r)});
    if (!row.outlier) sums.add(made.rows.back(), 1);
  }
  made.quality = sums.errors.quality();
  made.bands = sums.bands.quality();
  if (!table.facts.healthy) {
    made.reason = "predicted, but not counted in the whole: its record does not say that the table is healthy";
    made.about = {ProblemCode::kUnused, "healthy"};
  }
  if (table.rows.empty()) {
    made.reason = "it has no rows";
    made.about = {ProblemCode::kMissing, "size_bytes"};
  }
  return made;
}

/// Adds what is wrong with rows that cannot be read.
void add_unread(ValidatedTable& made) {
  const auto& unread = made.table->unread;
  if (unread.empty()) return;
  const std::size_t n = unread.size();
  const std::string rows = n == 1 ? "a row that is no measurement" : fmt::format("{} rows that are none", n);
  if (!made.about) made.about = unread.front().kind;
  if (!made.reason.empty()) made.reason += "; ";
  made.reason += fmt::format("{}: {}", rows, to_string(unread.front()));
  if (n > 1) made.reason += ", …";
}

/// By what they are of.
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

}  // namespace

Validation validate(const std::vector<CollectiveTable>& tables, const Parameters& parameters, const ErrorBands& bands) {
  Validation made;
  std::map<std::string, double> rows_of_config;
  for (const CollectiveTable& table : tables) {
    made.tables.push_back(validate(table, parameters, bands));
    add_unread(made.tables.back());
    if (!table.facts.healthy) {
      made.other_rows += table.rows.size() + table.unread.size();
      continue;
    }
    made.rows += table.unread.size();
    for (const MeasuredTime& row : table.rows) ++(row.outlier ? made.outliers : made.rows);
    rows_of_config[table.facts.config] += static_cast<double>(made.tables.back().quality.rows);
  }
  Sums whole;
  Parts parts;
  for (const ValidatedTable& table : made.tables) {
    if (!table.table->facts.healthy || table.rows.empty()) continue;
    add(table, 1 / rows_of_config[table.table->facts.config], whole, parts);
  }
  made.overall = whole.errors.quality();
  made.overall_bands = whole.bands.quality();
  for (const auto& [key, sums] : parts)
    made.parts.push_back({key.first.substr(2), key.second.substr(2), sums.errors.quality(), sums.bands.quality()});
  return made;
}

}  // namespace tutti::core::nccl
