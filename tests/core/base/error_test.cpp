#include "core/base/error.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

TEST(Error, ShowsEveryProblemWithItsPosition) {
  Problems problems;
  problems.add({"a.textproto", 3, 7}, "x must be above 0 (got {})", -5);
  problems.add({}, "no place");
  EXPECT_EQ(problems.take().value().message(),
            "a.textproto:3:7: x must be above 0 (got -5)\nno place");
}

TEST(Problems, AreSortedByFileAndPosition) {
  Problems problems;
  problems.add({"b", 9, 1}, "late");
  problems.add({"a", 1, 1}, "other file");
  problems.add({"b", 2, 5}, "second");
  problems.add({"b", 2, 3}, "first");
  EXPECT_EQ(problems.take().value().message(),
            "b:2:3: first\nb:2:5: second\nb:9:1: late\na:1:1: other file");
}

TEST(Problems, IgnoreConsequencesOfAKnownProblem) {
  Problems problems;
  problems.add({"a", 1, 1}, "nan is not a number");
  problems.ignore_later_ones_at({"a", 1, 1});
  problems.add({"a", 1, 1}, "must be above 0");
  EXPECT_EQ(problems.size(), 1u);
}

TEST(Problems, AreIgnoredOnlyAtTheGivenPosition) {
  Problems problems;
  problems.ignore_later_ones_at({"a", 1, 2});
  problems.ignore_later_ones_at({"b", 1, 1});
  for (const Location& where :
       std::vector<Location>{{"a", 1, 1}, {"a", 1, 2}, {"a", 2, 2}, {"b", 1, 1}, {"c", 1, 2}})
    problems.add(where, "wrong");
  EXPECT_EQ(problems.take().value().message(), "a:1:1: wrong\na:2:2: wrong\nc:1:2: wrong");
}

TEST(Problems, AreFullAt200) {
  Problems problems;
  for (int line = 1; line <= 199; ++line) problems.add({"a", line, 1}, "wrong");
  EXPECT_FALSE(problems.full());
  for (int line = 200; line <= 1000; ++line) problems.add({"a", line, 1}, "wrong");
  EXPECT_TRUE(problems.full());
  EXPECT_EQ(problems.size(), 1000u) << "the number of problems includes those that are not stored";
  const Error error = problems.take().value();
  ASSERT_EQ(error.problems().size(), 201u);
  EXPECT_EQ(to_string(error.problems().back()),
            "a: only the first 200 problems are shown; fix them to see the rest");
}

TEST(DidYouMean, SuggestsNamesWithTyposOrTheSamePrefix) {
  const std::vector<std::string> names{"ring", "halving_doubling", "pscpu", "resnet50_torchvision"};
  EXPECT_EQ(did_you_mean("rnig", names), "; did you mean \"ring\"?");
  EXPECT_EQ(did_you_mean("resnet50", names), "; did you mean \"resnet50_torchvision\"?");
  EXPECT_EQ(did_you_mean("quantum", names), "");
  EXPECT_EQ(did_you_mean("Halving-Doubling", names), "; did you mean \"halving_doubling\"?");
  EXPECT_EQ(did_you_mean("rin", names), "; did you mean \"ring\"?");
}

TEST(DidYouMean, SuggestsNothingForAVeryLongName) {
  EXPECT_EQ(did_you_mean(std::string(100'000, 'a'), {"calibrate", "validate"}), "");
}

TEST(DidYouMean, ListsEquallySimilarNames) {
  const std::vector<std::string> names{"dgx-a100", "hgx-h100", "hgx-b200", "cpu-host", "hgx-h200"};
  EXPECT_EQ(did_you_mean("dgx-h100", names), "; did you mean \"dgx-a100\" or \"hgx-h100\"?");
  EXPECT_EQ(did_you_mean("h100", names), "; did you mean \"hgx-h100\"?");
  EXPECT_EQ(did_you_mean("hgx", names),
            "; did you mean \"hgx-h100\", \"hgx-b200\" or \"hgx-h200\"?");
}

/// The Levenshtein distance by its definition.
std::size_t slow_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::size_t kept =
      slow_distance(a.substr(1), b.substr(1)) + (a.front() == b.front() ? 0 : 1);
  if (a.front() == b.front()) return kept;
  return std::min({kept, slow_distance(a.substr(1), b) + 1, slow_distance(a, b.substr(1)) + 1});
}

TEST(DidYouMean, ALongNameMayHaveOneEditForEveryThreeLetters) {
  // Two names of nine letters whose Levenshtein distance is at most 3 are similar.
  constexpr std::size_t kLetters = 9;
  std::size_t similar_pairs = 0;
  for (unsigned a = 0; a < 1 << kLetters; a += 37) {
    for (unsigned b = 0; b < 1 << kLetters; b += 23) {
      std::string written, candidate;
      for (std::size_t i = 0; i < kLetters; ++i) {
        written += (a >> i & 1) != 0 ? 'q' : 'z';
        candidate += (b >> i & 1) != 0 ? 'q' : 'z';
      }
      const bool similar = slow_distance(written, candidate) <= 3;
      similar_pairs += similar ? 1 : 0;
      EXPECT_EQ(!did_you_mean(written, {candidate}).empty(), similar)
          << '"' << written << "\" and \"" << candidate << '"';
    }
  }
  EXPECT_GT(similar_pairs, 50U);
}

TEST(DidYouMean, SuggestsExactlyTheNamesWithinTwoEdits) {
  // All texts of up to five letters "q" and "z". A candidate that contains a name of at least three
  // letters is similar, too.
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; texts[i].size() < 5; ++i) {
    texts.push_back(texts[i] + 'q');
    texts.push_back(texts[i] + 'z');
  }
  for (const std::string& written : texts) {
    for (const std::string& candidate : texts) {
      const bool similar = slow_distance(written, candidate) <= 2 ||
                           (written.size() >= 3 && candidate.find(written) != std::string::npos);
      EXPECT_EQ(!did_you_mean(written, {candidate}).empty(), similar)
          << '"' << written << "\" and \"" << candidate << '"';
    }
  }
}

}  // namespace
}  // namespace tutti::core
