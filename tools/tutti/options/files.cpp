// Defines the options of commands that convert files, or show them.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/formats/recognise.h"
#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

namespace {

void add_import_nccl_topology(CLI::App* import, ImportOptions& all) {
  ImportNcclTopologyOptions& o = all.nccl_topology;
  CLI::App* c = import->add_subcommand(
      "nccl-topology",
      "Import an NCCL topology file (NCCL_TOPO_DUMP_FILE) as a cluster, or print NCCL's graphs");
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
  c->add_option("--name", o.name, "Name of the machine (default: the name of the file)");
  c->add_option("--devices", o.devices,
                "Machine whose GPU and CPU rates are used (default: a shipped machine with the "
                "same compute capability)");
  c->add_option(
      "--link", o.link,
      "Network link between machines, such as ndr (default: a placeholder latency to edit)");
  c->add_option("--set", o.set, "NCCL environment variable, NCCL_NAME=VALUE (repeatable)")
      ->allow_extra_args(false);
  c->add_flag(
      "--graphs", o.graphs,
      "Print the rings, trees and NVLS channels that NCCL 2.28.9 finds, instead of a cluster");
  c->add_option("--against", o.against,
                "With --graphs: compare with this NCCL graph dump; exit status 1 if they differ");
  c->add_option(
      "--graph-file", o.graph_file,
      "With --graphs: also write the graphs to this file, in the format of NCCL_GRAPH_DUMP_FILE");
  c->add_option("-o,--output", o.output, "File to write (default: standard output)");
  c->add_flag("--force", o.force, "Overwrite the file if it exists");
  c->add_option("--format", o.format, "With --graphs: output format, text or json")
      ->capture_default_str();
}

/// Adds the options of `tutti import TRACE…` and of the subcommand of each format.
void add_import_trace(CLI::App* c, ImportTraceOptions& o) {
  c->add_option("files", o.files,
                "Traces or logs of one run, plain or gzip: one per rank, or of a single rank");
  c->add_option("-o,--output", o.output,
                "File to write: NAME.tutti for a timeline, NAME.textproto for a scenario, NAME.log "
                "for times of collectives in the format of nccl-tests (repeatable; default: none)")
      ->allow_extra_args(false);
  c->add_option("--name", o.name, "Name of the run (default: that of the first file)");
  c->add_option("--machine", o.machine,
                "With a scenario: shipped machine, or machine file (default: a shipped one with "
                "the GPUs of the trace)");
  c->add_option("--nodes", o.nodes,
                "With a scenario: number of machines (default: from the GPUs that a trace lists)");
  c->add_option("--link", o.link, "With a scenario: network link between machines, such as ndr");
  c->add_option("--model", o.model,
                "With a scenario: model with the names and sizes of gradients that a trace lacks "
                "(default: a matching shipped one)");
  c->add_flag("--force", o.force, "Overwrite files that exist");
  c->add_option("--format", o.format, "Output format of the summary: text or json")
      ->capture_default_str();
}

}  // namespace

void add_export(CLI::App& app, ExportOptions& o) {
  CLI::App* c = app.add_subcommand(
      "export",
      "Convert a timeline to Perfetto, CSV or SVG; a scenario's algorithm to MSCCL's XML or a plan "
      "of MSCCL++; or its training step to a Chakra or GOAL trace for other simulators");
  c->footer(
      "Examples:\n"
      "  tutti export mine.tutti --to perfetto        then open mine.perfetto-trace in "
      "ui.perfetto.dev\n"
      "  tutti export mine.tutti --to csv --table packs -o -\n"
      "  tutti export mine.tutti --to svg\n"
      "  tutti export mine.textproto --to msccl       the steps of every GPU, for MSCCL's "
      "runtimes\n"
      "  tutti export mine.textproto --to mscclpp     … and of MSCCL++\n"
      "  tutti export mine.textproto --to chakra      mine.chakra.<rank>.et, for ASTRA-sim\n"
      "  tutti export mine.textproto --to goal        mine.goal, for LogGOPSim and ATLAHS");
  c->add_option("timeline", o.timeline,
                "Timeline file written by tutti simulate or tutti run; for all formats but the "
                "first three, a scenario")
      ->required();
  c->add_option(
       "--to", o.to,
       "Output format: perfetto, csv, svg (a picture of the last training step), msccl, "
       "mscclpp, chakra (execution traces with collectives as nodes), goal or goal-binary (sends, "
       "receives and computations of every rank)")
      ->required();
  c->add_option("--format", o.format, "Format of the summary on standard output: text or json")
      ->capture_default_str();
  c->add_option("--table", o.table,
                "With --to csv: the table to write: spans, packs, steps, links or path")
      ->capture_default_str();
  c->add_option("-o,--output", o.output,
                "Output file, - for standard output (default: next to the input file). With --to "
                "chakra: the path of the trace, to which .<rank>.et is added");
}

void add_init(CLI::App& app, InitOptions& o) {
  CLI::App* c = app.add_subcommand(
      "init", "Write a new scenario for a model, a machine and a number of nodes");
  c->footer(
      "Without options on a terminal, it asks for the model, the machine, the network and the "
      "algorithm.\n"
      "Examples:\n"
      "  tutti init\n"
      "  tutti init --list\n"
      "  tutti init --model bert_large_tf --machine hgx-h100 --nodes 8 --algorithm nccl -o "
      "bert.textproto\n"
      "  tutti init --machine dgx-a100 --nodes 64 --network fat_tree --link hdr");
  c->add_option("--nodes", o.nodes, "Number of machines")->capture_default_str();
  c->add_option("--servers", o.servers,
                "Number of parameter servers (CPU hosts) that hold the variables, as with "
                "ParameterServerStrategy");
  add_new_scenario(c, o);
  c->add_flag("--list", o.list,
              "List the shipped machines, links, models and layer times, and the algorithms");
}

void add_convert(CLI::App& app, ConvertOptions& o) {
  CLI::App* c = app.add_subcommand(
      "convert", "Rewrite scenarios of an older form in today's form, with their comments");
  c->footer(
      "Examples:\n"
      "  tutti convert mine.textproto\n"
      "  tutti convert scenarios/*.textproto\n"
      "  tutti convert mine.textproto -o new.textproto");
  c->add_option("files", o.files, "Scenario files; each is replaced when its new text is complete")
      ->required();
  c->add_option("-o,--output", o.output,
                "Write to another file, - for standard output (one scenario only)");
  c->add_option("--format", o.format,
                "Format of the list of changed fields: text (on stderr) or json")
      ->capture_default_str();
}

void add_import(CLI::App& app, ImportOptions& o) {
  CLI::App* c = app.add_subcommand("import",
                                   "Import traces and logs as timelines and scenarios, or files of "
                                   "other programs as a scenario or cluster");
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
  CLI::App* c = app.add_subcommand(
      "doctor",
      "Report what this machine has for simulations and real runs, and how to get what is missing");
  c->footer(
      "Examples:\n  tutti doctor\n  tutti doctor --format json | jq '.checks[] | select(.ok | "
      "not)'");
  add_format(c, o.format);
}

void add_completion(CLI::App& app, CompletionOptions& o) {
  CLI::App* c = app.add_subcommand(
      "completion", "Print the script that completes tutti's commands in bash, zsh or fish");
  c->footer(
      "Examples:\n"
      "  source <(tutti completion bash)                              in this shell\n"
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
                "Command whose page is printed, such as sweep (default: the page of tutti itself)");
  c->add_option("--folder", o.folder, "Write the pages of all commands into this folder");
}

void add_view(CLI::App& app) {
  CLI::App* c = app.add_subcommand(
      "view", "Open the window, or write a picture of it (see tutti view --help)");
  c->set_help_flag();
  c->prefix_command();
}

}  // namespace tutti::tools
