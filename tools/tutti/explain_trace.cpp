#include "tools/tutti/explain_trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/edit/overrides.h"
#include "core/import/differences.h"
#include "core/text/report.h"
#include "core/timeline/summary.h"
#include "tools/tutti/import_trace.h"
#include "tools/tutti/io/terminal.h"
#include "tools/tutti/predicted_step.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {
namespace {

using core::Difference;
using core::Report;
using core::show;
using core::Time;

/// One component of the step time, such as exposed communication, as measured and as predicted.
struct PartOfStep {
  const char* name;
  const char* key;
  Time measured, predicted;
};

std::vector<PartOfStep> parts_of(const core::StepModel& model, const core::Summary& summary) {
  const auto time = [](std::int64_t ns) {
    return core::nanoseconds(std::max<std::int64_t>(0, ns));
  };
  std::vector<PartOfStep> parts{{"step", "step_time", time(model.step_ns), summary.step_time()}};
  if (const auto steady = summary.steady_parts()) {
    parts.push_back({"forward pass", "forward", time(model.forward_ns + model.forward_gap_ns),
                     steady->forward});
    parts.push_back({"backward pass", "backward", time(model.backward_ns), steady->backward});
  }
  return parts;
}

std::string change(Time measured, Time predicted) {
  if (measured <= Time()) return "-";
  const double share = static_cast<double>(predicted.count() - measured.count()) /
                       static_cast<double>(measured.count());
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string text_of(const ReadTraces& traces, const std::vector<PartOfStep>& parts,
                    const std::vector<Difference>& found, int rows) {
  std::string text = fmt::format("{}: {}, {} of {} ranks, {} steps\n", traces.name,
                                 traces.run.format, traces.run.ranks.size(),
                                 traces.run.world_size < 0 ? std::string("an unknown number of")
                                                           : std::to_string(traces.run.world_size),
                                 traces.model.steps);
  Table table({"<", "measured", "predicted", "difference"});
  for (const PartOfStep& part : parts)
    table.row({part.name, show(part.measured), show(part.predicted),
               change(part.measured, part.predicted)});
  text += table.text(0);
  if (found.empty())
    return text + "\nNo time of the run differs from its prediction by 1 % of a step or more.\n";
  text += "\nDifferences between the run and its prediction, with their time per step:\n";
  const std::size_t shown = std::min(found.size(), static_cast<std::size_t>(std::max(0, rows)));
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("  {:>9}  {}\n", show(found[i].effect), found[i].what);
    text += fmt::format("  {:>9}  evidence: {}\n", "", found[i].evidence);
  }
  if (shown < found.size())
    text += fmt::format("  and {} more (use --rows or --format json to see them)\n",
                        found.size() - shown);
  return text;
}

Report report_of(const ReadTraces& traces, const std::vector<PartOfStep>& parts,
                 const std::vector<Difference>& found, const std::vector<std::string>& notes) {
  Report measured, predicted;
  for (const PartOfStep& part : parts) {
    measured.add(fmt::format("{}_us", part.key), part.measured);
    predicted.add(fmt::format("{}_us", part.key), part.predicted);
  }
  const auto difference_report = [](const Difference& d) {
    return Report{{"kind", to_string(d.kind)},
                  {"what", d.what},
                  {"evidence", d.evidence},
                  {"effect_us", d.effect}};
  };
  return {{"run", traces.name},
          {"format", traces.run.format},
          {"ranks", traces.run.ranks.size()},
          {"steps", traces.model.steps},
          {"measured", measured},
          {"predicted", predicted},
          {"differences", core::list_of(found, difference_report)},
          {"notes", notes}};
}

}  // namespace

int explain_trace(const ExplainOptions& options, const Environment& environment) {
  const auto format = format_of(options.format);
  if (!format) return report(format.error());
  if (!options.scenario.settings().empty())
    return refuse({core::ProblemCode::kConflict, "--set"},
                  "a trace has no fields to set; write its scenario first: tutti import TRACE -o "
                  "mine.textproto");
  ImportTraceOptions from;
  from.files = {options.scenario.file};
  from.files.insert(from.files.end(), options.traces.begin(), options.traces.end());
  from.machine = options.machine;
  from.nodes = options.nodes;
  from.link = options.link;
  from.model = options.model;
  auto traces = read_traces(from, environment);
  if (!traces) return report(traces.error());
  if (traces->model.steps == 0)
    return refuse({core::ProblemCode::kMissing, "TRACE"},
                  "the trace has no steps to predict (the PyTorch profiler records steps if the "
                  "program calls prof.step())");
  std::vector<std::string> notes = traces->notes;
  const auto scenario = scenario_of_traces(*traces, environment, notes);
  if (!scenario) return report(scenario.error());

  const auto predicted = predicted_step(*scenario);
  if (!predicted) return report(predicted.error());
  const core::Summary& summary = *predicted;
  const std::vector<Difference> found = core::differences(traces->run, traces->model, summary);
  const std::vector<PartOfStep> parts = parts_of(traces->model, summary);
  if (*format == Format::kJson)
    return print_out(result_json(report_of(*traces, parts, found, notes)));
  for (const std::string& note : notes) print_note(fmt::format("note: {}\n", note));
  return print_report(text_of(*traces, parts, found, options.rows));
}

}  // namespace tutti::tools
