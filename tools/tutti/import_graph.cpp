// A scenario can use an execution trace as its workload without conversion, so the import writes no
// copy of the trace, but a scenario that names the trace's files. The import reads and checks the
// whole trace, so that errors are reported now, and not by the next command. A trace does not
// describe its cluster, so the user names the machine. The number of machines follows from the
// number of ranks.

#include "tools/tutti/import_graph.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/format.h"
#include "core/cluster/machine_file.h"
#include "core/formats/byte_input.h"
#include "core/formats/recognise.h"
#include "core/import/aicb_times.h"
#include "core/import/measurements_of_run.h"
#include "core/scenario/scenario.h"
#include "core/text/report.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::ExecutionGraph;
using core::Expected;
using core::GraphFormat;
using core::ProblemCode;
using core::RecordCounts;
using core::Report;

struct GraphName {
  std::string_view name, described;
  std::vector<GraphFormat> formats;
};

const std::vector<GraphName>& graph_names() {
  static const std::vector<GraphName> kNames{
      {"chakra",
       "a Chakra execution trace (binary or JSON)",
       {GraphFormat::kChakra, GraphFormat::kChakraJson}},
      {"goal", "a GOAL schedule (text or binary)", {GraphFormat::kGoal}},
      {"pytorch-trace", "an execution trace of PyTorch (PARAM et_replay)", {GraphFormat::kPytorch}},
      {"simai", "a workload of SimAI or AICB (text)", {GraphFormat::kSimai}},
      {"aicb", "a workload of AICB, or the log of its run (CSV)", {GraphFormat::kAicb}}};
  return kNames;
}

const GraphName* find_name(std::string_view name) {
  for (const GraphName& known : graph_names()) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

/// The content of a trace, by kind of task.
struct GraphSummary {
  std::int64_t computations = 0, messages = 0, collectives = 0;
  core::Bytes message_bytes;
  core::Time longest_compute;  ///< the largest sum of computations of a rank
  struct OfKind {
    std::int64_t count = 0;
    core::Bytes bytes;
  };
  std::map<std::pair<core::CollectiveKind, std::size_t>, OfKind> by_kind;  ///< kind, ranks
};

GraphSummary summary_of(const ExecutionGraph& graph) {
  GraphSummary all;
  for (const ExecutionGraph::Rank& rank : graph.ranks) {
    core::Time compute;
    for (const core::Task& task : rank.program.tasks) {
      if (task.kind != core::Task::Kind::kCompute) continue;
      ++all.computations;
      compute = core::Time(core::saturating_sum(compute.count(), task.cost.value));
    }
    all.longest_compute = std::max(all.longest_compute, compute);
    for (const ExecutionGraph::Message& message : rank.messages) {
      if (!message.sends) continue;
      ++all.messages;
      all.message_bytes =
          core::Bytes(core::saturating_sum(all.message_bytes.count(), message.bytes));
    }
  }
  all.collectives = std::ssize(graph.collectives);
  for (const ExecutionGraph::Collective& one : graph.collectives) {
    auto& of = all.by_kind[{one.kind, graph.communicators[one.communicator].ranks.size()}];
    ++of.count;
    // A collective has at most 2^46 bytes, but a trace may have millions of collectives.
    of.bytes = core::Bytes(
        core::saturating_sum(of.bytes.count(), one.elements * size_of(one.type).count()));
  }
  return all;
}

class GraphImport {
 public:
  GraphImport(const ImportTraceOptions& options, const Environment& environment)
      : options_(options), environment_(environment) {}

  int run() {
    const auto output_format = format_of(options_.format);
    if (!output_format) return report(output_format.error());
    if (const auto checked = check_options(); !checked) return report(checked.error());
    const auto ranks = ranks_of_cluster();
    if (!ranks) return report(ranks.error());
    const auto graph =
        core::read_graph({options_.files.front(), options_.groups, *ranks}, &counts_);
    if (!graph) return report(graph.error());
    graph_ = *graph;
    notes_ = graph_->notes;
    for (const std::string& path : options_.output) {
      const auto written = path.ends_with(".log") ? write_times(path) : write_scenario(path);
      if (!written) return report(written.error());
    }
    if (*output_format == Format::kJson) return print_out(result_json(report_of()));
    for (const std::string& note : notes_) print_note(fmt::format("note: {}\n", note));
    for (const std::string& path : options_.output) print_note(fmt::format("written: {}\n", path));
    return print_report(text_of());
  }

 private:
  Expected<void> check_options() const {
    for (const std::string& path : options_.output) {
      const bool has_times = path.ends_with(".log") && is_aicb_file();
      if (!path.ends_with(".textproto") && !has_times)
        return refused({ProblemCode::kUnknownName, "-o"},
                       "-o {}: an execution trace has no measured times, so only a scenario can be "
                       "written; the file name must end in .textproto",
                       path);
      std::error_code ignored;
      if (!options_.force && std::filesystem::exists(path, ignored))
        return tl::make_unexpected(Error::request({ProblemCode::kConflict, "-o"},
                                                  "this file exists; --force overwrites it",
                                                  {path, 0, 0}));
    }
    if (!options_.model.empty())
      return refused({ProblemCode::kUnused, "--model"},
                     "--model {}: an execution trace states its own operations; remove the option",
                     options_.model);
    if (const auto same = check_one_trace(); !same) return same;
    if (options_.from.empty()) return {};
    const auto bytes = core::first_bytes(options_.files.front(), core::kBytesToRecognise);
    if (!bytes) return {};  // the path of the files of all ranks, without their ending
    const auto found = core::recognise_graph(*bytes);
    const GraphName& named = *find_name(options_.from);
    if (!found ||
        std::find(named.formats.begin(), named.formats.end(), *found) == named.formats.end())
      return tl::make_unexpected(Error::request({ProblemCode::kInvalid, "Format"},
                                                fmt::format("this file is not {}", named.described),
                                                {options_.files.front(), 0, 0}));
    return {};
  }

  /// Checks that all files belong to one trace. The arguments may be the files of all ranks,
  /// because shells expand patterns.
  [[nodiscard]] Expected<void> check_one_trace() const {
    const auto prefix = [](const std::string& path) {
      const std::size_t digits = path.find_last_of("0123456789");
      if (digits == std::string::npos) return path;
      const std::size_t before = path.find_last_not_of("0123456789", digits);
      return path.substr(0, before == std::string::npos ? 0 : before + 1) + path.substr(digits + 1);
    };
    for (const std::string& file : options_.files) {
      if (prefix(file) != prefix(options_.files.front()))
        return tl::make_unexpected(Error::request(
            {ProblemCode::kConflict},
            fmt::format("this is not a file of the trace {}; import one trace at a time",
                        options_.files.front()),
            {file, 0, 0}));
    }
    const std::int64_t found = core::number_of_graph_files(options_.files.front());
    if (found > 0 && found < std::ssize(options_.files))
      return tl::make_unexpected(Error::request(
          {ProblemCode::kConflict},
          fmt::format("{} files were given, but only {} of them are files of this trace; hint: the "
                      "names of the files must end in the rank, from 0 on: trace.0.json, "
                      "trace.1.json, …",
                      options_.files.size(), found),
          {options_.files.front(), 0, 0}));
    return {};
  }

  [[nodiscard]] bool is_aicb_file() const {
    const auto bytes = core::first_bytes(options_.files.front(), core::kBytesToRecognise);
    return bytes && core::recognise_graph(*bytes) == GraphFormat::kAicb;
  }

  /// Writes the measured times that the log of an AICB run contains.
  Expected<void> write_times(const std::string& output) const {
    const std::string& file = options_.files.front();
    auto input = core::open_byte_input(file);
    if (!input) return failed(input);
    core::MeasuredRun run;
    if (auto read = core::import_aicb_times(**input, file, run); !read) return failed(read);
    const auto text = core::measurements_of_run(run);
    if (!text) return failed(text);
    return write_file(output, options_.files, *text);
  }

  // --- the scenario ---

  /// Returns the number of GPUs that --machine and --nodes state; 0 without --machine.
  [[nodiscard]] Expected<std::int64_t> ranks_of_cluster() const {
    if (options_.machine.empty()) return 0;
    const auto gpus = gpus_of_machine(options_.output.empty() ? "" : options_.output.front());
    if (!gpus) return failed(gpus);
    return *gpus * options_.nodes.value_or(1);
  }

  [[nodiscard]] Expected<std::int64_t> gpus_of_machine(const std::string& output) const {
    if (options_.machine.empty())
      return refused({ProblemCode::kMissing, "--machine"},
                     "--machine: an execution trace does not describe its cluster; name a machine "
                     "(tutti init --list), or a file that describes your machine "
                     "(docs/formats.md)");
    const auto file =
        environment_.library.find(core::Library::Kind::kMachine, options_.machine, output);
    if (!file)
      return refused({ProblemCode::kUnknownName, "--machine"},
                     "--machine {}: there is no such machine or file (tutti init --list)",
                     options_.machine);
    const auto machine = core::load_machine(*file);
    if (!machine) return failed(machine);
    return static_cast<std::int64_t>(std::max<std::size_t>(1, (*machine)->gpus().size()));
  }

  [[nodiscard]] Expected<std::int64_t> nodes(std::int64_t gpus) const {
    const std::int64_t ranks = std::ssize(graph_->ranks);
    const std::int64_t count = options_.nodes.value_or((ranks + gpus - 1) / gpus);
    if (count < 1 || ranks % count != 0)
      return refused({ProblemCode::kConflict, "--nodes"},
                     "--nodes {}: {} ranks cannot be divided evenly among these machines; set "
                     "--nodes to a divisor of {}",
                     count, ranks, ranks);
    if (count > 1 && options_.link.empty())
      return refused({ProblemCode::kMissing, "--link"},
                     "--link: the trace has {} ranks on {} machines; name the kind of link between "
                     "machines (tutti init --list), such as ndr",
                     ranks, count);
    return count;
  }

  Expected<void> write_scenario(const std::string& output) {
    const auto gpus = gpus_of_machine(output);
    if (!gpus) return failed(gpus);
    const auto machines = nodes(*gpus);
    if (!machines) return failed(machines);
    const auto quoted = [](const std::string& text) {
      std::string safe = "\"";
      for (const char c : text) {
        if (c == '"' || c == '\\') safe += '\\';
        safe += c;
      }
      return safe + '"';
    };
    const auto folder = std::filesystem::absolute(output).parent_path();
    const auto relative = [&](const std::string& file) {
      return quoted(std::filesystem::absolute(file).lexically_proximate(folder).string());
    };
    const std::string name = options_.name.empty()
                                 ? std::filesystem::path(options_.files.front()).filename().string()
                                 : options_.name;
    std::string text =
        fmt::format("# Written by tutti import: an execution trace ({}) of {} ranks.\n",
                    graph_->source, graph_->ranks.size());
    text += fmt::format(
        "name: {}\n\ncluster {{\n  workers {{ machine: {} count: {} replicas: {} }}\n",
        quoted(name), quoted(options_.machine), *machines, std::ssize(graph_->ranks) / *machines);
    if (*machines > 1)
      text += fmt::format("  network {{ kind: ONE_SWITCH link: {} }}\n", quoted(options_.link));
    text += fmt::format("}}\n\nworkload {{\n  execution_trace {{ path: {}",
                        relative(options_.files.front()));
    if (!options_.groups.empty()) text += fmt::format(" groups: {}", relative(options_.groups));
    text += " }\n}\n\n";
    // Only GPUs have NCCL. A rank of a machine without GPUs is a CPU.
    const bool has_gpus = *gpus > 1 || !is_cpu_machine(output);
    text += fmt::format("strategy {{ algorithm: \"{}\" }}\n\nrun {{ steps: 1 }}\n",
                        has_gpus ? "nccl" : "ring");
    auto scenario = core::read_scenario(text, output, environment_.library);
    if (!scenario) {
      std::vector<core::Problem> problems = scenario.error().problems();
      for (core::Problem& problem : problems) {
        if (problem.where.file == output) problem.where = core::Location();
      }
      return tl::make_unexpected(Error(core::ErrorKind::kRequest, std::move(problems)));
    }
    notes_.emplace_back(
        "the scenario refers to the files of the trace by their paths, so do not move these files");
    return write_file(output, options_.files, text);
  }

  [[nodiscard]] bool is_cpu_machine(const std::string& output) const {
    const auto file =
        environment_.library.find(core::Library::Kind::kMachine, options_.machine, output);
    const auto machine = core::load_machine(*file);
    return machine && (*machine)->gpus().empty();
  }

  // --- the report ---

  [[nodiscard]] std::string text_of() const {
    const GraphSummary all = summary_of(*graph_);
    std::string text = fmt::format("{}: {} ranks, {} tasks\n", graph_->source, graph_->ranks.size(),
                                   core::show_count(graph_->tasks()));
    text += counts_text(counts_);
    text += fmt::format("  {} computations, of at most {} on a rank\n",
                        core::show_count(all.computations), core::show(all.longest_compute));
    if (all.messages > 0)
      text += fmt::format("  {} messages of {} in total\n", core::show_count(all.messages),
                          core::show(all.message_bytes));
    for (const auto& [key, of] : all.by_kind)
      text += fmt::format("  {} × {} of {} ranks, {} in total\n", core::show_count(of.count),
                          to_string(key.first), key.second, core::show(of.bytes));
    return text;
  }

  [[nodiscard]] Report report_of() const {
    const GraphSummary all = summary_of(*graph_);
    std::vector<Report> kinds;
    for (const auto& [key, of] : all.by_kind)
      kinds.push_back(Report{{"collective", to_string(key.first)},
                             {"ranks", key.second},
                             {"count", of.count},
                             {"bytes", of.bytes.count()}});
    Report report{{"format", graph_->source},
                  {"files", options_.files},
                  {"ranks", graph_->ranks.size()},
                  {"tasks", graph_->tasks()},
                  {"computations", all.computations},
                  {"longest_compute_us", all.longest_compute},
                  {"messages", all.messages},
                  {"message_bytes", all.message_bytes.count()},
                  {"collectives", all.collectives},
                  {"collectives_by_kind", kinds},
                  {"groups", graph_->communicators.size()}};
    add_counts(counts_, report);
    report.add("written", options_.output);
    report.add("notes", notes_);
    return report;
  }

  const ImportTraceOptions& options_;
  const Environment& environment_;
  RecordCounts counts_;
  std::shared_ptr<const ExecutionGraph> graph_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> graph_format_names() {
  std::vector<std::string> names;
  for (const GraphName& known : graph_names()) names.emplace_back(known.name);
  return names;
}

std::string_view described_graph(std::string_view name) {
  const GraphName* const known = find_name(name);
  return known == nullptr ? "" : known->described;
}

bool is_graph_import(const ImportTraceOptions& options) {
  if (!options.from.empty()) return find_name(options.from) != nullptr;
  if (options.files.empty()) return false;
  const std::string& file = options.files.front();
  std::error_code ignored;
  // The path of a trace may lack the rank and the ending of the file names, because it denotes the
  // files of all ranks.
  if (!std::filesystem::exists(file, ignored))
    return std::filesystem::exists(file + ".0.et", ignored) ||
           std::filesystem::exists(file + ".0.et.gz", ignored) ||
           std::filesystem::exists(file + ".0.json", ignored) ||
           std::filesystem::exists(file + ".0.json.gz", ignored);
  const auto bytes = core::first_bytes(file, core::kBytesToRecognise);
  return bytes && !core::recognise(*bytes) && core::recognise_graph(*bytes);
}

int import_graph(const ImportTraceOptions& options, const Environment& environment) {
  return GraphImport(options, environment).run();
}

}  // namespace tutti::tools
