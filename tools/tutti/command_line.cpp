#include "tools/tutti/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/base/version.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/input_files.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/options/complete.h"
#include "tools/tutti/options/manual.h"
#include "tools/tutti/options/options.h"
#include "tools/tutti/options/values.h"
#include "tools/tutti/options/wrong_words.h"
#include "tools/tutti/view.h"

namespace tutti::tools {
namespace {

constexpr const char* kAbout =
    "Tutti predicts the time of collectives and training steps on clusters that nobody has rented "
    "yet.\nA scenario file describes a cluster, a workload and a strategy; see docs/scenarios.md.";

constexpr const char* kExamples =
    "Examples:\n"
    "  tutti init --model vgg16_torchvision --machine dgx-a100 --nodes 4 -o mine.textproto\n"
    "  tutti simulate mine.textproto\n"
    "  tutti simulate mine.textproto --timeline mine.tutti && tutti export mine.tutti --to "
    "perfetto\n"
    "  tutti plan mine.textproto --variables\n"
    "  tutti run mine.textproto\n"
    "Exit status: 0 success, 1 the run failed or was interrupted, 2 the request is invalid.";

/// Prints the help text, wrapped to the terminal's width, or the version to standard output.
void print_information(const CLI::App& app, const CLI::ParseError& request) {
  const auto* const help = dynamic_cast<const CLI::CallForHelp*>(&request);
  if (help == nullptr) {
    app.exit(request);
    return;
  }
  const auto width = terminal_width(STDOUT_FILENO);
  std::cout << (width ? wrapped(app.help(), *width) : app.help());
}

/// Calls `visit` with every option of the parsed commands that has a value.
void each_value(const CLI::App& app,
                const std::function<void(const CLI::Option&, const OptionValue&)>& visit) {
  for (const CLI::Option* option : app.get_options()) {
    const auto value = option->count() > 0 ? value_of(app, *option) : std::nullopt;
    if (value) visit(*option, *value);
  }
  for (const CLI::App* command : app.get_subcommands()) each_value(*command, visit);
}

/// Checks that no path is empty. An empty path is usually a shell variable that is not set.
core::Expected<void> check_paths(const CLI::App& app) {
  std::string empty;
  each_value(app, [&](const CLI::Option& option, const OptionValue& value) {
    const auto& written = option.results();
    if ((value.kind == OptionValue::Kind::kFile || value.kind == OptionValue::Kind::kFolder) &&
        std::find(written.begin(), written.end(), "") != written.end())
      empty = option.get_positional() && option.get_lnames().empty()
                  ? option.get_single_name()
                  : "--" + option.get_lnames().front();
  });
  if (empty.empty()) return {};
  return refused({core::ProblemCode::kMissing, empty},
                 "{}: the path is empty; expected the name of a file or folder", empty);
}

/// Registers the files that the options name as input files of the command. The files that the
/// scenario names are registered when it is read.
void add_option_inputs(const CLI::App& app) {
  using Kind = OptionValue::Kind;
  static const std::set<Kind> kPaths{Kind::kFile, Kind::kMachine, Kind::kModel, Kind::kLink,
                                     Kind::kAlgorithm};
  each_value(app, [&](const CLI::Option& option, const OptionValue& value) {
    // Files that are positional arguments are not registered here, but by the commands: `tutti
    // convert` may overwrite its arguments.
    if (option.get_lnames().empty() || !kPaths.contains(value.kind) || value.written) return;
    for (const std::string& path : option.results()) add_input_file(path);
  });
}

}  // namespace

/// The functions that implement the commands, and the values of options that belong to no single
/// command.
struct CommandLine::Commands {
  CompletionOptions completion;
  ManualOptions manual;
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";
  std::map<std::string, std::function<int(const Environment&)>> run;

  template <class Options>
  void offer(CLI::App& app, const char* name, void (*add)(CLI::App&, Options&),
             int (*command)(const Options&, const Environment&)) {
    const auto options = std::make_shared<Options>();
    add(app, *options);
    run[name] = [options, command](const Environment& environment) {
      return command(*options, environment);
    };
  }
};

CommandLine::CommandLine()
    : app_(std::make_unique<CLI::App>(kAbout, "tutti")), commands_(std::make_unique<Commands>()) {
  app_->footer(kExamples);
  app_->require_subcommand(1);
  app_->set_version_flag("--version",
                         [] { return fmt::format("tutti {} ({})", core::version(), features()); });
  commands_->offer(*app_, "simulate", add_simulate, simulate);
  commands_->offer(*app_, "run", add_run, run_for_real);
  commands_->offer(*app_, "sweep", add_sweep, sweep);
  commands_->offer(*app_, "tune", add_tune, tune);
  commands_->offer(*app_, "explain", add_explain, explain);
  commands_->offer(*app_, "synthesize", add_synthesize, synthesize);
  commands_->offer(*app_, "compare", add_compare, compare);
  commands_->offer(*app_, "perf", add_perf, perf);
  commands_->offer(*app_, "calibrate", add_calibrate, calibrate);
  commands_->offer(*app_, "validate", add_validate, validate);
  commands_->offer(*app_, "plan", add_plan, plan);
  commands_->offer(*app_, "export", add_export, export_timeline);
  commands_->offer(*app_, "report", add_report, write_report);
  commands_->offer(*app_, "init", add_init, init);
  commands_->offer(*app_, "convert", add_convert, convert);
  commands_->offer(*app_, "import", add_import, import_files);
  add_view(*app_);
  commands_->run["view"] = [this](const Environment&) {
    return view(app_->get_subcommand("view")->remaining());
  };
  commands_->offer(*app_, "worker", add_worker, worker);
  commands_->offer(*app_, "doctor", add_doctor, doctor);
  add_completion(*app_, commands_->completion);
  commands_->run["completion"] = [this](const Environment&) {
    return print_out(completion_script(commands_->completion.shell));
  };
  add_manual(*app_, commands_->manual);
  commands_->run["manual"] = [this](const Environment&) {
    return manual(commands_->manual, *app_);
  };
  for (const auto& [name, run] : commands_->run) {
    if (name == "view") continue;
    CLI::App* const command = app_->get_subcommand(name);
    command->add_flag("-q,--quiet", commands_->quiet, "Print results and errors only");
    command
        ->add_flag("-v,--verbose", commands_->verbose,
                   "Print progress even if standard error is not a terminal, all columns of "
                   "tables, and a row for every link, even if links look the same")
        ->excludes("--quiet");
    command
        ->add_option(
            "--color", commands_->color,
            "Colors in messages and tables: auto (if the output is a terminal and NO_COLOR "
            "is not set), always or never")
        ->capture_default_str();
  }
  name_values(*app_);
}

CommandLine::~CommandLine() = default;

std::optional<int> CommandLine::parse(const std::vector<std::string>& written) {
  std::vector<std::string> words = written;
  // As in git, "help COMMAND" means "COMMAND --help".
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    // For an unknown command, CLI11 would print the help of all commands.
    const bool known = words.empty() || words.front().starts_with('-') ||
                       !app_->get_subcommands([&words](const CLI::App* one) {
                              return one->get_name() == words.front();
                            })
                            .empty();
    if (known) words.emplace_back("--help");
  }
  try {
    // CLI11 expects the words in reverse order.
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));
    if (const auto paths = check_paths(*app_); !paths) return report(paths.error());
    const auto color = choice<Color>("--color", commands_->color, kColors, parse_color);
    if (!color) return report(color.error());
    // If another program calls the command in its own process, ignore these settings, because
    // nothing is written to a terminal.
    if (capture() == nullptr) {
      set_color(*color);
      set_verbosity(commands_->quiet     ? Verbosity::kNone
                    : commands_->verbose ? Verbosity::kVerbose
                                         : Verbosity::kNormal);
    }
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    // CLI11 throws exceptions for --help and --version, too. Its other exceptions mean that the
    // command line is invalid.
    if (error.get_exit_code() != 0) return report(wrong_words(*app_, error));
    print_information(*app_, error);
    return std::cout.flush() ? static_cast<int>(kDone) : stdout_failed(errno);
  }
}

bool CommandLine::leaves_this_process() const {
  return app_->got_subcommand("run") || app_->got_subcommand("worker") ||
         app_->got_subcommand("view") ||
         (app_->got_subcommand("perf") &&
          app_->get_subcommand("perf")->get_option("--backend")->as<std::string>() != "sim");
}

std::string CommandLine::completions(const std::vector<std::string>& words,
                                     const core::Library& library) const {
  return to_text(complete(*app_, words, library));
}

int CommandLine::run(const Environment& environment) const {
  clear_input_files();
  add_option_inputs(*app_);
  return commands_->run.at(app_->get_subcommands().front()->get_name())(environment);
}

}  // namespace tutti::tools
