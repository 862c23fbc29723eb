#include "tools/tutti/export_trace.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/version.h"
#include "core/export/trace_export.h"
#include "core/scenario/rewrite.h"
#include "core/text/report.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/scenario_options.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::ProblemCode;
using core::TraceExport;

class TraceFiles {
 public:
  TraceFiles(const ExportOptions& options, const core::Scenario& scenario,
             const TraceExport& exported)
      : options_(options), scenario_(scenario), exported_(exported) {
    const std::filesystem::path source(options.timeline);
    const char* const ending = is_chakra() ? ".chakra" : options.to == "goal" ? ".goal" : ".bin";
    base_ = options.output.empty()
                ? std::filesystem::path(source).replace_extension(ending).string()
                : options.output;
  }

  Expected<void> write() {
    if (auto free = check_scenario_file(); !free) return free;
    return is_chakra() ? write_chakra() : write_goal();
  }
  [[nodiscard]] const std::vector<std::string>& written() const { return written_; }
  [[nodiscard]] const std::string& scenario_file() const { return scenario_file_; }

 private:
  [[nodiscard]] bool is_chakra() const { return options_.to == "chakra"; }

  template <class Write>
  Expected<void> file(const std::string& path, const Write& write) {
    if (auto done = write_file(path, {options_.timeline}, write); !done) return done;
    written_.push_back(path);
    return {};
  }

  Expected<void> write_chakra() {
    for (std::int64_t r = 0; r < exported_.ranks(); ++r) {
      const auto write = [&](std::ostream& out) { exported_.write_chakra(r, out); };
      if (auto done = file(fmt::format("{}.{}.et", base_, r), write); !done) return done;
    }
    const std::string groups = exported_.chakra_groups();
    if (!groups.empty()) {
      const auto write = [&](std::ostream& out) { out << groups; };
      if (auto done = file(base_ + ".groups.json", write); !done) return done;
    }
    return write_scenario(groups.empty() ? "" : base_ + ".groups.json");
  }

  Expected<void> write_goal() {
    const std::string comment =
        fmt::format("{}, exported by Tutti {}", scenario_.name, core::version());
    const auto text = [&](std::ostream& out) {
      core::GoalTextWriter writer(out, exported_.ranks(), comment);
      for (std::int64_t r = 0; r < exported_.ranks(); ++r) writer.add(exported_.goal(r));
    };
    const auto binary = [&](std::ostream& out) {
      core::GoalBinaryHeader header;
      for (std::int64_t r = 0; r < exported_.ranks(); ++r) {
        const core::GoalRank rank = exported_.goal(r);
        header.add(rank, core::goal_binary(rank).size());
      }
      out << header.bytes();
      for (std::int64_t r = 0; r < exported_.ranks(); ++r)
        out << core::goal_binary(exported_.goal(r));
    };
    auto done = options_.to == "goal" ? file(base_, text) : file(base_, binary);
    return done ? write_scenario("") : done;
  }

  /// Checks that the scenario next to the trace does not overwrite another file, because the user
  /// has not chosen the scenario's name. A file that executes the trace may be overwritten, because
  /// an earlier export has written it.
  Expected<void> check_scenario_file() const {
    const std::string path = base_ + ".textproto";
    std::error_code status;
    if (!std::filesystem::exists(path, status)) return {};
    const auto text = core::read_text_file(path);
    const std::string trace =
        fmt::format("path: \"{}\"", std::filesystem::path(base_).filename().string());
    if (text && text->find(trace) != std::string::npos) return {};
    return tl::make_unexpected(core::Error::request(
        {ProblemCode::kConflict, "--output"},
        "this file exists, and the export would replace it by a scenario that executes the trace; "
        "choose another name with -o, or remove the file",
        {path, 0, 0}));
  }

  /// Writes a scenario next to the trace, with which Tutti itself can execute the exported trace.
  Expected<void> write_scenario(const std::string& groups) {
    const auto name = [](const std::string& path) {
      return std::filesystem::path(path).filename().string();
    };
    scenario_file_ = base_ + ".textproto";
    const std::string text = core::with_trace(scenario_.text, scenario_.file, scenario_.strategy,
                                              name(base_), groups.empty() ? "" : name(groups));
    return file(scenario_file_, [&](std::ostream& out) { out << text; });
  }

  const ExportOptions& options_;
  const core::Scenario& scenario_;
  const TraceExport& exported_;
  std::string base_;
  std::string scenario_file_;
  std::vector<std::string> written_;
};

}  // namespace

int export_trace(const ExportOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (options.output == "-")
    return refuse({ProblemCode::kConflict, "--output"},
                  "-o -: a trace consists of several files, so it cannot be written to standard "
                  "output; give a path");
  ScenarioOptions from;
  from.file = options.timeline;
  const auto scenario = load_scenario(from, environment);
  if (!scenario) return report(scenario.error());
  const auto exported = TraceExport::of(*scenario);
  if (!exported) return report(exported.error());
  const bool goal = options.to != "chakra";
  if (const std::string why = goal ? (*exported)->why_no_goal() : ""; !why.empty())
    return refuse({ProblemCode::kUnsupported, "--to"}, "--to {}: {}", options.to, why);
  TraceFiles files(options, *scenario, **exported);
  if (const auto done = files.write(); !done) return report(done.error());
  const std::vector<std::string> notes = (*exported)->notes(goal);
  if (*format == Format::kText) {
    for (const std::string& note : notes) print_note(fmt::format("note: {}\n", note));
    print_note(fmt::format(
        "written: {}{}\n", files.written().front(),
        files.written().size() > 2 ? fmt::format(" and {} more", files.written().size() - 2) : ""));
    print_note(fmt::format("written: {}, a scenario that executes the trace (tutti simulate {})\n",
                           files.scenario_file(), files.scenario_file()));
    return kDone;
  }
  return print_out(result_json(core::Report{{"scenario", options.timeline},
                                            {"to", options.to},
                                            {"ranks", (*exported)->ranks()},
                                            {"files", files.written()},
                                            {"executes_it", files.scenario_file()},
                                            {"notes", notes}}));
}

}  // namespace tutti::tools
