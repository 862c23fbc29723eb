// Defines the options of commands that examine a scenario and its variations (plan, explain, sweep,
// tune).

#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_plan(CLI::App& app, PlanOptions& o) {
  CLI::App* c = app.add_subcommand(
      "plan",
      "Show the packs of a training step: their gradients, launch order, algorithm and schedule");
  c->footer(
      "Examples:\n"
      "  tutti plan scenarios/03_merge_scope.textproto --variables\n"
      "  tutti plan scenarios/01_two_ranks.textproto --schedule --check\n"
      "  tutti plan scenarios/04_resnet50_ring.textproto --graph step.svg");
  add_scenario(c, o.scenario, "Scenario file (text format or JSON)");
  add_format(c, o.format);
  c->add_flag("--variables", o.variables, "List the gradients of every pack by name");
  c->add_flag("--schedule", o.schedule,
              "Print every schedule step of one pack (--pack) or exchange (--exchange); fails if "
              "there are too many steps");
  c->add_option("--pack", o.pack,
                "With --schedule: index of the pack whose schedule steps are printed, from 0")
      ->capture_default_str();
  c->add_option("--exchange", o.exchange,
                "With --schedule: index of the exchange (a collective during computation, as in "
                "tensor parallelism) whose schedule steps are printed, from 0");
  c->add_flag("--check", o.check,
              "Prove by symbolic execution that the schedules of all packs and exchanges compute "
              "the right results, and that no rank waits forever");
  c->add_option("--graph", o.graph,
                "Simulate the scenario, draw the task graph of a training step and its critical "
                "path, and write the drawing to FILE.svg (or FILE.dot for Graphviz)")
      ->type_name("FILE")
      ->check(not_utf8);
  c->add_flag("!--no-simulation", o.simulate,
              "With --graph: compute the critical path without a simulation. Computations, copies "
              "and NCCL's collectives then take their known durations, and the messages of all "
              "other collectives take no time");
}

void add_explain(CLI::App& app, ExplainOptions& o) {
  CLI::App* c = app.add_subcommand(
      "explain",
      "Explain the step time of a scenario (lower bounds, closed forms, critical path, helpful "
      "changes) or, if traces of a run are given, the differences between the run and its "
      "prediction");
  c->footer(
      "Examples:\n"
      "  tutti explain scenarios/04_resnet50_ring.textproto\n"
      "  tutti explain mine.textproto --set cluster.network.bandwidth_gb_per_s=25\n"
      "  tutti explain rank*.json.gz --machine hgx-h100\n"
      "  tutti explain operations.csv.gz");
  add_scenario(c, o.scenario,
               "Scenario file (text format or JSON), a trace that tutti import reads, or a log of "
               "the operations of all ranks (CSV)");
  c->add_option("traces", o.traces, "Further traces of the same run, one for each rank");
  c->add_option(
      "--machine", o.machine,
      "With a trace: name of the shipped machine on which it was recorded, or a machine file "
      "(default: derived from the name of the GPU)");
  c->add_option("--nodes", o.nodes, "With a trace: number of machines of the recorded run");
  c->add_option("--link", o.link,
                "With a trace: kind of network link between the machines, such as ndr");
  c->add_option("--model", o.model,
                "With a trace: model with the names and sizes of the gradients, if the trace does "
                "not contain them");
  add_format(c, o.format);
  c->add_flag("--algorithm", o.algorithm,
              "Explain the algorithm of the largest pack instead of the training step: rounds, "
              "bytes per link, time compared with the lower bounds, and causes of the difference");
  c->add_option("--rows", o.rows,
                "Maximum number of rows of each list in the text output (packs, suggested changes, "
                "links, or differences between a trace and its prediction)")
      ->capture_default_str();
  c->add_option("--threads", o.threads,
                "Number of simulations to run in parallel (default: the number of cores)");
}

void add_sweep(CLI::App& app, SweepOptions& o) {
  CLI::App* c = app.add_subcommand(
      "sweep", "Simulate a scenario for all combinations (or a list) of values of its fields");
  c->footer(
      "VALUES is a list separated by commas.\n"
      "A..B*F is a geometric range with factor F, and A..B+S an arithmetic range with step S.\n"
      "Bytes may be written as 64KiB or 25MB. An empty value between two commas leaves the field "
      "unset.\n"
      "strategy=NAMES compares algorithms and frameworks. An algorithm or framework is simulated "
      "without those settings that it does not support.\n"
      "If --over lists several values of run.seed, the report contains, for each combination of "
      "the other values, the median and the quartiles of the step times with these seeds.\n"
      "If the sweep is interrupted or killed, the same command continues where it stopped.\n"
      "A point is one combination of values; if it is not a valid scenario, the sweep records the "
      "reason.\n"
      "Examples:\n"
      "  tutti sweep mine.textproto --over strategy.bytes_per_pack=64KiB..256MiB*2 --over "
      "strategy.algorithm=ring,nccl\n"
      "  tutti sweep mine.textproto --over cluster.workers.count=2..64*2 --plot workers.svg\n"
      "  tutti sweep mine.textproto --over strategy=nccl,ring,pscpu --over strategy.shards=1,2,4\n"
      "  mpirun -n 8 tutti sweep mine.textproto --over strategy.shards=1..64*2\n"
      "  tutti sweep mine.sweep --csv mine.csv --plot mine.svg --x strategy.bytes_per_pack --by "
      "strategy.algorithm");
  c->add_option("scenario", o.scenario.file,
                "Scenario file (text format or JSON), or an existing sweep file to report")
      ->required()
      ->check(not_utf8);
  c->add_option("--over", o.over,
                "FIELD=VALUES: a field and the values to simulate, such as strategy.shards=1,2,4 "
                "(repeatable; all combinations of values are simulated)")
      ->expected(1)
      ->take_all();
  c->add_option(
      "--points", o.points,
      "CSV file with the combinations of values to simulate: the first row has the names of the "
      "fields, and each further row has one value for each field");
  c->add_option(
       "--set", o.scenario.set,
       "FIELD=VALUE: override this field of the scenario at all points of the sweep (repeatable)")
      ->expected(1)
      ->take_all();
  add_calibration(c, o.scenario);
  c->add_option(
       "-o,--output", o.output,
       "SQLite file for the results (default: NAME.sweep, where NAME is the scenario's file name "
       "without its extension; if that file holds another sweep, NAME-2.sweep, and so on)")
      ->check(not_utf8);
  c->add_option(
       "--reuse", o.reuse,
       "File of an earlier sweep of the same scenario over the same fields, with other values: "
       "copy the results of this file, and simulate only the points that are not in it")
      ->check(not_utf8);
  c->add_flag("--yes", o.yes,
              "Do not ask before a sweep of more than " + std::to_string(kMaxUnasked) + " points");
  add_joining(c, o.join);
  c->add_option("--listen", o.join.listen,
                "With a launcher such as mpirun: address HOST:PORT at which rank 0 waits for the "
                "other ranks");
  c->add_option("--timeout-seconds", o.timeout_seconds,
                "With a launcher such as mpirun: if a rank sends nothing for this many seconds, "
                "assume that it failed, and let other ranks simulate its points (default 60)");
  c->add_option("--threads", o.threads,
                "Number of points to simulate in parallel (default: the number of cores)");
  add_format(c, o.format);
  c->add_option("--csv", o.csv, "Write all points to this CSV file");
  c->add_option("--json", o.json, "Write all points to this JSON file");
  c->add_option("--plot", o.plot,
                "Plot a quantity (--cost) over a field (--x) into this .svg or .png file (PNG "
                "requires the window program)");
  c->add_option("--x", o.x,
                "Field on the x axis of the plot (default: the field with the most values)");
  c->add_option("--by", o.by,
                "Field that distinguishes the curves of the plot: one curve for "
                "each value of the field");
  c->add_option(
      "--cost", o.cost,
      "Quantity on the y axis of the plot: step_time (default), forward, backward, other_compute, "
      "communication, exposed_communication, slowed_by_communication, least_step_time or "
      "least_communication");
  c->add_option("--measured", o.measured,
                "CSV file with measured times to draw into the plot, with two columns: the name "
                "of the field on the x axis, and ms (the time in milliseconds)");
  c->add_option("--rows", o.rows, "Maximum number of points to list in the text output, best first")
      ->capture_default_str();
}

void add_tune(CLI::App& app, TuneOptions& o) {
  CLI::App* c = app.add_subcommand(
      "tune",
      "Search for the best settings, and print them as configuration snippets for frameworks");
  c->footer(
      "Without --over, the search varies the settings of the strategy's framework (pack sizes, "
      "algorithms, shards).\n"
      "On thousands of devices, the search skips and lists the settings that take long to "
      "simulate.\n"
      "Examples:\n"
      "  tutti tune mine.textproto\n"
      "  tutti tune mine.textproto --over strategy.bytes_per_pack=64KiB..256MiB*1.2 --over "
      "strategy.shards=1,2,4,8\n"
      "  tutti tune mine.textproto --evaluations 300 --seed 1 -o tuned.textproto --plot "
      "around.svg\n"
      "  tutti tune mine.textproto --emit nccl-tuner -o table.csv --format json > tune.json");
  c->add_option("scenario", o.scenario.file, "Scenario file (text format or JSON)")
      ->required()
      ->check(not_utf8);
  c->add_option("--set", o.scenario.set,
                "FIELD=VALUE: override this field of the scenario in all simulations (repeatable)")
      ->expected(1)
      ->take_all();
  add_calibration(c, o.scenario);
  c->add_option(
       "--over", o.over,
       "FIELD=VALUES: a field and the values to try, as in tutti sweep --over (repeatable)")
      ->expected(1)
      ->take_all();
  c->add_option(
      "--points", o.points,
      "CSV file with the combinations of values to simulate: the first row has the names of the "
      "fields, and each further row has one value for each field");
  c->add_option("--evaluations", o.evaluations,
                "Maximum number of simulations; the simulations of the current settings and of the "
                "printed configuration snippets do not count")
      ->capture_default_str();
  c->add_option("--seed", o.seed, "Seed of the search")->check(seed_problem)->capture_default_str();
  c->add_option("--threads", o.threads,
                "Number of simulations to run in parallel (default: the number of cores)");
  add_format(c, o.format);
  c->add_option("-o,--output", o.output,
                "Write the result to this file: the scenario with the best settings or, with "
                "--emit nccl-tuner, a table for NCCL's tuner plugin");
  c->add_option("--emit", o.emit,
                "Kind of the file that -o writes: scenario, or nccl-tuner (a table from which "
                "NCCL's tuner plugin libnccl-tuner-tutti.so reads NCCL's choices)")
      ->capture_default_str();
  c->add_option("--csv", o.csv, "Write all simulated settings and their results to this CSV file");
  c->add_option("--database", o.database,
                "Store every result in this SQLite file. The same command resumes an interrupted "
                "search from this file, and tutti view shows the file while the search runs")
      ->check(not_utf8);
  c->add_option("--plot", o.plot,
                "Plot the step times of the best settings and of similar settings into this .svg "
                "or .png file");
}

}  // namespace tutti::tools
