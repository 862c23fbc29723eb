#include "tests/reference/tensorflow/golden.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/clusters.h"

namespace tutti::test {

std::vector<Data> golden_cases() {
  static const core::Value kAll = [] {
    const std::string path = source_folder() + "/tests/reference/tensorflow/golden.json";
    const auto text = core::read_text_file(path);
    if (!text) throw std::runtime_error(text.error().message());
    return parse_or_throw(*text, path);
  }();
  return Data(kAll)["cases"].items();
}

std::vector<Data> golden_cases(const std::string& feature) {
  std::vector<Data> of_feature;
  for (const Data& one : golden_cases()) {
    if (one["feature"].text() == feature) of_feature.push_back(one);
  }
  EXPECT_FALSE(of_feature.empty()) << feature;
  return of_feature;
}

std::string golden_name(const Data& one) {
  return one["id"].text() + " (" + one["kind"].text() + "), " + one["source"].text();
}

}  // namespace tutti::test
