#include "tools/tutti/convert.h"

#include <filesystem>

#include "core/edit/old_form_text.h"
#include "core/text/report.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {

using core::Error;
using core::Expected;

namespace {

/// A scenario in the current format, and the list of changes. The list is empty if the scenario
/// already has the current format.
struct Converted {
  std::string file;
  std::string text;
  std::vector<core::MovedValue> moved;
};

/// Reads and converts a scenario. ERRORS: the file cannot be read, or is not in the text format.
Expected<Converted> converted(const std::string& file) {
  auto text = read_scenario_file(file);
  if (!text) return failed(text);
  core::Problems problems;
  core::parse_document(*text, file, problems);
  if (!problems.empty()) return problems.take();
  auto now = core::convert_text(*text);
  if (!now) return Converted{file, std::move(*text), {}};
  if (!core::have_equal_values(*text, now->text))
    return tl::make_unexpected(Error::run(file + ": this scenario cannot be converted without "
                                                 "changing its meaning; the file was not changed"));
  return Converted{file, std::move(now->text), std::move(now->moved)};
}

/// Overwrites the file from which the scenario was read. The file remains unchanged until the new
/// content is complete.
Expected<void> write_over(const Converted& scenario) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(scenario.file, ignored);
  if (!std::filesystem::is_regular_file(status))
    return tl::make_unexpected(Error::request(
        "this is not a regular file (for example, it is a pipe), so it cannot be overwritten; "
        "write to another file with -o FILE, or to standard output with -o -",
        {scenario.file, 0, 0}));
  const auto permissions = status.permissions();
  if (auto written = write_file(scenario.file, {}, scenario.text); !written) return written;
  std::filesystem::permissions(scenario.file, permissions, ignored);
  return {};
}

void print_changes(const Converted& scenario, const std::string& output) {
  if (scenario.moved.empty())
    return print_note(fmt::format("{}: nothing to change\n", scenario.file));
  for (const core::MovedValue& value : scenario.moved)
    print_note(fmt::format("{}:{}:{}: {} {}\n", scenario.file, value.at.line, value.at.column,
                           value.was, value.now.empty() ? "left out" : "moved to " + value.now));
  if (output != "-")
    print_note(fmt::format("written: {}\n", output.empty() ? scenario.file : output));
}

std::string as_json(const std::vector<Converted>& scenarios) {
  const auto moved = [](const core::MovedValue& value) {
    return core::Report{{"was", value.was},
                        {"now", value.now},
                        {"line", value.at.line},
                        {"column", value.at.column}};
  };
  const auto file = [&](const Converted& scenario) {
    return core::Report{{"file", scenario.file}, {"moved", core::list_of(scenario.moved, moved)}};
  };
  return result_json(core::Report{{"files", core::list_of(scenarios, file)}});
}

}  // namespace

int convert(const ConvertOptions& options, const Environment&) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (!options.output.empty() && options.files.size() > 1)
    return report(
        Error::request("-o can only be used with a single scenario file, but several are given; "
                       "give one scenario file, or remove -o"));
  const bool to_stdout = options.output == "-";
  if (to_stdout && *format == Format::kJson)
    return report(
        Error::request("-o -: --format json uses standard output for the list of changed fields; "
                       "write the scenario to a file with -o FILE"));
  int status = kDone;
  std::vector<Converted> done;
  for (const std::string& name : options.files) {
    auto scenario = converted(name);
    Expected<void> written;
    if (scenario && to_stdout) {
      if (const int printed = print_out(scenario->text); printed != kDone) return printed;
    } else if (scenario && !options.output.empty()) {
      written = write_file(options.output, {scenario->file}, scenario->text);
    } else if (scenario && !scenario->moved.empty()) {
      written = write_over(*scenario);
    }
    if (!scenario || !written) {
      status = std::max(status, report(scenario ? written.error() : scenario.error()));
      continue;
    }
    print_changes(*scenario, options.output);
    done.push_back(std::move(*scenario));
  }
  return *format == Format::kJson && status == kDone ? print_out(as_json(done)) : status;
}

}  // namespace tutti::tools
