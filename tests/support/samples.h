#pragma once

#include <string>

namespace tutti::test {

/// Returns the path of a file in tests/data/traces.
std::string sample_path(const std::string& file);
/// Returns the content of that file. Throws if it cannot be read.
std::string sample(const std::string& file);
/// Returns `text` with every `from` replaced by `to`. Throws if there is no `from`.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace tutti::test
