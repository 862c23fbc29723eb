#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/gate/gate.h"

namespace tutti::core {

/// The settings of an executor (the simulator or a real run) for the rounds of its gates.
struct GateRounds {
  /// The cycle time of the run. Set if the run uses another time scale than the rule; nullopt: the
  /// run uses the cycle time of the rule.
  std::optional<Time> cycle = std::nullopt;
  /// True if the executor skips rounds without ready items. The gate assumes that each skipped
  /// round takes the cycle time or GateRule::agreement(), whichever is longer.
  bool skip_idle = false;
};

/// The gate policy of a plan, with its settings. A rule makes the gates of a run and states the
/// properties of the policy. Other code does not distinguish policies.
class GateRule {
 public:
  virtual ~GateRule() = default;

  [[nodiscard]] virtual GateScope scope() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Gate> make(GateItems items, GateMembers members,
                                                   const GateRounds& rounds) const = 0;
  /// True if items may be fused. If true, the collectives of fused items, and the durations of
  /// these collectives, are computed at run time.
  [[nodiscard]] virtual bool fuses() const { return false; }
  /// Returns the time between the starts of two rounds; zero if there are no rounds.
  [[nodiscard]] virtual Time cycle() const { return {}; }
  /// Returns the time that processes need to agree in a round with items of training step `step`.
  [[nodiscard]] virtual Time agreement(std::int32_t) const { return {}; }

  /// Returns a phrase that says when an item starts, such as "in the first cycle after the pack is
  /// ready on all replicas".
  [[nodiscard]] virtual std::string starts_when() const = 0;
  /// Returns the unique name of the policy, such as "credit" or "cycles".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Returns all settings. Rules with equal names and settings behave identically.
  [[nodiscard]] virtual std::vector<std::int64_t> settings() const = 0;

 protected:
  GateRule() = default;
  GateRule(const GateRule&) = default;
  GateRule& operator=(const GateRule&) = default;
};

}  // namespace tutti::core
