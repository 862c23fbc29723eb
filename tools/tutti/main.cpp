// The command line: who answers what was asked (options/ says what can be).

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/base/version.h"
#include "core/scenario/library_folder.h"
#include "tools/tutti/command.h"
#include "tools/tutti/memory_limit.h"
#include "tools/tutti/options/options.h"
#include "tools/tutti/options/wrong_words.h"
#include "tools/tutti/view.h"

namespace tutti::tools {
namespace {

constexpr const char* kAbout =
    "Tutti predicts what collectives cost before anyone rents the cluster.\n"
    "A scenario names a cluster, a workload and a strategy; see docs/scenarios.md.";

constexpr const char* kExamples =
    "Examples:\n"
    "  tutti init --model vgg16_torchvision --machine dgx-a100 --nodes 4 -o mine.textproto\n"
    "  tutti simulate mine.textproto\n"
    "  tutti simulate mine.textproto --timeline mine.tutti && tutti export mine.tutti --to perfetto\n"
    "  tutti plan mine.textproto --variables\n"
    "  tutti run mine.textproto\n"
    "Exit status: 0 done, 1 the run failed or was interrupted, 2 the request is wrong.";

/// `--format json`, which errors follow as well, those of the words among them.
bool asks_for_json(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--format=json" || (words[i] == "--format" && i + 1 < words.size() && words[i + 1] == "json"))
      return true;
  }
  return false;
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
  ConvertOptions convert_options;
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
  add_convert(app, convert_options);
  add_import(app, import_options, topology_options);
  add_view(app);
  add_worker(app, worker_options);
  if (asks_for_json({argv, argv + argc})) report_errors_as_json();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are no mistakes; everything else is a wrong request.
    if (error.get_exit_code() != 0) return report(wrong_words(app, error));
    app.exit(error);
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
  if (app.got_subcommand("convert")) return convert(convert_options);
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
    const int status = tutti::tools::run(argc, argv);
    tutti::tools::write_reported_error();
    return status;
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
