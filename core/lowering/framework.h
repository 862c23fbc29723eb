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

/// What a framework packs gradients by: it adds buckets in the order in which it launches them, and says what else its plan has.
class PackMaker {
 public:
  virtual ~PackMaker() = default;
  /// Gradients in the types in which they are packed.
  [[nodiscard]] virtual const Workload& workload() const = 0;
  [[nodiscard]] virtual const Cluster& cluster() const = 0;
  /// Among whom each gradient is reduced.
  [[nodiscard]] virtual std::int64_t replicas() const = 0;
  virtual void add(Bucket bucket) = 0;
  /// For what concerns all packs: Plan::computation_waits, Plan::gate, Plan::notes.
  [[nodiscard]] virtual Plan& plan() = 0;
};

/// What a strategy is lowered on.
struct LoweringTarget {
  const Workload& workload;
  const Cluster& cluster;
};

/// What a plan is made of.
struct PlanInput {
  const Workload& workload;
  const Strategy& strategy;
  const Cluster& cluster;
  const std::vector<Communicator>& communicators;
};

/// Values of a field of a scenario that are worth trying.
struct TriedValues {
  std::string field;  ///< "strategy.horovod.cycle_time_ms"
  std::vector<std::string> values;
};

/// A framework, with the options that a scenario gives it. What it differs in is what it makes of a strategy and what its plans hold;
/// nobody asks which framework it is. Each has a folder in core/framework, and a line in its registry.
class Framework {
 public:
  virtual ~Framework() = default;

  /// By which scenarios name it: "pytorch_ddp".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// "PyTorch DDP, buckets of 25 MiB, the first of 1 MiB"; empty: packs are made by the strategy's own fields.
  [[nodiscard]] virtual std::string describe_packs() const { return {}; }

  /// It chooses Strategy::algorithm itself once cluster and gradients are known (lower() does); else the scenario says it.
  [[nodiscard]] virtual bool chooses_algorithm() const { return false; }

  /// Replaces variables by what the framework keeps in their place. Called before lower(). ERRORS: as of lower().
  virtual void partition(Workload&, Complaints&) const {}

  /// Makes of `strategy`, which has what the scenario says beside the framework, what the framework does with these gradients on this
  /// cluster: algorithm, servers, launches, updates, rules. ERRORS (complaints at the fields): clusters and options that do not fit.
  virtual void lower(const LoweringTarget& target, Strategy& strategy, Complaints& complaints) const = 0;

  /// Makes the packs. False: they are made by the strategy's own fields.
  [[nodiscard]] virtual bool pack(PackMaker&) const { return false; }

  /// A plan that has another form than packs of gradients that are reduced, or what keeps it from being made; nothing: it has that form.
  [[nodiscard]] virtual std::optional<tl::expected<Plan, StrategyProblem>> plan(const PlanInput&) const {
    return std::nullopt;
  }

  /// Settings that are worth trying, for gradients like these; nothing: those of the strategy's own fields; an empty list: there are
  /// none.
  [[nodiscard]] virtual std::optional<std::vector<TriedValues>> tried_values(const Workload&) const {
    return std::nullopt;
  }
};

/// A framework whose options are `Options`.
template <class Options>
class FrameworkOf : public Framework {
 public:
  explicit FrameworkOf(Options options) : options_(std::move(options)) {}
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  Options options_;
};

/// The options of a strategy's framework, if they are of this kind; else null. For the framework's own folder, and for tests.
template <class Options>
const Options* options_of(const Strategy& strategy) {
  const auto* one = dynamic_cast<const FrameworkOf<Options>*>(strategy.framework.get());
  return one ? &one->options() : nullptr;
}

}  // namespace tutti::core
