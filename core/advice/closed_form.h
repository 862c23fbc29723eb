#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// What a pack's collective takes by docs/algorithms.md, if there were nothing but the ports at both ends of every message.
struct ClosedForm {
  std::string form;   ///< "2(n - 1)(α + wire(C)) + (n - 1)·add(C)"
  std::string where;  ///< "n = 16 ranks, C = 1.64 MB"
};
/// That of `pack` of the scenario's plan. Its value is what the simulator says under the network model `ideal`, to the picosecond
/// (tests/laws). `form` is empty where the algorithm has a recursion rather than a form.
ClosedForm closed_form(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
