#include <CLI/CLI.hpp>

#include "tools/tutti/options/options.h"
#include "tools/tutti/options/shared.h"

namespace tutti::tools {

void add_synthesize(CLI::App& app, SynthesizeOptions& o) {
  CLI::App* c = app.add_subcommand("synthesize",
                                   "Find a fast schedule of a collective for the links of a "
                                   "cluster, and prove that it is correct");
  c->footer(
      "Candidates range from schedules with few rounds to spanning trees that reach the bandwidth "
      "of the fabric.\n"
      "Each candidate is proved correct and simulated.\n"
      "After Ctrl-C or --timeout-seconds, the best schedule so far is written.\n"
      "Examples:\n"
      "  tutti synthesize --cluster dgx1-v100 --collective all-gather --bytes 64M -o "
      "mine.tutti-algorithm\n"
      "  tutti synthesize --cluster dgx-a100 --nodes 2 --collective all-reduce --bytes 1G -o "
      "mine.xml\n"
      "  tutti synthesize scenarios/09_fat_tree.textproto --collective reduce-scatter\n"
      "To use the file in a scenario, set strategy { custom { file: \"mine.tutti-algorithm\" } }");
  c->add_option("scenario", o.scenario, "Scenario whose cluster is used (text format or JSON)")
      ->check(not_utf8);
  c->add_option("--cluster", o.cluster,
                "Synthesize for a cluster of one kind of machine, instead of a scenario's cluster: "
                "name of a shipped machine, or a machine file");
  c->add_option("--nodes", o.nodes, "With --cluster: number of machines (nodes)")
      ->capture_default_str();
  c->add_option("--gpus", o.gpus,
                "With --cluster: number of GPUs used on each node (default: all)");
  c->add_option("--network", o.network,
                "With --cluster: network between the nodes: one_switch, or rails (one switch for "
                "all network cards with the same index)")
      ->capture_default_str();
  c->add_option(
      "--link", o.link,
      "With --cluster: kind of network link, such as hdr (tutti init --list lists all kinds). By "
      "default, links have the bandwidth of the network cards and a latency of 2 µs");
  c->add_option("--set", o.set, "FIELD=VALUE: override this field of the scenario (repeatable)")
      ->expected(1)
      ->take_all();
  c->add_option("--collective", o.collective,
                "Collective operation: all-gather, reduce-scatter, all-reduce, broadcast or reduce")
      ->capture_default_str();
  c->add_option("--bytes", o.bytes,
                "Size of the whole buffer in bytes; the suffixes K, M and G are powers of 1024")
      ->capture_default_str();
  c->add_option("--type", o.type, "Data type of the elements")->capture_default_str();
  c->add_option("--root", o.root, "Root rank of broadcast and reduce")->capture_default_str();
  c->add_flag("--no-switch-sums", o.no_switch_sums,
              "Do not search for schedules in which switches reduce, because tutti run and MSCCL "
              "do not support them");
  c->add_option("-o,--output", o.output,
                "Write the best schedule to this file: NAME.tutti-algorithm (Tutti's language) or "
                "NAME.xml (MSCCL)")
      ->check(not_utf8);
  c->add_flag("--force", o.force, "Overwrite the output file if it exists");
  c->add_option("--timeout-seconds", o.timeout_seconds,
                "Stop the search after this many seconds and keep the best schedule so far "
                "(default: no limit)");
  c->add_option("--rows", o.rows, "Maximum number of schedules to list in the text output")
      ->capture_default_str();
  add_format(c, o.format);
}

}  // namespace tutti::tools
