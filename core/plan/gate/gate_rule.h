#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/gate/gate.h"

namespace tutti::core {

/// How an executor holds the rounds of its gates.
struct GateRounds {
  /// How far apart they begin, if not as the rule says: of runs at another scale of time.
  std::optional<Time> cycle = std::nullopt;
  /// Rounds in which nothing is ready are not held. The gate counts them, at GateRule::agreement() each.
  bool skip_idle = false;
};

/// A gate as a plan states it: the policy and its settings. It makes the gates of a run, and answers whatever else is asked about
/// them, so that nobody asks which policy it is.
class GateRule {
 public:
  virtual ~GateRule() = default;

  [[nodiscard]] virtual GateScope scope() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Gate> make(GateItems items, GateMembers members,
                                                   const GateRounds& rounds) const = 0;
  /// Items may travel together. Their collectives are made, and their times asked for, when that is decided.
  [[nodiscard]] virtual bool fuses() const { return false; }
  /// How far apart rounds begin; zero: there are none.
  [[nodiscard]] virtual Time cycle() const { return {}; }
  /// How long processes take to agree in a round in which something of `step` is.
  [[nodiscard]] virtual Time agreement(std::int32_t) const { return {}; }

  /// When an item starts, in words: "in the cycle after it is ready everywhere".
  [[nodiscard]] virtual std::string starts_when() const = 0;
  /// "credit", "cycles": no two policies have the same.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// All settings. Rules of one name with equal settings do the same.
  [[nodiscard]] virtual std::vector<std::int64_t> settings() const = 0;

 protected:
  GateRule() = default;
  GateRule(const GateRule&) = default;
  GateRule& operator=(const GateRule&) = default;
};

}  // namespace tutti::core
