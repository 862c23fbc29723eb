// Defines the options of commands that compare predictions with measurements.

#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_compare(CLI::App& app, CompareOptions& o) {
  CLI::App* c =
      app.add_subcommand("compare",
                         "Compare two timelines (a prediction and its run, or two strategies), or "
                         "the predictions of tutti tune with measurements");
  c->footer(
      "Examples:\n"
      "  tutti simulate mine.textproto --timeline predicted.tutti && tutti run mine.textproto "
      "--timeline real.tutti\n"
      "  tutti compare predicted.tutti real.tutti\n"
      "  tutti compare predicted.tutti rank0.json.gz\n"
      "  tutti compare expected.tutti predicted.tutti --within 0.1\n"
      "  tutti tune mine.textproto --format json > tune.json && tutti compare --promise tune.json "
      "nccl-inspector/");
  c->add_option("files", o.files,
                "Two timelines or traces to compare (all trace formats of tutti import). With "
                "--promise: measurements (dumps of NCCL's Inspector, other traces, a folder of "
                "traces, or logs of nccl-tests)")
      ->required();
  c->add_option("--promise", o.promise,
                "Report of tutti tune --format json. The measured times of NCCL's collectives are "
                "compared with the predicted times and error bands in this report");
  c->add_option("--within", o.within,
                "End with status 1 if the step times differ by more than this percentage of the "
                "first file's step time, for example in a test that fails if a prediction changes");
  add_format(c, o.format);
  c->add_option("--rows", o.rows, "Maximum number of packs to list in the text output")
      ->capture_default_str();
}

void add_calibrate(CLI::App& app, CalibrateOptions& o) {
  CLI::App* c = app.add_subcommand(
      "calibrate",
      "Fit the parameters of a scenario's cluster to measured runs and logs, or (with --cluster) "
      "correct the predicted times of NCCL with measurements in nccl-tests logs");
  c->footer(
      "Examples (docs/calibration.md describes the whole procedure):\n"
      "  tutti run mine.textproto --timeline real.tutti && tutti calibrate mine.textproto --run "
      "real.tutti\n"
      "  tutti calibrate mine.textproto --log all_reduce_perf.txt --keep pcie -o "
      "calibrated.textproto\n"
      "  tutti calibrate --cluster hgx-h100 --nodes 2 --log all_reduce_perf.txt -o "
      "mine.calibration\n"
      "  tutti calibrate --cluster hgx-h100 --nodes 64 --calibration mine.calibration --suggest");
  c->add_option("scenario", o.scenario,
                "Scenario whose cluster is fitted; the logs must contain measurements of the "
                "scenario's algorithm")
      ->check(not_utf8);
  c->add_option("--cluster", o.nccl.cluster,
                "Calibrate NCCL's times on a cluster of one kind of machine, without a scenario: "
                "name of a shipped machine, or a machine file");
  c->add_option("--nodes", o.nccl.nodes,
                "With --cluster: number of machines (nodes); used for logs that do not list their "
                "ranks, and for --suggest")
      ->capture_default_str();
  c->add_option("--gpus", o.nccl.gpus,
                "With --cluster: number of GPUs per machine; used for logs that do not list their "
                "ranks (default: all)");
  c->add_option("--network", o.nccl.network,
                "With --cluster: transport between nodes (default: the transport of the machine's "
                "network card)");
  c->add_option("--nccl-version", o.nccl.version,
                "With --cluster: NCCL release (default: the release in the log)");
  c->add_option("--driving", o.nccl.driving,
                "With --cluster: processes and threads that called NCCL on a node: "
                "process_per_gpu, thread_per_gpu or one_thread (default: according to the log)");
  c->add_option("--set", o.set,
                "With --cluster: an NCCL environment variable, NCCL_NAME=VALUE (repeatable)")
      ->expected(1)
      ->take_all();
  c->add_option(
       "--calibration", o.calibration,
       "With --cluster: file of an earlier calibration, whose measurements are used together "
       "with the logs (the file is not changed; -o writes the new calibration)")
      ->check(not_utf8);
  c->add_flag("--suggest", o.suggest,
              "With --cluster: suggest further measurements, ranked by how much they would narrow "
              "the error bands for --nodes nodes");
  c->add_option(
       "--run", o.timelines,
       "Without --cluster: timeline files of real runs on the scenario's cluster, with any "
       "workload and strategy")
      ->check(not_utf8);
  c->add_option("--log", o.logs,
                "Logs measured on all machines of the cluster: output of nccl-tests (such as "
                "all_reduce_perf; text or JSON), of tutti perf, of the OSU micro-benchmarks, or of "
                "the Intel MPI Benchmarks. With --cluster, measurements of MPI are refused")
      ->check(not_utf8);
  c->add_flag("--lane-steps", o.lane_steps,
              "Without --cluster: also use the times of the schedule steps in the timelines, so "
              "that the fit distinguishes reductions from transfers");
  c->add_option("--keep", o.keep,
                "Without --cluster: parameters to keep at their current values instead of fitting "
                "them, such as pcie or network.bandwidth");
  c->add_option("-o,--output", o.output,
                "Write the fitted cluster (with --cluster: the calibration) to this file; an "
                "existing file is replaced only if its contents are of the same kind")
      ->check(not_utf8);
  add_format(c, o.format);
  c->add_option("--rows", o.rows,
                "Maximum number of measured times to list in the text output, largest error first")
      ->capture_default_str();
}

void add_validate(CLI::App& app, ValidateOptions& o) {
  CLI::App* c =
      app.add_subcommand("validate",
                         "Predict the times in published nccl-tests tables, or the training steps "
                         "of a trace, and report the errors of the predictions");
  c->footer(
      "For each row of a table, NCCL's choice of algorithm and the time are predicted from nothing "
      "but the table's hardware facts (--meta).\n"
      "The error of a row is |predicted - measured| / measured.\n"
      "In the overall error, every experiment has the same weight; tables with the same config in "
      "--meta are repetitions of one experiment.\n"
      "The overall error excludes outliers, and all tables that --meta does not mark as healthy.\n"
      "Coverage is the share of measurements inside the error band of their prediction.\n"
      "The band width (band_width in JSON) is the median, over all rows, of the upper end of the "
      "band divided by its lower end.\n"
      "Tables that the model does not support are listed with the reason (docs/validation.md).\n"
      "Examples:\n"
      "  tutti validate --tables tables.csv --meta meta.json --noise noise.csv\n"
      "  tutti validate --tables tables.csv --meta meta.json --format json | jq .overall\n"
      "  tutti validate --tables tables.csv --meta meta.json --calibrate-on my_all_reduce_table\n"
      "  tutti validate --tables tables.csv --meta meta.json --report plots.html\n"
      "  tutti validate --trace rank0.json.gz --machine hgx-h100");
  CLI::Option* const tables =
      c->add_option("--tables", o.tables,
                    "CSV file with the columns table_id, size_bytes, time_us (out of place)");
  CLI::Option* const meta = c->add_option(
      "--meta", o.meta, "JSON file with a list of records: the hardware facts of each table");
  CLI::Option* const noise =
      c->add_option("--noise", o.noise,
                    "CSV file with the spread of repeated measurements, which is printed next to "
                    "the errors (columns config, size_bytes and cv, the coefficient of variation)");
  CLI::Option* const times = c->add_option("--times", o.times,
                                           "CSV file with the parameters of the model of NCCL's "
                                           "times (default: the shipped nccl_time.csv)");
  CLI::Option* const calibrate_on =
      c->add_option(
           "--calibrate-on", o.calibrate_on,
           "Calibrate predictions with these tables (names, separated by commas), and report "
           "only the errors of the other tables of the same systems")
          ->delimiter(',');
  CLI::Option* const spread =
      c->add_option("--spread", o.spread,
                    "CSV file that states how much the errors of predicted NCCL times vary between "
                    "systems. A calibration weighs measurements with the values in this file "
                    "(default: the shipped nccl_spread.csv)");
  CLI::Option* const report = c->add_option(
      "--report", o.report, "Write an HTML report with a plot of every table to this file");
  spread->needs(calibrate_on);
  CLI::Option* const trace = c->add_option(
      "--trace", o.traces,
      "Traces of the ranks of a run, in a format of tutti import. The first half of the steps is "
      "used for calibration, and the other steps are predicted");
  trace->check(not_utf8);
  for (CLI::Option* const of_tables : {tables, meta, noise, times, calibrate_on, spread, report})
    trace->excludes(of_tables);
  CLI::Option* const machine = c->add_option(
      "--machine", o.machine,
      "With --trace: machine of the recorded run (name of a shipped machine, or a machine file)");
  CLI::Option* const nodes =
      c->add_option("--nodes", o.nodes, "With --trace: number of machines of the recorded run");
  CLI::Option* const link = c->add_option(
      "--link", o.link, "With --trace: kind of network link between machines, such as ndr");
  CLI::Option* const model = c->add_option(
      "--model", o.model,
      "With --trace: model with the names and sizes of the gradients, if the trace does "
      "not contain them");
  for (CLI::Option* const of_traces : {machine, nodes, link, model}) of_traces->needs(trace);
  add_format(c, o.format);
}

}  // namespace tutti::tools
