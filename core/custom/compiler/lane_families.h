#pragma once

#include <optional>
#include <string>

#include "core/custom/compiler/expressions.h"

namespace tutti::core::custom {

/// The lanes that the text declares. A lane is a sequence of steps that a rank executes in order. A
/// `lane` statement declares a family: either a single lane, or one lane for each number of a
/// range.
class LaneFamilies : public CompilerPart {
 public:
  LaneFamilies(Compilation& shared, ExpressionCompiler& expressions)
      : CompilerPart(shared), expressions_(expressions) {}

  void declare(const LaneText& lane);
  /// Returns the family of lanes that has this name. Reports a problem if no family has the name,
  /// if the index of a numbered family is missing, or if an unnumbered family has an index.
  std::optional<int> find(const std::string& name, bool has_number, Position at);

 private:
  [[nodiscard]] std::optional<int> family_called(const std::string& name) const;

  ExpressionCompiler& expressions_;
};

}  // namespace tutti::core::custom
