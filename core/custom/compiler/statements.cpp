// Compiles the statements of each lane to a tree of nodes. If the condition of an `if` can be
// computed now, only the branch that is taken is compiled, and a loop without iterations is not
// compiled. Marks in code that is left out still get a position, because waits may refer to them.

#include "core/custom/compiler/statements.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tutti::core::custom {
namespace {

/// Returns an action that only waits.
CompiledAction nop(int wait) {
  CompiledAction action;
  action.code.wait = wait;
  return action;
}

}  // namespace

void StatementCompiler::compile_lanes() {
  std::int64_t most = 0;
  for (const LaneText& lane : syntax_.lanes) lanes_.declare(lane);
  for (std::size_t i = 0; i < syntax_.lanes.size() && sound(); ++i) {
    const LaneText& lane = syntax_.lanes[i];
    const LaneFamily& family = program_.families[i];
    family_ = static_cast<int>(i);
    const std::size_t names = expressions_.names();
    if (family.numbered) {
      const std::int64_t last = family.first_number + family.count - 1;
      expressions_.define(lane.variable,
                          values_.variable(kLaneSlot, family.first_number, last, true, true),
                          lane.at);
    }
    const int root = compile_block(lane.body);
    program_.families[i].root = root;
    expressions_.end_scope(names);
    const NodeFacts& facts = nodes_.facts_of(root);
    most = capped(most + capped_product(facts.most, program_.families[i].count));
    program_.visits =
        capped(program_.visits + capped_product(facts.visits, program_.families[i].count));
    nodes_.check_counting(root, lane.at);
    if (most > kMaxSteps)
      complain(ProblemCode::kTooLarge, lane.at,
               "a rank would have up to {} steps, more than the limit of {}; check the bounds of "
               "loops, or use fewer chunks",
               most >= kMaxBound ? "10^12" : fmt::format("{}", most), kMaxSteps);
  }
}

int StatementCompiler::compile_block(const std::vector<Statement>& statements) {
  const int id = nodes_.add(NodeCode::Kind::kBlock);
  path_.push_back(id);
  const std::size_t names = expressions_.names();
  int wait = -1;
  const auto flush = [&] {
    if (wait >= 0) nodes_.append(id, nodes_.add_action(nop(wait)));
    wait = -1;
  };
  for (const Statement& statement : statements) {
    if (problems_.full()) break;
    if (statement.kind == Statement::Kind::kLet) {
      expressions_.define_let(statement.definition);
    } else if (statement.kind == Statement::Kind::kWait) {
      flush();
      wait = waits_.compile(statement.wait);
    } else if (statement.kind == Statement::Kind::kAction) {
      nodes_.append(id,
                    nodes_.add_action(actions_.compile(statement.action, std::exchange(wait, -1))));
    } else {
      flush();
      compile_compound(id, statement);
    }
  }
  flush();
  expressions_.end_scope(names);
  path_.pop_back();
  nodes_.finish_block(id);
  return id;
}

void StatementCompiler::compile_compound(int block, const Statement& statement) {
  if (statement.kind == Statement::Kind::kMark)
    return nodes_.append(block, compile_mark(statement.name, statement.at));
  if (statement.kind == Statement::Kind::kFor) return compile_for(block, statement);
  compile_if(block, statement);
}

void StatementCompiler::compile_if(int block, const Statement& statement) {
  const int condition = expressions_.evaluate(statement.first);
  const Facts& facts = values_.facts(condition);
  if (facts.constant() || facts.low > 0 || facts.high < 0) {
    const bool taken = facts.low != 0 || facts.high != 0;
    compile_dead_marks(block, taken ? statement.otherwise : statement.body);
    return nodes_.append(block, compile_block(taken ? statement.body : statement.otherwise));
  }
  symmetry_.need_same(condition, statement.at, "the condition depends on the node");
  const int id = nodes_.add(NodeCode::Kind::kIf);
  path_.push_back(id);
  const int body = compile_block(statement.body);
  const int otherwise = compile_block(statement.otherwise);
  path_.pop_back();
  nodes_.finish_if(id, condition, body, otherwise);
  nodes_.append(block, id);
}

void StatementCompiler::compile_for(int block, const Statement& statement) {
  const int from = expressions_.evaluate(statement.first);
  const int to = expressions_.evaluate(statement.last);
  const int low = statement.downwards ? to : from;
  const int high = statement.downwards ? from : to;
  const std::int64_t least = values_.facts(low).low;
  const std::int64_t most = values_.facts(high).high;
  if (least > most) return compile_dead_marks(block, {statement});
  const int slot = kFirstLoopSlot + loops_;
  if (slot >= kSlots) {
    return complain(ProblemCode::kTooLarge, statement.at,
                    "loops are nested deeper than {} levels; use fewer", kSlots - kFirstLoopSlot);
  }
  symmetry_.need_same(low, statement.at, "the bounds of a loop depend on the node");
  symmetry_.need_same(high, statement.at, "the bounds of a loop depend on the node");
  const auto same = [&](auto under) {
    return under(values_.facts(low)) && under(values_.facts(high));
  };
  const bool same_shift = same([](const Facts& f) { return f.shift.same(); });
  const bool same_exchange = same([](const Facts& f) { return f.exchange.same(); });
  const std::size_t names = expressions_.names();
  const int id = nodes_.add(NodeCode::Kind::kLoop);
  path_.push_back(id);
  ++loops_;
  expressions_.define(statement.name,
                      values_.variable(slot, least, most, same_shift, same_exchange), statement.at);
  const int body = compile_block(statement.body);
  --loops_;
  path_.pop_back();
  expressions_.end_scope(names);
  nodes_.finish_loop(id, {statement.at, statement.downwards, slot, low, high, body});
  nodes_.append(block, id);
}

int StatementCompiler::compile_mark(const std::string& name, Position at) {
  const auto same = [&](const MarkCode& mark) { return mark.name == name; };
  if (std::any_of(program_.marks.begin(), program_.marks.end(), same))
    complain(ProblemCode::kDuplicate, at, "mark \"{}\" is declared twice; names must differ", name);
  const int id = nodes_.add(NodeCode::Kind::kMark);
  nodes_.node(id).count = 0;
  MarkCode mark{name, at, family_, path_};
  mark.path.push_back(id);
  program_.marks.push_back(std::move(mark));
  return id;
}

// Gives each mark in unreachable code the position that the mark would have if the code were
// reachable.
void StatementCompiler::compile_dead_marks(int block, const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    if (statement.kind == Statement::Kind::kMark)
      nodes_.append(block, compile_mark(statement.name, statement.at));
    compile_dead_marks(block, statement.body);
    compile_dead_marks(block, statement.otherwise);
  }
}

}  // namespace tutti::core::custom
