#include "core/plan/gate/gate.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::core {

std::optional<Time> Gate::next_round(Time) { return std::nullopt; }

GateProposal Gate::begin_round(Time) {
  TUTTI_CHECK(false, "a gate without rounds");
  return {};
}

std::vector<GateDecision> Gate::end_round(const GateProposal&, Time) {
  TUTTI_CHECK(false, "a gate without rounds");
  return {};
}

GateProposal min_of(const GateProposal& a, const GateProposal& b) {
  TUTTI_CHECK(a.step == b.step && a.numbers.size() == b.numbers.size(),
              "proposals are of different steps, {} and {}", a.step, b.step);
  GateProposal least = a;
  for (std::size_t i = 0; i < b.numbers.size(); ++i)
    least.numbers[i] = std::min(a.numbers[i], b.numbers[i]);
  return least;
}

}  // namespace tutti::core
