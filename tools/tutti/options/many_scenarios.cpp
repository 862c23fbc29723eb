// Options of the commands that look at a scenario and at others like it.

#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_plan(CLI::App& app, PlanOptions& o) {
  CLI::App* c = app.add_subcommand("plan", "Show what would travel: which gradients together, when, by what steps");
  c->footer(
      "Examples:\n"
      "  tutti plan scenarios/03_merge_scope.textproto --variables\n"
      "  tutti plan scenarios/01_two_ranks.textproto --schedule --check\n"
      "  tutti plan scenarios/04_resnet50_ring.textproto --graph step.svg");
  add_scenario(c, o.scenario, "Scenario file (text format or JSON)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_flag("--variables", o.variables, "Name every gradient of every pack");
  c->add_flag("--schedule", o.schedule, "Print every step of one pack or exchange (small groups)");
  c->add_option("--pack", o.pack, "The pack whose steps --schedule prints")->capture_default_str();
  c->add_option("--exchange", o.exchange, "The exchange whose steps --schedule prints, in place of a pack's");
  c->add_flag("--check", o.check,
              "Prove that the schedules are right, element by element, and that no rank waits forever");
  c->add_option("--graph", o.graph,
                "Simulate the scenario and draw a training step as its task graph, with the critical path: FILE.svg, "
                "or FILE.dot for Graphviz")
      ->type_name("FILE")
      ->check(not_utf8);
  c->add_flag("!--no-simulation", o.simulate,
              "Draw --graph without a simulation: by the durations that are known, which leave out the network");
}

void add_explain(CLI::App& app, ExplainOptions& o) {
  CLI::App* c = app.add_subcommand(
      "explain", "Why a step takes what it takes: bounds, closed forms, what it waits for, what would help");
  c->footer(
      "Examples:\n"
      "  tutti explain scenarios/04_resnet50_ring.textproto\n"
      "  tutti explain mine.textproto --set cluster.network.bandwidth_gb_per_s=25");
  add_scenario(c, o.scenario, "Scenario file (text format or JSON)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_option("--rows", o.rows, "Packs and answers to list in the text")->capture_default_str();
  c->add_option("--threads", o.threads, "So many simulations at the same time (default: as many as there are cores)");
}

void add_sweep(CLI::App& app, SweepOptions& o) {
  CLI::App* c =
      app.add_subcommand("sweep", "Predict a scenario at many points: grids and lists over any of its fields");
  c->footer(
      "VALUES are a list with commas; A..B*F is a range in which each value is F times the one before, A..B+S one in\n"
      "steps of S. Bytes may be written as 64KiB or 25MB. Nothing between two commas: the field is not written.\n"
      "Interrupted (Ctrl-C, or killed), the same command goes on where it was. A point that cannot be is recorded with "
      "why.\n"
      "Examples:\n"
      "  tutti sweep mine.textproto --over strategy.bytes_per_pack=64KiB..256MiB*2 --over "
      "strategy.algorithm=ring,nccl\n"
      "  tutti sweep mine.textproto --over cluster.workers.count=2..64*2 --plot workers.svg\n"
      "  mpirun -n 8 tutti sweep mine.textproto --over strategy.shards=1..64*2\n"
      "  tutti sweep mine.sweep --csv mine.csv --plot mine.svg --x strategy.bytes_per_pack --by strategy.algorithm");
  c->add_option("scenario", o.scenario.file,
                "Scenario file (text format or JSON), or a sweep that was made, to be shown")
      ->required()
      ->check(not_utf8);
  c->add_option("--over", o.over, "FIELD=VALUES: what varies (again for more: all combinations)")
      ->expected(1)
      ->take_all();
  c->add_option("--points", o.points, "CSV file with names of fields and rows of their values: what varies together");
  c->add_option("--set", o.scenario.set, "FIELD=VALUE: with this field changed at all points (again for more)")
      ->expected(1)
      ->take_all();
  c->add_option("-o,--output", o.output, "SQLite file for the results (default: the scenario's name with .sweep)")
      ->check(not_utf8);
  add_joining(c, o.join);
  c->add_option("--listen", o.join.listen, "Rank 0 of several ranks waits for the others at this HOST:PORT");
  c->add_option("--timeout-seconds", o.timeout_seconds,
                "A rank of which nothing is heard for so long has failed, and others do its points (default 60)");
  c->add_option("--threads", o.threads, "So many points at the same time (default: as many as there are cores)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_option("--csv", o.csv, "Write all points to this file");
  c->add_option("--json", o.json, "Write all points to this file");
  c->add_option("--plot", o.plot,
                "Draw a cost over a field into this .svg or .png file (a PNG takes the window's program)");
  c->add_option("--x", o.x, "Of the plot: over this field (default: the one with the most numbers)");
  c->add_option("--by", o.by, "Of the plot: a curve for each value of this field");
  c->add_option("--cost", o.cost, "Of the plot: step_time, exposed_communication, communication, …")
      ->capture_default_str();
  c->add_option("--measured", o.measured, "Of the plot: what was measured, a CSV file with the columns FIELD and ms");
  c->add_option("--rows", o.rows, "Best points to list in the text")->capture_default_str();
}

void add_tune(CLI::App& app, TuneOptions& o) {
  CLI::App* c = app.add_subcommand("tune", "Find the best settings, say how sure that is, and what to paste where");
  c->footer(
      "Without --over, what the strategy's framework has is varied: pack sizes, and algorithms with their shards; what "
      "takes\n"
      "long to simulate among thousands of devices is left out, and said.\n"
      "Examples:\n"
      "  tutti tune mine.textproto\n"
      "  tutti tune mine.textproto --over strategy.bytes_per_pack=64KiB..256MiB*1.2 --over strategy.shards=1,2,4,8\n"
      "  tutti tune mine.textproto --evaluations 300 --seed 1 -o tuned.textproto --plot around.svg");
  c->add_option("scenario", o.scenario.file, "Scenario file (text format or JSON)")->required()->check(not_utf8);
  c->add_option("--set", o.scenario.set,
                "FIELD=VALUE: with this field changed, now and in all that is tried (again for more)")
      ->expected(1)
      ->take_all();
  c->add_option("--over", o.over, "FIELD=VALUES: what may be varied, as of tutti sweep (again for more)")
      ->expected(1)
      ->take_all();
  c->add_option("--points", o.points, "CSV file with names of fields and rows of their values: what varies together");
  c->add_option("--evaluations", o.evaluations,
                "Simulate at most so many settings, those that show what is around the best among them")
      ->capture_default_str();
  c->add_option("--seed", o.seed, "Of the way through the settings")->capture_default_str();
  c->add_option("--threads", o.threads, "So many simulations at the same time (default: as many as there are cores)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_option("-o,--output", o.output, "Write the scenario with the best settings to this file");
  c->add_option("--csv", o.csv, "Write all that was tried to this file");
  c->add_option(
       "--database", o.database,
       "Keep all that is tried in this SQLite file as it is done (tutti view shows it meanwhile), and go on with it")
      ->check(not_utf8);
  c->add_option("--plot", o.plot, "Draw the step time around the best setting into this .svg or .png file");
}

}  // namespace tutti::tools
