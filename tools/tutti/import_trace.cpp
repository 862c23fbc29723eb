// The files of a run are read into one MeasuredRun and reduced to a StepModel. Each output is made
// from the MeasuredRun and the StepModel. The suffix of the output's name selects the kind of
// output. The format is recognised by content. All files must have the same format, because the
// traces of a run come from one program. Many traces lack the sizes of gradients. Missing sizes are
// determined by matching the packs with known models. If that fails, the error is stored in
// no_sizes, and is reported only if an output needs the sizes. A generated scenario is parsed
// before it is written, so that wrong names in options are reported immediately, not by the next
// command. The folder core/import has the importers and makes the outputs.

#include "tools/tutti/import_trace.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/format.h"
#include "core/formats/byte_input.h"
#include "core/formats/recognise.h"
#include "core/import/import.h"
#include "core/import/measurements_of_run.h"
#include "core/import/scenario_of_run.h"
#include "core/import/step_model.h"
#include "core/import/timeline_of_run.h"
#include "core/scenario/scenario.h"
#include "core/text/report.h"
#include "core/timeline/writer.h"
#include "core/workload/model.h"
#include "tools/tutti/import_graph.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/predicted_step.h"
#include "tools/tutti/report/table.h"
#include "tools/tutti/unknown_file.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::MeasuredRun;
using core::ProblemCode;
using core::RecordCounts;
using core::Report;
using core::StepModel;

enum class Wanted { kTimeline, kScenario, kMeasurements };

Expected<Wanted> wanted_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".tutti") return Wanted::kTimeline;
  if (ending == ".textproto") return Wanted::kScenario;
  if (ending == ".log") return Wanted::kMeasurements;
  return refused({ProblemCode::kUnknownName, "-o"},
                 "-o {}: the file name must end in .tutti (a timeline), .textproto (a scenario) or "
                 ".log (measurements of collectives)",
                 path);
}

/// Returns the format of all files. All traces of one run come from the same program.
Expected<core::TraceFormat> format_of_files(const ImportTraceOptions& options) {
  if (!options.from.empty()) {
    const auto named = core::parse_trace_format(options.from);
    if (!named)
      return refused({ProblemCode::kUnknownName, "--from"}, "{}: expected one of {}", options.from,
                     fmt::join(core::trace_format_names(), ", "));
    return *named;
  }
  std::optional<core::TraceFormat> format;
  for (const std::string& file : options.files) {
    // If the argument is not a file, it is probably the name of a format.
    std::error_code ignored;
    if (file.find_first_of("./") == std::string::npos && !std::filesystem::exists(file, ignored))
      return refused({ProblemCode::kUnknownName},
                     "{}: there is no such file or format; formats are {}", file,
                     fmt::join(core::trace_format_names(), ", "));
    const auto begin = core::first_bytes(file, core::kBytesToRecognise);
    if (!begin) return failed(begin);
    auto found = core::recognise(*begin);
    if (!found) {
      // Scripts may print much before the first line of the log.
      constexpr std::size_t kMore = std::size_t{1} << 20;
      if (const auto more = core::first_bytes(file, kMore)) found = core::recognise(*more);
    }
    if (!found) return tl::make_unexpected(wrong_file(file, *begin));
    if (format && *format != *found)
      return tl::make_unexpected(
          Error::request({ProblemCode::kConflict},
                         fmt::format("this is {}, but {} is {}; import them separately",
                                     described(*found), options.files.front(), described(*format)),
                         {file, 0, 0}));
    format = found;
  }
  return *format;
}

std::string default_name(const std::string& file) {
  std::filesystem::path name = std::filesystem::path(file).filename();
  while (name.has_extension() && name.extension().string().size() <= 8) name = name.stem();
  return name.string();
}

template <class Counts>
Report named_counts(const Counts& counts) {
  Report report;
  for (const auto& [name, number] : counts) report.add(name, number);
  return report;
}

std::string counts_row(const char* title, const RecordCounts::ByName& counts) {
  if (counts.empty()) return "";
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [name, number] : counts) sorted.emplace_back(-number, name);
  std::sort(sorted.begin(), sorted.end());
  std::string text =
      fmt::format("  {:<11}{}: ", title, core::show_count(RecordCounts::sum(counts)));
  constexpr std::size_t kMaxListed = 8;
  for (std::size_t i = 0; i < sorted.size() && i < kMaxListed; ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", core::show_count(-sorted[i].first),
                        sorted[i].second);
  if (sorted.size() > kMaxListed)
    text += fmt::format(", and {} kinds more", sorted.size() - kMaxListed);
  return text + '\n';
}

}  // namespace

std::string counts_text(const RecordCounts& counts) {
  return counts_row("used", counts.used()) + counts_row("incomplete", counts.incomplete()) +
         counts_row("ignored", counts.ignored()) + counts_row("unknown", counts.unknown());
}

void add_counts(const RecordCounts& counts, Report& to) {
  to.add("records", Report{{"used", RecordCounts::sum(counts.used())},
                           {"incomplete", RecordCounts::sum(counts.incomplete())},
                           {"ignored", RecordCounts::sum(counts.ignored())},
                           {"unknown", RecordCounts::sum(counts.unknown())}});
  to.add("used", named_counts(counts.used()));
  to.add("incomplete", named_counts(counts.incomplete()));
  to.add("ignored", named_counts(counts.ignored()));
  to.add("unknown", named_counts(counts.unknown()));
}

namespace {

std::int64_t collectives_of(const MeasuredRun& run) {
  std::int64_t all = 0;
  for (const core::MeasuredRank& rank : run.ranks)
    all += static_cast<std::int64_t>(rank.collectives.size());
  return all;
}

/// Returns the time of all host gaps of a step.
std::int64_t host_gaps_of(const StepModel& model) {
  std::int64_t sum = model.forward_gap_ns;
  for (const StepModel::Layer& layer : model.layers) sum += layer.gap_ns;
  return sum;
}

/// Returns a number with its noun: "1 step", "4 steps".
std::string number_of(std::int64_t number, const std::string& noun) {
  return fmt::format("{} {}{}", core::show_count(number), noun, number == 1 ? "" : "s");
}

std::string text_of(const MeasuredRun& run, const StepModel& model) {
  std::string text =
      fmt::format("{}: {} {}, {} of {} ranks", run.format, run.files.size(),
                  run.files.size() == 1 ? "file" : "files", run.ranks.size(),
                  run.world_size < 0 ? "an unknown number of" : std::to_string(run.world_size));
  if (!run.gpu.empty()) text += fmt::format(", {}", run.gpu);
  if (!run.nccl_version.empty()) text += fmt::format(", NCCL {}", run.nccl_version);
  text += '\n';
  text += counts_text(run.counts);
  text += fmt::format("  {} in {}\n", number_of(collectives_of(run), "collective"),
                      number_of(std::ssize(run.groups), "group"));
  for (const auto& [transport, number] : run.transports)
    text += fmt::format("  {} by {}\n", number_of(number, "connection"), transport);
  for (const std::string& network : run.networks) text += fmt::format("  network {}\n", network);
  for (const std::string& variable : run.variables) text += fmt::format("  {}\n", variable);
  if (!run.choices.empty()) {
    Table table(
        {"<  NCCL's choice", "bytes", "ranks", "<algorithm", "<protocol", "channels", "times"});
    constexpr std::size_t kMaxRows = 40;
    for (std::size_t i = 0; i < std::min(run.choices.size(), kMaxRows); ++i) {
      const core::MeasuredChoice& c = run.choices[i];
      table.row({fmt::format("  {}", to_string(c.kind)), core::show_count(c.bytes),
                 c.ranks < 0 ? "-" : std::to_string(c.ranks), c.algorithm, c.protocol,
                 c.channels < 0 ? "-" : std::to_string(c.channels), core::show_count(c.times)});
    }
    text += table.text(0);
    if (run.choices.size() > kMaxRows)
      text += fmt::format("  and {} more rows (--format json prints all)\n",
                          run.choices.size() - kMaxRows);
  }
  if (model.steps > 0) {
    const auto time = [](std::int64_t ns) {
      return core::show(core::nanoseconds(std::max<std::int64_t>(0, ns)));
    };
    text += fmt::format(
        "  {} of {}: forward pass {}, backward pass {}, rest {}; the GPU idles for {} (host "
        "gaps)\n",
        number_of(model.steps, "step"), time(model.step_ns), time(model.forward_ns),
        time(model.backward_ns), time(model.update_ns), time(host_gaps_of(model)));
    if (!model.gradients.empty())
      text += fmt::format(
          "  {} of {} in {}{}\n", number_of(std::ssize(model.gradients), "gradient"),
          number_of(std::ssize(model.layers), "layer"), number_of(std::ssize(model.packs), "pack"),
          run.is_ddp ? " (PyTorch DDP)" : "");
    for (const StepModel::Exchange& e : model.exchanges)
      text +=
          fmt::format("  {} of {}: {} during the forward pass, {} after it\n", to_string(e.kind),
                      core::show(core::Bytes(e.bytes)), e.per_forward, e.per_backward);
    if (model.other_steps > 0)
      text += fmt::format(
          "  ignored {} steps, because their gradients or packs differ from those of most steps\n",
          model.other_steps);
  }
  return text;
}

Report report_of(const MeasuredRun& run, const StepModel& model,
                 const std::vector<std::string>& written, const std::vector<std::string>& notes) {
  const auto us = [](std::int64_t ns) { return core::nanoseconds(std::max<std::int64_t>(0, ns)); };
  const auto pack_report = [&us](const StepModel::Pack& p) {
    return Report{{"bytes", p.bytes},
                  {"type", p.type.name},
                  {"gradients", p.gradients.size()},
                  {"duration_us", us(p.duration_ns)},
                  {"algorithm", p.algorithm},
                  {"protocol", p.protocol},
                  {"channels", p.channels}};
  };
  const auto choice_report = [](const core::MeasuredChoice& c) {
    Report report{{"collective", to_string(c.kind)},
                  {"bytes", c.bytes},
                  {"ranks", c.ranks},
                  {"algorithm", c.algorithm},
                  {"protocol", c.protocol},
                  {"channels", c.channels},
                  {"times", c.times}};
    if (c.predicted_us >= 0) report.add("predicted_us", c.predicted_us);
    return report;
  };
  const auto exchange_report = [](const StepModel::Exchange& e) {
    return Report{{"collective", to_string(e.kind)},
                  {"bytes", e.bytes},
                  {"per_forward", e.per_forward},
                  {"per_backward", e.per_backward},
                  {"overlaps", e.overlaps}};
  };
  Report report{{"format", run.format},
                {"files", run.files},
                {"ranks", run.ranks.size()},
                {"world_size", run.world_size},
                {"gpu", run.gpu},
                {"nccl_version", run.nccl_version},
                {"collectives", collectives_of(run)},
                {"groups", run.groups.size()}};
  add_counts(run.counts, report);
  report.add(Report{{"transports", named_counts(run.transports)},
                    {"networks", run.networks},
                    {"variables", run.variables},
                    {"choices", core::list_of(run.choices, choice_report)},
                    {"steps", model.steps},
                    {"other_steps", model.other_steps},
                    {"step_time_us", us(model.step_ns)},
                    {"forward_us", us(model.forward_ns)},
                    {"backward_us", us(model.backward_ns)},
                    {"after_us", us(model.update_ns)},
                    {"host_gaps_us", us(host_gaps_of(model))},
                    {"layers", model.layers.size()},
                    {"gradients", model.gradients.size()},
                    {"packs", core::list_of(model.packs, pack_report)},
                    {"exchanges", core::list_of(model.exchanges, exchange_report)},
                    {"written", written},
                    {"notes", notes}});
  return report;
}

core::CandidateModel candidate_of(const core::Model& model, const std::string& name) {
  core::CandidateModel candidate{name, {}};
  for (const core::Variable& v : model.variables)
    candidate.gradients.push_back({v.name, v.shape, v.elements, std::string(to_string(v.type))});
  return candidate;
}

Expected<std::vector<core::CandidateModel>> candidates(const ImportTraceOptions& options,
                                                       const core::Library& library,
                                                       const std::string& output) {
  std::vector<core::CandidateModel> models;
  if (!options.model.empty()) {
    const auto file = library.find(core::Library::Kind::kModel, options.model, output);
    if (!file)
      return refused({ProblemCode::kUnknownName, "--model"},
                     "--model {}: there is no such model or file (tutti init --list)",
                     options.model);
    const auto model = core::load_model(*file);
    if (!model) return failed(model);
    models.push_back(candidate_of(*model, options.model));
    return models;
  }
  for (const std::string& name : library.names(core::Library::Kind::kModel)) {
    const auto file = library.find(core::Library::Kind::kModel, name, output);
    if (!file) continue;
    if (const auto model = core::load_model(*file)) models.push_back(candidate_of(*model, name));
  }
  return models;
}

/// Reads the generated scenario as a run would, to detect wrong names in the options.
Expected<core::Scenario> read_made(const core::ScenarioOfRun& made, const std::string& path,
                                   const Environment& environment) {
  auto scenario = core::read_scenario(made.text, path, environment.library);
  if (scenario) return scenario;
  std::vector<core::Problem> problems = scenario.error().problems();
  for (core::Problem& problem : problems) problem.where = core::Location();
  return tl::make_unexpected(Error(core::ErrorKind::kRequest, std::move(problems)));
}

Expected<void> write_scenario(const ReadTraces& traces, const std::string& path,
                              const ImportTraceOptions& options, const Environment& environment,
                              std::vector<std::string>& notes) {
  auto made = core::scenario_of_run(traces.run, traces.model, traces.name, traces.facts);
  if (!made) return failed(made);
  if (const auto scenario = read_made(*made, path, environment); !scenario) return failed(scenario);
  notes.insert(notes.end(), made->notes.begin(), made->notes.end());
  return write_file(path, options.files, made->text);
}

Expected<void> write_timeline(const MeasuredRun& run, const StepModel& model,
                              const std::string& name, const std::string& path,
                              const ImportTraceOptions& options) {
  auto file = OutputFile::create(path, options.files);
  if (!file) return failed(file);
  core::TimelineWriter writer(file->stream());
  if (auto done = core::write_timeline(run, model, name, writer); !done) return done;
  return file->keep();
}

Expected<void> write_measurements(const MeasuredRun& run, const std::string& path,
                                  const ImportTraceOptions& options) {
  const auto text = core::measurements_of_run(run);
  if (!text) return failed(text);
  return write_file(path, options.files, *text);
}

}  // namespace

bool is_trace(const std::string& path) {
  const auto begin = core::first_bytes(path, core::kBytesToRecognise);
  return begin && core::recognise(*begin);
}

Expected<ReadTraces> read_traces(const ImportTraceOptions& options,
                                 const Environment& environment) {
  const auto format = format_of_files(options);
  if (!format) return failed(format);
  Progress progress("reading");
  std::size_t file = 0;
  const auto share = [&](double of_file) {
    progress.update((static_cast<double>(file) + of_file) /
                    static_cast<double>(options.files.size()));
  };
  ReadTraces traces;
  for (; file < options.files.size(); ++file) {
    if (auto read = core::import_file(*format, options.files[file], traces.run, share); !read) {
      progress.clear();
      return tl::make_unexpected(read.error());
    }
  }
  progress.clear();
  core::finish_import(traces.run);
  return traces_of_run(std::move(traces.run), options, environment);
}

Expected<ReadTraces> traces_of_run(MeasuredRun run, const ImportTraceOptions& options,
                                   const Environment& environment) {
  ReadTraces traces;
  traces.run = std::move(run);
  traces.model = core::step_model(traces.run);
  traces.name = options.name.empty() ? default_name(options.files.front()) : options.name;
  traces.notes = traces.run.notes;
  traces.facts.machine = options.machine;
  traces.facts.nodes = options.nodes;
  traces.facts.link = options.link;
  traces.facts.requested_model = !options.model.empty();
  auto models = candidates(options, environment.library,
                           options.output.empty() ? "" : options.output.front());
  if (!models) return failed(models);
  traces.facts.models = std::move(*models);
  const auto fitted = core::fit_gradients(traces.model, traces.facts);
  if (fitted)
    traces.notes.insert(traces.notes.end(), fitted->begin(), fitted->end());
  else
    traces.no_sizes = fitted.error();
  return traces;
}

Expected<core::Scenario> scenario_of_traces(const ReadTraces& traces,
                                            const Environment& environment,
                                            std::vector<std::string>& notes) {
  if (traces.no_sizes) return tl::make_unexpected(*traces.no_sizes);
  const auto made = core::scenario_of_run(traces.run, traces.model, traces.name, traces.facts);
  if (!made) return failed(made);
  notes.insert(notes.end(), made->notes.begin(), made->notes.end());
  return read_made(*made, traces.name + ".textproto", environment);
}

void find_late_rank(ReadTraces& traces, const Environment& environment) {
  if (traces.run.ranks.size() != 1 || traces.model.packs.empty()) return;
  std::vector<std::string> notes;
  const auto scenario = scenario_of_traces(traces, environment, notes);
  if (!scenario) return;
  const auto predicted = predicted_step(*scenario);
  if (predicted) traces.facts.late = core::late_layers(traces.run, traces.model, *predicted);
}

namespace {

/// A sink that gives the packs of a timeline the gradient names of the packs in another timeline,
/// `like`.
class NamedLike : public core::TimelineTee {
 public:
  NamedLike(core::TimelineSink& sink, core::TimelineSink& discarded, const core::RunInfo* like,
            std::size_t packs_of_gradients)
      : TimelineTee(sink, discarded), sink_(sink), like_(like), packs_(packs_of_gradients) {}

  void begin(const core::RunInfo& run) override {
    core::RunInfo named = run;
    if (like_ && is_like(run)) {
      for (std::size_t p = 0; p < packs_; ++p) named.packs[p].gradients = like_->packs[p].gradients;
    }
    sink_.begin(named);
  }

 private:
  /// Returns true if the packs of both runs have similar sizes. Sizes may differ because of
  /// padding.
  [[nodiscard]] bool is_like(const core::RunInfo& run) const {
    constexpr double kMaxPadding = 0.02;
    if (packs_ == 0 || packs_ > run.packs.size() || packs_ != like_->packs.size()) return false;
    for (std::size_t p = 0; p < packs_; ++p) {
      const auto a = static_cast<double>(run.packs[p].bytes.count());
      const auto b = static_cast<double>(like_->packs[p].bytes.count());
      if (std::abs(a - b) > kMaxPadding * std::max(a, b)) return false;
    }
    return true;
  }

  core::TimelineSink& sink_;
  const core::RunInfo* like_;
  std::size_t packs_;
};

}  // namespace

Expected<std::string> timeline_of_traces(const ReadTraces& traces, const core::RunInfo* like) {
  std::ostringstream bytes;
  core::TimelineWriter writer(bytes);
  core::NullSink discarded;
  NamedLike named(writer, discarded, like, traces.model.packs.size());
  if (const auto done = core::write_timeline(traces.run, traces.model, traces.name, named); !done)
    return failed(done);
  return bytes.str();
}

int import_trace(const ImportTraceOptions& options, const Environment& environment) {
  const auto output_format = format_of(options.format);
  if (!output_format) return report(output_format.error());
  std::vector<Wanted> wanted;
  for (const std::string& path : options.output) {
    const auto one = wanted_of(path);
    if (!one) return report(one.error());
    wanted.push_back(*one);
    std::error_code ignored;
    if (!options.force && std::filesystem::exists(path, ignored))
      return report(Error::request({ProblemCode::kConflict, "-o"},
                                   "this file exists; --force overwrites it", {path, 0, 0}));
  }
  auto read = read_traces(options, environment);
  if (!read) return report(read.error());
  if (std::find(wanted.begin(), wanted.end(), Wanted::kScenario) != wanted.end())
    find_late_rank(*read, environment);
  const MeasuredRun& run = read->run;
  const StepModel& model = read->model;
  std::vector<std::string> notes = read->notes;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string& path = options.output[i];
    // A timeline can be written even if the sizes of gradients are unknown.
    if (read->no_sizes && (wanted[i] == Wanted::kScenario || read->facts.requested_model))
      return report(*read->no_sizes);
    const auto written =
        wanted[i] == Wanted::kTimeline   ? write_timeline(run, model, read->name, path, options)
        : wanted[i] == Wanted::kScenario ? write_scenario(*read, path, options, environment, notes)
                                         : write_measurements(run, path, options);
    if (!written) return report(written.error());
  }
  if (*output_format == Format::kJson)
    return print_out(result_json(report_of(run, model, options.output, notes)));
  for (const std::string& note : notes) print_note(fmt::format("note: {}\n", note));
  for (const std::string& path : options.output) print_note(fmt::format("written: {}\n", path));
  return print_report(text_of(run, model));
}

}  // namespace tutti::tools
