#include "core/custom/compiler/waits.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace tutti::core::custom {
namespace {

/// Returns the number of loops around the mark at a position of the text; nullopt if the statements
/// do not contain the mark.
std::optional<std::size_t> loops_around(const std::vector<Statement>& statements, Position at) {
  for (const Statement& statement : statements) {
    if (statement.kind == Statement::Kind::kMark && statement.at.line == at.line &&
        statement.at.column == at.column)
      return 0;
    for (const auto* inside : {&statement.body, &statement.otherwise}) {
      const auto loops = loops_around(*inside, at);
      if (loops) return *loops + (statement.kind == Statement::Kind::kFor ? 1 : 0);
    }
  }
  return std::nullopt;
}

}  // namespace

int WaitCompiler::compile(const WaitText& text) {
  WaitCode wait;
  wait.whole_lane = text.whole_lane;
  for (const ExpressionId argument : text.arguments) {
    const int value = expressions_.evaluate(argument);
    symmetry_.need_same(value, text.at, "the target of a wait depends on the node");
    wait.arguments.push_back(values_.value(value));
  }
  program_.waits.push_back(std::move(wait));
  waits_.push_back(text);
  return static_cast<int>(program_.waits.size()) - 1;
}

void WaitCompiler::resolve() {
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const WaitText& text = waits_[i];
    WaitCode& wait = program_.waits[i];
    if (wait.whole_lane) {
      if (text.arguments.size() > 1)
        complain(ProblemCode::kWrongType, text.at, "a lane has at most one index in [ ] (got {})",
                 text.arguments.size());
      wait.family = lanes_.find(text.mark, !text.arguments.empty(), text.at).value_or(-1);
      continue;
    }
    const auto found = std::find_if(program_.marks.begin(), program_.marks.end(),
                                    [&](const MarkCode& mark) { return mark.name == text.mark; });
    if (found == program_.marks.end()) {
      std::vector<std::string> names;
      for (const MarkCode& mark : program_.marks) names.push_back(mark.name);
      complain(ProblemCode::kUnknownName, text.at, "there is no mark \"{}\"{}", text.mark,
               did_you_mean(text.mark, names));
      continue;
    }
    wait.mark = static_cast<int>(found - program_.marks.begin());
    check_indices(text, *found);
  }
}

// Checks that a wait has one index for a numbered lane, and one index for each loop around the
// mark.
void WaitCompiler::check_indices(const WaitText& text, const MarkCode& mark) {
  const LaneText& lane = syntax_.lanes[mark.family];
  const auto loops = loops_around(lane.body, mark.at);
  const std::size_t wanted = loops.value_or(0) + (lane.variable.empty() ? 0 : 1);
  if (text.arguments.size() == wanted) return;
  complain(ProblemCode::kWrongType, text.at,
           "mark \"{}\" needs {} index{} in [ ]: the index of the lane, if the lanes are "
           "numbered, and the variable of every loop around the mark (got {})",
           mark.name, wanted, wanted == 1 ? "" : "s", text.arguments.size());
}

}  // namespace tutti::core::custom
