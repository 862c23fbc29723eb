#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/custom/compiler/compilation.h"

namespace tutti::core::custom {

/// Compiles expressions to nodes of ValueBuilder, and knows the names that are in scope.
class ExpressionCompiler : public CompilerPart {
 public:
  using CompilerPart::CompilerPart;

  /// Defines the names that every algorithm has: ranks, nodes, gpus, root, rank, node and gpu.
  void define_shape();
  /// Defines a name. Reports a problem if the name is already defined.
  void define(const std::string& name, int value, Position at);
  void define_value(const std::string& name, int value);
  /// Defines the value or the function of a `let` statement.
  void define_let(const Definition& let);
  /// The number of names in scope. At its end, a block calls end_scope() with the number of names
  /// that were in scope at its beginning.
  [[nodiscard]] std::size_t names() const { return scope_.size(); }
  void end_scope(std::size_t names) { scope_.resize(names); }

  /// Returns the node of an expression; the constant 1 if there is no expression.
  int evaluate(ExpressionId id);
  /// Returns the node of an operation on nodes.
  int apply(ValueOp op, std::vector<int> operands, Position at);
  /// Returns the value of an expression. The value must be from `least` to `most`, and the same on
  /// every rank. `what` is the name of the value in messages.
  std::int64_t number(ExpressionId id, const char* what, std::int64_t least, std::int64_t most);

 private:
  struct Binding {
    int value = -1;
    const Definition* function = nullptr;
    std::size_t visible = 0;  ///< only for a function: the number of names that are visible in it
  };

  void bind(const std::string& name, Binding binding, Position at);
  [[nodiscard]] const Binding* find(const std::string& name) const;
  int evaluate_number(const Expression& expression);
  int look_up(const Expression& expression);
  void complain_unknown(const Expression& expression, bool call);
  int call(const Expression& expression);
  int call_function(const Definition& function, std::size_t visible,
                    const std::vector<int>& operands, Position at);

  std::vector<std::pair<std::string, Binding>> scope_;
  std::size_t hidden_from_ = 0;  ///< the names with the indices `hidden_from_` to `hidden_to_` - 1
                                 ///< are not visible in the function that is being compiled
  std::size_t hidden_to_ = 0;
  int calls_ = 0;  ///< number of function calls around the current expression
  int terms_ = 0;  ///< number of terms compiled so far; the terms of a function are counted at each
                   ///< call
};

}  // namespace tutti::core::custom
