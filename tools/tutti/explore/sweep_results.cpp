#include "tools/tutti/explore/sweep_results.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/advice/extrapolation.h"
#include "core/base/file.h"
#include "core/scenario/library_folder.h"
#include "core/scenario/scenario.h"
#include "tools/tutti/explore/explore.h"
#include "tools/tutti/explore/plot_file.h"
#include "tools/tutti/explore/sweep_output.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/io/terminal.h"

namespace tutti::tools {
namespace {

using core::Expected;
using core::Outcome;
using core::SweepStore;

/// Returns notes that say where the results of `points` are extrapolated. Each note occurs once,
/// with the number of points to which it applies.
Expected<std::vector<std::string>> notes_on(SweepStore& store,
                                            const std::vector<std::int64_t>& points) {
  const auto files = store.files();
  if (!files) return failed(files);
  const core::Library library(*files, core::library_folder());
  const auto set = settings_of(store.info().set);
  if (!set) return failed(set);
  std::vector<std::pair<std::string, std::size_t>> notes;
  for (const std::int64_t point : points) {
    std::vector<core::Override> changes = *set;
    for (core::Override& change : store.space().overrides(point))
      changes.push_back(std::move(change));
    const auto scenario = core::read_scenario(store.info().scenario_text,
                                              store.info().scenario_file, library, changes);
    if (!scenario) continue;
    for (const std::string& text : core::extrapolations(*scenario)) {
      const auto known = std::find_if(notes.begin(), notes.end(),
                                      [&](const auto& note) { return note.first == text; });
      known == notes.end() ? notes.emplace_back(text, 1) : (++known->second, *known);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [note, count] : notes) {
    texts.push_back(count == points.size() ? note
                                           : fmt::format("{} (at {} of the {} points above)", note,
                                                         count, points.size()));
  }
  return texts;
}

/// Prints the report. Returns the exit status.
int print_results(SweepStore& store, const Outcomes& outcomes, int rows, Format format) {
  if (format == Format::kJson) return print_out(sweep_json(store, outcomes));
  auto notes = notes_on(store, reported_points(store, outcomes, rows));
  if (!notes) return report(notes.error());
  if (std::string note = note_on_samples(store.space()); !note.empty())
    notes->push_back(std::move(note));
  return print_report(sweep_text(store, outcomes, rows, *notes));
}

}  // namespace

core::PlotOptions plot_options(const SweepOptions& options) {
  return {options.x, options.by, options.cost.empty() ? "step_time" : options.cost};
}

int report_results(SweepStore& store, const SweepOptions& options, Format format,
                   const std::vector<std::string>& inputs) {
  Outcomes outcomes(static_cast<std::size_t>(store.space().size()));
  std::vector<core::Error> unwritten;
  const auto read =
      store.each([&](std::int64_t point, const Outcome& outcome) { outcomes[point] = outcome; });
  if (!read) return report(read.error());
  if (!options.csv.empty()) {
    const auto written = write_file(options.csv, inputs,
                                    [&](std::ostream& out) { write_csv(store, outcomes, out); });
    if (!written) unwritten.push_back(written.error());
  }
  if (!options.json.empty()) {
    const auto written = write_file(options.json, inputs, sweep_json(store, outcomes));
    if (!written) unwritten.push_back(written.error());
  }
  if (!options.plot.empty()) {
    const std::string title = std::filesystem::path(store.info().scenario_file).stem().string();
    auto plot = core::plot_of(store.space(), outcomes, title, plot_options(options));
    if (!plot) return report(plot.error());
    if (!options.measured.empty()) {
      const auto text = core::read_text_file(options.measured, core::TextSource::kAnything);
      if (!text) return report(text.error());
      if (const auto added = core::add_measured(*plot, *text, options.measured); !added)
        return report(added.error());
    }
    const auto written = write_plot(options.plot, inputs, core::to_svg(*plot));
    if (!written) unwritten.push_back(written.error());
  }
  // The results are printed even if a file cannot be written.
  int status = print_results(store, outcomes, options.rows, format);
  for (const core::Error& error : unwritten) report(error);
  if (!unwritten.empty()) status = kRunFailed;
  const bool any = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
    return outcome && outcome->status == Outcome::Status::kDone;
  });
  if (status != kDone || any || store.space().size() == 0) return status;
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(),
                                   [](const auto& outcome) { return outcome.has_value(); });
  std::string text = "no point of the sweep has a result";
  if (failed != outcomes.end()) text += "; " + (*failed)->message;
  return report(core::Error::run(std::move(text)));
}

}  // namespace tutti::tools
