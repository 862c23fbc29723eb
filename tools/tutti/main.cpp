// The command line: calls the function of each command (options/ defines their options).

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/base/version.h"
#include "core/scenario/library_folder.h"
#include "real/process/system_limits.h"
#include "tools/tutti/command.h"
#include "tools/tutti/io/memory_limit.h"
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
    "  tutti simulate mine.textproto --timeline mine.tutti && tutti export mine.tutti --to "
    "perfetto\n"
    "  tutti plan mine.textproto --variables\n"
    "  tutti run mine.textproto\n"
    "Exit status: 0 success, 1 the run failed or was interrupted, 2 the request is invalid.";

/// `--format json`, which errors follow as well, those of the words among them.
bool asks_for_json(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--format=json" ||
        (words[i] == "--format" && i + 1 < words.size() && words[i + 1] == "json"))
      return true;
  }
  return false;
}

/// The function that executes each command.
using Commands = std::map<std::string, std::function<int(const Environment&)>>;

template <class Options>
void offer(CLI::App& app, Commands& commands, const char* name, void (*add)(CLI::App&, Options&),
           int (*run)(const Options&, const Environment&)) {
  const auto options = std::make_shared<Options>();
  add(app, *options);
  commands[name] = [options, run](const Environment& environment) {
    return run(*options, environment);
  };
}

int run(int argc, char** argv) {
  CLI::App app(kAbout, "tutti");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("tutti ") + std::string(core::version()));
  Commands commands;
  offer(app, commands, "simulate", add_simulate, simulate);
  offer(app, commands, "run", add_run, run_for_real);
  offer(app, commands, "sweep", add_sweep, sweep);
  offer(app, commands, "tune", add_tune, tune);
  offer(app, commands, "explain", add_explain, explain);
  offer(app, commands, "synthesize", add_synthesize, synthesize);
  offer(app, commands, "compare", add_compare, compare);
  offer(app, commands, "perf", add_perf, perf);
  offer(app, commands, "calibrate", add_calibrate, calibrate);
  offer(app, commands, "validate", add_validate, validate);
  offer(app, commands, "plan", add_plan, plan);
  offer(app, commands, "export", add_export, export_timeline);
  offer(app, commands, "init", add_init, init);
  offer(app, commands, "convert", add_convert, convert);
  offer(app, commands, "import", add_import, import_files);
  add_view(app);
  offer(app, commands, "worker", add_worker, worker);
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
  const bool for_real =
      app.got_subcommand("run") || app.got_subcommand("worker") || app.got_subcommand("view") ||
      (app.got_subcommand("perf") &&
       app.get_subcommand("perf")->get_option("--backend")->as<std::string>() != "sim");
  if (!for_real) stay_within_memory();
  if (app.got_subcommand("view")) return view(app.get_subcommand("view")->remaining());
  return commands.at(app.get_subcommands().front()->get_name())(environment);
}

/// A descriptor that is closed would go to the next file that is opened, and what is said on stderr
/// with it.
void occupy_standard_descriptors() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(file, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDONLY));
  }
}

}  // namespace
}  // namespace tutti::tools

int main(int argc, char** argv) {
  tutti::tools::occupy_standard_descriptors();
  // A reader that is gone, and a file beyond what is allowed, show as errors of the write, so that
  // nothing half written stays for them.
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
    std::fputs("; use fewer workers, steps or recorded spans\n", stderr);
  } catch (const std::system_error& error) {
    const std::string remedy = tutti::real::remedy_for(error.code().value());
    std::fprintf(stderr, "tutti: the system has refused a thread or another resource: %s%s\n",
                 error.code().message().c_str(), remedy.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti: internal error: %s\n", error.what());
  }
  return tutti::tools::kRunFailed;
}
