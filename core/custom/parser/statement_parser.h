#pragma once

#include <vector>

#include "core/custom/parser/expression_parser.h"

namespace tutti::core::custom {

/// Parses lanes and their statements.
class StatementParser : public ExpressionParser {
 protected:
  using ExpressionParser::ExpressionParser;

  /// `at`: the position of the word `lane`.
  void parse_lane(Position at);
  /// Parses a name and its value, or a function and its body, after the word `let`.
  Definition parse_definition();

 private:
  std::vector<Statement> parse_block(int depth);
  void parse_statement(std::vector<Statement>& statements, int depth);
  void parse_for(Statement& statement, int depth);
  void parse_if(Statement& statement, int depth);
  void parse_wait(Statement& statement);
  void parse_action(Statement& statement);
  void parse_then(ActionText& action);
  PeerText parse_peer();
  void parse_lane_of(PeerText& peer);
  GroupText parse_group();
  RangeText parse_range();
};

}  // namespace tutti::core::custom
