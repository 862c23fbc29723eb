// The command line: what can be asked for, and who answers. One function per command does the work; nothing else in
// the program includes CLI11, which takes seconds to compile.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

#include <CLI/CLI.hpp>

#include "core/base/version.h"
#include "core/scenario/library_folder.h"
#include "core/text/utf8.h"
#include "real/join/launcher.h"
#include "tools/tutti/calibrate.h"
#include "tools/tutti/command.h"
#include "tools/tutti/compare.h"
#include "tools/tutti/explain.h"
#include "tools/tutti/export.h"
#include "tools/tutti/import.h"
#include "tools/tutti/import_nccl.h"
#include "tools/tutti/init.h"
#include "tools/tutti/memory_limit.h"
#include "tools/tutti/perf.h"
#include "tools/tutti/plan.h"
#include "tools/tutti/run.h"
#include "tools/tutti/simulate.h"
#include "tools/tutti/sweep.h"
#include "tools/tutti/tune.h"
#include "tools/tutti/validate.h"
#include "tools/tutti/view.h"

namespace tutti::tools {
namespace {

constexpr const char* kAbout =
    "Tutti predicts what collectives cost before anyone rents the cluster.\n"
    "A scenario names a cluster, a workload and a strategy; see docs/formats.md.";

constexpr const char* kExamples =
    "Examples:\n"
    "  tutti init --model vgg16_torchvision --machine dgx-a100 --nodes 4 -o mine.textproto\n"
    "  tutti simulate mine.textproto\n"
    "  tutti simulate mine.textproto --timeline mine.tutti && tutti export mine.tutti --to perfetto\n"
    "  tutti plan mine.textproto --variables\n"
    "  tutti run mine.textproto\n"
    "Exit status: 0 done, 1 the run failed or was interrupted, 2 the request is wrong.";

/// A scenario's name goes on into timelines and JSON, which take nothing but UTF-8.
std::string not_utf8(const std::string& path) {
  return core::valid_utf8(path) == path.size() ? "" : "the name of this file is not in UTF-8; rename it";
}

/// The scenario, and what of it is to be otherwise.
CLI::Option* add_scenario(CLI::App* c, ScenarioOptions& o, const std::string& what) {
  CLI::Option* const scenario = c->add_option("scenario", o.file, what)->required()->check(not_utf8);
  c->add_option("--set", o.set,
                "FIELD=VALUE: read the scenario with this field changed, such as strategy.shards=4 (again for more)")
      ->expected(1)
      ->take_all();
  c->add_option("--tf-config", o.tf_config,
                "With as many workers as TF_CONFIG in this file has, or env: the environment's");
  return scenario;
}

/// What simulate and run have in common.
void add_execution(CLI::App* c, ExecuteOptions& o, const std::string& verb) {
  add_scenario(c, o.scenario, "Scenario file (text format or JSON)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_option("--timeline", o.timeline,
                "Write what happened to this file (of files that are there, only timelines are replaced)");
  c->add_option("--record", o.record, "What the timeline holds per device: none, packs or steps (default steps)");
  c->add_option("--workers", o.workers, "Record these workers only in the timeline, such as 0-3 (default 0-15)");
  c->add_option("--from-us", o.from_us, "Record in the timeline from this time on");
  c->add_option("--to-us", o.to_us, "Record in the timeline up to this time");
  c->add_option("--max-spans", o.most_spans, "Record at most so many spans in the timeline (default 2000000)");
  c->add_option("--steps", o.steps, "Training steps to " + verb + " (instead of the scenario's)");
  c->add_option("--rows", o.rows, "Packs and links to list in the text")->capture_default_str();
}

void add_simulate(CLI::App& app, SimulateOptions& o) {
  CLI::App* c = app.add_subcommand("simulate", "Predict a training step: its time, what is exposed, what it waits for");
  c->footer(
      "Examples:\n"
      "  tutti simulate scenarios/06_resnet50_nccl.textproto\n"
      "  tutti simulate mine.textproto --format json | jq .step_time_us\n"
      "  tutti simulate mine.textproto --timeline mine.tutti --workers 0-1");
  add_execution(c, o, "simulate");
  c->add_option("--seed", o.seed, "Seed of the jitter (instead of the scenario's)");
  c->add_option("--network-model", o.network_model, "fifo, fair or ideal (instead of the scenario's)");
  c->add_option(
      "--interference", o.interference,
      "auto: communication slows computation, and the other way about, on GPUs whose multiprocessors are known; "
      "on: on all devices that compute; off: nowhere (instead of the scenario's)");
  c->add_option(
       "--fold", o.fold,
       "auto: simulate one worker for all where nothing tells them apart (exactly the same times), but keep all "
       "that --timeline records of runs that do not take long; on: or refuse; off: simulate every worker")
      ->capture_default_str();
  c->add_option("--remember", o.remember,
                "auto: training steps that repeat the one before are told, not simulated again (exactly the same "
                "times), unless the run is short or --timeline is given; on: however short; off: simulate every step")
      ->capture_default_str();
}

/// How processes of one run find each other.
void add_joining(CLI::App* c, JoinOptions& o) {
  c->add_option("--secret-file", o.secret_file,
                "File with the secret that all workers share (or set TUTTI_SECRET); needed beyond this machine");
  c->add_option("--launcher", o.launcher, std::string("Who started this process with others: ") + real::kLaunchers)
      ->capture_default_str();
  c->add_option(
      "--rendezvous", o.rendezvous,
      "Where ranks find rank 0 if their launcher does not say: HOST:PORT, or a folder or file that they share");
  c->add_option("--wait-seconds", o.wait_seconds, "Wait so long for the others to come (default 60)");
}

/// What all commands that run for real have in common.
void add_real(CLI::App* c, RealOptions& o) {
  c->add_option("--listen", o.join.listen, "Wait for workers at this HOST:PORT instead of starting them");
  add_joining(c, o.join);
  c->add_option("--transport", o.transport, "Between workers: tcp (default), or shm (memory that they share)");
  c->add_option("--streams", o.streams,
                "TCP connections between each two workers: several where one does not fill the network (default 1)");
  c->add_option("--timeout-seconds", o.timeout_seconds,
                "A step in which nothing moves, or a worker of which nothing is heard, for so long has failed (default "
                "60; with --emulate the former on the scenario's clock)");
}

void add_run(CLI::App& app, RealRunOptions& o) {
  CLI::App* c = app.add_subcommand("run", "Replay a scenario for real: a process per worker, messages over TCP");
  c->footer(
      "Workers are processes of this machine, or join from others: with --listen, or started together by TF_CONFIG,\n"
      "mpirun, srun or torchrun (docs/running.md). Computation is replayed as time that passes; every element of\n"
      "every result is compared.\n"
      "Examples:\n"
      "  tutti run scenarios/02_eight_hosts_ring.textproto\n"
      "  tutti run mine.textproto --timeline real.tutti\n"
      "  tutti run mine.textproto --emulate\n"
      "  tutti run scenarios/06_resnet50_nccl.textproto --backend nccl\n"
      "  tutti run mine.textproto --listen 10.0.0.1:4711     and on each machine: tutti worker --join 10.0.0.1:4711\n"
      "  mpirun -n 8 tutti run scenarios/02_eight_hosts_ring.textproto");
  add_real(c, o.real);
  add_execution(c, o, "run");
  c->add_option("--backend", o.backend,
                "tcp: in host memory; cuda: on GPUs, with Tutti's kernels; nccl: on GPUs, by NCCL's collectives")
      ->capture_default_str();
  c->add_option("--compute", o.compute,
                "How computation is replayed: sleep lets its time pass, busy keeps a core at it")
      ->capture_default_str();
  c->add_flag("--emulate", o.emulate, "At the pace of the scenario's links and devices, slowed down as far as need be");
  c->add_option("--time-scale", o.time_scale, "How many times slower to emulate (default: chosen for this machine)");
  c->add_flag("--no-verify", o.no_verify, "Do not compare results");
}

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

void add_perf(CLI::App& app, PerfOptions& o) {
  CLI::App* c = app.add_subcommand("perf", "The table of nccl-tests: a collective over sizes, simulated or run");
  c->footer(
      "Collectives are those of nccl-tests: all_reduce, reduce_scatter, all_gather, broadcast, reduce, alltoall,\n"
      "gather, scatter, sendrecv; docs/algorithms.md tells which algorithms have which. Sizes are bytes; K, M and G "
      "stand for\n"
      "powers of 1024. Sizes, count and busbw are as nccl-tests defines them. In a real run workers join as those of\n"
      "tutti run do: by --listen, or started together by TF_CONFIG, mpirun, srun or torchrun.\n"
      "Examples:\n"
      "  tutti perf scenarios/06_resnet50_nccl.textproto -b 1K -e 1G -f 4\n"
      "  tutti perf scenarios/06_resnet50_nccl.textproto --collective all_gather\n"
      "  tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp -e 4M -o avg\n"
      "  tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp --collective broadcast -r 3 --place in\n"
      "  mpirun -n 8 tutti perf scenarios/02_eight_hosts_ring.textproto --backend tcp\n"
      "  tutti perf --cluster hgx-h100 --nodes 2 -b 8 -e 8G\n"
      "  tutti perf --cluster dgx-a100 --nccl-version 2.18.3 --set NCCL_ALGO=Ring --explain -b 1M -e 1M");
  add_scenario(c, o.scenario, "Scenario whose cluster and strategy are used")->required(false);
  c->add_option(
      "--cluster", o.nccl.cluster,
      "Instead of a scenario: NCCL's own choice and time on machines of this kind (name of a shipped one, or file)");
  c->add_option("--nodes", o.nccl.nodes, "Of them")->capture_default_str();
  c->add_option("--gpus", o.nccl.gpus, "Of each node (default: all)");
  c->add_option("--network", o.nccl.network,
                "Between nodes: infiniband, roce, efa, slingshot, tcpx or tcp (default: what the machine's card says)");
  c->add_option("--nccl-version", o.nccl.version, "Whose choice, such as 2.18.3 (default 2.28.9); from 2.6.4 on");
  c->add_flag("--explain", o.nccl.explain, "All candidates with NCCL's estimates, and why the winner won");
  c->add_option("--against", o.nccl.against, "Log of nccl-tests (text or JSON), to be laid beside the prediction");
  c->add_option("--backend", o.backend, "sim; or real: tcp, cuda or nccl, as of tutti run")->capture_default_str();
  add_real(c, o.real);
  c->add_option("--collective", o.collective, "all_reduce or another, as listed below")->capture_default_str();
  c->add_option("-r,--root", o.root, "Of broadcast, reduce, gather and scatter (default 0)");
  c->add_option("--place", o.place, "out, in or both: where results go, beside the inputs or over them")
      ->capture_default_str();
  c->add_option("-b,--minbytes", o.least, "Smallest size")->capture_default_str();
  c->add_option("-e,--maxbytes", o.most, "Largest size")->capture_default_str();
  c->add_option("-f,--stepfactor", o.factor, "From size to size")->capture_default_str();
  c->add_option("--type", o.type, "Of the elements")->capture_default_str();
  c->add_option("-o,--op", o.op, "sum, prod, max, min or avg")->capture_default_str();
  c->add_option("-n,--iters", o.iterations, "Timed repetitions of a real run (default 20)");
  c->add_option("-w,--warmup_iters", o.warm_up, "Untimed ones before them (default 5; there is always one)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
}

void add_validate(CLI::App& app, ValidateOptions& o) {
  CLI::App* c = app.add_subcommand("validate", "Predict published tables of nccl-tests, and say how far off that is");
  c->footer(
      "Each row is predicted from its table's facts alone: what NCCL chooses there, and what that takes. Errors are\n"
      "|predicted - measured| / measured; in the whole every config weighs the same, and tables that are not healthy "
      "and\n"
      "outliers do not count. Tables that cannot be modelled are listed with the reason (docs/validation.md).\n"
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
  c->add_option("--threads", o.threads, "So many points at the same time (default: as many as there are cores)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_option("--csv", o.csv, "Write all points to this file");
  c->add_option("--json", o.json, "Write all points to this file");
  c->add_option("--plot", o.plot, "Draw a cost over a field into this .svg file");
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
      "Without --over, what the strategy's framework has is varied: pack sizes, and algorithms with their shards.\n"
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
  c->add_option("--evaluations", o.evaluations, "Try at most so many settings")->capture_default_str();
  c->add_option("--seed", o.seed, "Of the way through the settings")->capture_default_str();
  c->add_option("--threads", o.threads, "So many simulations at the same time (default: as many as there are cores)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_option("-o,--output", o.output, "Write the scenario with the best settings to this file");
  c->add_option("--csv", o.csv, "Write all that was tried to this file");
  c->add_option("--plot", o.plot, "Draw the step time around the best setting into this .svg file");
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

void add_worker(CLI::App& app, WorkerOptions& o) {
  CLI::App* c = app.add_subcommand("worker", "One worker of a run that tutti run coordinates, here or elsewhere");
  c->footer(
      "Needs no files: the plan comes from the coordinator.\n"
      "Examples:\n"
      "  tutti worker --join 10.0.0.1:4711\n"
      "  tutti worker --join 10.0.0.1:4711 --worker 3");
  c->add_option("--join", o.join, "The coordinator's HOST:PORT (needed unless a launcher says it)");
  c->add_option("--worker", o.worker, "Which worker this is (default: the lowest that is missing)");
  c->add_option("--listen", o.listen,
                "HOST:PORT where its peers reach it (default: the address from which it joins, any port)");
  add_joining(c, o);
  c->add_flag("--child", o.child, "Started by the coordinator, who says what goes wrong")->group("");
}

void add_plan(CLI::App& app, PlanOptions& o) {
  CLI::App* c = app.add_subcommand("plan", "Show what would travel: which gradients together, when, by what steps");
  c->footer(
      "Examples:\n"
      "  tutti plan scenarios/03_merge_scope.textproto --variables\n"
      "  tutti plan scenarios/01_two_ranks.textproto --schedule --check");
  add_scenario(c, o.scenario, "Scenario file (text format or JSON)");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
  c->add_flag("--variables", o.variables, "Name every gradient of every pack");
  c->add_flag("--schedule", o.schedule, "Print every step of one pack (small groups)");
  c->add_option("--pack", o.pack, "The pack whose steps --schedule prints")->capture_default_str();
  c->add_flag("--check", o.check, "Prove that the schedules are right, element by element");
}

void add_export(CLI::App& app, ExportOptions& o) {
  CLI::App* c = app.add_subcommand("export", "Write a timeline in another form");
  c->footer(
      "Examples:\n"
      "  tutti export mine.tutti --to perfetto        then open mine.perfetto-trace in ui.perfetto.dev\n"
      "  tutti export mine.tutti --to csv --table packs -o -\n"
      "  tutti export mine.tutti --to svg");
  c->add_option("timeline", o.timeline, "Timeline file that tutti simulate wrote")->required();
  c->add_option("--to", o.to, "perfetto, csv or svg (a picture of the last step)")->required();
  c->add_option("--format", o.format, "text, or json on standard output: what was written")->capture_default_str();
  c->add_option("--table", o.table, "csv: spans, packs, steps, links or path")->capture_default_str();
  c->add_option("-o,--output", o.output, "File to write, - for standard output (default: beside the timeline)");
}

/// What a new scenario is made of, and where it goes.
void add_new_scenario(CLI::App* c, InitOptions& o) {
  c->add_option("--model", o.model, "A shipped model, or the path of a list of variables")->capture_default_str();
  c->add_option("--machine", o.machine, "A shipped machine, or the path of a machine file")->capture_default_str();
  c->add_option("--network", o.network, "one_switch, rails, fat_tree or dragonfly")->capture_default_str();
  c->add_option("--link", o.link,
                "A shipped kind of network link, or the path of a file (default: a latency to replace)");
  c->add_option("--algorithm", o.algorithm, "How gradients are reduced (default: nccl on GPUs, ring on CPUs)");
  c->add_option("-o,--output", o.output, "File to write (default: standard output)");
  c->add_flag("--force", o.force, "Overwrite the file if it exists");
  c->add_option("--format", o.format, "text or json (to standard output)")->capture_default_str();
}

void add_import_nccl_topology(CLI::App* import, ImportNcclTopologyOptions& o) {
  CLI::App* c = import->add_subcommand("nccl-topology",
                                       "From NCCL's topology (NCCL_TOPO_DUMP_FILE): a cluster, or NCCL's graphs");
  c->footer(
      "Examples:\n"
      "  tutti import nccl-topology topo.xml --nodes 4 --link ndr -o mine.textproto   # cluster { file: "
      "\"mine.textproto\" }\n"
      "  tutti import nccl-topology topo.xml --nodes 4 --graphs\n"
      "  tutti import nccl-topology topo.xml --nodes 4 --graphs --graph-file graphs.xml --set NCCL_CROSS_NIC=0");
  c->add_option("file", o.file, "The file that NCCL wrote")->required();
  c->add_option("--nodes", o.nodes, "How many machines like this")->capture_default_str();
  c->add_option("--gpus", o.gpus, "Only its first GPUs, so many of them (default: all)");
  c->add_option("--name", o.name, "The machine's name (default: the file's)");
  c->add_option(
      "--devices", o.devices,
      "A machine whose GPUs and CPUs compute as these do (default: a shipped one of their compute capability)");
  c->add_option("--link", o.link, "A kind of network link between machines (default: a latency to replace)");
  c->add_option("--set", o.set, "NCCL_NAME=VALUE, as in NCCL's environment; may be repeated")->allow_extra_args(false);
  c->add_flag("--graphs", o.graphs, "Tell the rings, trees and NVLS that NCCL 2.28.9 finds, instead of a cluster");
  c->add_option("--against", o.against, "With --graphs: a dump of NCCL's; status 1 if it has others");
  c->add_option("--graph-file", o.graph_file, "With --graphs: write them there, too, as NCCL_GRAPH_DUMP_FILE does");
  c->add_option("-o,--output", o.output, "File to write (default: standard output)");
  c->add_flag("--force", o.force, "Overwrite the file if it exists");
  c->add_option("--format", o.format, "With --graphs: text or json")->capture_default_str();
}

void add_import(CLI::App& app, ImportTfConfigOptions& o, ImportNcclTopologyOptions& topology) {
  CLI::App* c = app.add_subcommand("import", "Write a scenario or cluster from what other programs say of one");
  c->require_subcommand(1);
  CLI::App* tf =
      c->add_subcommand("tf-config", "From TensorFlow's TF_CONFIG: its chief and workers, on one machine each");
  tf->footer(
      "Examples:\n"
      "  tutti import tf-config --machine dgx-a100 --link hdr -o mine.textproto\n"
      "  tutti import tf-config tf_config.json --model vgg16_torchvision | tutti simulate /dev/stdin");
  tf->add_option("file", o.from, "File with TF_CONFIG's JSON, or env: the environment's")->capture_default_str();
  add_new_scenario(tf, o.scenario);
  add_import_nccl_topology(c, topology);
}

void add_init(CLI::App& app, InitOptions& o) {
  CLI::App* c = app.add_subcommand("init", "Write a scenario to start from");
  c->footer(
      "Examples:\n"
      "  tutti init --list\n"
      "  tutti init --model bert_large_tf --machine hgx-h100 --nodes 8 --algorithm nccl -o bert.textproto\n"
      "  tutti init --machine dgx-a100 --nodes 64 --network fat_tree --link hdr");
  c->add_option("--nodes", o.nodes, "How many machines")->capture_default_str();
  add_new_scenario(c, o);
  c->add_flag("--list", o.list, "List the shipped machines, links, models, layer times and the algorithms");
}

void add_view(CLI::App& app) {
  CLI::App* c = app.add_subcommand("view", "Open the window, or write a picture of it (tutti view --help tells more)");
  c->set_help_flag();
  c->prefix_command();
}

int run(int argc, char** argv) {
  CLI::App app(kAbout, "tutti");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("tutti ") + std::string(core::version()));
  SimulateOptions simulate_options;
  PlanOptions plan_options;
  ExportOptions export_options;
  InitOptions init_options;
  ImportTfConfigOptions import_options;
  ImportNcclTopologyOptions topology_options;
  RealRunOptions run_options;
  WorkerOptions worker_options;
  CompareOptions compare_options;
  PerfOptions perf_options;
  CalibrateOptions calibrate_options;
  ValidateOptions validate_options;
  SweepOptions sweep_options;
  ExplainOptions explain_options;
  TuneOptions tune_options;
  add_simulate(app, simulate_options);
  add_run(app, run_options);
  add_sweep(app, sweep_options);
  add_tune(app, tune_options);
  add_explain(app, explain_options);
  add_compare(app, compare_options);
  add_perf(app, perf_options);
  add_calibrate(app, calibrate_options);
  add_validate(app, validate_options);
  add_plan(app, plan_options);
  add_export(app, export_options);
  add_init(app, init_options);
  add_import(app, import_options, topology_options);
  add_view(app);
  add_worker(app, worker_options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are no mistakes; everything else is a wrong request.
    if (app.exit(error) != 0) return kWrongRequest;
    return std::cout.flush() ? static_cast<int>(kDone) : stdout_failed(errno);
  }
  const Environment environment{core::Library(core::library_folder())};
  // Processes of a real run share devices' address spaces with drivers that map more than there is.
  const bool for_real = app.got_subcommand("run") || app.got_subcommand("worker") || app.got_subcommand("view") ||
                        (app.got_subcommand("perf") && perf_options.backend != "sim");
  if (!for_real) stay_within_memory();
  if (app.got_subcommand("simulate")) return simulate(simulate_options, environment);
  if (app.got_subcommand("run")) return run_for_real(run_options, environment);
  if (app.got_subcommand("tune")) return tune(tune_options, environment);
  if (app.got_subcommand("explain")) return explain(explain_options, environment);
  if (app.got_subcommand("sweep")) return sweep(sweep_options, environment);
  if (app.got_subcommand("compare")) return compare(compare_options, environment);
  if (app.got_subcommand("perf")) return perf(perf_options, environment);
  if (app.got_subcommand("calibrate")) return calibrate(calibrate_options, environment);
  if (app.got_subcommand("validate")) return validate(validate_options, environment);
  if (app.got_subcommand("worker")) return worker(worker_options);
  if (app.got_subcommand("view")) return view(app.get_subcommand("view")->remaining());
  if (app.got_subcommand("plan")) return plan(plan_options, environment);
  if (app.got_subcommand("export")) return export_timeline(export_options, environment);
  if (app.got_subcommand("import")) {
    const bool topology = app.get_subcommand("import")->got_subcommand("nccl-topology");
    return topology ? import_nccl_topology(topology_options, environment)
                    : import_tf_config(import_options, environment);
  }
  return init(init_options, environment);
}

/// A descriptor that is closed would go to the next file that is opened, and what is said on stderr with it.
void occupy_standard_descriptors() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDONLY));
  }
}

}  // namespace
}  // namespace tutti::tools

int main(int argc, char** argv) {
  tutti::tools::occupy_standard_descriptors();
  // A reader that is gone, and a file beyond what is allowed, show as errors of the write, so that nothing half written
  // stays for them.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return tutti::tools::run(argc, argv);
  } catch (const std::bad_alloc&) {
    const auto limit = tutti::tools::memory_limit();
    std::fputs("tutti: out of memory", stderr);
    if (limit) std::fprintf(stderr, " (%.1f GB were free)", static_cast<double>(*limit) / 1e9);
    std::fputs("; take fewer workers, steps or recorded spans\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti: this should never happen: %s\n", error.what());
  }
  return tutti::tools::kRunFailed;
}
