#include "sim/sweep/evaluator.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "core/timeline/summary.h"
#include "sim/run/asynchrony.h"
#include "sim/simulator.h"

namespace tutti::sim {

using core::Expected;
using core::Outcome;
using core::Scenario;

namespace {

/// Observes the training steps of a run, and stops the run with RunControl::until if they are too
/// slow.
class StepMonitor : public core::Summary {
 public:
  StepMonitor(core::Time max_step_time, const Scenario& scenario, core::RunControl& control)
      : control_(control),
        max_step_time_(max_step_time),
        expected_(scenario.run.steps),
        until_steady_(continues_until_steady(scenario)) {
    control_.until = until();
  }

  void step(const core::StepRecord& step) override {
    Summary::step(step);
    // Decide only after at least two steps, because the first step differs from later ones.
    if (!all_ended() && step_count() >= (until_steady_ ? kEnough : 2) &&
        step_time() > max_step_time_)
      control_.until = core::Time();
  }
  [[nodiscard]] bool all_ended() const {
    return step_count() >= expected_ && (!until_steady_ || steady_state().has_value());
  }

 private:
  /// Returns the time limit of the run: the virtual time at which all steps have ended if they are
  /// not too slow. Unlike the check in step(), this limit also stops a run during a single long
  /// step.
  [[nodiscard]] core::Time until() const {
    if (until_steady_) return core::kNever;
    return max_step_time_.count() > core::kNever.count() / expected_ ? core::kNever
                                                                     : max_step_time_ * expected_;
  }

  // Number of steps after which the step time can be estimated, even without a steady state.
  static constexpr std::int64_t kEnough = 16;

  core::RunControl& control_;
  core::Time max_step_time_;
  std::int32_t expected_;
  bool until_steady_;
};

/// Returns the outcome of a run that was stopped because its steps were too slow.
Outcome stopped(const StepMonitor& watch, core::Time max_step_time) {
  Outcome outcome;
  if (!watch.steps().empty()) outcome = core::outcome_of(watch);
  outcome.step = std::max(outcome.step, max_step_time);
  outcome.stopped = true;
  return outcome;
}

}  // namespace

Outcome out_of_memory() {
  return core::outcome_of(core::Error::run(
      {core::ProblemCode::kOutOfMemory},
      "out of memory; use fewer workers or training steps, or fewer threads (--threads)"));
}

Evaluator::Evaluator(BaseScenario base, const core::Library& library, core::Executor& executor,
                     Shares shares)
    : base_(std::move(base)), library_(library), executor_(executor), shares_(shares) {}

std::size_t median_seed(const std::vector<Outcome>& outcomes) {
  std::vector<std::size_t> order(outcomes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return outcomes[a].step < outcomes[b].step;
  });
  return order[(order.size() - 1) / 2];
}

std::optional<Outcome> Evaluator::at(const std::vector<core::Override>& changes,
                                     const std::atomic<bool>* cancel, core::Time max_step_time) {
  if (seeds_.empty()) return once(changes, cancel, max_step_time);
  const auto outcomes = at_each_seed(changes, cancel, max_step_time);
  if (!outcomes) return std::nullopt;
  if (outcomes->back().status != Outcome::Status::kDone) return outcomes->back();
  return (*outcomes)[median_seed(*outcomes)];
}

std::optional<std::vector<Outcome>> Evaluator::at_each_seed(
    const std::vector<core::Override>& changes, const std::atomic<bool>* cancel,
    core::Time max_step_time) {
  std::vector<Outcome> outcomes;
  for (const core::Override& seed : seeds_) {
    std::vector<core::Override> with_seed = changes;
    with_seed.push_back(seed);
    auto outcome = once(with_seed, cancel, max_step_time);
    if (!outcome) return std::nullopt;
    outcomes.push_back(std::move(*outcome));
    if (outcomes.back().status != Outcome::Status::kDone) break;
  }
  return outcomes;
}

std::optional<Outcome> Evaluator::once(const std::vector<core::Override>& changes,
                                       const std::atomic<bool>* cancel,
                                       core::Time max_step_time) try {
  return simulate(changes, cancel, max_step_time);
} catch (const std::bad_alloc&) {  // everything that the simulation has allocated is free again
  return out_of_memory();
}

std::optional<Outcome> Evaluator::simulate(const std::vector<core::Override>& changes,
                                           const std::atomic<bool>* cancel,
                                           core::Time max_step_time) {
  std::vector<core::Override> all = base_.set;
  all.insert(all.end(), changes.begin(), changes.end());
  const Expected<Scenario> scenario = core::read_scenario(base_.text, base_.path, library_, all);
  if (cancel && cancel->load()) return std::nullopt;
  if (!scenario) return core::outcome_of(scenario.error());
  remember_files(*scenario);

  Key key;
  for (const core::Override& change : changes) {
    if (!core::decides_packing_only(change.path)) key.first += change.label + '\n';
  }
  key.second = core::plan_key(scenario->plan);
  if (shares_ == Shares::kYes) {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }

  const auto folds = max_work_ ? max_work_->folds(*scenario) : Folds::kAutomatic;
  const Outcome left_out = core::outcome_of(core::Error::request(kTooLong));
  if (!folds) return left_out;

  core::RunControl control;
  control.cancel = cancel;
  StepMonitor summary(max_step_time, *scenario, control);
  core::RecordOptions record;
  record.level = core::RecordLevel::kNone;
  Simulator folded(Folds::kAlways);
  core::Executor& executor = *folds == Folds::kAlways ? folded : executor_;
  const Expected<void> ran = executor.run(*scenario, record, control, summary);
  if (cancel && cancel->load()) return std::nullopt;
  // The scenario looked symmetric, but the simulation has shown that one worker cannot represent
  // all workers.
  if (!ran && cannot_fold(ran.error())) return left_out;
  const Outcome outcome = !ran                  ? core::outcome_of(ran.error())
                          : summary.all_ended() ? core::outcome_of(summary)
                                                : stopped(summary, max_step_time);
  const std::lock_guard lock(mutex_);
  ++simulated_;
  if (!outcome.stopped) known_.emplace(std::move(key), outcome);
  return outcome;
}

void Evaluator::remember_files(const Scenario& scenario) {
  const std::lock_guard lock(mutex_);
  for (const core::Library::File& file : scenario.files) {
    if (seen_files_.emplace(file.kind, file.name).second) new_files_.push_back(file);
  }
}

std::vector<core::Library::File> Evaluator::new_files() {
  const std::lock_guard lock(mutex_);
  return std::exchange(new_files_, {});
}

std::int64_t Evaluator::simulated() const {
  const std::lock_guard lock(mutex_);
  return simulated_;
}

}  // namespace tutti::sim
