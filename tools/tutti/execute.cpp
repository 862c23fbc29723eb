// The steps that are common to all commands that run a scenario: options, scenario, timeline file,
// run, notes, report. Mistakes in the request are found before the run begins. The run writes to a
// summary, which becomes the report. If requested, the run also writes to a timeline file and to
// the program that called the command (capture.h).
//
// Some runs are stopped or fail. The progress callback detects interrupts and a full disk, and
// stops the run. A failed or interrupted run keeps the steps that have ended. If no step has ended,
// an existing timeline file remains unchanged. If the timeline file cannot be completed, its
// readable part is kept under another name. Executors define how a run fails, and report.h defines
// what is printed.

#include "tools/tutti/execute.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/scenario/executor.h"
#include "core/text/limits.h"
#include "core/timeline/reader.h"
#include "core/timeline/summary.h"
#include "core/timeline/writer.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/interrupt.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/progress.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/report/report.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::ProblemCode;
using core::RecordLevel;
using core::RecordOptions;

/// The maximum time between two writes of a real run's timeline.
constexpr std::chrono::milliseconds kMaxUnwritten{500};

std::optional<RecordLevel> parse_level(const std::string& name) {
  if (name == "none") return RecordLevel::kNone;
  if (name == "packs") return RecordLevel::kPacks;
  if (name == "steps") return RecordLevel::kSteps;
  return std::nullopt;
}

/// Parses the workers to record: one worker ("3") or a range ("0-3").
Expected<void> read_workers(const std::string& written, RecordOptions& record) {
  const char* const end = written.data() + written.size();
  const auto [dash, first_status] = std::from_chars(written.data(), end, record.first_worker);
  record.last_worker = record.first_worker;
  auto stopped = dash;
  auto status = first_status;
  if (status == std::errc() && dash != end && *dash == '-') {
    const auto [after, last_status] = std::from_chars(dash + 1, end, record.last_worker);
    stopped = after;
    status = last_status;
  }
  if (status == std::errc() && stopped == end && record.first_worker >= 0 &&
      record.last_worker >= record.first_worker)
    return {};
  return refused({ProblemCode::kSyntax, "--workers"},
                 "--workers {}: expected a worker or a range of workers, such as 0-3", written);
}

Expected<RecordOptions> record_options(const ExecuteOptions& options) {
  RecordOptions record;
  const std::string level =
      !options.record.empty() ? options.record : (options.timeline.empty() ? "none" : "steps");
  const auto parsed = choice<RecordLevel>("--record", level, "none, packs, steps", parse_level);
  if (!parsed) return failed(parsed);
  record.level = *parsed;
  if (!options.workers.empty()) {
    if (const auto read = read_workers(options.workers, record); !read) return failed(read);
  }
  const auto time = [](const char* option, const std::optional<double>& us,
                       core::Time otherwise) -> Expected<core::Time> {
    if (!us) return otherwise;
    if (*us >= 0 && *us <= core::kMaxLatencyUs * 100) return core::time_from_us(*us);
    return refused({ProblemCode::kInvalid, option},
                   "{} {}: expected microseconds since the start of the run", option, *us);
  };
  const auto from = time("--from-us", options.from_us, core::Time());
  if (!from) return failed(from);
  const auto to = time("--to-us", options.to_us, core::kNever);
  if (!to) return failed(to);
  record.from = *from;
  record.to = *to;
  if (record.to < record.from)
    return refused({ProblemCode::kConflict, "--to-us"}, "--to-us must not be before --from-us");
  record.most_spans = options.most_spans.value_or(record.most_spans);
  if (record.most_spans < 0)
    return refused({ProblemCode::kTooSmall, "--max-spans"}, "--max-spans must be at least 0");
  if (!options.timeline.empty() || (capture() && capture()->timeline)) return record;
  const std::pair<const char*, bool> limits[] = {{"--record", !options.record.empty()},
                                                 {"--workers", !options.workers.empty()},
                                                 {"--from-us", options.from_us.has_value()},
                                                 {"--to-us", options.to_us.has_value()},
                                                 {"--max-spans", options.most_spans.has_value()}};
  for (const auto& [option, given] : limits) {
    if (given) {
      return refused(
          {ProblemCode::kUnused, option},
          "{} sets what --timeline records, but --timeline is missing; give --timeline FILE",
          option);
    }
  }
  return record;
}

Expected<void> override_steps(const ExecuteOptions& options, core::RunOptions& run) {
  if (options.steps) {
    if (*options.steps < 1 || *options.steps > core::kMaxSteps) {
      return refused(out_of_range("--steps", *options.steps, core::kMaxSteps),
                     "--steps {}: expected 1 to {}", *options.steps, core::kMaxSteps);
    }
    run.steps = *options.steps;
  }
  return {};
}

/// Handles a timeline that could not be completed: keeps the readable part, and reports its path.
/// `steps`: the number of steps of the run.
void leave_unfinished(OutputFile& file, std::int32_t steps) {
  const std::string part = file.leave();
  if (part.empty()) return;
  const auto left = core::TimelineReader::open(part, core::TimelineReader::Check::kWhenRead);
  if (!left || (left->steps().empty() && left->span_blocks().empty())) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    return;
  }
  std::int64_t spans = 0;
  for (const auto& block : left->span_blocks()) spans += block.spans;
  print_note(
      fmt::format("tutti: the incomplete timeline is kept in {} ({} spans; {} of {} steps)\n", part,
                  spans, left->steps().size(), steps));
}

}  // namespace

int execute(core::Executor& executor, const std::string& doing, const ExecuteOptions& options,
            const Environment& environment, const AdjustRun& adjust, const Besides& besides) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  const auto record = record_options(options);
  if (!record) return report(record.error());
  if (options.rows < 0)
    return refuse({ProblemCode::kTooSmall, "--rows"}, "--rows must be at least 0");
  auto scenario = load_scenario(options.scenario, environment);
  if (!scenario) return report(scenario.error());
  if (record->first_worker >= scenario->cluster->workers()) {
    return refuse({ProblemCode::kTooLarge, "--workers"},
                  "--workers {}: there are only {} workers, numbered from 0", options.workers,
                  scenario->cluster->workers());
  }
  if (!options.workers.empty() && record->last_worker >= scenario->cluster->workers()) {
    return refuse({ProblemCode::kTooLarge, "--workers"},
                  "--workers {}: the number of the last worker is {} (workers are numbered from 0)",
                  options.workers, scenario->cluster->workers() - 1);
  }
  if (const auto done = override_steps(options, scenario->run); !done) return report(done.error());
  if (adjust) {
    if (const auto done = adjust(*scenario); !done) return report(done.error());
  }

  std::optional<OutputFile> file;
  std::unique_ptr<core::TimelineWriter> writer;
  core::Summary summary;
  if (!options.timeline.empty()) {
    auto created =
        OutputFile::create(options.timeline, {options.scenario.file}, core::kTimelineMagic);
    if (!created) return report(created.error());
    file.emplace(std::move(*created));
    writer = std::make_unique<core::TimelineWriter>(file->stream());
  }

  // A large cluster may take half a minute to construct, during which a simulation does not look
  // for interrupts. The command has no results at this time, so a signal ends the program.
  Interrupt interrupt(besides.writes_as_it_goes ? Interrupt::Begins::kNow
                                                : Interrupt::Begins::kLater);
  Progress progress(doing);
  std::atomic<bool> stop{false};
  bool output_failed = false;
  auto written = std::chrono::steady_clock::now();
  core::RunControl control;
  control.cancel = &stop;
  control.progress = [&](double share) {
    interrupt.begin();
    progress.update(share);
    const auto now = std::chrono::steady_clock::now();
    if (writer && besides.writes_as_it_goes && now - written >= kMaxUnwritten) {
      writer->flush();
      written = now;
    }
    // Flush the file, to detect a full disk early, and to let other programs read the file while it
    // grows.
    if (file) file->stream().flush();
    output_failed = writer && !writer->good();
    if (output_failed || interrupt.happened()) stop.store(true);
  };
  Expected<void> ran;
  core::TimelineSink* sink = &summary;
  std::optional<core::TimelineTee> with_caller, with_file;
  if (capture() && capture()->timeline) sink = &with_caller.emplace(summary, *capture()->timeline);
  core::TimelineSink& notes = *sink;
  if (writer) sink = &with_file.emplace(*sink, *writer);
  ran = executor.run(*scenario, *record, control, *sink);
  if (!ran) {
    const int failed = report(ran.error());
    // Keep the steps that ended before the failure. A note in the file says why there are no more
    // steps.
    if (!file || ran.error().kind() != core::ErrorKind::kRun || summary.steps().empty())
      return failed;
    if (const auto kept = file->keep(); kept) {
      print_note(fmt::format("timeline: {} ({} spans; {} of {} steps)\n", options.timeline,
                             writer->spans(), summary.step_count(), scenario->run.steps));
    } else {
      report(kept.error());
      leave_unfinished(*file, scenario->run.steps);
    }
    return failed;
  }
  if (besides.notes_of) {
    for (const std::string& note : besides.notes_of(*scenario)) notes.note(note);
  }
  std::optional<StepBand> band;
  if (besides.band_of && !stop.load() && !summary.steps().empty())
    band = besides.band_of(*scenario, control);
  // If NCCL's times change, packs may be executed in another order. The step time may then be
  // outside of the simulated band, so extend the band to include the step time.
  if (band)
    band = StepBand{std::min(band->low, summary.step_time()),
                    std::max(band->high, summary.step_time())};
  // The results are printed even if the timeline cannot be written.
  Expected<void> kept;
  const bool keeps = file && (output_failed || !summary.steps().empty() ||
                              !std::filesystem::is_regular_file(options.timeline));
  if (interrupt.happened() && summary.steps().empty())
    print_note("tutti: the run was interrupted before a training step ended\n");
  if (file && !keeps)
    print_note(
        fmt::format("tutti: no training step ended, so {} is unchanged\n", options.timeline));
  if (keeps) kept = file->keep();
  if (keeps && kept)
    print_note(fmt::format("timeline: {} ({} spans)\n", options.timeline, writer->spans()));
  const int printed = *format == Format::kJson
                          ? print_out(result_json(run_report(summary, band)))
                          : print_report(report_text(summary, options.rows, band));
  if (!kept) {
    if (output_failed)
      print_note("tutti: the run was stopped because its timeline can no longer be written\n");
    const int failed = report(kept.error());
    leave_unfinished(*file, scenario->run.steps);
    return failed;
  }
  return interrupt.happened() ? static_cast<int>(kRunFailed) : printed;
}

}  // namespace tutti::tools
