#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// The closed-form time of a pack's collective (docs/algorithms.md). The formula assumes that the
/// rate of a message is limited only by the sender's and the receiver's port.
struct ClosedForm {
  std::string form;  ///< formula: "2(n - 1)(α + wire(C)) + (n - 1)·add(C)", where α is the latency
                     ///< of a message, and wire() and add() give the times to send and to add data
  std::string where;  ///< values of the formula's variables: "n = 16 ranks, C = 1.64 MB"
};
/// Returns the closed form for `pack`, a pack of the scenario's plan. With the network model
/// `ideal`, the simulated time equals the formula to the picosecond (tests/laws checks this).
/// `form` is empty if the time of the algorithm can only be computed by a recursion.
ClosedForm closed_form(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
