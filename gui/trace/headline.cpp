#include "gui/trace/headline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/timeline/path_causes.h"
#include "gui/trace/describe.h"

namespace tutti::gui {

using core::show;
using core::Time;

namespace {

std::string percent(Time part, Time whole) {
  const double share = 100 * core::share(part, whole);
  return fmt::format("{:.{}f} %", share, share < 10 ? 1 : 0);
}

/// Returns the widest error band of any pack, as factors of the predicted time; nullopt if no pack
/// has an error band.
std::optional<std::pair<double, double>> band_of(const core::RunInfo& run) {
  std::optional<std::pair<double, double>> band;
  for (const core::RunInfo::PackInfo& pack : run.packs) {
    if (pack.band_high <= 0) continue;
    if (!band) band.emplace(pack.band_low, pack.band_high);
    band->first = std::min(band->first, pack.band_low);
    band->second = std::max(band->second, pack.band_high);
  }
  return band;
}

void add_times(const Trace& trace, const core::Summary& summary,
               std::vector<HeadlineFigure>& figures) {
  const auto step = summary.steady_parts();
  if (!step) return;
  HeadlineFigure time{"step time", show(step->time), {}, {}};
  time.detail = fmt::format("The time of a training step: {}.", summary.steady_basis());
  if (const auto& steady = trace.steady(); steady && steady->high > steady->low) {
    time.remark = fmt::format("{} to {}", show(steady->low), show(steady->high));
    time.detail += " The range is the 95 % confidence interval of this time.";
  }
  figures.push_back(time);
  figures.push_back({"exposed comm.", show(step->exposed), percent(step->exposed, step->time),
                     fmt::format("The time of communication that does not overlap computation, and "
                                 "its share of the step time. All communication takes {}.",
                                 show(step->communication))});
  const Time bound = trace.run().step_bound;
  if (bound > Time()) {
    figures.push_back(
        {"lower bound", show(bound),
         fmt::format("step time: {:.2f} × bound",
                     static_cast<double>(step->time.count()) / static_cast<double>(bound.count())),
         "The lower bound of the step time for any algorithm and any packing, "
         "computed from the parameters of the scenario."});
  }
}

void add_cause(const Trace& trace, std::vector<HeadlineFigure>& figures) {
  const std::vector<core::PathCause> causes = core::causes_of(trace.path());
  if (causes.empty()) return;
  Time length;
  for (const core::PathCause& cause : causes) length += cause.time;
  std::string all = "The critical path of the last training step:";
  for (const core::PathCause& cause : causes)
    all += fmt::format("\n{}  {}", percent(cause.time, length), cause.name);
  const core::PathCause& first = causes.front();
  figures.push_back(
      {"critical path", first.name,
       percent(first.time, length) + (first.where.empty() ? std::string() : " at " + first.where),
       all});
}

/// Formats a relative difference, with the same sign as difference_of().
std::string signed_percent(double share) {
  return fmt::format("{}{:.1f} %", share < 0 ? "−" : "+", 100 * std::abs(share));
}

std::string difference_of(const core::Pair& time) {
  const Time by = time.difference();
  return fmt::format("{}{}", by < Time() ? "−" : "+", show(by < Time() ? Time() - by : by));
}

}  // namespace

std::optional<Time> step_time_of(const Trace& trace) {
  const auto step = summary_of(trace).steady_parts();
  if (!step) return std::nullopt;
  return step->time;
}

HeadlineFigure compared_with_last_run(Time before, Time now) {
  const core::Pair time{before, now};
  const auto share = time.share();
  const bool equal = time.difference() == Time();
  return {
      "vs. previous run", equal ? "equal" : difference_of(time),
      share && !equal ? signed_percent(*share) : std::string(),
      fmt::format("The step time of the previous run was {}. R shows both runs on one time axis.",
                  show(before))};
}

std::vector<HeadlineFigure> headline_of(const Trace& trace) {
  std::vector<HeadlineFigure> figures;
  if (trace.parts()) {
    std::vector<core::StepParts> steps;
    for (std::size_t s = 0; s < trace.sides().size(); ++s) {
      const auto step = summary_of(*trace.parts()->source(s)).steady_parts();
      if (!step) return figures;
      steps.push_back(*step);
      figures.push_back({trace.sides()[s].name, show(step->time),
                         show(step->exposed) + " exposed comm.",
                         "The time of a training step of this timeline, in the steady state, and "
                         "its exposed communication."});
    }
    const core::Pair time{steps.front().time, steps.back().time};
    const auto share = time.share();
    figures.push_back(
        {"step time", difference_of(time), share ? signed_percent(*share) : std::string(),
         "The difference between the step times of the second and the first timeline."});
    return figures;
  }
  add_times(trace, summary_of(trace), figures);
  add_cause(trace, figures);
  if (const auto band = band_of(trace.run())) {
    figures.push_back(
        {"NCCL's error",
         fmt::format("{:.2f} to {:.2f} ×", band->first, band->second),
         {},
         "80 % of measured times of similar collectives are in this range, relative to the "
         "predicted time. If packs have different ranges, the widest is shown."});
  }
  return figures;
}

}  // namespace tutti::gui
