// Every feature of golden.json is run by some test, or stands in the list below with the reason why nobody runs it yet.
//
// To run a feature: a test that loops over golden_cases() of its name (golden.h); and its line here goes.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/reference/tensorflow/golden.h"
#include "tests/support/clusters.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTfConfig = "which devices a server has is the scenario's to say: nothing is asked of servers";

const std::map<std::string, std::string>& not_yet() {
  static const std::map<std::string, std::string> kNotYet{
      {"TFConfigClusterResolver.num_accelerators", kTfConfig},
  };
  return kNotYet;
}

/// The features that tests ask for, in the sources of all tests.
std::set<std::string> run_features() {
  static const std::regex kCall("golden_cases\\(\\s*\"([^\"]+)\"\\s*\\)");
  std::set<std::string> run;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(test::source_folder()) / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator call(source.begin(), source.end(), kCall), end; call != end; ++call)
      run.insert((*call)[1]);
  }
  return run;
}

TEST(TensorFlowReference, EveryFeatureIsRunOrSaysWhyNotYet) {
  std::set<std::string> features;
  for (const test::Data& one : test::golden_cases()) features.insert(one["feature"].text());
  const std::set<std::string> run = run_features();
  for (const std::string& feature : features) {
    EXPECT_TRUE(run.contains(feature) || not_yet().contains(feature))
        << "nobody runs \"" << feature << "\", and nobody says why";
    EXPECT_FALSE(run.contains(feature) && not_yet().contains(feature))
        << "\"" << feature << "\" is run; take it off the list of those that are not yet";
  }
  for (const std::string& feature : run) EXPECT_TRUE(features.contains(feature)) << "there is no \"" << feature << '"';
  for (const auto& [feature, reason] : not_yet()) EXPECT_TRUE(features.contains(feature)) << "there is no " << feature;
}

TEST(TensorFlowReference, EveryCaseHasAnIdOfItsOwnAndASource) {
  std::set<std::string> ids;
  for (const test::Data& one : test::golden_cases()) {
    EXPECT_TRUE(ids.insert(one["id"].text()).second) << one["id"].text() << " is there twice";
    EXPECT_FALSE(one["source"].text().empty()) << one["id"].text();
  }
  EXPECT_EQ(ids.size(), 171u);
}

}  // namespace
}  // namespace tutti
