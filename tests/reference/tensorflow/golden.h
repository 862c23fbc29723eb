#pragma once

#include <string>
#include <vector>

#include "tests/support/json.h"

namespace tutti::test {

/// The cases of one feature of TensorFlow's behaviour (golden.json beside this file), for the one
/// test that runs all of them. At least one, or the test fails. The feature stands in the call as
/// it is written in the file: coverage_test.cpp looks for such calls in the sources of all tests,
/// and wants one for every feature.
std::vector<Data> golden_cases(const std::string& feature);

/// All cases of all features.
std::vector<Data> golden_cases();

/// "id (kind), source": for SCOPED_TRACE.
std::string golden_name(const Data& one);

}  // namespace tutti::test
