#include "core/scenario/lower.h"

#include <algorithm>

#include "core/framework/byteps/byteps_reader.h"
#include "core/framework/tensorflow/all_reduce_spec_reader.h"
#include "core/framework/tensorflow/distribution.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/communicators_reader.h"
#include "core/scenario/link_checks.h"
#include "core/scenario/strategy_reader.h"

namespace tutti::core {
namespace {

class ScenarioLowering {
 public:
  explicit ScenarioLowering(WrittenScenario& written)
      : written_(written),
        problems_(written.problems),
        fields_(written.fields),
        message_(*written.message),
        scenario_(written.scenario) {}

  void lower() {
    if (!scenario_.cluster || !written_.strategy_known) return;
    lower_framework();
    for (const StrategyProblem& problem : problems_of(scenario_.strategy, *scenario_.cluster)) complain_about(problem);
    if (scenario_.strategy.spec) check_entries(*scenario_.strategy.spec);
    take_communicators();
    if (!problems_.empty()) return;
    auto plan = make_plan(scenario_.workload, scenario_.strategy, *scenario_.cluster, scenario_.communicators);
    if (!plan) return complain_about(plan.error());
    scenario_.plan = std::move(*plan);
    check_links(written_);
  }

 private:
  /// What a framework's strategy comes to on this cluster: an algorithm, servers, how packs are launched.
  void lower_framework() {
    if (scenario_.strategy.collective_all_reduce) {
      lower_collective_all_reduce(scenario_.strategy, *scenario_.cluster, std::ssize(scenario_.workload.gradients));
      take_what_is_asked(message_.strategy(), scenario_.strategy);
    }
    if (message_.strategy().distribution_case() != proto::Strategy::DISTRIBUTION_NOT_SET) {
      lower_distribution(message_.strategy(), *scenario_.cluster, fields_, scenario_.strategy);
      take_what_is_asked(message_.strategy(), scenario_.strategy);
    }
    if (is_byteps(message_.strategy()))
      lower_byteps(message_.strategy(), *scenario_.cluster, fields_, scenario_.strategy);
    if (scenario_.strategy.servers && scenario_.strategy.servers->updates && message_.workload().has_update_ms()) {
      fields_.complain_at(
          message_.workload(), "update_ms",
          "workload: update_ms: the devices that hold the variables update them, in {} passes over their "
          "memory; leave it out",
          kUpdatePasses);
    }
    if (problems_.empty()) take_reduce_to_device(message_.strategy(), *scenario_.cluster, fields_, scenario_.strategy);
  }

  void take_communicators() {
    if (message_.communicator_size() > 0)
      scenario_.communicators = communicators_from(message_, fields_, scenario_.strategy, *scenario_.cluster);
    const bool splits = std::any_of(scenario_.communicators.begin(), scenario_.communicators.end(),
                                    [](const Communicator& c) { return c.splits_model; });
    if (scenario_.strategy.spec && splits) {
      fields_.complain_at(
          message_.strategy(), "all_reduce_spec",
          "strategy: all_reduce_spec reduces over all replicas, which hold different parts of the model "
          "(splits_model); say algorithm: \"ring\" or \"nccl\" in its place");
    }
  }

  /// Taken literally, only those matter that get gradients: plan_by_spec() looks at them.
  void check_entries(const AllReduceSpec& spec) {
    if (spec.validation == SpecValidation::kLiteral) return;
    for (std::size_t e = 0; e < spec.entries.size(); ++e) {
      for (const SpecProblem& problem : problems_on(scenario_.strategy, e, *scenario_.cluster))
        core::complain_about(problem, spec, message_.strategy(), fields_);
    }
  }

  void complain_about(const StrategyProblem& problem) {
    if (problem.field.empty()) return fields_.complain(message_, "{}", problem.text);
    fields_.complain_at(message_.strategy(), problem.field, "strategy: {}: {}", problem.field, problem.text);
  }

  WrittenScenario& written_;
  Problems& problems_;
  Fields& fields_;
  const proto::Scenario& message_;
  Scenario& scenario_;
};

}  // namespace

void lower(WrittenScenario& written) { ScenarioLowering(written).lower(); }

}  // namespace tutti::core
