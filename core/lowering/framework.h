#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/lowering/plan.h"
#include "core/text/places.h"

namespace tutti::core {

/// The interface through which a framework makes its packs. The framework adds its buckets in
/// launch order, and sets the fields of the plan that concern all packs.
class PackMaker {
 public:
  virtual ~PackMaker() = default;
  /// The workload, whose gradients have the data types in which they are packed.
  [[nodiscard]] virtual const Workload& workload() const = 0;
  [[nodiscard]] virtual const Cluster& cluster() const = 0;
  /// The number of replicas that reduce each gradient.
  [[nodiscard]] virtual std::int64_t replicas() const = 0;
  virtual void add(Bucket bucket) = 0;
  /// The plan, in which the framework sets the fields that concern all packs:
  /// Plan::computation_waits, Plan::gate, Plan::notes.
  [[nodiscard]] virtual Plan& plan() = 0;
};

/// The workload and the cluster for which a strategy is lowered.
struct LoweringTarget {
  const Workload& workload;
  const Cluster& cluster;
};

/// The input from which a plan is made.
struct PlanInput {
  const Workload& workload;
  const Strategy& strategy;
  const Cluster& cluster;
  const std::vector<Communicator>& communicators;
};

/// A scenario's field and the values of this field that tuning tries.
struct TriedValues {
  std::string field;  ///< for example "strategy.horovod.cycle_time_ms"
  std::vector<std::string> values;
};

/// A framework with the options from a scenario. All differences between frameworks are in the
/// virtual functions of this class; no other code distinguishes frameworks. Each framework has a
/// folder in core/framework and an entry in the registry in that folder.
class Framework {
 public:
  virtual ~Framework() = default;

  /// Returns the framework's name in scenarios: "pytorch_ddp".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Returns a description of how the framework packs gradients: "PyTorch DDP, buckets of 25 MiB,
  /// the first of 1 MiB". The description is empty if the strategy's own fields determine the
  /// packs.
  [[nodiscard]] virtual std::string describe_packs() const { return {}; }

  /// True if the framework's lower() sets Strategy::algorithm; false if the scenario sets the
  /// algorithm.
  [[nodiscard]] virtual bool chooses_algorithm() const { return false; }

  /// Replaces each variable by the variables that the framework stores instead, for example if it
  /// divides a variable into parts. Called before lower().
  /// ERRORS: as for lower().
  virtual void partition(Workload&, Complaints&) const {}

  /// Sets the fields of `strategy` that the framework determines for these gradients on this
  /// cluster: for example the algorithm, the servers, and the rules for launches and updates. On
  /// entry, `strategy` has the settings of the scenario's other fields.
  /// ERRORS (complaints at the fields): the framework does not support the cluster, or its options
  /// do not fit the cluster.
  virtual void lower(const LoweringTarget& target, Strategy& strategy,
                     Complaints& complaints) const = 0;

  /// Makes the packs. Returns false if the strategy's own fields determine the packs.
  [[nodiscard]] virtual bool pack(PackMaker&) const { return false; }

  /// Makes the whole plan, for frameworks that do not reduce packs of gradients. Returns an error
  /// if the framework cannot make a plan from this input, and nullopt if the framework makes its
  /// plan by pack() instead.
  [[nodiscard]] virtual std::optional<tl::expected<Plan, StrategyProblem>> plan(
      const PlanInput&) const {
    return std::nullopt;
  }

  /// Returns the settings of the framework that tuning tries for these gradients; an empty list
  /// means that tuning has nothing to try. Returns nullopt if tuning tries the strategy's own
  /// fields.
  [[nodiscard]] virtual std::optional<std::vector<TriedValues>> tried_values(
      const Workload&) const {
    return std::nullopt;
  }
};

/// A framework with options of type `Options`.
template <class Options>
class FrameworkOf : public Framework {
 public:
  explicit FrameworkOf(Options options) : options_(std::move(options)) {}
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  Options options_;
};

/// Returns the options of a strategy's framework if they have type `Options`; otherwise null. Only
/// the framework's own folder and tests use this function.
template <class Options>
const Options* options_of(const Strategy& strategy) {
  const auto* one = dynamic_cast<const FrameworkOf<Options>*>(strategy.framework.get());
  return one ? &one->options() : nullptr;
}

}  // namespace tutti::core
