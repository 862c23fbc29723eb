// The tests, and the commands that help when they fail:
//
//   digest_tests                            the tests (options are those of GoogleTest)
//   digest_tests print CASE [MODE]          the values of a case, one record per line
//   digest_tests compare CASE FILE [MODE]   the first records that differ from those in FILE,
//                                           which `print` of another build wrote
//   digest_tests text CASE                  the scenario itself, for tutti simulate
//   digest_tests coverage                   the number of scenarios with each value of each axis
//   digest_tests generate                   rewrites the corpus; update the digests then

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <sstream>

#include <fmt/format.h>

#include "tests/digests/blocks.h"
#include "tests/digests/generator.h"
#include "tests/digests/runs.h"

namespace {

using namespace tutti::test;

int compare(const DigestCase& one, const std::string& file, const std::string& mode) {
  std::vector<std::string> was;
  std::istringstream lines(content_of(file));
  for (std::string line; std::getline(lines, line);) was.push_back(line);
  const std::string found = first_differences(was, value_lines(one, mode));
  fmt::print("{}", found.empty() ? "no value differs\n" : found);
  return found.empty() ? 0 : 1;
}

void generate_corpus() {
  std::vector<DigestCase> cases;
  for (std::int32_t i = 0; i < kCorpus; ++i) cases.push_back(generate(i));
  write_file(corpus_path(), format_corpus(cases));
}

int command(const std::vector<std::string>& words) {
  const auto word = [&words](std::size_t i) { return i < words.size() ? words[i] : std::string(); };
  if (word(0) == "print" && words.size() >= 2) {
    for (const std::string& line : value_lines(case_named(word(1)), word(2)))
      fmt::print("{}\n", line);
  } else if (word(0) == "compare" && words.size() >= 3) {
    return compare(case_named(word(1)), word(2), word(3));
  } else if (word(0) == "text" && words.size() == 2) {
    fmt::print("{}", case_named(word(1)).text);
  } else if (word(0) == "coverage") {
    fmt::print("{}", coverage(corpus_cases()));
  } else if (word(0) == "generate") {
    generate_corpus();
  } else {
    fmt::print(stderr,
               "digest_tests knows print CASE [MODE], compare CASE FILE [MODE], text CASE, "
               "coverage, generate, and the "
               "options of GoogleTest\n");
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && argv[1][0] != '-') return command({argv + 1, argv + argc});
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    fmt::print(stderr, "digest_tests: {}\n", error.what());
    return 2;
  }
}
