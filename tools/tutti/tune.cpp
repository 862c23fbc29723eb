#include "tools/tutti/tune.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "core/advice/comparable.h"
#include "core/advice/extrapolation.h"
#include "core/advice/what_if.h"
#include "core/base/file.h"
#include "core/base/format.h"
#include "core/base/version.h"
#include "core/explore/plan_key.h"
#include "core/explore/plot.h"
#include "core/explore/tuner.h"
#include "core/explore/usual_axes.h"
#include "core/scenario/nccl_model.h"
#include "core/text/csv.h"
#include "sim/simulator.h"
#include "sim/sweep/affordable.h"
#include "sim/sweep/evaluator.h"
#include "sim/sweep/trials.h"
#include "tools/tutti/explore.h"
#include "tools/tutti/interrupt.h"
#include "tools/tutti/plot_file.h"
#include "tools/tutti/progress.h"
#include "tools/tutti/scenario_options.h"
#include "tools/tutti/tune_report.h"

namespace tutti::tools {
namespace {

using core::Error;
using core::Expected;
using core::Outcome;
using core::ProblemCode;

/// Values to each side of the best along an axis.
constexpr std::int64_t kAround = 4;
/// Other clusters on which settings are tried.
constexpr std::int64_t kCases = 4;
/// Settings that cannot be compared and are tried nevertheless, to say whether they seem to be
/// faster.
constexpr std::int64_t kOthers = 8;
/// Simulations of other clusters that the search leaves evaluations for: of what there is, and of
/// three settings.
constexpr std::int64_t kOtherClusters = 4 * kCases;

/// Whether NCCL carries out packs in times of its own.
bool by_nccl(const core::Scenario& scenario) {
  return std::any_of(scenario.plan.packs.begin(), scenario.plan.packs.end(),
                     [&](const core::Pack& pack) { return !core::nccl_times(scenario.plan.collective(pack)).empty(); });
}

/// Everything that belongs to one tuning.
class Tuning {
 public:
  /// `store`: where what is tried goes; null: nowhere. `notes`: what is to be said in any case.
  Tuning(const TuneOptions& options, const core::Library& library, core::Scenario now, std::string text,
         std::vector<core::Override> set, core::Space space, core::SweepStore* store, std::vector<std::string> notes,
         const Interrupt& interrupt)
      : options_(options),
        library_(library),
        interrupt_(interrupt),
        text_(std::move(text)),
        set_(std::move(set)),
        space_(std::move(space)),
        evaluator_({text_, options.scenario.file, set_}, library, simulator_),
        trials_(
            space_, evaluator_, threads_of(options.threads), [this] { return interrupt_.happened(); }, store) {
    result_.now.scenario = std::move(now);
    result_.fields = space_.fields();
    result_.in_all = space_.size();
    result_.seed = options.seed;
    result_.notes = std::move(notes);
  }

  /// What takes more work to simulate is not tried.
  void leave_out_beyond(const sim::MostWork& work) {
    most_work_ = work;
    evaluator_.leave_out_beyond(work);
  }

  /// ERRORS: the scenario as it is cannot be run. False: interrupted.
  Expected<bool> carry_out() {
    if (auto told = tell_of(result_.now, "simulating it as it is"); !told) return tl::make_unexpected(told.error());
    if (interrupt_.happened()) return false;
    travel_ = core::travel_of(result_.now.scenario);
    trials_.compare_only([this](std::int64_t point) { return why_not_comparable(point).empty(); });
    find_rows_to_compare();
    if (const auto taken = trials_.take_over(library_); !taken) return tl::make_unexpected(taken.error());
    if (auto found = search(); !found || !*found) return found;
    if (auto judged = judge_the_best(); !judged || !*judged) return judged;
    if (auto tried = try_others(); !tried || !*tried) return tried;
    find_rival();
    if (!result_.best) say_why_there_is_no_best();
    if (auto added = add_snippets(); !added || !*added) return added;
    const core::Scenario& recommended = result_.recommended().scenario;
    if (by_nccl(result_.now.scenario) || (result_.best && by_nccl(result_.best->scenario)))
      result_.notes.emplace_back(core::kNcclIsMeasured);
    for (std::string& note : core::extrapolations(recommended)) result_.notes.push_back(std::move(note));
    for (const std::string& note : result_.recommended().summary.info().notes) result_.notes.push_back(note);
    return !interrupt_.happened();
  }

  [[nodiscard]] const TuneResult& result() const { return result_; }
  [[nodiscard]] const core::Space& space() const { return space_; }
  [[nodiscard]] const std::map<std::int64_t, Outcome>& tried() const { return trials_.tried(); }
  /// Why a point's step time says nothing against that of the scenario as it is; empty if they can
  /// be compared.
  [[nodiscard]] std::string why_not_comparable(std::int64_t point) {
    std::string key = key_of(point);
    if (const auto known = not_comparable_.find(key); known != not_comparable_.end()) return known->second;
    const auto scenario = with_point(point);
    if (!scenario) return "";  // which its outcome says; packed otherwise it may be
    std::string why = core::why_not_comparable(travel_, core::travel_of(*scenario));
    return not_comparable_.emplace(std::move(key), std::move(why)).first->second;
  }
  /// It was judged against other points: it can be compared, and is not of those that other links
  /// make slow.
  [[nodiscard]] bool is_compared(std::int64_t point) {
    return why_not_comparable(point).empty() && !rejected_.contains(key_of(point));
  }

 private:
  /// What a point has besides packing: that decides who moves the packs.
  [[nodiscard]] std::string key_of(std::int64_t point) const {
    std::string key;
    for (const core::Override& change : space_.overrides(point)) {
      if (!core::decides_packing_only(change.path)) key += change.said + '\n';
    }
    return key;
  }

  /// Simulates a scenario with all that a report needs.
  Expected<void> tell_of(Told& told, const char* doing) {
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    core::RunControl control;
    control.cancel = &interrupt_.flag();
    Progress progress(doing);
    control.progress = [&](double done) { progress.update(done); };
    if (auto ran = simulator_.run(told.scenario, record, control, told.summary); !ran) return ran;
    if (!interrupt_.happened()) told.outcome = core::outcome_of(told.summary);
    return {};
  }

  /// What no setting gets below, if that is known: where the strategy alone varies, and sends what it always sends.
  [[nodiscard]] double least_step() const {
    const bool same = std::all_of(space_.fields().begin(), space_.fields().end(), [](const std::string& field) {
      return field.starts_with("strategy.") && !field.starts_with("strategy.compression");
    });
    return same ? static_cast<double>(result_.now.outcome.step_bound.count()) : 0;
  }

  /// Evaluations that are left for what is to be shown beside the search.
  [[nodiscard]] std::int64_t left() const { return options_.evaluations - result_.tried - result_.beside; }

  /// What the search leaves for that: up to half of all.
  [[nodiscard]] std::int64_t kept_from_search() const {
    const core::Tuner tuner(space_, {});
    std::int64_t wanted = kOtherClusters;
    for (const auto& others : other_rows_) wanted += std::min(kOthers, std::ssize(others));
    for (std::size_t a = 0; a < space_.axes().size(); ++a) wanted += tuner.is_ordered(a) ? 2 * kAround : 0;
    return std::min(options_.evaluations / 2, wanted);
  }

  /// Which rows of each axis can be compared with what there is. Simulating many points that cannot
  /// would say nothing.
  void find_rows_to_compare() {
    for (const core::Axis& axis : space_.axes()) {
      std::vector<std::int64_t> compared, others;
      for (std::int64_t r = 0; r < std::ssize(axis.rows); ++r) {
        std::vector<core::Override> all = set_;
        for (core::Override& change :
             core::overrides_of(axis.fields, axis.paths, axis.rows[static_cast<std::size_t>(r)]))
          all.push_back(std::move(change));
        const bool packing_only = std::all_of(axis.paths.begin(), axis.paths.end(), core::decides_packing_only);
        bool is_compared = true;
        if (!packing_only) {
          const auto scenario = core::read_scenario(text_, options_.scenario.file, library_, all);
          is_compared = !scenario || core::why_not_comparable(travel_, core::travel_of(*scenario)).empty();
        }
        (is_compared ? compared : others).push_back(r);
      }
      nothing_to_compare_ = nothing_to_compare_ || compared.empty();
      rows_to_compare_.push_back(std::move(compared));
      other_rows_.push_back(std::move(others));
    }
  }

  /// Tries the other rows with all else as at the best, one for each value of the axis' first
  /// field: whether they seem to be faster. False: interrupted.
  Expected<bool> try_others() {
    std::vector<std::int64_t> rows = space_.rows(best_.value_or(0));
    std::vector<std::int64_t> points;
    for (std::size_t a = 0; a < other_rows_.size(); ++a) {
      std::set<std::string> seen;
      for (const std::int64_t r : other_rows_[a]) {
        if (!seen.insert(space_.axes()[a].rows[static_cast<std::size_t>(r)].front()).second) continue;
        std::vector<std::int64_t> other = rows;
        other[a] = r;
        const std::int64_t point = space_.point(other);
        const auto known = tried().find(point);
        if (known == tried().end() && std::ssize(points) < std::min(kOthers, left())) points.push_back(point);
      }
    }
    result_.beside += std::ssize(points);
    Progress progress("simulating what cannot be compared");
    return trials_.evaluate(points, result_.recommended().outcome.step);
  }

  /// False: interrupted.
  Expected<bool> search() {
    if (nothing_to_compare_) return true;
    Progress progress("tuning");
    const std::int64_t at_most = options_.evaluations - kept_from_search();
    core::Tuner tuner(space_, {at_most, options_.seed, core::TunerOptions().enough, least_step(), rows_to_compare_});
    const auto most = static_cast<double>(std::min(at_most, tuner.size()));
    // What a file has from before counts when the tuner asks for it.
    const auto all = trials_.search(tuner, result_.now.outcome.step,
                                    [&](std::int64_t told) { progress.update(static_cast<double>(told) / most); });
    if (!all || !*all) return all;
    for (const std::int64_t point : tuner.asked()) {
      const Outcome& outcome = tried().at(point);
      const bool done = outcome.status == Outcome::Status::kDone;
      if (outcome.message == sim::kTooLong) {
        ++result_.left_out;
      } else if (!done && result_.refused++ == 0) {
        result_.refusal = outcome.message;
      }
      if (outcome.stopped) ++result_.stopped;
    }
    result_.tried = tuner.told();
    result_.promised = tuner.told() < tuner.size() ? tuner.promised() : 0;
    for (std::size_t a = 0; a < space_.axes().size(); ++a) {
      if (tuner.is_ordered(a)) curve_axes_.emplace_back(a, tuner.in_order(a));
    }
    best_ = best_tried(Compared::kYes);
    return true;
  }

  enum class Compared { kYes, kNo };
  /// The fastest of the points that were tried and can be compared with what there is, or that
  /// cannot. What was stopped is none: by then it took longer than another.
  [[nodiscard]] std::optional<std::int64_t> best_tried(Compared compared) {
    std::optional<std::int64_t> best;
    for (const auto& [point, outcome] : tried()) {
      if (outcome.status != Outcome::Status::kDone || outcome.stopped) continue;
      if (!(compared == Compared::kYes ? is_compared(point) : !why_not_comparable(point).empty())) continue;
      if (!best || outcome.step < tried().at(*best).step) best = point;
    }
    return best;
  }

  [[nodiscard]] std::vector<core::Override> changes_of(std::int64_t point) const {
    std::vector<core::Override> all = set_;
    for (core::Override& change : space_.overrides(point)) all.push_back(std::move(change));
    return all;
  }

  [[nodiscard]] Expected<core::Scenario> with_point(std::int64_t point) const {
    return core::read_scenario(text_, options_.scenario.file, library_, changes_of(point));
  }

  /// What is found out around the best, and whether it is advised; if it would lose to what there
  /// is on a cluster whose links are better or worse, the next best in its place. False:
  /// interrupted.
  Expected<bool> judge_the_best() {
    std::optional<TuneResult> fastest;  // which lost so
    while (best_) {
      if (auto added = add_curves(); !added || !*added) return added;
      if (auto told = tell_of_best(); !told || !*told) return told;
      if (!result_.best) return true;
      if (auto added = add_sensitivity(); !added || !*added) return added;
      result_.advice = core::recommend(result_.now.outcome, result_.best->outcome);
      const Sensitivity* const lost = result_.advice.change ? lost_case() : nullptr;
      if (!lost) return true;
      result_.lost.push_back({result_.values, result_.best->outcome, *lost});
      rejected_.insert(key_of(*best_));
      result_.advice.change = false;
      result_.advice.why = fmt::format("with {} the best would take {} and what there is {}", lost->what,
                                       core::show(lost->best), core::show(lost->now));
      const auto next = best_tried(Compared::kYes);
      const bool worth_it = next && left() >= kCases && core::recommend(result_.now.outcome, tried().at(*next)).change;
      if (!fastest) fastest = result_;
      if (!worth_it) break;
      best_ = next;
    }
    if (!fastest) return true;
    // None was better: tell of the fastest.
    fastest->lost = std::move(result_.lost);
    fastest->beside = result_.beside;
    result_ = std::move(*fastest);
    return true;
  }

  /// A cluster on which the best is slower than what there is by more than the error of such a
  /// difference. Where others move the bytes now than in the best, links say nothing: NCCL's times
  /// do not go by them.
  [[nodiscard]] const Sensitivity* lost_case() const {
    const core::Travel best = core::travel_of(result_.best->scenario);
    if (!core::same_movers(travel_, best)) return nullptr;
    for (const Sensitivity& one : result_.sensitivity) {
      const double ratio = static_cast<double>(one.best.count()) / static_cast<double>(one.now.count());
      if (ratio > 1 + core::kDifferenceError) return &one;
    }
    return nullptr;
  }

  /// Simulates the best again, with all that a report needs. False: interrupted.
  Expected<bool> tell_of_best() {
    auto scenario = with_point(*best_);
    if (!scenario) return true;
    result_.values = space_.values(*best_);
    result_.best.emplace();
    result_.best->scenario = std::move(*scenario);
    return tell_of(*result_.best, "simulating the best").has_value() && !interrupt_.happened();
  }

  /// The fastest of what cannot be compared, if it seems to be faster than what is recommended.
  void find_rival() {
    for (const auto& [point, outcome] : tried()) {
      if (outcome.status != Outcome::Status::kDone) continue;
      const bool compared = why_not_comparable(point).empty();
      if (!compared) ++result_.not_comparable;
      any_slow_ = any_slow_ || (compared && outcome.stopped);
    }
    const auto rival = best_tried(Compared::kNo);
    if (!rival || tried().at(*rival).step >= result_.recommended().outcome.step) return;
    result_.rival = {space_.values(*rival), tried().at(*rival), why_not_comparable(*rival)};
  }

  void say_why_there_is_no_best() {
    if (any_slow_) {
      result_.advice.why = fmt::format("whatever was tried takes at least {} longer than what there is",
                                       core::show_share(sim::kHopeless - 1));
    } else if (result_.not_comparable > 0) {
      result_.advice.why = "no setting that was tried can be compared with the current one";
    } else {
      result_.advice.why = "no setting that was tried is valid; tutti sweep shows why each is not";
    }
  }

  /// What to paste for what is recommended, each simulated by its framework's own packing. False:
  /// interrupted.
  Expected<bool> add_snippets() {
    // Nothing of what was asked for can be: there is nothing to recommend.
    if (!result_.is_advice()) return true;
    Progress progress("simulating what to paste");
    const Told& recommended = result_.recommended();
    auto snippets = core::snippets_of(recommended.scenario, library_);
    for (std::string& note : snippets.notes) result_.notes.push_back(std::move(note));
    // Settings that pack alike are run again: their frameworks launch and update in ways of their
    // own.
    sim::Evaluator evaluator({recommended.scenario.text, options_.scenario.file, {}}, library_, simulator_,
                             sim::Evaluator::Shares::kNo);
    if (most_work_) evaluator.leave_out_beyond(*most_work_);
    double done = 0;
    for (core::Snippet& snippet : snippets.list) {
      progress.update(done++ / static_cast<double>(snippets.list.size()));
      PromisedSnippet made;
      made.snippet = std::move(snippet);
      for (const auto& reading : made.snippet.readings) {
        const auto outcome = reading.empty() ? recommended.outcome : evaluator.at(reading, &interrupt_.flag());
        if (!outcome) return false;
        const bool slower = outcome->status != Outcome::Status::kDone || outcome->step > made.outcome.step;
        if (made.outcome.status == Outcome::Status::kDone && slower) made.outcome = *outcome;
      }
      const Outcome& promise = made.outcome;
      if (promise.status != Outcome::Status::kDone) {
        made.why_not = "what it does cannot be simulated: " + promise.message;
      } else if (promise.step > result_.now.outcome.step) {
        const core::Time now = result_.now.outcome.step;
        const double more = static_cast<double>((promise.step - now).count()) / static_cast<double>(now.count());
        made.why_not = fmt::format("by its own packing the step takes {}, longer than now ({}) by {:.2g} %",
                                   core::show(promise.step), core::show(now), 100 * more);
      }
      result_.snippets.push_back(std::move(made));
    }
    return true;
  }

  /// The values around the best along an axis, as many as the evaluations are enough for; from one place in `order` to another.
  std::pair<std::int64_t, std::int64_t> around_best(std::size_t axis, const std::vector<std::int64_t>& order,
                                                    std::int64_t at) {
    std::vector<std::int64_t> rows = space_.rows(*best_);
    const std::int64_t for_other_clusters = now_elsewhere_.front() ? kCases : 2 * kCases;
    std::int64_t spare = std::max<std::int64_t>(0, left() - for_other_clusters);
    // What was stopped early is run to its end for a curve.
    const auto affordable = [&](std::int64_t i) {
      rows[axis] = order[static_cast<std::size_t>(i)];
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

  /// Some values to each side of the best, along every axis that has an order; again around
  /// whatever of these is better still. False: interrupted.
  Expected<bool> add_curves() {
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

  Expected<bool> add_curve(std::size_t axis, const std::vector<std::int64_t>& order) {
    std::vector<std::int64_t> rows = space_.rows(*best_);
    const std::int64_t at = std::find(order.begin(), order.end(), rows[axis]) - order.begin();
    std::vector<std::int64_t> points;
    AxisCurve curve;
    curve.field = space_.axes()[axis].fields.front();
    const auto [first, last] = around_best(axis, order, at);
    for (std::int64_t i = first; i <= last; ++i) {
      rows[axis] = order[static_cast<std::size_t>(i)];
      points.push_back(space_.point(rows));
    }
    // What was stopped early is run to its end here.
    trials_.forget_given_up(points);
    result_.beside +=
        std::count_if(points.begin(), points.end(), [&](std::int64_t point) { return !tried().contains(point); });
    if (auto done = trials_.evaluate(points, core::kNever); !done || !*done) return done;
    for (std::size_t i = 0; i < points.size(); ++i) {
      rows[axis] = order[static_cast<std::size_t>(first) + i];
      curve.values.emplace_back(space_.axes()[axis].rows[static_cast<std::size_t>(rows[axis])].front(),
                                tried().at(points[i]));
    }
    curve.best = static_cast<std::size_t>(at - first);
    result_.curves.push_back(std::move(curve));
    return true;
  }

  /// Both settings on a cluster whose links are better or worse. False: interrupted.
  Expected<bool> add_sensitivity() {
    struct Case {
      const char* what;
      core::Scaled scaled;
      double factor;
    };
    constexpr Case kOther[kCases] = {{"half the bandwidth of all links", core::Scaled::kBandwidth, 0.5},
                                     {"twice the bandwidth of all links", core::Scaled::kBandwidth, 2},
                                     {"half the latency of all links", core::Scaled::kLatency, 0.5},
                                     {"twice the latency of all links", core::Scaled::kLatency, 2}};
    result_.sensitivity.clear();
    for (std::size_t c = 0; c < std::size(kOther); ++c) {
      const Case& one = kOther[c];
      if (left() < (now_elsewhere_[c] ? 1 : 2)) {
        const std::string note = fmt::format("better and worse links were not all tried: --evaluations {} are used up",
                                             options_.evaluations);
        if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
          result_.notes.push_back(note);
        break;
      }
      if (!now_elsewhere_[c]) {
        const auto now = elsewhere(result_.now.scenario, one.scaled, one.factor);
        if (!now) return tl::make_unexpected(now.error());
        if (interrupt_.happened()) return false;
        now_elsewhere_[c] = *now;
      }
      const auto best = elsewhere(result_.best->scenario, one.scaled, one.factor);
      if (!best) return tl::make_unexpected(best.error());
      if (interrupt_.happened()) return false;
      if (*now_elsewhere_[c] > core::Time() && *best > core::Time())
        result_.sensitivity.push_back({one.what, *now_elsewhere_[c], *best});
    }
    return true;
  }

  /// The step on a cluster with other links; 0 if it cannot be simulated.
  Expected<core::Time> elsewhere(const core::Scenario& scenario, core::Scaled scaled, double factor) {
    const auto text = core::with_scaled_links(scenario, scaled, factor, library_);
    if (!text) return tl::make_unexpected(text.error());
    auto other = core::read_scenario(*text, scenario.file, library_);
    if (!other) return core::Time();
    Told told;
    told.scenario = std::move(*other);
    ++result_.beside;
    return tell_of(told, "simulating other clusters") ? told.outcome.step : core::Time();
  }

  const TuneOptions& options_;
  const core::Library& library_;
  const Interrupt& interrupt_;
  std::string text_;
  std::vector<core::Override> set_;
  core::Space space_;
  sim::Simulator simulator_;
  sim::Evaluator evaluator_;
  TuneResult result_;
  sim::Trials trials_;
  std::optional<sim::MostWork> most_work_;
  core::Travel travel_;                                     ///< as it is now
  std::map<std::string, std::string> not_comparable_;       ///< by key_of()
  std::vector<std::vector<std::int64_t>> rows_to_compare_;  ///< by axis
  std::vector<std::vector<std::int64_t>> other_rows_;       ///< likewise: all others
  bool nothing_to_compare_ = false;                         ///< all rows of an axis are others
  std::set<std::string> rejected_;                          ///< likewise
  std::array<std::optional<core::Time>, kCases> now_elsewhere_;
  bool any_slow_ = false;  ///< of what can be compared, something was stopped since it was slow
  std::optional<std::int64_t> best_;
  std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> curve_axes_;
};

/// The curve along the first axis that has an order.
core::Plot curve_plot(const TuneResult& result) {
  const AxisCurve& curve = result.curves.front();
  core::Plot plot;
  plot.title = result.now.summary.info().scenario + ", around the best setting";
  plot.x_title = curve.field;
  plot.y_title = "step time (ms)";
  plot.bytes = curve.field.find("bytes") != std::string::npos;
  core::Curve line{"step time", {}}, bound{"lower bound", {}, true}, now{"now", {}, true};
  for (const auto& [value, outcome] : curve.values) {
    plot.x.push_back(value);
    const bool done = outcome.status == Outcome::Status::kDone;
    line.y.push_back(done ? std::optional(core::to_ms(outcome.step)) : std::nullopt);
    bound.y.push_back(done && outcome.step_bound > core::Time() ? std::optional(core::to_ms(outcome.step_bound))
                                                                : std::nullopt);
    now.y.emplace_back(core::to_ms(result.now.outcome.step));
  }
  plot.curves = {line, now, bound};
  plot.best = core::Plot::Mark{0, curve.best, "best"};
  return plot;
}

/// All that was tried, in the order of the space.
void write_tried(Tuning& tuning, std::ostream& out) {
  for (const std::string& field : tuning.space().fields()) out << core::csv_cell(field) << ',';
  out << "status,stopped_early,compared,step_time_us\r\n";
  for (const auto& [point, outcome] : tuning.tried()) {
    for (const std::string& value : tuning.space().values(point)) out << core::csv_cell(value) << ',';
    const bool done = outcome.status == Outcome::Status::kDone;
    out << to_string(outcome.status) << ',' << (outcome.stopped ? 1 : 0) << ',' << (tuning.is_compared(point) ? 1 : 0)
        << ',' << (done ? fmt::format("{:.6f}", core::to_us(outcome.step)) : "") << "\r\n";
  }
}

}  // namespace

int tune(const TuneOptions& options, const Environment& environment) {
  const auto format = choice<Format>("--format", options.format, kFormats, parse_format);
  if (!format) return report(format.error());
  if (options.evaluations < 1)
    return report(Error::request({ProblemCode::kTooSmall, "--evaluations"}, "--evaluations must be at least 1"));
  if (options.threads < 0)
    return report(Error::request({ProblemCode::kTooSmall, "--threads"}, "--threads must be at least 0 (0: all cores)"));
  if (const auto name = check_plot(options.plot); !name) return report(name.error());
  const auto set = settings_of(options.scenario.set);
  if (!set) return report(set.error());
  const auto text = read_scenario_file(options.scenario.file);
  if (!text) return report(text.error());
  warn_of_old_form(*text, options.scenario.file);
  auto scenario = core::read_scenario(*text, options.scenario.file, environment.library, *set);
  if (!scenario) return report(scenario.error());
  auto axes = axes_of(options.points, options.over);
  std::vector<std::string> notes;
  std::optional<sim::MostWork> most_work;  // whoever names what is to vary waits for it
  if (axes && axes->empty()) {
    axes = core::usual_axes(*scenario);
    most_work = sim::most_work(*scenario);
    if (axes) {
      notes = sim::note_on_left_out(
          sim::leave_out_long_ones(*axes, {*text, options.scenario.file, *set}, environment.library, *most_work));
    }
  }
  if (!axes) return report(axes.error());
  core::SweepInfo info{std::string(core::version()), options.scenario.file, *text, options.scenario.set, *axes};
  auto space = core::Space::of(std::move(*axes));
  if (!space) return report(space.error());
  if (!options.plot.empty()) {
    const core::Tuner tuner(*space, {});
    bool any = false;
    for (std::size_t a = 0; a < space->axes().size(); ++a) any = any || tuner.is_ordered(a);
    if (!any)
      return report(Error::request({ProblemCode::kUnused, "--plot"},
                                   "--plot: no field has values in an order, so there is no curve to draw"));
  }
  const Interrupt interrupt;  // from before there is a file
  std::optional<core::SweepStore> store;
  if (!options.database.empty()) {
    auto opened = core::SweepStore::resume(options.database, info);
    if (!opened) return report(opened.error());
    store = std::move(*opened);
  }

  Tuning tuning(options, environment.library, std::move(*scenario), *text, *set, std::move(*space),
                store ? &*store : nullptr, std::move(notes), interrupt);
  if (most_work) tuning.leave_out_beyond(*most_work);
  const auto done = tuning.carry_out();
  if (!done) return report(done.error());
  if (!*done) {
    tell(options.database.empty()
             ? std::string("tutti: interrupted\n")
             : fmt::format("tutti: interrupted; what was tried is in {}, and the same command goes on from there\n",
                           options.database));
    return kRunFailed;
  }
  const TuneResult& result = tuning.result();
  const std::vector<std::string> inputs{options.scenario.file};
  if (!options.csv.empty()) {
    if (const auto written = write_file(options.csv, inputs, [&](std::ostream& out) { write_tried(tuning, out); });
        !written)
      return report(written.error());
  }
  if (!options.output.empty() && result.best && result.best->outcome.step > result.now.outcome.step) {
    tell(fmt::format("tutti: nothing better was found than what there is; {} is not written\n", options.output));
  } else if (!options.output.empty() && result.best) {
    const auto written =
        write_file(options.output, inputs, [&](std::ostream& out) { out << result.best->scenario.text; });
    if (!written) return report(written.error());
  }
  if (!options.plot.empty()) {
    if (result.curves.empty())
      return report(Error::run("--plot: there is no best setting, so there is nothing to draw"));
    const auto written = write_plot(options.plot, inputs, core::to_svg(curve_plot(result)));
    if (!written) return report(written.error());
  }
  return print_out(*format == Format::kJson ? tune_json(result) : tune_text(result));
}

}  // namespace tutti::tools
