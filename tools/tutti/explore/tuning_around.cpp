// Evaluates points around the best settings of a tuning.

#include <algorithm>
#include <iterator>

#include "core/base/format.h"
#include "tools/tutti/explore/tuning.h"
#include "tools/tutti/io/progress.h"

namespace tutti::tools {

using core::Expected;
using core::Outcome;

std::pair<std::int64_t, std::int64_t> Tuning::around_best(std::size_t axis,
                                                          const std::vector<std::int64_t>& order,
                                                          std::int64_t at) {
  std::vector<std::int64_t> rows = space_.rows(*best_);
  const std::int64_t for_other_clusters = now_elsewhere_.front() ? kCases : 2 * kCases;
  std::int64_t spare = std::max<std::int64_t>(0, left() - for_other_clusters);
  // A curve needs complete simulations, so points whose simulation was stopped early are simulated
  // again.
  const auto affordable = [&](std::int64_t i) {
    rows[axis] = order[i];
    const auto known = tried().find(space_.point(rows));
    if (known != tried().end() && !known->second.stopped) return true;
    return spare-- > 0;
  };
  std::int64_t first = at, last = at;
  const std::int64_t end = std::min(std::ssize(order) - 1, at + kAround);
  for (std::int64_t i = 1; i <= kAround; ++i) {
    if (first == at - i + 1 && first > 0 && affordable(first - 1)) --first;
    if (last == at + i - 1 && last < end && affordable(last + 1)) ++last;
  }
  return {first, last};
}

Expected<bool> Tuning::add_curves() {
  while (true) {
    result_.curves.clear();
    for (const auto& [axis, order] : curve_axes_) {
      if (auto added = add_curve(axis, order); !added || !*added) return added;
    }
    const auto better = best_tried(Compared::kYes);
    if (tried().at(*better).step >= tried().at(*best_).step) return true;
    best_ = better;
  }
}

Expected<bool> Tuning::add_curve(std::size_t axis, const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> rows = space_.rows(*best_);
  const std::int64_t at = std::find(order.begin(), order.end(), rows[axis]) - order.begin();
  std::vector<std::int64_t> points;
  AxisCurve curve;
  curve.field = space_.axes()[axis].fields.front();
  const auto [first, last] = around_best(axis, order, at);
  for (std::int64_t i = first; i <= last; ++i) {
    rows[axis] = order[i];
    points.push_back(space_.point(rows));
  }
  // Simulate points again completely if their simulation was stopped early.
  trials_.discard_stopped(points);
  result_.beside += std::count_if(points.begin(), points.end(),
                                  [&](std::int64_t point) { return !tried().contains(point); });
  if (auto done = trials_.evaluate(points, core::kNever); !done || !*done) return done;
  for (std::size_t i = 0; i < points.size(); ++i) {
    rows[axis] = order[first + i];
    curve.values.emplace_back(space_.axes()[axis].rows[rows[axis]].front(), tried().at(points[i]));
  }
  curve.best = static_cast<std::size_t>(at - first);
  result_.curves.push_back(std::move(curve));
  return true;
}

Expected<bool> Tuning::add_sensitivity() {
  struct Case {
    const char* what;
    core::Scaled scaled;
    double factor;
  };
  constexpr Case kOther[kCases] = {
      {"half the bandwidth of all links", core::Scaled::kBandwidth, 0.5},
      {"twice the bandwidth of all links", core::Scaled::kBandwidth, 2},
      {"half the latency of all links", core::Scaled::kLatency, 0.5},
      {"twice the latency of all links", core::Scaled::kLatency, 2}};
  result_.sensitivity.clear();
  for (std::size_t c = 0; c < std::size(kOther); ++c) {
    const Case& one = kOther[c];
    if (left() < (now_elsewhere_[c] ? 1 : 2)) {
      const std::string note = fmt::format(
          "some variations of the links were not tried, because the limit of --evaluations {} was "
          "reached",
          options_.evaluations);
      if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
        result_.notes.push_back(note);
      break;
    }
    if (!now_elsewhere_[c]) {
      const auto now = elsewhere(result_.now.scenario, one.scaled, one.factor);
      if (!now) return failed(now);
      if (interrupt_.happened()) return false;
      now_elsewhere_[c] = *now;
    }
    const auto best = elsewhere(result_.best->scenario, one.scaled, one.factor);
    if (!best) return failed(best);
    if (interrupt_.happened()) return false;
    if (*now_elsewhere_[c] > core::Time() && *best > core::Time())
      result_.sensitivity.push_back({one.what, *now_elsewhere_[c], *best});
  }
  return true;
}

Expected<core::Time> Tuning::elsewhere(const core::Scenario& scenario, core::Scaled scaled,
                                       double factor) {
  const auto text = core::with_scaled_links(scenario, scaled, factor, library_);
  if (!text) return failed(text);
  auto other = core::read_scenario(*text, scenario.file, library_);
  if (!other) return core::Time();
  SimulatedScenario evaluated;
  evaluated.scenario = std::move(*other);
  ++result_.beside;
  return simulate_for_report(evaluated, "simulating other clusters") ? evaluated.outcome.step
                                                                     : core::Time();
}

const Sensitivity* Tuning::lost_case() const {
  if (!comparable_->same_data_movers(result_.best->scenario)) return nullptr;
  for (const Sensitivity& one : result_.sensitivity) {
    const double ratio =
        static_cast<double>(one.best.count()) / static_cast<double>(one.now.count());
    if (ratio > 1 + core::kDifferenceError) return &one;
  }
  return nullptr;
}

Expected<bool> Tuning::add_snippets() {
  // No requested setting is valid, so there is nothing to recommend.
  if (!result_.is_advice()) return true;
  Progress progress("simulating the settings of each framework");
  const SimulatedScenario& recommended = result_.recommended();
  auto snippets = core::snippets_of(recommended.scenario, library_);
  for (std::string& note : snippets.notes) result_.notes.push_back(std::move(note));
  // Settings with the same packing are also simulated again, because launches and updates differ
  // between frameworks.
  sim::Evaluator evaluator({recommended.scenario.text, base_.path, {}}, library_, simulator_,
                           sim::Evaluator::Shares::kNo);
  if (max_work_) evaluator.limit_work(*max_work_);
  double done = 0;
  for (core::Snippet& snippet : snippets.list) {
    progress.update(done++ / static_cast<double>(snippets.list.size()));
    PromisedSnippet made;
    made.snippet = std::move(snippet);
    for (const auto& reading : made.snippet.readings) {
      const auto outcome =
          reading.empty() ? recommended.outcome : evaluator.at(reading, &interrupt_.flag());
      if (!outcome) return false;
      const bool slower =
          outcome->status != Outcome::Status::kDone || outcome->step > made.outcome.step;
      if (made.outcome.status == Outcome::Status::kDone && slower) made.outcome = *outcome;
    }
    const Outcome& promise = made.outcome;
    if (promise.status != Outcome::Status::kDone) {
      made.why_not = "the framework's packing cannot be simulated: " + promise.message;
    } else if (promise.step > result_.now.outcome.step) {
      const core::Time now = result_.now.outcome.step;
      made.why_not = fmt::format(
          "with the framework's own packing, the step takes {} instead of {}, which is {:.2g} % "
          "longer",
          core::show(promise.step), core::show(now), 100 * core::share(promise.step - now, now));
    }
    result_.snippets.push_back(std::move(made));
  }
  return true;
}

}  // namespace tutti::tools
