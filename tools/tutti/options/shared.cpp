#include "tools/tutti/options/shared.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/text/utf8.h"
#include "real/join/launcher.h"

namespace tutti::tools {

std::string not_utf8(const std::string& path) {
  return core::valid_utf8(path) == path.size()
             ? ""
             : "the name of this file is not valid UTF-8; rename the file";
}

std::string seed_problem(const std::string& number) {
  if (number.starts_with('-')) return fmt::format("expected 0 or more (got {})", number);
  std::uint64_t value = 0;
  const auto end = number.data() + number.size();
  if (std::from_chars(number.data(), end, value).ec == std::errc::result_out_of_range)
    return fmt::format("expected at most {} (got {})", std::numeric_limits<std::uint64_t>::max(),
                       number);
  return "";
}

void add_format(CLI::App* c, std::string& format) {
  c->add_option("--format", format, "Output format: text or json (to standard output)")
      ->capture_default_str();
}

void add_calibration(CLI::App* c, ScenarioOptions& o) {
  c->add_option("--calibration", o.calibration,
                "Calibration file, which corrects the predicted times of NCCL with measurements of "
                "the scenario's cluster; tutti calibrate --cluster writes such files")
      ->check(not_utf8);
}

CLI::Option* add_scenario(CLI::App* c, ScenarioOptions& o, const std::string& what) {
  CLI::Option* const scenario =
      c->add_option("scenario", o.file, what)->required()->check(not_utf8);
  c->add_option(
       "--set", o.set,
       "FIELD=VALUE: override a field of the scenario, such as strategy.shards=4 (repeatable)")
      ->expected(1)
      ->take_all();
  add_calibration(c, o);
  c->add_option("--tf-config", o.tf_config,
                "Set the number of workers from TensorFlow's TF_CONFIG: name of a file with the "
                "JSON text, or env to read the environment variable TF_CONFIG");
  return scenario;
}

void add_execution(CLI::App* c, ExecuteOptions& o, const std::string& verb) {
  add_scenario(c, o.scenario, "Scenario file (text format or JSON)");
  add_format(c, o.format);
  c->add_option(
      "--timeline", o.timeline,
      "Write a timeline to this file (an existing file is replaced only if it is a timeline)");
  c->add_option(
      "--record", o.record,
      "With --timeline: level of detail: steps (every step of a collective's schedule; default), "
      "packs (computations and packs in flight on each device) or none (no spans)");
  c->add_option("--workers", o.workers,
                "With --timeline: workers to record, such as 0-3 (default 0-15)");
  c->add_option("--from-us", o.from_us,
                "With --timeline: start of the recorded time window, in microseconds");
  c->add_option("--to-us", o.to_us,
                "With --timeline: end of the recorded time window, in microseconds");
  c->add_option("--max-spans", o.most_spans,
                "With --timeline: maximum number of recorded spans, which are intervals such as a "
                "computation or a message (default 2000000)");
  c->add_option("--steps", o.steps,
                "Number of training steps to " + verb + " (overrides the scenario)");
  c->add_option("--rows", o.rows,
                "Maximum number of packs, and of links, to list in the text output")
      ->capture_default_str();
}

void add_joining(CLI::App* c, JoinOptions& o) {
  c->add_option("--secret-file", o.secret_file,
                "File with the shared secret of all workers (alternatively set TUTTI_SECRET); "
                "required if workers join from other machines");
  c->add_option("--launcher", o.launcher,
                std::string("Launcher that started the processes: ") + real::kLaunchers)
      ->capture_default_str();
  c->add_option("--rendezvous", o.rendezvous,
                "Address of rank 0 (HOST:PORT), or a shared folder or file in which rank 0 stores "
                "its address "
                "for the other ranks; needed only if the launcher does not provide the address");
  c->add_option(
      "--tls", o.tls,
      "Encrypt all connections with TLS 1.3. --tls secret derives the key from the shared secret; "
      "--tls FOLDER uses the certificates in FOLDER (certificate.pem, key.pem and ca.pem). Either "
      "all processes of a run use secret, or all use certificates");
  c->add_option("--wait-seconds", o.wait_seconds,
                "Maximum time in seconds to wait until all other processes have joined (default "
                "60). If this command starts the workers itself, the default is the value of "
                "--timeout-seconds, limited to the range from 10 to 60");
}

void add_real(CLI::App* c, RealOptions& o) {
  c->add_option("--listen", o.join.listen,
                "Wait at this address HOST:PORT for workers to join, instead of starting workers "
                "on this machine");
  add_joining(c, o.join);
  c->add_option("--transport", o.transport,
                "Transport between workers: tcp (default), or shm (shared memory, for workers on "
                "one machine)");
  c->add_option("--streams", o.streams,
                "Number of TCP connections between each pair of workers (default 1); more "
                "connections can use more bandwidth");
  c->add_option("--worker-network", o.worker_networks,
                "ADDRESS/BITS: also allow workers to listen for other workers at the addresses of "
                "this network (repeatable). By default, a worker may only listen at the address "
                "from which it connects to the coordinator")
      ->expected(1)
      ->take_all();
  c->add_flag("--integrity", o.integrity,
              "Add an authentication code to every message between workers, so that changed, "
              "repeated or dropped messages end the run");
  c->add_option("--timeout-seconds", o.timeout_seconds,
                "Fail if a training step makes no progress, or a worker sends no heartbeat, for "
                "this many seconds (default 60). With --emulate, pending events of the emulated "
                "cluster count as progress");
}

void add_new_scenario(CLI::App* c, InitOptions& o) {
  c->add_option("--model", o.model,
                "Name of a shipped model, or path of a list of variables (.csv or .json)")
      ->capture_default_str();
  c->add_option("--machine", o.machine, "Name of a shipped machine, or path of a machine file")
      ->capture_default_str();
  c->add_option("--network", o.network,
                "Network between machines: one_switch, rails, fat_tree or dragonfly")
      ->capture_default_str();
  c->add_option("--link", o.link,
                "Kind of network link between machines: name of a shipped link such as ndr, or "
                "path of a link file. By default, the scenario names no link and has an assumed "
                "latency, which you can edit");
  c->add_option("--algorithm", o.algorithm,
                "All-reduce algorithm (default: nccl on GPUs, ring on CPUs)");
  c->add_option("-o,--output", o.output, "Output file (default: standard output)");
  c->add_flag("--force", o.force, "Overwrite an existing output file");
  add_format(c, o.format);
}

}  // namespace tutti::tools
