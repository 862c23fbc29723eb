#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/measured/nccl_tests.h"

namespace tutti::test {

/// Returns the tables of a log. Expects that the log has no problem.
inline std::vector<core::NcclTestsTable> parsed(const std::string& text,
                                                const std::string& file = "log") {
  const auto tables = core::parse_nccl_tests(text, file);
  EXPECT_TRUE(tables) << (tables ? "" : tables.error().message());
  return tables.value_or(std::vector<core::NcclTestsTable>{});
}

}  // namespace tutti::test
