#include "tools/tutti/simulate.h"

#include "sim/simulator.h"

namespace tutti::tools {
int simulate(const SimulateOptions& options, const Environment& environment) {
  sim::Simulator simulator;
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
