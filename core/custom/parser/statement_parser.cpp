// Parses lanes, blocks and statements. Every statement begins with a keyword, so lines need no
// terminators. After an error in a statement, the parser goes on with the next statement of the
// block, so that one run reports the errors of several statements.

#include "core/custom/parser/statement_parser.h"

#include <array>
#include <utility>

#include <fmt/ranges.h>

#include "core/text/limits.h"

namespace tutti::core::custom {
namespace {

constexpr std::array kStatementWords{"let",  "for", "if",   "send", "receive",  "reduce",
                                     "copy", "add", "mark", "wait", "multicast"};

}  // namespace

Definition StatementParser::parse_definition() {
  Definition definition;
  definition.at = token().at;
  definition.name = parse_new_name("a name");
  if (accept("(")) {
    do {
      definition.parameters.push_back(parse_new_name("a parameter's name"));
    } while (!failed_ && accept(","));
    expect(")");
  }
  expect("=");
  definition.value = parse_expression();
  return definition;
}

void StatementParser::parse_lane(Position at) {
  LaneText lane;
  lane.at = at;
  if (token().kind == Kind::kName && !is("for")) lane.name = parse_new_name("the lane's name");
  if (accept("for")) {
    lane.variable = parse_new_name("the name of the lanes' index");
    expect("from");
    lane.first = parse_expression();
    expect("to");
    lane.last = parse_expression();
  }
  if (!failed_) lane.body = parse_block(1);
  syntax_.lanes.push_back(std::move(lane));
}

std::vector<Statement> StatementParser::parse_block(int depth) {
  std::vector<Statement> statements;
  const Position opened = token().at;
  expect("{");
  if (failed_) return statements;
  if (depth > kDeepestNesting) {
    complain(ProblemCode::kSyntax, opened, "blocks are nested deeper than {} levels",
             kDeepestNesting);
    skip_to_end();
    return statements;
  }
  while (!is("}")) {
    if (ended() || problems_.full()) {
      if (problems_.size() == before_)
        complain(ProblemCode::kSyntax, opened, "a '}}' is missing: this block is never closed");
      return statements;
    }
    parse_statement(statements, depth);
    if (failed_) recover(kStatementWords, true);
  }
  advance();
  return statements;
}

void StatementParser::parse_statement(std::vector<Statement>& statements, int depth) {
  Statement statement;
  statement.at = token().at;
  if (accept("let")) {
    statement.kind = Statement::Kind::kLet;
    statement.definition = parse_definition();
  } else if (accept("for")) {
    parse_for(statement, depth);
  } else if (accept("if")) {
    parse_if(statement, depth);
  } else if (accept("mark")) {
    statement.kind = Statement::Kind::kMark;
    statement.name = parse_new_name("the mark's name");
  } else if (accept("wait")) {
    parse_wait(statement);
  } else if (is_one_of(token().text, kStatementWords)) {
    parse_action(statement);
  } else {
    fail(fmt::format("a statement ({})", fmt::join(kStatementWords, ", ")));
    if (!is("}")) advance();
  }
  if (!failed_) statements.push_back(std::move(statement));
}

void StatementParser::parse_for(Statement& statement, int depth) {
  statement.kind = Statement::Kind::kFor;
  statement.name = parse_new_name("the loop's variable");
  expect("from");
  statement.first = parse_expression();
  statement.downwards = !failed_ && accept("down");
  expect("to");
  statement.last = parse_expression();
  if (!failed_) statement.body = parse_block(depth + 1);
}

void StatementParser::parse_if(Statement& statement, int depth) {
  statement.kind = Statement::Kind::kIf;
  statement.first = parse_expression();
  if (!failed_) statement.body = parse_block(depth + 1);
  if (failed_ || !accept("else")) return;
  if (!is("if")) {
    statement.otherwise = parse_block(depth + 1);
  } else if (depth >= kDeepestNesting) {
    complain(ProblemCode::kSyntax, token().at, "blocks are nested deeper than {} levels",
             kDeepestNesting);
    skip_to_end();
  } else {
    parse_statement(statement.otherwise, depth + 1);
  }
}

void StatementParser::parse_wait(Statement& statement) {
  statement.kind = Statement::Kind::kWait;
  WaitText& wait = statement.wait;
  wait.at = statement.at;
  expect("for");
  wait.whole_lane = !failed_ && accept("lane");
  wait.mark = parse_name(
      wait.whole_lane ? "a lane's name" : "the name of a mark, or \"lane\" and the name of a lane");
  if (failed_ || !accept("[")) return;
  do {
    wait.arguments.push_back(parse_expression());
  } while (!failed_ && accept(","));
  expect("]");
}

void StatementParser::parse_action(Statement& statement) {
  ActionText& action = statement.action;
  action.at = statement.at;
  if (accept("send")) {
    action.verb = Verb::kSend;
    action.place = parse_range();
    expect("to");
    action.to = parse_peer();
  } else if (accept("receive") || is("reduce")) {
    if (accept("reduce"))
      action.verb = Verb::kReduce;
    else
      action.verb = Verb::kReceive;
    action.place = parse_range();
    if (!failed_ && action.verb == Verb::kReduce && accept("with")) {
      action.other = parse_range();
      action.has_other = true;
    }
    if (!failed_ && action.verb == Verb::kReduce && accept("across")) {
      action.verb = Verb::kReduceAcross;
      action.group = parse_group();
      return;
    }
    expect("from");
    action.from = parse_peer();
    parse_then(action);
  } else if (accept("multicast")) {
    action.verb = Verb::kMulticast;
    action.place = parse_range();
    expect("to");
    action.group = parse_group();
    parse_lane_of(action.to);
  } else if (accept("copy") || is("add")) {
    if (accept("add"))
      action.verb = Verb::kAdd;
    else
      action.verb = Verb::kCopy;
    action.place = parse_range();
    expect("to");
    action.other = parse_range();
    action.has_other = true;
  }
}

void StatementParser::parse_then(ActionText& action) {
  if (failed_ || !accept("then")) return;
  const Position at = token().at;
  action.then = accept("only") ? Then::kOnlySend : Then::kSend;
  expect("send");
  expect("to");
  action.to = parse_peer();
  if (failed_ || action.then != Then::kOnlySend) return;
  if (action.verb == Verb::kReceive)
    complain(ProblemCode::kInvalid, at,
             "a received value is always stored before it is forwarded; remove \"only\"");
  else if (action.has_other)
    complain(ProblemCode::kInvalid, at,
             "a sum that is only sent is not stored; remove \"with\" and the operand before it");
}

PeerText StatementParser::parse_peer() {
  PeerText peer;
  peer.at = token().at;
  peer.rank = parse_expression();
  parse_lane_of(peer);
  return peer;
}

void StatementParser::parse_lane_of(PeerText& peer) {
  if (failed_ || !accept("lane")) return;
  peer.lane_at = token().at;
  peer.lane = parse_name("a lane's name");
  if (failed_ || !accept("[")) return;
  peer.lane_index = parse_expression();
  expect("]");
}

GroupText StatementParser::parse_group() {
  GroupText group;
  group.at = token().at;
  group.first = parse_expression();
  expect("count");
  group.count = parse_expression();
  if (!failed_ && accept("step")) group.stride = parse_expression();
  return group;
}

RangeText StatementParser::parse_range() {
  RangeText place;
  place.at = token().at;
  if (failed_) return place;
  if (accept("data") || accept("output")) {
    place.area = Area::kData;
  } else if (accept("input")) {
    place.area = Area::kInput;
    syntax_.names_input = true;
  } else if (accept("scratch")) {
    place.area = Area::kScratch;
  } else if (accept("nothing")) {
    place.area = Area::kNothing;
    return place;
  } else {
    fail("data[…], input[…], output[…], scratch[…] or nothing");
    return place;
  }
  expect("[");
  place.first = parse_expression();
  if (!failed_ && accept("to"))
    place.last = parse_expression();
  else if (!failed_ && accept("count"))
    place.count = parse_expression();
  expect("]");
  if (!failed_ && accept("like")) {
    if (place.area != Area::kScratch)
      complain(ProblemCode::kInvalid, place.at,
               "\"like\" applies only to scratch; remove \"like\" and its operand");
    place.like = parse_expression();
  }
  if (!failed_ && accept("piece")) {
    place.part = parse_expression();
    expect("of");
    place.parts = parse_expression();
  }
  return place;
}

}  // namespace tutti::core::custom
