// Options of the commands that hold predictions against what was measured.

#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_compare(CLI::App& app, CompareOptions& o) {
  CLI::App* c =
      app.add_subcommand("compare", "Lay two timelines side by side: a prediction and its run, or two strategies");
  c->footer(
      "Examples:\n"
      "  tutti simulate mine.textproto --timeline predicted.tutti && tutti run mine.textproto --timeline real.tutti\n"
      "  tutti compare predicted.tutti real.tutti");
  c->add_option("first", o.a, "Timeline file, such as a prediction")->required();
  c->add_option("second", o.b, "Timeline file, such as its run")->required();
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_option("--rows", o.rows, "Packs to list in the text")->capture_default_str();
}

void add_calibrate(CLI::App& app, CalibrateOptions& o) {
  CLI::App* c = app.add_subcommand("calibrate", "Fit a cluster's latencies and rates to runs and nccl-tests logs");
  c->footer(
      "Examples (docs/calibration.md tells the whole loop):\n"
      "  tutti run mine.textproto --timeline real.tutti && tutti calibrate mine.textproto --run real.tutti\n"
      "  tutti calibrate mine.textproto --log all_reduce_perf.txt --keep pcie -o calibrated.textproto");
  c->add_option("scenario", o.scenario, "Scenario whose cluster is fitted; logs are of its algorithm")
      ->required()
      ->check(not_utf8);
  c->add_option("--run", o.timelines, "Timelines of runs on this cluster, of any workload and strategy")
      ->check(not_utf8);
  c->add_option("--log", o.logs, "Logs of all_reduce_perf (text or JSON) or tutti perf on the whole cluster")
      ->check(not_utf8);
  c->add_flag("--lane-steps", o.lane_steps,
              "Of timelines, fit to the steps of lanes too: they tell adding from sending");
  c->add_option("--keep", o.keep, "Figures that are known and stay, such as pcie or network.bandwidth");
  c->add_option("-o,--output", o.output,
                "Write the cluster to this file (of files that are there, only such are replaced)")
      ->check(not_utf8);
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_option("--rows", o.rows, "Times to list in the text, worst first")->capture_default_str();
}

void add_validate(CLI::App& app, ValidateOptions& o) {
  CLI::App* c = app.add_subcommand("validate", "Predict published tables of nccl-tests, and say how far off that is");
  c->footer(
      "Each row is predicted from its table's facts alone: what NCCL chooses there, and what that takes. Errors are\n"
      "|predicted - measured| / measured; in the whole every config weighs the same, and tables that are not healthy "
      "and\n"
      "outliers do not count. In band is the share of measurements inside the error bands of their predictions, band\n"
      "width the median of a band's upper over its lower end (coverage and band_width in JSON). Tables that cannot be "
      "modelled are listed with the reason (docs/validation.md).\n"
      "Examples:\n"
      "  tutti validate --tables tables.csv --meta meta.json --noise noise.csv\n"
      "  tutti validate --tables tables.csv --meta meta.json --format json | jq .overall\n"
      "  tutti validate --tables tables.csv --meta meta.json --report plots.html");
  c->add_option("--tables", o.tables, "CSV: table_id, size_bytes, time_us (out of place)")->required();
  c->add_option("--meta", o.meta, "JSON: a list with the facts of each table")->required();
  c->add_option("--noise", o.noise,
                "CSV: config, size_bytes, cv; the spread of repeats, which is shown beside the errors");
  c->add_option("--times", o.times, "The time model's figures (default: nccl_time.csv that is shipped)");
  c->add_option("--report", o.report, "Write a page (HTML) with a plot of every table");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
}

}  // namespace tutti::tools
