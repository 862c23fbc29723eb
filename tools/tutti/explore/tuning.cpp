// Searches the best settings, and then checks whether the advantage is real. The current settings
// are simulated first, as the reference. The search then uses most evaluations, and leaves up to
// half of them for the checks. The best point is improved along single axes. The improved point is
// then compared with the current settings on clusters with better and worse links. If the best
// point is slower than the current settings on such a cluster, all points that differ from it only
// in packing are rejected, and the next best point is examined. If every point is slower on such a
// cluster, the fastest point is reported but not recommended.
//
// At the end, a few settings whose times are not comparable with the current time are simulated, so
// that the report can mention them. The file core/explore/tuner.cpp chooses points, and sim/sweep
// evaluates them. The file tuning_around.cpp has curves, other clusters and snippets.

#include "tools/tutti/explore/tuning.h"

#include <algorithm>

#include "core/advice/extrapolation.h"
#include "core/base/format.h"
#include "core/explore/tuner.h"
#include "core/scenario/nccl_model.h"
#include "tools/tutti/explore/explore.h"
#include "tools/tutti/io/progress.h"

namespace tutti::tools {

using core::Expected;
using core::Outcome;

namespace {

/// The number of settings with incomparable times that are simulated, to report whether they seem
/// to be faster.
constexpr std::int64_t kOthers = 8;

/// Returns true if NCCL executes packs, and their times come from NCCL's model.
bool by_nccl(const core::Scenario& scenario) {
  return std::any_of(scenario.plan.packs.begin(), scenario.plan.packs.end(),
                     [&](const core::Pack& pack) {
                       return !core::nccl_times(scenario.plan.collective(pack)).empty();
                     });
}

}  // namespace

Tuning::Tuning(const TuneOptions& options, const core::Library& library, core::Scenario now,
               std::string text, std::vector<core::Override> set, core::Space space,
               core::SweepStore* store, std::vector<std::string> notes, const Interrupt& interrupt)
    : options_(options),
      library_(library),
      interrupt_(interrupt),
      base_{std::move(text), options.scenario.file, std::move(set)},
      space_(std::move(space)),
      evaluator_(base_, library, simulator_),
      trials_(
          space_, evaluator_, threads_of(options.threads), [this] { return interrupt_.happened(); },
          store) {
  result_.now.scenario = std::move(now);
  result_.fields = space_.fields();
  result_.in_all = space_.size();
  result_.seed = options.seed;
  result_.notes = std::move(notes);
  trials_.inform_when_waiting(print_waiting);
}

Expected<bool> Tuning::execute_points() {
  if (auto simulated = simulate_now(); !simulated || !*simulated) return simulated;
  comparable_.emplace(space_, base_, library_, result_.now.scenario);
  trials_.compare_only([this](std::int64_t point) { return comparable_->why_not(point).empty(); });
  rows_ = comparable_->rows();
  if (const auto taken = trials_.take_over(library_); !taken) return failed(taken);
  if (auto found = search(); !found || !*found) return found;
  if (auto judged = validate_best(); !judged || !*judged) return judged;
  if (auto tried = try_others(); !tried || !*tried) return tried;
  find_incomparable();
  compare_algorithms();
  if (!result_.best) explain_no_best();
  if (auto added = add_snippets(); !added || !*added) return added;
  const core::Scenario& recommended = result_.recommended().scenario;
  if (by_nccl(result_.now.scenario) || (result_.best && by_nccl(result_.best->scenario)))
    result_.notes.emplace_back(core::kNcclIsMeasured);
  for (std::string& note : core::extrapolations(recommended))
    result_.notes.push_back(std::move(note));
  for (const std::string& note : result_.recommended().summary.info().notes)
    result_.notes.push_back(note);
  return !interrupt_.happened();
}

std::optional<std::vector<core::Override>> Tuning::median_over_seeds(
    const std::vector<core::Override>& changes, std::vector<core::Time>& times) {
  times.clear();
  if (evaluator_.seeds().empty()) return std::vector<core::Override>{};
  const auto outcomes = evaluator_.at_each_seed(changes, &interrupt_.flag());
  if (!outcomes) return std::nullopt;
  if (outcomes->back().status != Outcome::Status::kDone) return std::vector<core::Override>{};
  for (const Outcome& outcome : *outcomes) times.push_back(outcome.step);
  return std::vector{evaluator_.seeds()[sim::median_seed(*outcomes)]};
}

Expected<bool> Tuning::simulate_now() {
  const auto median = median_over_seeds({}, result_.now_by_seed);
  if (!median) return false;
  if (!median->empty()) {
    std::vector<core::Override> set = base_.set;
    set.push_back(median->front());
    auto scenario = core::read_scenario(base_.text, base_.path, library_, set);
    if (!scenario) return failed(scenario);
    result_.now.scenario = std::move(*scenario);
  }
  if (auto evaluated = simulate_for_report(result_.now, "simulating the current settings");
      !evaluated)
    return failed(evaluated);
  return !interrupt_.happened();
}

Expected<void> Tuning::simulate_for_report(SimulatedScenario& evaluated, const char* doing) {
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  core::RunControl control;
  control.cancel = &interrupt_.flag();
  Progress progress(doing);
  control.progress = [&](double done) { progress.update(done); };
  if (auto ran = simulator_.run(evaluated.scenario, record, control, evaluated.summary); !ran)
    return ran;
  if (!interrupt_.happened()) evaluated.outcome = core::outcome_of(evaluated.summary);
  return {};
}

double Tuning::min_step() const {
  const bool same =
      std::all_of(space_.fields().begin(), space_.fields().end(), [](const std::string& field) {
        return field.starts_with("strategy.") && !field.starts_with("strategy.compression");
      });
  return same ? static_cast<double>(result_.now.outcome.step_bound.count()) : 0;
}

std::int64_t Tuning::kept_from_search() const {
  const core::Tuner tuner(space_, {});
  std::int64_t wanted = 4 * kCases;  // for other clusters: the current and three settings on each
  for (const auto& others : rows_.others) wanted += std::min(kOthers, std::ssize(others));
  for (std::size_t a = 0; a < space_.axes().size(); ++a)
    wanted += tuner.is_ordered(a) ? 2 * kAround : 0;
  return std::min(options_.evaluations / 2, wanted);
}

Expected<bool> Tuning::search() {
  if (rows_.nothing) return true;
  Progress progress("tuning");
  const std::int64_t at_most = options_.evaluations - kept_from_search();
  core::Tuner tuner(
      space_, {at_most, options_.seed, core::TunerOptions().enough, min_step(), rows_.compared});
  const auto most = static_cast<double>(std::min(at_most, tuner.size()));
  // If the tuner requests a point whose result is already in the sweep file, this also counts as an
  // evaluation.
  auto all = trials_.search(tuner, result_.now.outcome.step, [&](std::int64_t evaluated) {
    progress.update(static_cast<double>(evaluated) / most);
  });
  if (!all || !*all) return all;
  for (const std::int64_t point : tuner.requested()) {
    const Outcome& outcome = tried().at(point);
    const bool done = outcome.status == Outcome::Status::kDone;
    if (outcome.message == sim::kTooLong) {
      ++result_.left_out;
    } else if (!done && result_.refused++ == 0) {
      result_.refusal = outcome.message;
    }
    if (outcome.stopped) ++result_.stopped;
  }
  result_.tried = tuner.evaluated();
  result_.max_expected_improvement =
      tuner.evaluated() < tuner.size() ? tuner.max_expected_improvement() : 0;
  for (std::size_t a = 0; a < space_.axes().size(); ++a) {
    if (tuner.is_ordered(a)) curve_axes_.emplace_back(a, tuner.in_order(a));
  }
  best_ = best_tried(Compared::kYes);
  return true;
}

std::optional<std::int64_t> Tuning::best_tried(Compared compared) {
  std::optional<std::int64_t> best;
  for (const auto& [point, outcome] : tried()) {
    if (outcome.status != Outcome::Status::kDone || outcome.stopped) continue;
    if (!(compared == Compared::kYes ? is_compared(point) : !comparable_->why_not(point).empty()))
      continue;
    if (!best || outcome.step < tried().at(*best).step) best = point;
  }
  return best;
}

Expected<bool> Tuning::validate_best() {
  std::optional<TuneResult> fastest;  // fastest of the results that were rejected
  while (best_) {
    if (auto added = add_curves(); !added || !*added) return added;
    if (auto evaluated = report_best(); !evaluated || !*evaluated) return evaluated;
    if (!result_.best) return true;
    if (auto added = add_sensitivity(); !added || !*added) return added;
    result_.advice = core::recommend(result_.now.outcome, result_.best->outcome);
    const Sensitivity* const lost = result_.advice.change ? lost_case() : nullptr;
    if (!lost) return true;
    result_.lost.push_back({result_.values, result_.best->outcome, *lost});
    rejected_.insert(comparable_->key_of(*best_));
    result_.advice.change = false;
    result_.advice.why = fmt::format(
        "with {}, the step would take {} with the best settings and {} with the current settings",
        lost->what, core::show(lost->best), core::show(lost->now));
    const auto next = best_tried(Compared::kYes);
    const bool worth_it =
        next && left() >= kCases && core::recommend(result_.now.outcome, tried().at(*next)).change;
    if (!fastest) fastest = result_;
    if (!worth_it) break;
    best_ = next;
  }
  if (!fastest) return true;
  // No setting can be recommended, so report the fastest setting.
  fastest->lost = std::move(result_.lost);
  fastest->beside = result_.beside;
  result_ = std::move(*fastest);
  return true;
}

Expected<bool> Tuning::report_best() {
  auto as_written = comparable_->with_point(*best_);
  if (!as_written) return true;
  result_.best_text = as_written->text;
  const auto median = median_over_seeds(space_.overrides(*best_), result_.best_by_seed);
  if (!median) return false;
  auto scenario = comparable_->with_point(*best_, *median);
  if (!scenario) return true;
  result_.values = space_.values(*best_);
  result_.best.emplace();
  result_.best->scenario = std::move(*scenario);
  if (auto ran = simulate_for_report(*result_.best, "simulating the best"); !ran)
    return tl::make_unexpected(ran.error());
  return !interrupt_.happened();
}

Expected<bool> Tuning::try_others() {
  std::vector<std::int64_t> rows = space_.rows(best_.value_or(0));
  std::vector<std::int64_t> points;
  for (std::size_t a = 0; a < rows_.others.size(); ++a) {
    std::set<std::string> seen;
    for (const std::int64_t r : rows_.others[a]) {
      if (!seen.insert(space_.axes()[a].rows[r].front()).second) continue;
      std::vector<std::int64_t> other = rows;
      other[a] = r;
      const std::int64_t point = space_.point(other);
      const auto known = tried().find(point);
      if (known == tried().end() && std::ssize(points) < std::min(kOthers, left()))
        points.push_back(point);
    }
  }
  result_.beside += std::ssize(points);
  Progress progress("simulating settings that cannot be compared");
  return trials_.evaluate(points, result_.recommended().outcome.step);
}

void Tuning::find_incomparable() {
  for (const auto& [point, outcome] : tried()) {
    if (outcome.status != Outcome::Status::kDone) continue;
    const bool compared = comparable_->why_not(point).empty();
    if (!compared) ++result_.not_comparable;
    any_slow_ = any_slow_ || (compared && outcome.stopped);
  }
  const auto incomparable = best_tried(Compared::kNo);
  if (!incomparable || tried().at(*incomparable).step >= result_.recommended().outcome.step) return;
  result_.incomparable = {space_.values(*incomparable), tried().at(*incomparable),
                          comparable_->why_not(*incomparable)};
}

void Tuning::compare_algorithms() {
  const auto& custom = result_.now.scenario.strategy.custom;
  const std::vector<std::string> fields = space_.fields();
  const auto field = std::find(fields.begin(), fields.end(), "strategy.algorithm");
  if (!custom || field == fields.end()) return;
  std::map<std::string, AlgorithmTime> found;
  for (const auto& [point, outcome] : tried()) {
    if (outcome.status != Outcome::Status::kDone || !is_compared(point)) continue;
    std::string name = space_.values(point)[static_cast<std::size_t>(field - fields.begin())];
    if (name.empty()) name = custom->file;
    AlgorithmTime& best = found.try_emplace(name, AlgorithmTime{name, core::kNever}).first->second;
    const bool better = outcome.stopped == best.stopped ? outcome.step < best.step : best.stopped;
    if (best.step == core::kNever || better) best = {name, outcome.step, outcome.stopped};
  }
  for (auto& [name, best] : found) result_.algorithms.push_back(std::move(best));
  std::stable_sort(result_.algorithms.begin(), result_.algorithms.end(),
                   [](const AlgorithmTime& a, const AlgorithmTime& b) {
                     return std::pair(a.stopped, a.step) < std::pair(b.stopped, b.step);
                   });
}

void Tuning::explain_no_best() {
  if (any_slow_) {
    result_.advice.why =
        fmt::format("all tried settings take at least {} longer than the current settings",
                    core::show_share(sim::kMaxSlowdown - 1));
  } else if (result_.not_comparable > 0) {
    result_.advice.why =
        "no simulated setting can be compared with the current settings, because different "
        "software moves the bytes";
  } else {
    result_.advice.why = "no tried setting is valid; tutti sweep shows the errors";
  }
}

}  // namespace tutti::tools
