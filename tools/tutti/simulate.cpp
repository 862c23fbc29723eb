#include "tools/tutti/simulate.h"

#include "sim/simulator.h"

namespace tutti::tools {
namespace {

std::optional<core::NetworkModel> parse_model(const std::string& name) {
  if (name == "fifo") return core::NetworkModel::kFifo;
  if (name == "ideal") return core::NetworkModel::kIdeal;
  return std::nullopt;
}

}  // namespace

int simulate(const SimulateOptions& options, const Environment& environment) {
  sim::Simulator simulator;
  return execute(simulator, "simulating", options, environment,
                 [&options](core::RunOptions& run) -> core::Expected<void> {
                   if (options.seed) run.seed = *options.seed;
                   if (options.network_model.empty()) return {};
                   const auto model =
                       choice<core::NetworkModel>("--network-model", options.network_model, "fifo, ideal", parse_model);
                   if (!model) return tl::make_unexpected(model.error());
                   run.network_model = *model;
                   return {};
                 });
}

}  // namespace tutti::tools
