#include "tools/tutti/simulate.h"

#include <algorithm>
#include <future>

#include "core/advice/extrapolation.h"
#include "core/scenario/custom.h"
#include "core/scenario/nccl_model.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"

namespace tutti::tools {
namespace {

template <class How>
std::optional<How> auto_on_off(const std::string& name) {
  if (name == "auto") return How::kAutomatic;
  if (name == "on") return How::kAlways;
  if (name == "off") return How::kNever;
  return std::nullopt;
}

/// A summary of a run that omits the links, because there may be millions of links.
struct StepTimes : core::Summary {
  void link(const core::LinkRecord&) override {}
};

/// Returns the step times for two cases: NCCL's times at the lower ends, and at the upper ends, of
/// their 80 % error bands. Needs two more simulations.
std::optional<StepBand> band_of(sim::Simulator& simulator, const core::Scenario& scenario,
                                const core::RunControl& control) {
  const auto step_time = [&](core::BandEnd end) -> std::optional<core::Time> {
    core::Scenario other = scenario;
    if (!core::take_band_end(other, end)) return std::nullopt;
    core::RecordOptions record;
    record.level = core::RecordLevel::kNone;
    core::RunControl quiet;
    quiet.cancel = control.cancel;
    StepTimes summary;
    const auto ran = simulator.run(other, record, quiet, summary);
    const bool whole = ran && summary.step_count() >= scenario.run.steps;
    return whole ? std::optional(summary.step_time()) : std::nullopt;
  };
  // Run both simulations at the same time, since each may take as long as the original simulation.
  auto others = std::async(std::launch::async, step_time, core::BandEnd::kLow);
  const auto high = step_time(core::BandEnd::kHigh);
  const auto low = others.get();
  if (!low || !high) return std::nullopt;
  // Take the minimum and the maximum of both runs. If collectives take longer, links may serve
  // messages in another order, so that the step even ends earlier.
  return StepBand{std::min(*low, *high), std::max(*low, *high)};
}

/// Adds a note with the error of the scenario's algorithm, if the algorithm is wrong. ERRORS: the
/// scenario has no algorithm of a file.
core::Expected<void> note_errors(core::Scenario& scenario) {
  if (!scenario.strategy.custom)
    return refused(
        {core::ProblemCode::kUnused, "--unproved"},
        "--unproved applies only to algorithms of files (strategy.custom); remove --unproved");
  const auto proved = core::prove_custom(scenario, core::CustomProof::kQuick);
  if (!proved)
    scenario.plan.notes.add("custom.wrong", "{}", proved.error().problems().front().text);
  return {};
}

}  // namespace

int simulate(const SimulateOptions& options, const Environment& environment) {
  const auto folds =
      choice<sim::Folds>("--fold", options.fold, "auto, on, off", auto_on_off<sim::Folds>);
  if (!folds) return report(folds.error());
  const auto skip_repeats = choice<sim::SkipRepeats>(
      "--remember", options.remember, "auto, on, off", auto_on_off<sim::SkipRepeats>);
  if (!skip_repeats) return report(skip_repeats.error());
  sim::Simulator simulator(*folds, *skip_repeats,
                           options.unproved ? sim::Proof::kNone : sim::Proof::kQuick);
  const AdjustRun adjust = [&options](core::Scenario& scenario) -> core::Expected<void> {
    core::RunOptions& run = scenario.run;
    if (options.unproved) {
      if (auto noted = note_errors(scenario); !noted) return noted;
    }
    if (!options.nccl.empty()) {
      const auto nccl = choice<core::NcclModel>("--nccl", options.nccl, "calibrated, rings",
                                                core::parse_nccl_model);
      if (!nccl) return failed(nccl);
      if (*nccl == core::NcclModel::kRings) core::simulate_as_rings(scenario);
      if (*nccl != run.nccl)
        return refused({core::ProblemCode::kConflict, "--nccl"},
                       "--nccl calibrated: the scenario has run {{ nccl: RINGS }}; use --set "
                       "run.nccl=CALIBRATED");
    }
    if (options.seed) run.seed = *options.seed;
    if (!options.interference.empty()) {
      const auto interference = choice<core::Interference>(
          "--interference", options.interference, "auto, on, off",
          [](const std::string& name) { return core::parse_interference(name); });
      if (!interference) return failed(interference);
      run.interference = *interference;
    }
    if (options.network_model.empty()) return {};
    const auto model = choice<core::NetworkModel>(
        "--network-model", options.network_model, "fifo, ideal, fair",
        [](const std::string& name) { return core::parse_network_model(name); });
    if (!model) return failed(model);
    run.network_model = *model;
    return {};
  };
  const auto band = [&](const core::Scenario& scenario, const core::RunControl& control) {
    return band_of(simulator, scenario, control);
  };
  return execute(simulator, "simulating", options, environment, adjust,
                 {core::extrapolations, band});
}

}  // namespace tutti::tools
