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

/// The interface through which a framework makes its packs: it adds buckets in the order in which
/// it launches them, and sets the other parts of its plan.
class PackMaker {
 public:
  virtual ~PackMaker() = default;
  /// The gradients in the types in which they are packed.
  [[nodiscard]] virtual const Workload& workload() const = 0;
  [[nodiscard]] virtual const Cluster& cluster() const = 0;
  /// The number of replicas that reduce each gradient.
  [[nodiscard]] virtual std::int64_t replicas() const = 0;
  virtual void add(Bucket bucket) = 0;
  /// The plan, to set what concerns all packs: Plan::computation_waits, Plan::gate, Plan::notes.
  [[nodiscard]] virtual Plan& plan() = 0;
};

/// The workload and cluster for which a strategy is lowered.
struct LoweringTarget {
  const Workload& workload;
  const Cluster& cluster;
};

/// The input of a plan.
struct PlanInput {
  const Workload& workload;
  const Strategy& strategy;
  const Cluster& cluster;
  const std::vector<Communicator>& communicators;
};

/// Values of a scenario's field that are worth trying.
struct TriedValues {
  std::string field;  ///< for example "strategy.horovod.cycle_time_ms"
  std::vector<std::string> values;
};

/// A framework with the options from a scenario. Its virtual functions capture all differences
/// between frameworks, so that no other code distinguishes them. Each framework has a folder in
/// core/framework and an entry in its registry.
class Framework {
 public:
  virtual ~Framework() = default;

  /// Returns the name in scenarios: "pytorch_ddp".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Describes its packing: "PyTorch DDP, buckets of 25 MiB, the first of 1 MiB"; empty: the
  /// strategy's own fields apply.
  [[nodiscard]] virtual std::string describe_packs() const { return {}; }

  /// True if lower() sets Strategy::algorithm from the cluster and the gradients; false if the
  /// scenario sets it.
  [[nodiscard]] virtual bool chooses_algorithm() const { return false; }

  /// Replaces variables by what the framework keeps in their place. Called before lower(). ERRORS:
  /// as of lower().
  virtual void partition(Workload&, Complaints&) const {}

  /// Makes of `strategy`, which has what the scenario says beside the framework, what the framework
  /// does with these gradients on this cluster: algorithm, servers, launches, updates, rules.
  /// ERRORS (complaints at the fields): clusters and options that do not fit.
  virtual void lower(const LoweringTarget& target, Strategy& strategy,
                     Complaints& complaints) const = 0;

  /// Makes the packs. Returns false if the strategy's own fields apply.
  [[nodiscard]] virtual bool pack(PackMaker&) const { return false; }

  /// Makes a plan that does not consist of packs of reduced gradients, or returns why it cannot;
  /// nullopt: the usual form.
  [[nodiscard]] virtual std::optional<tl::expected<Plan, StrategyProblem>> plan(
      const PlanInput&) const {
    return std::nullopt;
  }

  /// Returns settings that are worth trying for these gradients; nullopt: those of the strategy's
  /// own fields; an empty list: none.
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

/// Returns the options of a strategy's framework if they have this type; else null. For the
/// framework's own folder and tests.
template <class Options>
const Options* options_of(const Strategy& strategy) {
  const auto* one = dynamic_cast<const FrameworkOf<Options>*>(strategy.framework.get());
  return one ? &one->options() : nullptr;
}

}  // namespace tutti::core
