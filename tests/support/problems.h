#pragma once

// Matchers for errors by code, field and place. Tests do not check the messages, so that these can
// be reworded.

#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// Prints a problem in the syntax of tests, so that a failure shows the expected text.
inline void PrintTo(const Problem& problem, std::ostream* out) {
  *out << '{' << to_string(problem.kind.code) << ", \"" << problem.kind.field << "\", "
       << problem.where.line << ", " << problem.where.column << "}  " << to_string(problem);
}
inline void PrintTo(const Error& error, std::ostream* out) {
  for (const Problem& problem : error.problems()) {
    *out << "\n  ";
    PrintTo(problem, out);
  }
}

}  // namespace tutti::core

namespace tutti::test {

using core::ProblemCode;

/// Returns a text such as "missing Network.kind" for every problem, in order; empty if there is no
/// error.
template <class T>
std::vector<std::string> kinds_of(const core::Expected<T>& read) {
  std::vector<std::string> kinds;
  if (read) return kinds;
  for (const core::Problem& problem : read.error().problems()) {
    kinds.emplace_back(to_string(problem.kind.code));
    if (!problem.kind.field.empty()) kinds.back() += " " + problem.kind.field;
  }
  return kinds;
}

/// Returns one line per problem with its place, such as "3:7 missing Network.kind"; "" if there is
/// none.
inline std::string placed(const std::vector<core::Problem>& problems) {
  std::string text;
  for (const core::Problem& problem : problems) {
    text += fmt::format("{}{}:{} {}", text.empty() ? "" : "\n", problem.where.line,
                        problem.where.column, to_string(problem.kind.code));
    if (!problem.kind.field.empty()) text += " " + problem.kind.field;
  }
  return text;
}
inline std::string placed(core::Problems& problems) {
  return problems.empty() ? "" : placed(problems.take().value().problems());
}

/// The expected properties of a problem. Lines and columns count from 1; 0 stands for the whole
/// file, as in core::Location.
struct Mistake {
  ProblemCode code = ProblemCode::kInvalid;
  std::string field = {};
  int line = 0;
  int column = 0;
  std::string file = {};  ///< empty: any file
};

/// Returns the place of the first occurrence of `mark` in a text. If `mark` contains a ^, the ^ is
/// removed, and the place is that of the character after it ("slow ^{": the brace). Throws if
/// `mark` does not occur, which fails the test.
inline core::Location place_in(const std::string& text, std::string mark) {
  std::size_t into = mark.find('^');
  if (into == std::string::npos)
    into = 0;
  else
    mark.erase(into, 1);
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) throw std::invalid_argument("\"" + mark + "\" is not in " + text);
  const std::string before = text.substr(0, at + into);
  const std::size_t line = before.rfind('\n');
  const std::size_t column = line == std::string::npos ? before.size() : before.size() - line - 1;
  return {"", static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(column) + 1};
}

/// Returns the expected problem at the place of `mark` in the text that was read.
inline Mistake at(const std::string& text, const std::string& mark, ProblemCode code,
                  const std::string& field) {
  const core::Location place = place_in(text, mark);
  return {code, field, place.line, place.column};
}

inline bool is(const core::Problem& problem, const Mistake& expected) {
  return problem.kind == core::ProblemKind{expected.code, expected.field} &&
         problem.where.line == expected.line && problem.where.column == expected.column &&
         !problem.text.empty() && (expected.file.empty() || problem.where.file == expected.file);
}

inline std::string describe(const Mistake& expected) {
  return fmt::format("{{{}, \"{}\", {}, {}}}{}", to_string(expected.code), expected.field,
                     expected.line, expected.column,
                     expected.file.empty() ? "" : " in " + expected.file);
}

/// Matches a core::Expected whose error contains this problem, among others.
MATCHER_P(FailsWith, expected,
          (negation ? "has no problem " : "has a problem ") + describe(expected)) {
  if (arg) {
    *result_listener << "there is no error";
    return false;
  }
  for (const core::Problem& problem : arg.error().problems()) {
    if (is(problem, expected)) return true;
  }
  *result_listener << testing::PrintToString(arg.error());
  return false;
}

/// Matches a core::Expected whose error has exactly these problems, in this order.
MATCHER_P(FailsWithAll, all, negation ? "has other problems" : "has these problems alone") {
  if (arg) {
    *result_listener << "there is no error";
    return false;
  }
  const std::vector<core::Problem>& problems = arg.error().problems();
  bool same = problems.size() == all.size();
  for (std::size_t i = 0; same && i < all.size(); ++i) same = is(problems[i], all[i]);
  if (!same) *result_listener << testing::PrintToString(arg.error());
  return same;
}

}  // namespace tutti::test
