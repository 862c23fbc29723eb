#include "tools/tutti/validate.h"

#include <map>
#include <vector>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/measured/validation.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/table.h"
#include "tools/tutti/validate_html.h"
#include "tools/tutti/validate_trace.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::Report;
using core::ReportValue;
using core::nccl::BandQuality;
using core::nccl::Quality;
using core::nccl::ValidatedTable;
using core::nccl::Validation;

Expected<core::nccl::Parameters> figures(const ValidateOptions& options,
                                         const Environment& environment) {
  if (options.times.empty()) return core::nccl::Parameters::load(environment.library.folder());
  const auto text = core::read_text_file(options.times);
  if (!text) return failed(text);
  return core::nccl::Parameters::parse(*text, options.times);
}

/// Returns the spread between repetitions of an experiment; nullopt if the experiment was not
/// repeated.
std::optional<double> noise_of(const std::map<std::string, double>& noise,
                               const std::string& config) {
  for (const auto& [name, spread] : noise) {
    if (name.starts_with(config)) return spread;
  }
  return std::nullopt;
}

/// Returns a value of `of` as JSON; null if the model can predict none of the rows.
ReportValue known(const Quality& of, double value) {
  return of.rows == 0 ? ReportValue(nullptr) : ReportValue(value);
}

Report quality_report(const Quality& quality, const BandQuality& bands) {
  return {{"p90_error", known(quality, quality.p90)},
          {"bias", known(quality, quality.bias)},
          {"coverage", known(quality, bands.coverage)},
          {"band_width", known(quality, bands.width)},
          {"interval_score", known(quality, bands.score)}};
}

Report table_report(const ValidatedTable& validated) {
  const core::CollectiveTable& table = *validated.table;
  Report report{{"table_id", table.facts.table_id},
                {"config", table.facts.config},
                {"rows", table.rows.size() + table.unread.size()},
                {"modelled_rows", validated.rows.size()},
                {"unreadable_rows", table.unread.size()},
                {"median_error", known(validated.quality, validated.quality.median)}};
  return report.add(quality_report(validated.quality, validated.bands))
      .add("reason", or_null(core::unless_empty(validated.reason)));
}

std::string json(const Validation& validation) {
  const Quality& all = validation.overall;
  Report overall{{"rows", validation.rows},
                 {"modelled_rows", all.rows},
                 {"outliers", validation.outliers},
                 {"rows_of_other_tables", validation.other_rows},
                 {"median_error", known(all, all.median)},
                 {"mean_error", known(all, all.mean)}};
  overall.add(quality_report(all, validation.overall_bands));
  Report report{{"overall", overall}};
  if (const Quality& before = validation.overall_before; before.rows > 0) {
    Report uncalibrated{{"median_error", before.median}, {"mean_error", before.mean}};
    report.add("overall_before",
               uncalibrated.add(quality_report(before, validation.overall_bands_before)));
  }
  return result_json(report.add("tables", core::list_of(validation.tables, table_report)));
}

const std::vector<std::string> kColumns{"rows", "median",  "mean",       "90th",
                                        "bias", "in band", "band width", "score"};

std::vector<std::string> columns(const std::string& first) {
  std::vector<std::string> all{"<" + first};
  all.insert(all.end(), kColumns.begin(), kColumns.end());
  return all;
}

std::string text(const Validation& validation, const std::map<std::string, double>& noise) {
  std::string out;
  std::vector<std::string> head = columns("table");
  head.push_back("noise");
  Table tables(head);
  std::map<std::string, std::vector<std::string>> reasons;
  for (const ValidatedTable& table : validation.tables) {
    const auto& facts = table.table->facts;
    if (!table.reason.empty())
      reasons[table.reason].push_back(facts.table_id.empty() ? "(no name)" : facts.table_id);
    if (table.rows.empty()) continue;
    std::vector<std::string> row = quality_cells(facts.table_id, table.quality, table.bands);
    const auto floor = noise_of(noise, facts.config);
    row.push_back(floor ? fmt::format("{:.1f} %", 100 * *floor) : "");
    tables.row(row);
  }
  out += tables.text(0);
  Table parts(columns("part"));
  for (const auto& part : validation.parts)
    parts.row(quality_cells(part.by + ": " + part.name, part.quality, part.bands));
  parts.row(quality_cells("all", validation.overall, validation.overall_bands));
  if (validation.overall_before.rows > 0)
    parts.row(quality_cells("all, not calibrated", validation.overall_before,
                            validation.overall_bands_before));
  out += "\nhealthy tables, with equal weight for every configuration\n" + parts.text(0);
  out += fmt::format("\n{} of {} rows of healthy tables are modelled; {} outliers are excluded\n",
                     validation.overall.rows, validation.rows, validation.outliers);
  out +=
      "bias: the mean of (predicted - measured) / measured\n"
      "in band: the share of measurements inside the error bands of their predictions (should be "
      "80 %)\n"
      "band width: the median, over all rows, of the upper end of the band divided by its lower "
      "end\n"
      "score: the interval score of logarithms, which is the width of the band plus ten times the "
      "distance of measurements outside the band (lower is better)\n";
  if (validation.other_rows > 0)
    out += fmt::format(
        "{} rows are not included, because their tables are not marked as healthy in --meta{}\n",
        validation.other_rows,
        validation.overall_before.rows > 0 ? ", are of other systems, or calibrate the predictions"
                                           : "");
  for (const auto& [reason, ids] : reasons) {
    out += fmt::format("\n{} ({} table{}):\n ", reason, ids.size(), ids.size() == 1 ? "" : "s");
    for (const std::string& id : ids) out += " " + id;
    out += "\n";
  }
  return out;
}

Expected<Validation> validated_tables(const std::vector<core::CollectiveTable>& tables,
                                      const core::nccl::Parameters& parameters,
                                      const core::nccl::ErrorBands& bands,
                                      const ValidateOptions& options,
                                      const Environment& environment) {
  if (options.calibrate_on.empty()) return core::nccl::validate(tables, parameters, bands);
  const auto spread = options.spread.empty()
                          ? core::nccl::Spread::load(environment.library.folder())
                          : core::nccl::Spread::load_file(options.spread);
  if (!spread) return failed(spread);
  return core::nccl::validate(tables, parameters, bands, {options.calibrate_on, *spread});
}

}  // namespace

int validate(const ValidateOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (!options.traces.empty()) return validate_trace(options, environment);
  if (options.tables.empty() || options.meta.empty())
    return refuse({core::ProblemCode::kMissing, "--tables"},
                  "nothing to predict; give --tables FILE and --meta FILE, or --trace FILE");
  const auto parameters = figures(options, environment);
  if (!parameters) return report(parameters.error());
  const auto bands = core::nccl::ErrorBands::load(environment.library.folder());
  if (!bands) return report(bands.error());
  const auto tables = core::load_collective_tables(options.tables, options.meta);
  if (!tables) return report(tables.error());
  std::map<std::string, double> noise;
  if (!options.noise.empty()) {
    auto loaded = core::load_noise(options.noise);
    if (!loaded) return report(loaded.error());
    noise = std::move(*loaded);
  }
  const auto validated = validated_tables(*tables, *parameters, *bands, options, environment);
  if (!validated) return report(validated.error());
  const Validation& validation = *validated;
  if (!options.report.empty()) {
    const auto page =
        write_file(options.report, {options.tables, options.meta, options.noise, options.times},
                   validation_page(validation));
    if (!page) return report(page.error());
  }
  return *format == Format::kJson ? print_out(json(validation))
                                  : print_report(text(validation, noise));
}

}  // namespace tutti::tools
