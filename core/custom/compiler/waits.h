#pragma once

#include <vector>

#include "core/custom/compiler/lane_families.h"
#include "core/custom/compiler/symmetry.h"

namespace tutti::core::custom {

/// Compiles waits. A lane can wait until another lane reaches a mark (a named point), or until
/// another lane ends.
class WaitCompiler : public CompilerPart {
 public:
  WaitCompiler(Compilation& shared, ExpressionCompiler& expressions, SymmetryCheck& symmetry,
               LaneFamilies& lanes)
      : CompilerPart(shared), expressions_(expressions), symmetry_(symmetry), lanes_(lanes) {}

  /// Compiles a wait and returns its index in Program::waits. resolve() finds the mark of the wait
  /// later.
  int compile(const WaitText& text);
  /// Finds the mark or the lane of each wait. A wait may precede its mark in the text, so resolve()
  /// is called after all lanes have been compiled.
  void resolve();

 private:
  void check_indices(const WaitText& text, const MarkCode& mark);

  ExpressionCompiler& expressions_;
  SymmetryCheck& symmetry_;
  LaneFamilies& lanes_;
  std::vector<WaitText> waits_;  ///< for each element of Program::waits: the
                                 ///< statement from which it was compiled
};

}  // namespace tutti::core::custom
