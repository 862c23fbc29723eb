#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/digests/cases.h"

namespace tutti::test {

/// Cases whose digests are kept in one file, and are looked at by one test: enough of them that programs which
/// run one test each do not read the corpus too often, few enough that several can run at a time.
struct Block {
  std::string name;  ///< "000", "050", …: of its first case; "shipped"
  std::vector<DigestCase> cases;

  [[nodiscard]] std::string path() const { return digests_folder() + "/" + name + ".txt"; }
};

std::vector<Block> blocks();

/// What is kept of a block's cases, by case. Throws std::runtime_error if the file cannot be read.
std::vector<std::vector<std::string>> read_digests(const Block& block);
void write_digests(const Block& block, const std::vector<std::vector<std::string>>& lines);

/// How the digests of a case differ, one line each ("whole packs: was 0123456789abcdef, is 89abcdef01234567"); empty if they
/// do not.
std::vector<std::string> differences(const std::vector<std::string>& was, const std::vector<std::string>& is);

/// The first record of each section in which two outputs of value_lines() differ, with both.
std::string first_differences(const std::vector<std::string>& was, const std::vector<std::string>& is);

/// How many cases have each value of each axis, one line per axis.
std::string coverage(const std::vector<DigestCase>& cases);

}  // namespace tutti::test
