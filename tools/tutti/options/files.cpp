// Options of the commands that make files of others, or show them.

#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

namespace {

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

}  // namespace

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

void add_init(CLI::App& app, InitOptions& o) {
  CLI::App* c = app.add_subcommand("init", "Write a scenario to start from");
  c->footer(
      "Examples:\n"
      "  tutti init --list\n"
      "  tutti init --model bert_large_tf --machine hgx-h100 --nodes 8 --algorithm nccl -o bert.textproto\n"
      "  tutti init --machine dgx-a100 --nodes 64 --network fat_tree --link hdr");
  c->add_option("--nodes", o.nodes, "How many machines")->capture_default_str();
  c->add_option("--servers", o.servers,
                "Variables lie on so many servers (CPU hosts), as under ParameterServerStrategy");
  add_new_scenario(c, o);
  c->add_flag("--list", o.list, "List the shipped machines, links, models, layer times and the algorithms");
}

void add_import(CLI::App& app, ImportTfConfigOptions& o, ImportNcclTopologyOptions& topology) {
  CLI::App* c = app.add_subcommand("import", "Write a scenario or cluster from what other programs say of one");
  c->require_subcommand(1);
  CLI::App* tf = c->add_subcommand(
      "tf-config", "From TensorFlow's TF_CONFIG: its chief, workers and servers (ps), on one machine each");
  tf->footer(
      "Examples:\n"
      "  tutti import tf-config --machine dgx-a100 --link hdr -o mine.textproto\n"
      "  tutti import tf-config tf_config.json --model vgg16_torchvision | tutti simulate /dev/stdin");
  tf->add_option("file", o.from, "File with TF_CONFIG's JSON, or env: the environment's")->capture_default_str();
  add_new_scenario(tf, o.scenario);
  add_import_nccl_topology(c, topology);
}

void add_view(CLI::App& app) {
  CLI::App* c = app.add_subcommand("view", "Open the window, or write a picture of it (tutti view --help tells more)");
  c->set_help_flag();
  c->prefix_command();
}

}  // namespace tutti::tools
