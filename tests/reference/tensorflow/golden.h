#pragma once

#include <string>
#include <vector>

#include "tests/support/json.h"

namespace tutti::test {

/// Returns the cases of one feature of TensorFlow's behaviour (golden.json in this folder), for the
/// test that runs them. If there are none, the test fails. The argument has to be a literal with
/// the feature's name in the file, since coverage_test.cpp searches the sources of all tests for
/// these calls, and requires one for every feature.
std::vector<Data> golden_cases(const std::string& feature);

/// Returns the cases of all features.
std::vector<Data> golden_cases();

/// Returns the text "id (kind), source", for SCOPED_TRACE.
std::string golden_name(const Data& one);

}  // namespace tutti::test
