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
              "Print every schedule step of one pack or exchange (small groups only)");
  c->add_option("--pack", o.pack, "Number of the pack whose schedule steps --schedule prints")
      ->capture_default_str();
  c->add_option("--exchange", o.exchange,
                "Number of the exchange (not pack) whose schedule steps --schedule prints");
  c->add_flag("--check", o.check,
              "Prove by symbolic execution that every schedule computes the right result and that "
              "no rank waits forever");
  c->add_option("--graph", o.graph,
                "Simulate the scenario and draw a training step as its task graph, with the "
                "critical path: FILE.svg, "
                "or FILE.dot for Graphviz")
      ->type_name("FILE")
      ->check(not_utf8);
  c->add_flag("!--no-simulation", o.simulate,
              "Draw --graph without a simulation: the critical path is the longest path over the "
              "known durations (computation, copies, NCCL), and messages take no time");
}

void add_explain(CLI::App& app, ExplainOptions& o) {
  CLI::App* c = app.add_subcommand("explain",
                                   "Explain the step time: lower bounds, closed forms, critical "
                                   "path, and which changes would help; or, of the traces of a "
                                   "run, what differs from its prediction");
  c->footer(
      "Examples:\n"
      "  tutti explain scenarios/04_resnet50_ring.textproto\n"
      "  tutti explain mine.textproto --set cluster.network.bandwidth_gb_per_s=25\n"
      "  tutti explain rank*.json.gz --machine hgx-h100");
  add_scenario(c, o.scenario,
               "Scenario file (text format or JSON), or a trace that tutti import reads");
  c->add_option("traces", o.traces, "Further traces of the same run, one for each rank");
  c->add_option("--machine", o.machine,
                "Machine on which a trace was recorded: a shipped one or a file (default: by the "
                "GPU's name)");
  c->add_option("--nodes", o.nodes, "Number of machines of a trace's run");
  c->add_option("--link", o.link, "Kind of network link between the machines of a trace's run");
  c->add_option("--model", o.model,
                "Model whose gradients a trace's packs hold, if the trace has no sizes of them");
  add_format(c, o.format);
  c->add_flag("--algorithm", o.algorithm,
              "Explain the algorithm of the largest pack instead of the step: rounds, bytes per "
              "link, distance from the lower bounds, and where it loses");
  c->add_option("--rows", o.rows,
                "Maximum number of packs, suggested changes and differences to list in the text "
                "output")
      ->capture_default_str();
  c->add_option("--threads", o.threads,
                "Number of simulations to run in parallel (default: the number of cores)");
}

void add_sweep(CLI::App& app, SweepOptions& o) {
  CLI::App* c = app.add_subcommand(
      "sweep", "Simulate a scenario over a grid or list of values of any fields");
  c->footer(
      "VALUES is a list separated by commas. A..B*F is a geometric range with factor F, A..B+S an "
      "arithmetic range "
      "with\n"
      "step S. Bytes may be written as 64KiB or 25MB. An empty value between two commas leaves the "
      "field unset.\n"
      "strategy=NAMES compares algorithms and frameworks; settings stay with those that they apply "
      "to. With several\n"
      "values of run.seed, the report has the median and the quartiles over the seeds.\n"
      "After Ctrl-C or a kill, the same command continues where it stopped. A point that is not a "
      "valid scenario is\n"
      "recorded with the reason.\n"
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
                "FIELD=VALUES: a field to vary (repeatable; all combinations are simulated)")
      ->expected(1)
      ->take_all();
  c->add_option("--points", o.points,
                "CSV file with field names in the first row and one point per further row");
  c->add_option("--set", o.scenario.set,
                "FIELD=VALUE: override this field at all points (repeatable)")
      ->expected(1)
      ->take_all();
  add_calibration(c, o.scenario);
  c->add_option(
       "-o,--output", o.output,
       "SQLite file for the results (default: the name of the scenario with the suffix .sweep)")
      ->check(not_utf8);
  c->add_flag("--yes", o.yes,
              "Do not ask before a sweep of more than " + std::to_string(kMaxUnasked) + " points");
  add_joining(c, o.join);
  c->add_option("--listen", o.join.listen,
                "Address HOST:PORT at which rank 0 waits for the other ranks");
  c->add_option("--timeout-seconds", o.timeout_seconds,
                "Declare a rank failed after this many seconds of silence, and reassign its points "
                "(default 60)");
  c->add_option("--threads", o.threads,
                "Number of points to simulate in parallel (default: the number of cores)");
  add_format(c, o.format);
  c->add_option("--csv", o.csv, "Write all points to this CSV file");
  c->add_option("--json", o.json, "Write all points to this JSON file");
  c->add_option(
      "--plot", o.plot,
      "Plot a cost over a field into this .svg or .png file (PNG requires the window's program)");
  c->add_option("--x", o.x,
                "Field on the x axis of the plot (default: the field with the most values)");
  c->add_option("--by", o.by, "Field whose values become the curves of the plot");
  c->add_option(
       "--cost", o.cost,
       "Quantity on the y axis of the plot: step_time, exposed_communication, communication, …")
      ->capture_default_str();
  c->add_option("--measured", o.measured,
                "CSV file with measured points for the plot; its columns are FIELD and ms");
  c->add_option("--rows", o.rows, "Maximum number of points to list in the text output, best first")
      ->capture_default_str();
}

void add_tune(CLI::App& app, TuneOptions& o) {
  CLI::App* c = app.add_subcommand(
      "tune",
      "Search for the best settings and print them as configuration snippets of each framework");
  c->footer(
      "Without --over, the search varies the settings of the strategy's framework: pack sizes, and "
      "algorithms with "
      "their\n"
      "shards. On thousands of devices it skips settings that take long to simulate, and reports "
      "which.\n"
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
                "FIELD=VALUE: override this field in the scenario and in every setting that is "
                "tried (repeatable)")
      ->expected(1)
      ->take_all();
  add_calibration(c, o.scenario);
  c->add_option("--over", o.over,
                "FIELD=VALUES: a field to vary, written as for tutti sweep (repeatable)")
      ->expected(1)
      ->take_all();
  c->add_option("--points", o.points,
                "CSV file with field names in the first row and one point per further row");
  c->add_option(
       "--evaluations", o.evaluations,
       "Maximum number of settings to simulate, including those for the curves around the best one")
      ->capture_default_str();
  c->add_option("--seed", o.seed, "Seed of the search")->check(not_negative)->capture_default_str();
  c->add_option("--threads", o.threads,
                "Number of simulations to run in parallel (default: the number of cores)");
  add_format(c, o.format);
  c->add_option("-o,--output", o.output,
                "Write the scenario with the best settings, or what --emit names, to this file");
  c->add_option("--emit", o.emit,
                "Kind of the file to write: scenario, or nccl-tuner, a table by which "
                "libnccl-tuner-tutti.so sets NCCL's choices")
      ->capture_default_str();
  c->add_option("--csv", o.csv, "Write all settings that were tried to this CSV file");
  c->add_option("--database", o.database,
                "Store every result in this SQLite file immediately, and resume from it (tutti "
                "view shows it live)")
      ->check(not_utf8);
  c->add_option("--plot", o.plot,
                "Draw the step time around the best setting into this .svg or .png file");
}

}  // namespace tutti::tools
