#pragma once

// Helpers for the property tests of NCCL's times: scenarios with a few gradients in which these
// times can be observed, and the prediction of `tutti perf` for a single collective.

#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/cluster/machine_file.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/machine_communicator.h"
#include "core/nccl/ofi_plugin.h"
#include "core/nccl/search/uniform_graphs.h"
#include "core/nccl/system_of_machine.h"
#include "core/scenario/nccl_model.h"
#include "core/timeline/summary.h"
#include "sim/simulator.h"
#include "tests/sim/simulated.h"
#include "tests/support/shipped.h"

namespace tutti::test {

struct Where {
  std::string machine;
  int nodes = 1;
  int gpus = 8;
};

/// Returns a scenario. `strategy`: the fields of the strategy, including the algorithm.
inline std::string scenario_on(const Where& where, const std::string& variables,
                               const std::string& strategy, const std::string& run = "steps: 1") {
  return fmt::format(
      "cluster {{ workers {{ machine: \"{}\" count: {} replicas: {} }} {} }}\nworkload {{ {} "
      "forward_ms: 0 update_ms: "
      "0 }}\nstrategy {{ {} }}\nrun {{ interference: OFF {} }}",
      where.machine, where.nodes, where.gpus,
      where.nodes > 1 ? "network { kind: ONE_SWITCH latency_us: 1.5 }" : "", variables, strategy,
      run);
}

inline std::string variable(const std::string& name, std::int64_t bytes, double backward_ms = 0) {
  return fmt::format("variable {{ name: \"{}\" shape: {} backward_ms: {} }} ", name, bytes / 4,
                     backward_ms);
}

inline core::Summary summary_of(const core::Scenario& scenario,
                                sim::Folds folds = sim::Folds::kNever,
                                sim::SkipRepeats skip_repeats = sim::SkipRepeats::kNever) {
  auto summary = simulated(scenario, folds, skip_repeats);
  EXPECT_TRUE(summary);
  return summary ? *std::move(summary) : core::Summary();
}

inline core::Time took(const core::PackRecord& pack) { return pack.end - pack.last_start; }

/// Returns the predicted time in µs, computed in the same steps as `tutti perf --cluster`, from the
/// machine file on.
inline double predicted_us(const Where& where, std::int64_t bytes,
                           core::CollectiveKind kind = core::CollectiveKind::kAllReduce) {
  namespace nccl = core::nccl;
  const auto file = shipped_library().read(core::Library::Kind::kMachine, where.machine, "");
  const auto machine = core::read_machine((*file)->text, (*file)->path);
  auto system = nccl::system_of(**machine, where.nodes, where.gpus, std::nullopt);
  EXPECT_TRUE(system) << (system ? "" : system.error().message());
  nccl::Settings settings;
  nccl::see_network(*system, nccl::kDefaultVersion, settings);
  const auto known = nccl::on_machines(**machine, *system, std::nullopt, "network", settings,
                                       nccl::kDefaultVersion);
  EXPECT_TRUE(known) << (known ? "" : known.error().message());
  const auto parameters = nccl::Parameters::load(shipped_library().folder());
  const auto function = nccl::function_of(kind);
  if (!function)
    return nccl::predict_sends(known->system, known->communicator, kind, bytes, *parameters).us();
  const nccl::Operation operation{*function, bytes};
  const auto choice =
      nccl::choose(known->communicator, nccl::tune(known->communicator, settings), operation);
  return nccl::predict(known->system, known->communicator, operation, *choice, *parameters).us();
}

}  // namespace tutti::test
