#pragma once

// The state that all parts of the compiler share: the text, the program that is being built, and
// the values of its expressions. Each part of the compiler is a class of its own, and depends only
// on the classes above it in this list:
//
//     ExpressionCompiler   names, operators and functions become nodes of ValueTrees
//     SymmetryCheck        finds out whether all workers execute the same steps
//     LaneFamilies         the lanes that the text declares, by name
//     WaitCompiler         waits, and the marks to which they refer
//     ActionCompiler       sends, receives, reductions and copies
//     NodeBuilder          the program's nodes and the upper bounds of their steps
//     StatementCompiler    blocks, loops, branches and lanes

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "core/custom/program.h"

namespace tutti::core::custom {

/// The compilation of one text for one shape. Parts of the compiler refer to this object.
struct Compilation {
  Compilation(const Syntax& text, const AlgorithmShape& shape, Problems& found)
      : syntax(text), problems(found), before(found.size()), values(shape.ranks, shape.per_node) {
    program.file = text.file;
    program.name = text.name;
    program.shape = shape;
    program.kind = text.collective;
    program.names_input = text.names_input;
    program.by_kernel = text.by_kernel;
  }

  const Syntax& syntax;
  Problems& problems;
  std::size_t before;  ///< number of problems that were found before this algorithm, such as
                       ///< problems of the scenario
  ValueBuilder values;
  Program program;
};

/// The base of the compiler's parts: short names for the shared state, and reports of problems.
class CompilerPart {
 public:
  explicit CompilerPart(Compilation& shared)
      : syntax_(shared.syntax),
        problems_(shared.problems),
        values_(shared.values),
        program_(shared.program),
        before_(shared.before) {}

 protected:
  template <class... Args>
  void complain(ProblemCode code, Position at, fmt::format_string<Args...> format, Args&&... args) {
    problems_.add({code}, {syntax_.file, at.line, at.column}, format, std::forward<Args>(args)...);
  }
  /// True if the algorithm has had no problem so far.
  [[nodiscard]] bool sound() const { return problems_.size() == before_; }

  const Syntax& syntax_;
  Problems& problems_;
  ValueBuilder& values_;
  Program& program_;

 private:
  std::size_t before_;
};

}  // namespace tutti::core::custom
