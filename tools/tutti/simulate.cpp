#include "tools/tutti/simulate.h"

#include "sim/simulator.h"

namespace tutti::tools {
namespace {

std::optional<sim::Folds> parse_folds(const std::string& name) {
  if (name == "auto") return sim::Folds::kWhereItPays;
  if (name == "on") return sim::Folds::kAlways;
  if (name == "off") return sim::Folds::kNever;
  return std::nullopt;
}

}  // namespace

int simulate(const SimulateOptions& options, const Environment& environment) {
  const auto folds = choice<sim::Folds>("--fold", options.fold, "auto, on, off", parse_folds);
  if (!folds) return report(folds.error());
  sim::Simulator simulator(*folds);
  return execute(
      simulator, "simulating", options, environment, [&options](core::RunOptions& run) -> core::Expected<void> {
        if (options.seed) run.seed = *options.seed;
        if (options.network_model.empty()) return {};
        const auto model =
            choice<core::NetworkModel>("--network-model", options.network_model, "fifo, ideal, fair",
                                       [](const std::string& name) { return core::parse_network_model(name); });
        if (!model) return tl::make_unexpected(model.error());
        run.network_model = *model;
        return {};
      });
}

}  // namespace tutti::tools
