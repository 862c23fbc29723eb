#include "tools/tutti/tune.h"

#include <algorithm>
#include <map>

#include "core/advice/extrapolation.h"
#include "core/advice/what_if.h"
#include "core/base/file.h"
#include "core/base/format.h"
#include "core/base/version.h"
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

/// Values to each side of the best along an axis.
constexpr std::int64_t kAround = 4;
/// Simulations of other clusters: four, of two settings each.
constexpr std::int64_t kOtherClusters = 8;

/// Whether NCCL carries out packs in times of its own.
bool by_nccl(const core::Scenario& scenario) {
  return std::any_of(scenario.plan.packs.begin(), scenario.plan.packs.end(),
                     [](const core::Pack& pack) { return !core::nccl_times(pack.collective).empty(); });
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
  void leave_out_beyond(const sim::MostWork& work) { evaluator_.leave_out_beyond(work); }

  /// ERRORS: the scenario as it is cannot be run. False: interrupted.
  Expected<bool> carry_out() {
    if (auto told = tell_of(result_.now, "simulating it as it is"); !told) return tl::make_unexpected(told.error());
    if (interrupt_.happened()) return false;
    if (const auto taken = trials_.take_over(library_); !taken) return tl::make_unexpected(taken.error());
    if (auto found = search(); !found || !*found) return found;
    if (!result_.best) {
      result_.advice.why = result_.stopped > 0
                               ? fmt::format("whatever was tried takes at least {} longer than what there is",
                                             core::show_share(sim::kHopeless - 1))
                               : "nothing that was tried can be; see what each field may be with tutti sweep";
      return true;
    }
    if (auto added = add_curves(); !added || !*added) return added;
    if (auto added = add_sensitivity(); !added) return added;
    result_.advice = core::recommend(result_.now.outcome, result_.best->outcome);
    result_.snippets = core::snippets_of(result_.best->scenario);
    if (by_nccl(result_.now.scenario) || by_nccl(result_.best->scenario))
      result_.notes.emplace_back(core::kNcclIsMeasured);
    for (std::string& note : core::extrapolations(result_.best->scenario)) result_.notes.push_back(std::move(note));
    for (const std::string& note : result_.best->summary.info().notes) result_.notes.push_back(note);
    return !interrupt_.happened();
  }

  [[nodiscard]] const TuneResult& result() const { return result_; }
  [[nodiscard]] const core::Space& space() const { return space_; }
  [[nodiscard]] const std::map<std::int64_t, Outcome>& tried() const { return trials_.tried(); }

 private:
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
    for (std::size_t a = 0; a < space_.axes().size(); ++a) wanted += tuner.is_ordered(a) ? 2 * kAround : 0;
    return std::min(options_.evaluations / 2, wanted);
  }

  /// False: interrupted.
  Expected<bool> search() {
    Progress progress("tuning");
    const std::int64_t at_most = options_.evaluations - kept_from_search();
    core::Tuner tuner(space_, {at_most, options_.seed, core::TunerOptions().enough, least_step()});
    const auto most = static_cast<double>(std::min(at_most, space_.size()));
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
    result_.promised = tuner.told() < space_.size() ? tuner.promised() : 0;
    // What was stopped is no best: by then it took longer than what there is.
    if (!tuner.best() || tried().at(*tuner.best()).stopped) return true;
    best_ = *tuner.best();
    result_.values = space_.values(best_);
    for (std::size_t a = 0; a < space_.axes().size(); ++a) {
      if (tuner.is_ordered(a)) curve_axes_.emplace_back(a, tuner.in_order(a));
    }
    auto scenario = with_best();
    if (!scenario) return true;
    result_.best.emplace();
    result_.best->scenario = std::move(*scenario);
    return tell_of(*result_.best, "simulating the best").has_value() && !interrupt_.happened();
  }

  Expected<core::Scenario> with_best() {
    std::vector<core::Override> all = set_;
    for (core::Override& change : space_.overrides(best_)) all.push_back(std::move(change));
    return core::read_scenario(text_, options_.scenario.file, library_, all);
  }

  /// The values around the best along an axis, as many as the evaluations are enough for; from one place in `order` to another.
  std::pair<std::int64_t, std::int64_t> around_best(std::size_t axis, const std::vector<std::int64_t>& order,
                                                    std::int64_t at) {
    std::vector<std::int64_t> rows = space_.rows(best_);
    std::int64_t spare = std::max<std::int64_t>(0, left() - kOtherClusters);
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

  /// Some values to each side of the best, along every axis that has an order. False: interrupted.
  Expected<bool> add_curves() {
    for (const auto& [axis, order] : curve_axes_) {
      std::vector<std::int64_t> rows = space_.rows(best_);
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
    }
    return true;
  }

  /// Both settings on a cluster whose links are better or worse. False: interrupted.
  Expected<bool> add_sensitivity() {
    struct Case {
      const char* what;
      core::Scaled scaled;
      double factor;
    };
    constexpr Case kCases[] = {{"half the bandwidth of all links", core::Scaled::kBandwidth, 0.5},
                               {"twice the bandwidth of all links", core::Scaled::kBandwidth, 2},
                               {"half the latency of all links", core::Scaled::kLatency, 0.5},
                               {"twice the latency of all links", core::Scaled::kLatency, 2}};
    for (const Case& one : kCases) {
      if (left() < 2) {
        result_.notes.push_back(fmt::format("better and worse links were not all tried: --evaluations {} are used up",
                                            options_.evaluations));
        break;
      }
      core::Time steps[2];
      bool known = true;
      for (int which = 0; which < 2; ++which) {
        const core::Scenario& scenario = which == 0 ? result_.now.scenario : result_.best->scenario;
        const auto text = core::with_scaled_links(scenario, one.scaled, one.factor, library_);
        if (!text) return tl::make_unexpected(text.error());
        Told told;
        auto scaled = core::read_scenario(*text, scenario.file, library_);
        known = known && scaled.has_value();
        if (!known) break;
        told.scenario = std::move(*scaled);
        known = tell_of(told, "simulating other clusters").has_value();
        if (interrupt_.happened()) return false;
        steps[which] = told.outcome.step;
        ++result_.beside;
      }
      if (known) result_.sensitivity.push_back({one.what, steps[0], steps[1]});
    }
    return true;
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
  std::int64_t best_ = 0;
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
  core::Curve line{"step time", {}}, bound{"least possible", {}, true}, now{"now", {}, true};
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
void write_tried(const Tuning& tuning, std::ostream& out) {
  for (const std::string& field : tuning.space().fields()) out << core::csv_cell(field) << ',';
  out << "status,stopped_early,step_time_us\r\n";
  for (const auto& [point, outcome] : tuning.tried()) {
    for (const std::string& value : tuning.space().values(point)) out << core::csv_cell(value) << ',';
    const bool done = outcome.status == Outcome::Status::kDone;
    out << to_string(outcome.status) << ',' << (outcome.stopped ? 1 : 0) << ','
        << (done ? fmt::format("{:.6f}", core::to_us(outcome.step)) : "") << "\r\n";
  }
}

}  // namespace

int tune(const TuneOptions& options, const Environment& environment) {
  const auto format = choice<Format>("--format", options.format, kFormats, parse_format);
  if (!format) return report(format.error());
  if (options.evaluations < 1) return report(Error::request("--evaluations must be at least 1"));
  if (options.threads < 0) return report(Error::request("--threads must be at least 0 (0: all cores)"));
  if (const auto name = check_plot(options.plot); !name) return report(name.error());
  const auto set = settings_of(options.scenario.set);
  if (!set) return report(set.error());
  const auto text = read_scenario_file(options.scenario.file);
  if (!text) return report(text.error());
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
    if (!any) return report(Error::request("--plot: no field has values in an order, so there is no curve to draw"));
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
