#include "tools/tutti/command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/version.h"
#include "core/text/printable.h"
#include "core/text/report.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/standard_output.h"
#include "tools/tutti/io/terminal.h"

namespace tutti::tools {
namespace {

/// The process-wide settings for standard output and standard error, and the first error that was
/// reported.
struct StandardOutput {
  bool errors_as_json = false;
  Verbosity verbosity = Verbosity::kNormal;
  bool begun = false;
  std::string error = {};    ///< first reported error, as JSON
  std::string stopped = {};  ///< the error of a command that a signal ends, as JSON
};
StandardOutput& standard_output() {
  static StandardOutput output;
  return output;
}

std::string as_json(const core::Error& error, int status) {
  const auto of_problem = [](const core::Problem& problem) {
    core::Report report{{"file", core::unless_empty(problem.where.file)}};
    if (problem.where.line > 0)
      report.add("line", problem.where.line).add("column", problem.where.column);
    report.add("code", to_string(problem.kind.code))
        .add("field", core::unless_empty(problem.kind.field));
    if (problem.kind.worker >= 0) report.add("worker", problem.kind.worker);
    return report.add("text", problem.text);
  };
  const core::Report problem{{"status", status},
                             {"problems", core::list_of(error.problems(), of_problem)}};
  return result_json(core::Report{{"error", problem}});
}

/// Returns a copy of the error in which long words and texts are truncated. Errors quote what the
/// user or a file has written, which may be a megabyte. Paths are not truncated, so that they can
/// be copied.
core::Error with_short_words(const core::Error& error) {
  constexpr std::size_t kMaxWord = 200, kMaxText = 8192;
  std::vector<core::Problem> problems = error.problems();
  for (core::Problem& problem : problems) {
    if (problem.text.size() <= kMaxWord) continue;
    std::string text;
    for (std::size_t at = 0; at < problem.text.size() && text.size() <= kMaxText;) {
      const std::size_t end = std::min(problem.text.find_first_of(" \n", at), problem.text.size());
      std::string word = problem.text.substr(at, end - at);
      const bool path = word.find('/') != std::string::npos && word.size() < PATH_MAX;
      text += path ? word : core::shortened(std::move(word), kMaxWord);
      if (end < problem.text.size()) text += problem.text[end];
      at = end + 1;
    }
    problem.text = core::shortened(std::move(text), kMaxText);
  }
  return {error.kind(), std::move(problems)};
}

}  // namespace

void set_verbosity(Verbosity set) { standard_output().verbosity = set; }
Verbosity verbosity() { return standard_output().verbosity; }

void report_errors_as_json() {
  standard_output().errors_as_json = true;
  standard_output().stopped =
      as_json(core::Error::run({core::ProblemCode::kStopped}, "interrupted"), kRunFailed);
}

void write_stopped_error() {
  const StandardOutput& output = standard_output();
  if (output.begun || output.stopped.empty()) return;
  const std::string& error = output.error.empty() ? output.stopped : output.error;
  // The program ends even if the error cannot be written.
  if (write(STDOUT_FILENO, error.data(), error.size()) < 0) return;
}

void write_reported_error() {
  // A failure to write the error message itself is ignored.
  if (!standard_output().begun)
    static_cast<void>(std::fputs(standard_output().error.c_str(), stdout));
}

core::Expected<Format> format_of(const std::string& written) {
  if (written == "text") return Format::kText;
  if (written == "json") return Format::kJson;
  return refused({core::ProblemCode::kUnknownName, "--format"},
                 "--format {}: expected one of text, json", written);
}

int report(const core::Error& full) {
  const core::Error error = with_short_words(full);
  const int status = error.kind() == core::ErrorKind::kRun ? kRunFailed : kWrongRequest;
  if (Capture* const caller = capture()) {
    caller->errors.push_back(error);
    return status;
  }
  // --quiet does not suppress errors. The names in errors may come from files and other processes,
  // so the text is sanitised.
  std::string text;
  for (const core::Problem& problem : error.problems()) {
    const std::string whole = problem.where.file.empty() && !problem.text.starts_with("tutti")
                                  ? "tutti: " + problem.text
                                  : core::to_string(problem);
    const std::size_t place = whole.size() - problem.text.size();  // length of "file:line: "
    text += styled(Style::kError, core::printable(whole.substr(0, place), core::LineBreaks::kStay),
                   STDERR_FILENO);
    text += core::printable(whole.substr(place), core::LineBreaks::kStay) + '\n';
  }
  static_cast<void>(std::fputs(text.c_str(), stderr));
  StandardOutput& output = standard_output();
  if (output.errors_as_json && output.error.empty()) output.error = as_json(error, status);
  return status;
}

core::Error about(const std::string& option, core::Error error) {
  std::vector<core::Problem> problems = error.problems();
  for (core::Problem& problem : problems) {
    if (problem.kind.field.empty()) problem.kind.field = option;
  }
  return {error.kind(), std::move(problems)};
}

void print_note(const std::string& untrusted) {
  const std::string text = core::printable(untrusted, core::LineBreaks::kStay);
  if (Capture* const caller = capture()) {
    caller->messages += text;
  } else if (verbosity() != Verbosity::kNone) {
    const bool on_terminal = isatty(STDERR_FILENO) != 0;
    const auto width = on_terminal ? terminal_width(STDERR_FILENO) : std::nullopt;
    static_cast<void>(std::fputs(width ? wrapped(text, *width).c_str() : text.c_str(), stderr));
  }
}

std::string result_json(const core::Report& report) {
  core::Report whole{{"schema_version", kSchemaVersion}};
  const auto& fields = report.fields();
  if (std::none_of(fields.begin(), fields.end(),
                   [](const core::ReportField& field) { return field.name == "tutti_version"; }))
    whole.add("tutti_version", core::version());
  return core::to_json(whole.add(report));
}

int print_out(const std::string& text) {
  // In files and pipes, the text is data and stays unchanged.
  const bool on_terminal = capture() == nullptr && isatty(STDOUT_FILENO) != 0;
  return write_out(on_terminal ? core::printable(text, core::LineBreaks::kStay) : text);
}

int write_out(const std::string& text) {
  if (Capture* const caller = capture()) {
    caller->out += text;
    return kDone;
  }
  standard_output().begun = true;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? static_cast<int>(kDone) : stdout_failed(errno);
}

int stdout_failed(int error) {
  if (error == EPIPE) return kRunFailed;
  return report(
      core::Error::run({core::ProblemCode::kSystem},
                       fmt::format("cannot write to standard output: {}", std::strerror(error))));
}

}  // namespace tutti::tools
