#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_synthesize(CLI::App& app, SynthesizeOptions& o) {
  CLI::App* c = app.add_subcommand(
      "synthesize", "Find a schedule of a collective for a cluster's fabric, and prove it");
  c->footer(
      "Candidates range from few rounds (for small messages) to spanning trees that reach the "
      "bandwidth of the fabric.\n"
      "Each is proved and simulated. After Ctrl-C or --timeout-seconds, the best so far is "
      "written.\n"
      "Examples:\n"
      "  tutti synthesize --cluster dgx1-v100 --collective all-gather --bytes 64M -o "
      "mine.tutti-algorithm\n"
      "  tutti synthesize --cluster dgx-a100 --nodes 2 --collective all-reduce --bytes 1G -o "
      "mine.xml\n"
      "  tutti synthesize scenarios/09_fat_tree.textproto --collective reduce-scatter\n"
      "A scenario uses the file by: strategy { custom { file: \"mine.tutti-algorithm\" } }");
  c->add_option("scenario", o.scenario, "Scenario whose cluster is used (text format or JSON)")
      ->check(not_utf8);
  c->add_option("--cluster", o.cluster,
                "Machine to synthesize for, without a scenario: name of a shipped machine, or a "
                "machine file");
  c->add_option("--nodes", o.nodes, "Number of machines (nodes) given by --cluster")
      ->capture_default_str();
  c->add_option("--gpus", o.gpus, "Number of GPUs used on each node (default: all)");
  c->add_option("--network", o.network,
                "Network between the nodes given by --cluster: one_switch, or rails (a switch for "
                "the cards of one index)")
      ->capture_default_str();
  c->add_option("--link", o.link,
                "Kind of network link, such as hdr; tutti init --list names them (default: the "
                "cards' bandwidth and 2 µs)");
  c->add_option("--set", o.set, "FIELD=VALUE: override this field of the scenario (repeatable)")
      ->expected(1)
      ->take_all();
  c->add_option("--collective", o.collective,
                "Collective operation: all-gather, reduce-scatter, all-reduce, broadcast or reduce")
      ->capture_default_str();
  c->add_option("--bytes", o.bytes,
                "Size of the whole buffer in bytes; K, M and G stand for powers of 1024")
      ->capture_default_str();
  c->add_option("--type", o.type, "Data type of the elements")->capture_default_str();
  c->add_option("--root", o.root, "Root rank of broadcast and reduce")->capture_default_str();
  c->add_option("-o,--output", o.output,
                "File for the best schedule: .tutti-algorithm (Tutti's language) or .xml (MSCCL)")
      ->check(not_utf8);
  c->add_flag("--force", o.force, "Overwrite the file if it exists");
  c->add_option("--timeout-seconds", o.timeout_seconds,
                "Stop the search after this many seconds and keep the best so far (default: none)");
  c->add_option("--rows", o.rows, "Maximum number of schedules to list in the text output")
      ->capture_default_str();
  add_format(c, o.format);
}

}  // namespace tutti::tools
