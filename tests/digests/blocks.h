#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/digests/cases.h"

namespace tutti::test {

/// Cases whose digests are stored in one file and checked by one test. ctest starts the program
/// once per test, so a block is large enough that the corpus is not read too often. It is small
/// enough that several blocks can run in parallel.
struct Block {
  std::string name;  ///< the name of its first case ("000", "050", …), "shipped" or "algorithms"
  std::vector<DigestCase> cases;

  [[nodiscard]] std::string path() const { return digests_folder() + "/" + name + ".txt"; }
};

std::vector<Block> blocks();

/// Returns the stored lines of each case of a block. Throws std::runtime_error if the file cannot
/// be read.
std::vector<std::vector<std::string>> read_digests(const Block& block);
void write_digests(const Block& block, const std::vector<std::vector<std::string>>& lines);

/// Returns the differences between two sets of lines of one case, such as "whole packs: was
/// 0123456789abcdef, is 89abcdef01234567".
std::vector<std::string> differences(const std::vector<std::string>& was,
                                     const std::vector<std::string>& is);

/// Returns, for each section in which two outputs of value_lines() differ, the first records that
/// differ.
std::string first_differences(const std::vector<std::string>& was,
                              const std::vector<std::string>& is);

/// Returns how many cases have each value of each axis, one line per axis.
std::string coverage(const std::vector<DigestCase>& cases);

}  // namespace tutti::test
