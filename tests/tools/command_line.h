#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/clusters.h"
#include "tests/support/program.h"

namespace tutti::test {

/// A scenario that takes no time.
inline constexpr const char* kSmall = R"(
cluster { workers { machine: "dgx1-v100" } }
workload {
  variable { name: "a" shape: [1000, 1000] }
  variable { name: "b" shape: 77 }
}
strategy { algorithm: "ring" bytes_per_pack: 0 }
)";

/// The file of a shipped scenario.
inline std::string scenario(const std::string& name) { return source_folder() + "/scenarios/" + name + ".textproto"; }

/// The request is refused: status 2, why on stderr, nothing but that on stdout (with --format json), no file more than
/// there was.
inline void expect_refused(const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                           const testing::Matcher<std::string>& why) {
  const std::vector<std::string> before = folder.files();
  const Outcome o = run_tutti(arguments, {.folder = folder.path()});
  EXPECT_EQ(o.status, 2) << o.out;
  EXPECT_THAT(o.err, why);
  const bool as_json = std::find(arguments.begin(), arguments.end(), "json") != arguments.end();
  EXPECT_THAT(o.out, as_json ? testing::Matcher<std::string>(testing::StartsWith("{\n \"error\": {"))
                             : testing::Matcher<std::string>(testing::IsEmpty()));
  EXPECT_EQ(folder.files(), before);
}

}  // namespace tutti::test
