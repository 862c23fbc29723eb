#include <algorithm>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/timeline/step_parts.h"
#include "tools/tutti/command.h"
#include "tools/tutti/report/report.h"
#include "tools/tutti/report/table.h"

namespace tutti::tools {

using core::RunInfo;
using core::show;
using core::show_share;
using core::StepParts;
using core::Summary;
using core::Time;

namespace {

/// The minimum time of waiting for another worker that is reported, as a fraction of the step time.
constexpr double kMinReportedShare = 0.005;

std::string plural(std::int64_t n, const std::string& what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string heading(const Summary& summary) {
  const RunInfo& info = summary.info();
  const std::string model =
      info.network_model.empty() ? "" : fmt::format("network model {}, ", info.network_model);
  return fmt::format("{} ({}, {}{}, seed {}, Tutti {})\n", info.scenario, info.executor, model,
                     plural(info.steps, "step"), info.seed, info.version) +
         fmt::format("  cluster   {}\n", info.cluster) +
         fmt::format("  workload  {}: {} of gradients\n", info.workload,
                     show(info.gradient_bytes)) +
         fmt::format("  times     {}\n", info.timing) +
         fmt::format("  strategy  {}: {}\n\n", info.strategy,
                     plural(static_cast<std::int64_t>(info.packs.size()), "pack"));
}

/// Adds the lower bound for any algorithm on the scenario's cluster. (The bound does not apply to
/// runs on other hardware.)
void add_bound(Table& table, const Summary& summary) {
  const RunInfo& info = summary.info();
  const double above = share(summary.step_time(), info.step_bound) - 1;
  table.row({"lower bound", show(info.step_bound), "",
             info.step_bound.count() > 0 ? fmt::format("the step time is {} above the lower bound",
                                                       show_share(std::max(0.0, above)))
                                         : ""});
  table.row({"  communication", show(info.communication_bound), "", info.bound_reason});
}

/// Returns the steps that the reported numbers cover, and the first step of the steady state.
std::string basis(const Summary& summary) {
  const int steady = summary.steady_from();
  if (steady < 0 || summary.steady_state()) return summary.steady_basis();
  const std::string same = fmt::format("constant from step {} on", steady);
  return steady <= 1 ? same : fmt::format("{}; {}", summary.steady_basis(), same);
}

std::string step_part(const Summary& summary, const StepParts& step,
                      const std::optional<StepBand>& band) {
  Table table({"<", "", "", "<"});
  table.row({"step time", show(step.time), "", basis(summary)});
  if (band)
    table.row({"  error band", show(band->low), "",
               fmt::format("to {}, from the error bands of NCCL's times", show(band->high))});
  if (const auto& state = summary.steady_state()) {
    table.row(
        {"  95 % interval", show(state->low), "",
         fmt::format("to {}{}", show(state->high),
                     state->steady ? ""
                                   : "; the step time is not steady, so the interval was extended "
                                     "to include the mean of each of eight batches of steps")});
  }
  for (const auto& part : core::parts_that_add_up(step)) {
    table.row({"  " + std::string(part.title), show(part.value),
               show_share(share(part.value, step.time)),
               part.title == std::string_view("exposed communication")
                   ? fmt::format("of {} of communication", show(step.communication))
               : part.title == std::string_view("waiting") ? "neither computation nor communication"
                                                           : ""});
  }
  if (step.slowed > Time())
    table.row({"slowed by communication", show(step.slowed),
               show_share(share(step.slowed, step.time)),
               "additional computation time, because communication uses multiprocessors and memory "
               "bandwidth"});
  if (const auto awaited = summary.awaited();
      awaited && share(awaited->mean, summary.step_time()) >= kMinReportedShare) {
    table.row({"waiting for the slowest", show(awaited->mean),
               show_share(share(awaited->mean, summary.step_time())),
               fmt::format(
                   "mean time that replicas wait for the slowest replica, which is {} in {} of {}",
                   awaited->device, awaited->steps, plural(awaited->of_steps, "step"))});
  }
  const RunInfo& info = summary.info();
  if (!info.bound_reason.empty()) add_bound(table, summary);
  std::string text = table.text(0);
  text.erase(0, text.find('\n') + 1);  // remove the headings
  return text + '\n';
}

std::string path_part(const Summary& summary) {
  const std::vector<std::string> lines = summary.path_in_words();
  if (lines.empty()) return "";
  std::string text = "critical path of the last step\n";
  for (const std::string& line : lines) text += "  " + line + '\n';
  return text + '\n';
}

std::string pack_part(const Summary& summary, int rows) {
  const std::vector<core::Report> packs = pack_reports(summary);
  if (packs.empty() || rows == 0) return "";
  return "packs of the last step, in launch order (times since the start of the step; ready and "
         "start: the time of the last replica)\n" +
         table_text(packs, 2, rows) + '\n';
}

std::string link_part(const Summary& summary, int rows) {
  if (summary.links() == 0 || rows == 0) return "";
  const std::string heading =
      fmt::format("busiest of {} links in use (over the whole run)\n", summary.links());
  if (verbosity() == Verbosity::kVerbose)
    return heading + table_text(link_reports(summary.busiest_links(), summary.length()), 2);
  std::vector<core::Report> links = grouped_links(summary.busiest_links(), summary.length());
  links.resize(std::min(links.size(), static_cast<std::size_t>(rows)));
  return heading + table_text(links, 2);
}

}  // namespace

std::string report_text(const Summary& summary, int rows, const std::optional<StepBand>& band) {
  std::string text = heading(summary);
  if (const auto step = summary.steady_parts()) {
    text += step_part(summary, *step, band);
    text += path_part(summary);
    text += pack_part(summary, rows);
    text += link_part(summary, rows);
  } else {
    text += "no training step completed\n";
  }
  const std::vector<std::string>& notes = summary.info().notes;
  if (!notes.empty() && !text.ends_with("\n\n")) text += '\n';
  return text + note_lines(notes);
}

}  // namespace tutti::tools
