#include "tools/tutti/validate_html.h"

#include <fmt/format.h>

#include "core/explore/plot.h"
#include "core/text/shown.h"

namespace tutti::tools {
namespace {

using core::nccl::ValidatedRow;
using core::nccl::ValidatedTable;

/// Small plots with logarithmic axes.
const core::PlotLook kLook{
    300, 200, 44, 6, 10, 24, false, core::Scale::kLogarithmic, core::Scale::kLogarithmic, 2};

std::string plot(const ValidatedTable& table) {
  core::Plot plot;
  plot.bytes = true;
  core::Curve measured{"measured", {}}, outliers{"outliers", {}}, predicted{"predicted", {}};
  measured.dots_alone = outliers.dots_alone = true;
  for (const ValidatedRow& row : table.rows) {
    plot.x.push_back(std::to_string(row.bytes));
    predicted.y.emplace_back(row.predicted_us);
    measured.y.push_back(row.outlier ? std::nullopt : std::optional(row.measured_us));
    outliers.y.push_back(row.outlier ? std::optional(row.measured_us) : std::nullopt);
  }
  plot.curves = {measured, predicted, outliers};
  return to_svg(plot, kLook);
}

constexpr const char* kHead =
    R"(<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Tutti: validation of NCCL's times</title>
<style>body{font:14px sans-serif;margin:2em;max-width:75em}figure{display:inline-block;margin:6px;width:300px;vertical-align:top}
figcaption{font-size:11px;overflow-wrap:anywhere}text{font-size:9px}
td,th{padding:2px 10px;text-align:right}td:first-child,th:first-child{text-align:left}</style></head><body>
<h1>NCCL's times, predicted and measured</h1>
<p>Each figure shows the time (us) over the size (bytes) for one table. Blue dots are measured times. Green dots are outliers, which the statistics do not include. The red line is the prediction, which uses only the recorded facts about the machines.</p>
<p>The error of a row is (predicted - measured) / measured. The median, the mean and the 90th percentile are those of the absolute error; the bias is the mean of the error with its sign. "In band" is the share of measurements inside the error bands of their predictions (should be 80 %). The band width is the median, over all rows, of the upper end of the band divided by its lower end. The interval score of logarithms is the width of the band plus ten times the distance of measurements outside the band (lower is better).</p>
)";

std::string line(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += "<td>" + core::as_xml(cell) + "</td>";
  return "<tr>" + text + "</tr>\n";
}

}  // namespace

std::vector<std::string> quality_cells(const std::string& name, const core::nccl::Quality& q,
                                       const core::nccl::BandQuality& bands) {
  if (q.rows == 0) return {name, "0", "–", "–", "–", "–", "–", "–", "–"};
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  return {name,
          fmt::format("{}", q.rows),
          percent(q.median),
          percent(q.mean),
          percent(q.p90),
          fmt::format("{:+.1f} %", 100 * q.bias),
          percent(bands.coverage),
          fmt::format("{:.2f}", bands.width),
          fmt::format("{:.2f}", bands.score)};
}

std::string validation_page(const core::nccl::Validation& validation) {
  std::string page = kHead;
  page +=
      "<table><tr><th></th><th>rows</th><th>median</th><th>mean</th><th>90th "
      "percentile</th><th>bias</th>"
      "<th>in band</th><th>band width</th><th>interval score</th></tr>\n";
  page += line(quality_cells("all", validation.overall, validation.overall_bands));
  for (const auto& part : validation.parts)
    page += line(quality_cells(part.by + ": " + part.name, part.quality, part.bands));
  page += "</table>\n";
  for (const ValidatedTable& table : validation.tables) {
    const auto& facts = table.table->facts;
    page += "<figure>";
    if (!table.rows.empty()) page += plot(table);
    page += fmt::format("<figcaption><b>{}</b> {}, {} x {} {}", core::as_xml(facts.table_id),
                        core::as_xml(facts.collective), facts.nodes, facts.gpus_per_node,
                        core::as_xml(facts.gpu_model));
    if (!table.rows.empty())
      page += fmt::format(
          ": median error {:.1f} %, bias {:+.1f} %; {:.1f} % of the measurements are in their "
          "error bands, whose width is {:.2f}; interval score {:.2f}",
          100 * table.quality.median, 100 * table.quality.bias, 100 * table.bands.coverage,
          table.bands.width, table.bands.score);
    if (!table.reason.empty()) page += "; " + core::as_xml(table.reason);
    page += "</figcaption></figure>\n";
  }
  return page + "</body></html>\n";
}

}  // namespace tutti::tools
