#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// The closed-form time of a pack's collective (docs/algorithms.md). The formulas assume that a
/// message is limited only by the sender's and the receiver's port.
struct ClosedForm {
  std::string form;   ///< formula: "2(n - 1)(α + wire(C)) + (n - 1)·add(C)"
  std::string where;  ///< values of the formula's variables: "n = 16 ranks, C = 1.64 MB"
};
/// Returns the closed form for `pack` of the scenario's plan. The formula gives the simulated time
/// under the network model `ideal`, to the picosecond (tests/laws). `form` is empty if the
/// algorithm has no closed form, only a recursion.
ClosedForm closed_form(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
