#pragma once

#include <string>

#include "core/custom/compiler/compilation.h"

namespace tutti::core::custom {

/// Finds out whether all workers execute the same steps, so that one worker can be simulated on
/// behalf of all. Parts of the compiler report each value on which the symmetry depends; the first
/// value that breaks a symmetry is stored in Program::to_shift or Program::to_exchange.
class SymmetryCheck : public CompilerPart {
 public:
  using CompilerPart::CompilerPart;

  /// Requires that a value does not change if workers are renumbered. `what` describes the
  /// violation of this requirement in messages: "a size depends on the node".
  void need_same(int value, Position at, const std::string& what);
  /// Requires that a peer is symmetric: if workers are renumbered, the peer is renumbered in the
  /// same way.
  void need_moving(int peer, Position at);
  /// Reports a problem if the text declares a symmetry that does not hold. A single worker is
  /// always symmetric.
  void check_declared_symmetry();
};

}  // namespace tutti::core::custom
