// Defines the options of commands that convert files, or show them.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/formats/recognise.h"
#include "tools/tutti/import_graph.h"
#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

namespace {

void add_import_nccl_topology(CLI::App* import, ImportOptions& all) {
  ImportNcclTopologyOptions& o = all.nccl_topology;
  CLI::App* c =
      import->add_subcommand("nccl-topology",
                             "Import an NCCL topology file (NCCL_TOPO_DUMP_FILE) as a cluster, or "
                             "print the rings and trees that NCCL finds on it");
  c->footer(
      "Examples:\n"
      "  tutti import nccl-topology topo.xml --nodes 4 --link ndr -o mine.textproto   # cluster { "
      "file: "
      "\"mine.textproto\" }\n"
      "  tutti import nccl-topology topo.xml --nodes 4 --graphs\n"
      "  tutti import nccl-topology topo.xml --nodes 4 --graphs --graph-file graphs.xml --set "
      "NCCL_CROSS_NIC=0");
  c->callback([&all] { all.kind = ImportOptions::Kind::kNcclTopology; });
  c->add_option("file", o.file, "NCCL topology file (XML)")->required();
  c->add_option("--nodes", o.nodes, "Number of identical machines in the cluster")
      ->capture_default_str();
  c->add_option("--gpus", o.gpus, "Use only the first N GPUs of the machine (default: all)");
  c->add_option("--name", o.name,
                "Name of the imported machine (default: the name of the topology file without its "
                "extension)");
  c->add_option("--devices", o.devices,
                "Name of a shipped machine from which the rates of GPUs and CPUs are taken, "
                "because a topology file does not contain rates (default: a shipped machine whose "
                "GPUs have the same compute capability)");
  c->add_option("--link", o.link,
                "Kind of network link between machines, such as ndr. By default, the cluster names "
                "no link and has an assumed latency, which you can edit");
  c->add_option("--set", o.set, "NCCL environment variable, NCCL_NAME=VALUE (repeatable)")
      ->allow_extra_args(false);
  c->add_flag(
      "--graphs", o.graphs,
      "Print the rings, trees and NVLS channels that NCCL 2.28.9 finds, instead of a cluster");
  c->add_option("--against", o.against,
                "With --graphs: compare the graphs with this dump of NCCL's graphs; exit status 1 "
                "if the graphs differ");
  c->add_option(
      "--graph-file", o.graph_file,
      "With --graphs: also write the graphs to this file, in the format of NCCL_GRAPH_DUMP_FILE");
  c->add_option("-o,--output", o.output, "Output file (default: standard output)");
  c->add_flag("--force", o.force, "Overwrite the output file if it exists");
  c->add_option("--format", o.format, "With --graphs: output format, text or json")
      ->capture_default_str();
}

/// Adds the options that `tutti import TRACE…` shares with the subcommands for single formats.
void add_import_trace(CLI::App* c, ImportTraceOptions& o) {
  c->add_option("files", o.files,
                "Traces or logs of one run (plain or gzip): one file for each rank, or only the "
                "file of one rank");
  c->add_option("-o,--output", o.output,
                "File to write: NAME.tutti (timeline), NAME.textproto (scenario) or NAME.log "
                "(times of collectives, in the format of nccl-tests); repeatable. By default, only "
                "a summary is printed")
      ->allow_extra_args(false);
  c->add_option("--name", o.name, "Name of the run (default: the name of the first file)");
  c->add_option(
      "--machine", o.machine,
      "With -o NAME.textproto: name of a shipped machine, or a machine file, for the cluster "
      "(default: a shipped machine with the GPUs of the trace)");
  c->add_option("--nodes", o.nodes,
                "With -o NAME.textproto: number of machines (default: derived from the GPUs that a "
                "trace lists)");
  c->add_option("--link", o.link,
                "With -o NAME.textproto: kind of network link between machines, such as ndr");
  c->add_option("--model", o.model,
                "With -o NAME.textproto: model with the names and sizes of the gradients, if the "
                "trace does not contain them (default: a shipped model that matches)");
  c->add_option("--groups", o.groups,
                "For Chakra traces: JSON file that lists the ranks of each communicator (process "
                "group) named in the trace");
  c->add_flag("--force", o.force, "Overwrite files that exist");
  c->add_option("--format", o.format, "Output format of the summary: text or json")
      ->capture_default_str();
}

}  // namespace

void add_export(CLI::App& app, ExportOptions& o) {
  CLI::App* c = app.add_subcommand(
      "export",
      "Convert a timeline to Perfetto, CSV or SVG, a scenario's algorithm to MSCCL or MSCCL++, or "
      "a scenario's training step to a Chakra or GOAL trace");
  c->footer(
      "Examples:\n"
      "  tutti export mine.tutti --to perfetto        then open mine.perfetto-trace in "
      "ui.perfetto.dev\n"
      "  tutti export mine.tutti --to csv --table packs -o -\n"
      "  tutti export mine.tutti --to svg\n"
      "  tutti export mine.textproto --to msccl       the steps of every GPU, for MSCCL's "
      "runtimes\n"
      "  tutti export mine.textproto --to mscclpp     the operations of every GPU, for MSCCL++\n"
      "  tutti export mine.textproto --to chakra      mine.chakra.<rank>.et, for ASTRA-sim\n"
      "  tutti export mine.textproto --to goal        mine.goal, for LogGOPSim and ATLAHS");
  c->add_option(
       "timeline", o.timeline,
       "Timeline file (for --to perfetto, csv and svg) or scenario file (for all other formats)")
      ->required();
  c->add_option(
       "--to", o.to,
       "Output format. For a timeline: perfetto, csv or svg (a picture of the last training step). "
       "For a scenario: msccl, mscclpp, chakra (execution traces with collectives as nodes), goal "
       "or goal-binary (sends, receives and computations of every rank)")
      ->required();
  c->add_option("--format", o.format,
                "Output format of the summary: text (a note on standard error) or json (the name "
                "of the written file, and whether the timeline is complete, on standard output)")
      ->capture_default_str();
  c->add_option("--table", o.table,
                "With --to csv: table to write (spans, packs, steps, links or path)")
      ->capture_default_str();
  c->add_option(
      "-o,--output", o.output,
      "Output file, or - for standard output (default: a file next to the input file); with --to "
      "chakra, one file for each rank, whose name is this path followed by .<rank>.et");
}

void add_report(CLI::App& app, ReportOptions& o) {
  CLI::App* c = app.add_subcommand(
      "report",
      "Write an HTML page about a run, or about the comparison of two runs, with figures, tables "
      "and pictures");
  c->footer(
      "The page is a single file that needs no network and no scripts.\n"
      "Examples:\n"
      "  tutti report mine.tutti -o report.html\n"
      "  tutti report predicted.tutti real.tutti -o comparison.html");
  c->add_option(
       "files", o.files,
       "Timeline or trace of a run; with two files, the second run is compared with the first")
      ->required();
  c->add_option("-o,--output", o.output,
                "HTML file to write, or - for standard output (default: a file next to the first "
                "timeline)");
  c->add_option("--rows", o.rows, "Maximum number of rows of each table in the page")
      ->capture_default_str();
  c->add_option("--format", o.format,
                "Output format of the summary: text or json (to standard output)")
      ->capture_default_str();
}

void add_init(CLI::App& app, InitOptions& o) {
  CLI::App* c = app.add_subcommand(
      "init", "Write a new scenario for a model, a machine and a number of nodes");
  c->footer(
      "If tutti init is started on a terminal without options, it asks for the model, the machine, "
      "the network and the algorithm.\n"
      "Examples:\n"
      "  tutti init\n"
      "  tutti init --list\n"
      "  tutti init --model bert_large_tf --machine hgx-h100 --nodes 8 --algorithm nccl -o "
      "bert.textproto\n"
      "  tutti init --machine dgx-a100 --nodes 64 --network fat_tree --link hdr");
  c->add_option("--nodes", o.nodes, "Number of machines")->capture_default_str();
  c->add_option("--servers", o.servers,
                "Number of parameter servers (CPU hosts) that hold the variables, as in "
                "TensorFlow's ParameterServerStrategy");
  add_new_scenario(c, o);
  c->add_flag("--list", o.list,
              "List the shipped machines, links, models and layer times, and the algorithms");
}

void add_convert(CLI::App& app, ConvertOptions& o) {
  CLI::App* c = app.add_subcommand("convert",
                                   "Convert scenarios from the older form of the strategy's fields "
                                   "to the current form; comments are kept");
  c->footer(
      "Examples:\n"
      "  tutti convert mine.textproto\n"
      "  tutti convert scenarios/*.textproto\n"
      "  tutti convert mine.textproto -o new.textproto");
  c->add_option("files", o.files,
                "Scenario files to convert; each file is overwritten with its new text")
      ->required();
  c->add_option(
      "-o,--output", o.output,
      "With a single scenario file: write to this file (- for standard output) instead of "
      "replacing the scenario file");
  c->add_option("--format", o.format,
                "Output format of the list of changed fields: text (to standard error) or json")
      ->capture_default_str();
}

void add_import(CLI::App& app, ImportOptions& o) {
  CLI::App* c =
      app.add_subcommand("import",
                         "Convert traces and logs of a run to a timeline or a scenario; convert "
                         "TensorFlow's TF_CONFIG to a scenario, or an NCCL topology to a cluster");
  c->footer(
      "Examples:\n"
      "  tutti import trace.json.gz                     # summary of the contents\n"
      "  tutti import rank*.json.gz -o measured.tutti   # then tutti view, compare, export\n"
      "  tutti import rank0.json -o mine.textproto      # then tutti simulate, tune, sweep\n"
      "  tutti import nccl-topology topo.xml --nodes 4 --link ndr -o mine.textproto");
  c->require_subcommand(0, 1);
  add_import_trace(c, o.trace);
  for (const std::string& name : core::trace_format_names()) {
    const auto format = core::parse_trace_format(name);
    CLI::App* one = c->add_subcommand(name, fmt::format("Import {}", core::described(*format)));
    one->footer(fmt::format("Examples:\n  tutti import {} FILE -o measured.tutti", name));
    one->callback([&o, name] { o.trace.from = name; });
    add_import_trace(one, o.trace);
    one->get_option("files")->required();
  }
  for (const std::string& name : graph_format_names()) {
    CLI::App* one = c->add_subcommand(name, fmt::format("Import {}", described_graph(name)));
    one->footer(fmt::format(
        "Examples:\n  tutti import {} FILE --machine dgx-a100 --link hdr -o mine.textproto", name));
    one->callback([&o, name] { o.trace.from = name; });
    add_import_trace(one, o.trace);
    one->get_option("files")->required();
  }
  CLI::App* tf = c->add_subcommand(
      "tf-config",
      "Import TensorFlow's TF_CONFIG: each chief, worker and parameter server becomes one machine");
  tf->footer(
      "Examples:\n"
      "  tutti import tf-config --machine dgx-a100 --link hdr -o mine.textproto\n"
      "  tutti import tf-config tf_config.json --model vgg16_torchvision | tutti simulate "
      "/dev/stdin");
  tf->callback([&o] { o.kind = ImportOptions::Kind::kTfConfig; });
  tf->add_option("file", o.tf_config.from,
                 "File with the JSON of TF_CONFIG, or env to read the environment variable")
      ->capture_default_str();
  add_new_scenario(tf, o.tf_config.scenario);
  add_import_nccl_topology(c, o);
}

void add_doctor(CLI::App& app, DoctorOptions& o) {
  CLI::App* c =
      app.add_subcommand("doctor",
                         "Check whether this machine meets the requirements of simulations and "
                         "real runs, and print how to install missing parts");
  c->footer(
      "Examples:\n  tutti doctor\n  tutti doctor --format json | jq '.checks[] | select(.ok | "
      "not)'");
  add_format(c, o.format);
}

void add_completion(CLI::App& app, CompletionOptions& o) {
  CLI::App* c = app.add_subcommand(
      "completion", "Print a script for command-line completion in bash, zsh or fish");
  c->footer(
      "Examples:\n"
      "  source <(tutti completion bash)                              # for this shell\n"
      "  tutti completion fish > ~/.config/fish/completions/tutti.fish");
  c->add_option("shell", o.shell, "Shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

void add_manual(CLI::App& app, ManualOptions& o) {
  CLI::App* c = app.add_subcommand("manual", "Print the manual page of a command");
  c->footer(
      "Examples:\n"
      "  tutti manual sweep | man -l -\n"
      "  tutti manual --folder ~/.local/share/man/man1");
  c->add_option("command", o.command,
                "Command whose manual page is printed, such as sweep (default: the page of tutti)");
  c->add_option("--folder", o.folder, "Write the manual pages of all commands into this folder");
}

void add_view(CLI::App& app) {
  CLI::App* c = app.add_subcommand(
      "view", "Open the desktop window, or write a picture of it (see tutti view --help)");
  c->set_help_flag();
  c->prefix_command();
}

}  // namespace tutti::tools
