#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/import/import.h"

namespace tutti::test {

/// Imports the texts of all files of a run. The files are named "file" in errors. Throws if the
/// format of a text is not recognised.
inline core::MeasuredRun run_of_texts(const std::vector<std::string>& texts) {
  core::MeasuredRun run;
  for (const std::string& text : texts) {
    const auto format = core::recognise(text);
    if (!format) throw std::runtime_error("the format was not recognised");
    const auto read = core::import_bytes(*format, text, "file", run);
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
  }
  core::finish_import(run);
  return run;
}

}  // namespace tutti::test
