// Options of the commands that compare predictions with measurements.

#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_compare(CLI::App& app, CompareOptions& o) {
  CLI::App* c = app.add_subcommand("compare", "Compare two timelines: a prediction with its run, or two strategies");
  c->footer(
      "Examples:\n"
      "  tutti simulate mine.textproto --timeline predicted.tutti && tutti run mine.textproto --timeline real.tutti\n"
      "  tutti compare predicted.tutti real.tutti");
  c->add_option("first", o.a, "First timeline file, such as a prediction")->required();
  c->add_option("second", o.b, "Second timeline file, such as the run of that prediction")->required();
  add_format(c, o.format);
  c->add_option("--rows", o.rows, "Maximum number of packs to list in the text output")->capture_default_str();
}

void add_calibrate(CLI::App& app, CalibrateOptions& o) {
  CLI::App* c = app.add_subcommand("calibrate",
                                   "Fit link and device parameters of a cluster to measured runs and nccl-tests logs");
  c->footer(
      "Examples (docs/calibration.md describes the whole procedure):\n"
      "  tutti run mine.textproto --timeline real.tutti && tutti calibrate mine.textproto --run real.tutti\n"
      "  tutti calibrate mine.textproto --log all_reduce_perf.txt --keep pcie -o calibrated.textproto");
  c->add_option("scenario", o.scenario,
                "Scenario whose cluster is fitted; logs must come from the scenario's algorithm")
      ->required()
      ->check(not_utf8);
  c->add_option("--run", o.timelines, "Timeline files of real runs on this cluster, with any workload and strategy")
      ->check(not_utf8);
  c->add_option("--log", o.logs,
                "Logs of all_reduce_perf (text or JSON) or of tutti perf, measured on the whole cluster")
      ->check(not_utf8);
  c->add_flag("--lane-steps", o.lane_steps,
              "Also fit to the schedule steps in the timelines, which separate reduction time from transfer time");
  c->add_option("--keep", o.keep, "Parameters to keep at their present values, such as pcie or network.bandwidth");
  c->add_option("-o,--output", o.output,
                "Write the fitted cluster to this file (an existing file is replaced only if it is a cluster file)")
      ->check(not_utf8);
  add_format(c, o.format);
  c->add_option("--rows", o.rows, "Maximum number of measured times to list in the text output, largest error first")
      ->capture_default_str();
}

void add_validate(CLI::App& app, ValidateOptions& o) {
  CLI::App* c = app.add_subcommand("validate", "Predict published nccl-tests tables and report the prediction error");
  c->footer(
      "Each row is predicted from the hardware facts of its table only: NCCL's choice and its time. The error is\n"
      "|predicted - measured| / measured. In the overall figure every configuration has the same weight; unhealthy\n"
      "tables and outliers are excluded. Coverage is the share of measurements inside the error band of their\n"
      "prediction; band width is the median ratio of a band's upper to its lower end (coverage and band_width in\n"
      "JSON). Tables that the model does not support are listed with the reason (docs/validation.md).\n"
      "Examples:\n"
      "  tutti validate --tables tables.csv --meta meta.json --noise noise.csv\n"
      "  tutti validate --tables tables.csv --meta meta.json --format json | jq .overall\n"
      "  tutti validate --tables tables.csv --meta meta.json --report plots.html");
  c->add_option("--tables", o.tables, "CSV file with the columns table_id, size_bytes, time_us (out of place)")
      ->required();
  c->add_option("--meta", o.meta, "JSON file: a list with the hardware facts of each table")->required();
  c->add_option("--noise", o.noise,
                "CSV file with the columns config, size_bytes, cv: the spread of repeated measurements, printed next "
                "to the errors");
  c->add_option("--times", o.times,
                "CSV file with the parameters of the time model (default: the shipped nccl_time.csv)");
  c->add_option("--report", o.report, "Write an HTML report with a plot of every table to this file");
  add_format(c, o.format);
}

}  // namespace tutti::tools
