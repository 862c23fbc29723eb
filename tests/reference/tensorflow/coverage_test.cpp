// Checks that every feature of golden.json is run by a test, which loops over golden_cases() with
// the name of the feature (golden.h).

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Returns the features that occur in the sources of all tests.
std::set<std::string> run_features() {
  static const std::regex kCall("golden_cases\\(\\s*\"([^\"]+)\"\\s*\\)");
  std::set<std::string> run;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(fs::path(test::source_folder()) / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator call(source.begin(), source.end(), kCall), end; call != end; ++call)
      run.insert((*call)[1]);
  }
  return run;
}

TEST(TensorFlowReference, EveryFeatureHasATest) {
  std::set<std::string> features;
  for (const test::Data& one : test::golden_cases()) features.insert(one["feature"].text());
  EXPECT_EQ(run_features(), features);
}

TEST(TensorFlowReference, EveryCaseHasAUniqueIdAndASource) {
  std::set<std::string> ids;
  for (const test::Data& one : test::golden_cases()) {
    EXPECT_TRUE(ids.insert(one["id"].text()).second) << one["id"].text() << " is there twice";
    EXPECT_FALSE(one["source"].text().empty()) << one["id"].text();
  }
  EXPECT_EQ(ids.size(), 171u);
}

}  // namespace
}  // namespace tutti
