#include "tools/tutti/validate_html.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/text/shown.h"

namespace tutti::tools {
namespace {

using core::nccl::ValidatedRow;
using core::nccl::ValidatedTable;

constexpr double kWidth = 300;
constexpr double kHeight = 200;
constexpr double kMargin = 34;

/// From logarithms of bytes and us to places of the picture.
struct Axes {
  double x0 = 0, x1 = 1, y0 = 0, y1 = 1;

  [[nodiscard]] double x(double bytes) const {
    return kMargin + (std::log10(bytes) - x0) / (x1 - x0) * (kWidth - kMargin - 6);
  }
  [[nodiscard]] double y(double us) const { return kHeight - 20 - (std::log10(us) - y0) / (y1 - y0) * (kHeight - 30); }
};

Axes axes_of(const ValidatedTable& table) {
  double least_x = 1e300, most_x = 0, least_y = 1e300, most_y = 0;
  for (const ValidatedRow& row : table.rows) {
    const auto bytes = static_cast<double>(row.bytes);
    least_x = std::min(least_x, bytes);
    most_x = std::max(most_x, bytes);
    least_y = std::min({least_y, row.measured_us, row.predicted_us});
    most_y = std::max({most_y, row.measured_us, row.predicted_us});
  }
  Axes axes{std::floor(std::log10(least_x)), std::ceil(std::log10(most_x)), std::floor(std::log10(least_y)),
            std::ceil(std::log10(most_y))};
  if (axes.x1 <= axes.x0) axes.x1 = axes.x0 + 1;
  if (axes.y1 <= axes.y0) axes.y1 = axes.y0 + 1;
  return axes;
}

std::string power(double exponent) {
  return fmt::format("10<tspan dy=\"-4\" font-size=\"7\">{:.0f}</tspan>", exponent);
}

std::string plot(const ValidatedTable& table) {
  const Axes axes = axes_of(table);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">", kWidth, kHeight);
  for (double e = axes.x0; e <= axes.x1; ++e) {
    const double x = axes.x(std::pow(10, e));
    svg += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"10\" y2=\"{1}\" class=\"g\"/>", x, kHeight - 20);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x, kHeight - 8, power(e));
  }
  for (double e = axes.y0; e <= axes.y1; ++e) {
    const double y = axes.y(std::pow(10, e));
    svg +=
        fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" class=\"g\"/>", kMargin, kWidth - 6, y, y);
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kMargin - 4, y + 3, power(e));
  }
  std::vector<ValidatedRow> rows = table.rows;
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  std::string line;
  for (const ValidatedRow& row : rows) {
    const double x = axes.x(static_cast<double>(row.bytes));
    line += fmt::format("{:.1f},{:.1f} ", x, axes.y(row.predicted_us));
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\" class=\"{}\"/>", x, axes.y(row.measured_us),
                       row.outlier ? "o" : "m");
  }
  return svg + fmt::format("<polyline points=\"{}\" class=\"p\"/></svg>", line);
}

constexpr const char* kHead =
    R"(<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Tutti: validation of NCCL's times</title>
<style>body{font:14px sans-serif;margin:2em;max-width:75em}figure{display:inline-block;margin:6px;width:300px;vertical-align:top}
figcaption{font-size:11px;overflow-wrap:anywhere}text{font-size:9px}.g{stroke:#ddd}.m{fill:#1f77b4}.o{fill:none;stroke:#1f77b4}.p{fill:none;stroke:#d62728;stroke-width:1.3}
td,th{padding:2px 10px;text-align:right}td:first-child,th:first-child{text-align:left}</style></head><body>
<h1>NCCL's times, predicted and measured</h1>
<p>Every figure: time (us) over bytes. Dots are measured (open ones are outliers, which count for nothing), the line is predicted from the machine's facts alone.</p>
)";

std::string line(const std::string& name, const core::nccl::Quality& q, const core::nccl::BandQuality& bands) {
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{:.1f} %</td><td>{:.1f} %</td><td>{:.1f} %</td><td>{:+.1f} %</td>"
      "<td>{:.1f} %</td><td>{:.2f}</td><td>{:.2f}</td></tr>\n",
      core::as_xml(name), q.rows, 100 * q.median, 100 * q.mean, 100 * q.p90, 100 * q.bias, 100 * bands.coverage,
      bands.width, bands.score);
}

}  // namespace

std::string validation_page(const core::nccl::Validation& validation) {
  std::string page = kHead;
  page +=
      "<table><tr><th></th><th>rows</th><th>median</th><th>mean</th><th>90th percentile</th><th>bias</th>"
      "<th>in band</th><th>band width</th><th>interval score</th></tr>\n";
  page += line("all", validation.overall, validation.overall_bands);
  for (const auto& part : validation.parts) page += line(part.by + ": " + part.name, part.quality, part.bands);
  page += "</table>\n";
  for (const ValidatedTable& table : validation.tables) {
    const auto& facts = table.table->facts;
    page += "<figure>";
    if (!table.rows.empty()) page += plot(table);
    page +=
        fmt::format("<figcaption><b>{}</b> {}, {} x {} {}", core::as_xml(facts.table_id),
                    core::as_xml(facts.collective), facts.nodes, facts.gpus_per_node, core::as_xml(facts.gpu_model));
    if (!table.rows.empty())
      page += fmt::format(": median {:.1f} %, bias {:+.1f} %, {:.1f} % in bands of width {:.2f}, interval score {:.2f}",
                          100 * table.quality.median, 100 * table.quality.bias, 100 * table.bands.coverage,
                          table.bands.width, table.bands.score);
    if (!table.reason.empty()) page += "; " + core::as_xml(table.reason);
    page += "</figcaption></figure>\n";
  }
  return page + "</body></html>\n";
}

}  // namespace tutti::tools
