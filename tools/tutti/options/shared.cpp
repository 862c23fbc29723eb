#include "tools/tutti/options/shared.h"

#include <CLI/CLI.hpp>

#include "core/text/utf8.h"
#include "real/join/launcher.h"

namespace tutti::tools {

std::string not_utf8(const std::string& path) {
  return core::valid_utf8(path) == path.size() ? "" : "the name of this file is not in UTF-8; rename it";
}

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

}  // namespace tutti::tools
