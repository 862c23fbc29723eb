#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "tests/support/clusters.h"
#include "tests/support/json.h"
#include "tests/support/problems.h"
#include "tests/support/program.h"

namespace tutti::test {

/// A scenario that is simulated in almost no time.
inline constexpr const char* kSmall = R"(
cluster { workers { machine: "dgx1-v100" } }
workload {
  variable { name: "a" shape: [1000, 1000] }
  variable { name: "b" shape: 77 }
}
strategy { algorithm: "ring" bytes_per_pack: 0 }
)";

/// Returns `words` followed by `more`.
inline std::vector<std::string> with(std::vector<std::string> words,
                                     const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Returns the path of a shipped scenario.
inline std::string scenario(const std::string& name) {
  return source_folder() + "/scenarios/" + name + ".textproto";
}

/// Expects that the request is refused: with status 2, a message on stderr that matches `why`,
/// nothing on stdout, and no new files. For commands without --format json, and for options that
/// exclude it. `why` should match a name, such as an option or a file.
inline void expect_refused(const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                           const testing::Matcher<std::string>& why) {
  const std::vector<std::string> before = folder.files();
  const Outcome o = run_tutti(arguments, {.folder = folder.path()});
  EXPECT_EQ(o.status, 2) << o.out;
  EXPECT_THAT(o.err, why);
  EXPECT_THAT(o.out, testing::IsEmpty());
  EXPECT_EQ(folder.files(), before);
}

/// Parses an error that a command has printed with --format json: `{"error": {"status": …,
/// "problems": […]}}`.
inline core::Error error_in(const std::string& json) {
  const core::Value document = parse_or_throw(json, "out");
  const Data error = Data(document)["error"];
  std::vector<core::Problem> problems;
  for (const Data& written : error["problems"].items()) {
    core::Problem problem;
    if (written.has("file")) problem.where.file = written["file"].text();
    if (written.has("line")) problem.where.line = static_cast<int>(written["line"].number());
    if (written.has("line")) problem.where.column = static_cast<int>(written["column"].number());
    problem.text = written["text"].text();
    if (written.has("field")) problem.kind.field = written["field"].text();
    int code = 0;
    while (to_string(static_cast<ProblemCode>(code)) != written["code"].text()) {
      if (++code == static_cast<int>(ProblemCode::kCount))
        throw std::invalid_argument("there is no code " + written["code"].text());
    }
    problem.kind.code = static_cast<ProblemCode>(code);
    problems.push_back(std::move(problem));
  }
  return {error["status"].number() == 2 ? core::ErrorKind::kRequest : core::ErrorKind::kRun,
          std::move(problems)};
}

/// Runs a command with --format json. Returns its error with codes, fields and places, and expects
/// the error's texts on stderr. Throws if there is no error.
inline core::Error error_of(std::vector<std::string> arguments, const RunOptions& options = {}) {
  if (std::find(arguments.begin(), arguments.end(), "--format") == arguments.end())
    arguments.insert(arguments.end(), {"--format", "json"});
  const Outcome o = run_tutti(arguments, options);
  core::Error error = error_in(o.out);
  EXPECT_EQ(o.status, error.kind() == core::ErrorKind::kRequest ? 2 : 1);
  for (const core::Problem& problem : error.problems())
    EXPECT_THAT(o.err, testing::HasSubstr(problem.text));
  return error;
}

/// Expects that the request is refused with this problem, among others, and that there are no new
/// files.
inline void expect_refused(const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                           const Mistake& mistake) {
  const std::vector<std::string> before = folder.files();
  const core::Expected<void> refused =
      tl::make_unexpected(error_of(arguments, {.folder = folder.path()}));
  EXPECT_EQ(refused.error().kind(), core::ErrorKind::kRequest);
  EXPECT_THAT(refused, FailsWith(mistake)) << testing::PrintToString(arguments);
  EXPECT_EQ(folder.files(), before);
}

}  // namespace tutti::test

// Names that the tests of all commands use.
namespace tutti {
using test::Data;
using test::expect_refused;
using test::kSmall;
using test::Mistake;
using test::Outcome;
using test::ProblemCode;
using test::run_tutti;
using test::scenario;
using test::TemporaryFolder;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
}  // namespace tutti
