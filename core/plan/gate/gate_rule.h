#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/gate/gate.h"

namespace tutti::core {

/// The interface between an executor and the rounds of its gates.
struct GateRounds {
  /// Overrides the cycle time of the rule, for runs on another time scale.
  std::optional<Time> cycle = std::nullopt;
  /// True if rounds without ready items are skipped. The gate accounts for each of them with
  /// GateRule::agreement().
  bool skip_idle = false;
};

/// The gate of a plan: the policy and its settings. It makes the gates of a run and provides the
/// policy's properties, so that no other code distinguishes policies.
class GateRule {
 public:
  virtual ~GateRule() = default;

  [[nodiscard]] virtual GateScope scope() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Gate> make(GateItems items, GateMembers members,
                                                   const GateRounds& rounds) const = 0;
  /// True if items may be fused. Their collectives are made, and their times looked up, when that
  /// is decided.
  [[nodiscard]] virtual bool fuses() const { return false; }
  /// The time between the beginnings of rounds; zero: there are no rounds.
  [[nodiscard]] virtual Time cycle() const { return {}; }
  /// The time that an agreement takes in a round with items of `step`.
  [[nodiscard]] virtual Time agreement(std::int32_t) const { return {}; }

  /// Describes when an item starts: "in the cycle after it is ready everywhere".
  [[nodiscard]] virtual std::string starts_when() const = 0;
  /// Returns the unique name of the policy: "credit", "cycles".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Returns all settings. Rules with equal names and settings behave identically.
  [[nodiscard]] virtual std::vector<std::int64_t> settings() const = 0;

 protected:
  GateRule() = default;
  GateRule(const GateRule&) = default;
  GateRule& operator=(const GateRule&) = default;
};

}  // namespace tutti::core
