#pragma once

#include <string>
#include <vector>

#include "core/custom/compiler/nodes.h"
#include "core/custom/compiler/waits.h"

namespace tutti::core::custom {

/// Compiles the statements of lanes: blocks, loops, branches and marks. A mark is a named point of
/// a lane for which other lanes can wait.
class StatementCompiler : public CompilerPart {
 public:
  StatementCompiler(Compilation& shared, ExpressionCompiler& expressions, SymmetryCheck& symmetry)
      : CompilerPart(shared),
        expressions_(expressions),
        symmetry_(symmetry),
        lanes_(shared, expressions),
        waits_(shared, expressions, symmetry, lanes_),
        actions_(shared, expressions, symmetry, lanes_),
        nodes_(shared) {}

  /// Compiles all lanes of the text.
  void compile_lanes();
  /// Finds the marks of all waits. REQUIRES: compile_lanes() has found no problem.
  void resolve_waits() { waits_.resolve(); }

 private:
  int compile_block(const std::vector<Statement>& statements);
  void compile_compound(int block, const Statement& statement);
  void compile_if(int block, const Statement& statement);
  void compile_for(int block, const Statement& statement);
  int compile_mark(const std::string& name, Position at);
  void compile_dead_marks(int block, const std::vector<Statement>& statements);

  ExpressionCompiler& expressions_;
  SymmetryCheck& symmetry_;
  LaneFamilies lanes_;
  WaitCompiler waits_;
  ActionCompiler actions_;
  NodeBuilder nodes_;
  std::vector<int> path_;  ///< nodes on the path from the root of the lane to the current statement
  int family_ = 0;         ///< the family of lanes that is being compiled
  int loops_ = 0;          ///< number of loops around the current statement
};

}  // namespace tutti::core::custom
