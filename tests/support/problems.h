#pragma once

// Errors by what they are about: code, field and place. Messages may be written anew without a test
// that looks.

#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace tutti::core {

/// As a test would write it, so that a failure shows what to compare with.
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

/// "missing Network.kind" of every problem, in their order; nothing if there is no error.
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

/// "3:7 missing Network.kind" of every problem, one a line: with its place. "" if there is none.
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

/// What a problem has to be. Lines and columns count from 1; 0 is "the file as a whole", as in
/// core::Location.
struct Mistake {
  ProblemCode code = ProblemCode::kInvalid;
  std::string field = {};
  int line = 0;
  int column = 0;
  std::string file = {};  ///< empty: any
};

/// The place of `mark` in a text, as problems name it: where it stands for the first time, or, if
/// it holds a ^, where what is behind that begins ("slow ^{": at the brace). Throws if it is not
/// there, which fails the test.
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

/// … at a mark in the text that was read.
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

/// An expected's error has such a problem among others.
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

/// … has these problems alone, in this order.
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
