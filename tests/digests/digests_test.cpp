// Compares the predictions for generated and shipped scenarios with stored digests
// (tests/data/digests). A refactoring must leave all predictions unchanged, to the picosecond.
// After an intended change of a prediction, the digests have to be updated (CONTRIBUTING.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "tests/digests/blocks.h"
#include "tests/digests/digest.h"
#include "tests/digests/generator.h"
#include "tests/digests/runs.h"

namespace tutti::test {
namespace {

bool updates() { return std::getenv("TUTTI_UPDATE_EXPECTED") != nullptr; }

/// Sanitized builds check only a sample, because sanitizers look for memory errors rather than
/// wrong values.
#ifdef TUTTI_SANITIZED
constexpr std::size_t kEvery = 10;
#else
constexpr std::size_t kEvery = 1;
#endif

std::vector<std::string> names_of_blocks() {
  std::vector<std::string> names;
  for (const Block& block : blocks()) names.push_back(block.name);
  return names;
}

class Digests : public testing::TestWithParam<std::string> {};

TEST_P(Digests, AreUnchanged) {
  const std::vector<Block> all = blocks();
  const Block& block =
      *std::find_if(all.begin(), all.end(), [](const Block& b) { return b.name == GetParam(); });
  if (updates()) {
    std::vector<std::vector<std::string>> lines;
    for (const DigestCase& one : block.cases) lines.push_back(digest_lines(one));
    return write_digests(block, lines);
  }
  const std::vector<std::vector<std::string>> expected = read_digests(block);
  std::string moved;
  std::string first;
  int cases = 0;
  for (std::size_t i = 0; i < block.cases.size(); i += kEvery) {
    const DigestCase& one = block.cases[i];
    const std::vector<std::string> found = differences(expected[i], digest_lines(one));
    if (found.empty()) continue;
    if (cases++ == 0) first = one.name;
    moved += fmt::format("{}  {}\n", one.name, one.axes);
    for (const std::string& line : found) moved += "     " + line + "\n";
  }
  EXPECT_EQ(cases, 0) << fmt::format(
      "{} of the {} checked cases of {} predict values that differ from the recorded ones:\n{}"
      "To list the differences of the first case, build the previous version and this one:\n"
      "  digest_tests print {} > before.txt      with the previous version\n"
      "  digest_tests compare {} before.txt      with this version\n"
      "If the new values are intended, record them:\n"
      "  TUTTI_UPDATE_EXPECTED=1 ctest --preset ci -R Digests\n",
      cases, (block.cases.size() + kEvery - 1) / kEvery, block.path(), moved, first, first);
}

INSTANTIATE_TEST_SUITE_P(Of, Digests, testing::ValuesIn(names_of_blocks()),
                         [](const auto& i) { return i.param; });

// --- the corpus ---

TEST(DigestCorpus, EqualsTheGeneratedCorpus) {
  const std::vector<DigestCase> cases = corpus_cases();
  ASSERT_EQ(cases.size(), static_cast<std::size_t>(kCorpus));
  for (std::int32_t i = 0; i < kCorpus; ++i) {
    const DigestCase made = generate(i);
    const DigestCase& kept = cases[i];
    EXPECT_EQ(made.name, kept.name);
    EXPECT_EQ(made.axes, kept.axes);
    ASSERT_EQ(made.text, kept.text) << "`digest_tests generate` rewrites them";
  }
}

TEST(DigestCorpus, IsMostlyValidAndCoversFoldingAndSkippedSteps) {
  std::size_t refused = 0, folded = 0, remembered = 0, all = 0;
  for (const Block& block : blocks()) {
    if (block.cases.front().shipped) continue;
    for (const std::vector<std::string>& lines : read_digests(block)) {
      ++all;
      const auto has = [&lines](const std::string& what) {
        return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
          return line.find(what) != std::string::npos;
        });
      };
      if (has(" whole refused") || lines.size() <= 1) ++refused;
      if (has(" folded same") || has(" folded steps")) ++folded;
      if (has(" remembered same")) ++remembered;
    }
  }
  EXPECT_LE(refused * 20, all) << "refused of " << all;
  EXPECT_GE(folded * 10, all) << "folded of " << all;
  EXPECT_GE(remembered * 2, all) << "remembered of " << all;
}

// --- digests ---

TEST(Digest, DependsOnEveryValueAndTheirOrder) {
  std::set<std::string> seen;
  const auto of = [](std::initializer_list<std::int64_t> values) {
    Digest digest;
    for (const std::int64_t v : values) digest.add(v);
    return digest.hex();
  };
  for (std::int64_t bit = 0; bit < 64; ++bit)
    seen.insert(of({1, static_cast<std::int64_t>(std::uint64_t{1} << bit)}));
  EXPECT_EQ(seen.size(), 64u);
  EXPECT_NE(of({1, 2}), of({2, 1}));
  EXPECT_NE(of({0}), of({0, 0}));
  EXPECT_NE(of({}), of({0}));
}

TEST(Digest, DependsOnTheBoundariesOfTexts) {
  const auto of = [](std::initializer_list<std::string_view> texts) {
    Digest digest;
    for (const std::string_view t : texts) digest.add(t);
    return digest.hex();
  };
  EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
  EXPECT_NE(of({"a"}), of({std::string_view("a\0", 2)}));
  EXPECT_NE(of({"12345678"}), of({"123456789"}));
}

/// The first output of SplitMix64 for a state of 0. SOURCE: https://prng.di.unimi.it/splitmix64.c
TEST(Digest, IsTheSameOnEveryPlatform) {
  Digest digest;
  digest.add(0);
  EXPECT_EQ(digest.hex(), "e220a8397b1dcdaf");
}

// --- values ---

core::Span span_at(std::int64_t start, core::TrackId peer = core::kNoTrack) {
  core::Span span;
  span.start = core::Time(start);
  span.duration = core::Time(5);
  span.peer = peer;
  return span;
}

TEST(TimelineValues, DoNotDependOnTheOrderOfReportsOrTheNumbersOfTracks) {
  const core::Track first{0, core::TrackKind::kLane, 0, "gpu0", 0, 0},
      second{1, core::TrackKind::kLane, 1, "gpu0", 0, 0};
  TimelineValues a, b;
  a.track(first), a.track(second);
  a.span(0, span_at(1)), a.span(0, span_at(9)), a.span(1, span_at(2, 0));
  a.pack({0, 0, {}, {}, {}, core::Time(7)}), a.pack({0, 1, {}, {}, {}, core::Time(6)});
  b.track({0, core::TrackKind::kLane, 1, "gpu0", 0, 0}),
      b.track({1, core::TrackKind::kLane, 0, "gpu0", 0, 0});
  b.span(0, span_at(2, 1)), b.span(1, span_at(9)), b.span(1, span_at(1));
  b.pack({0, 1, {}, {}, {}, core::Time(6)}), b.pack({0, 0, {}, {}, {}, core::Time(7)});
  a.sort(), b.sort();
  EXPECT_EQ(a.digest(Section::kMessages), b.digest(Section::kMessages));
  EXPECT_EQ(a.digest(Section::kPacks), b.digest(Section::kPacks));
  EXPECT_EQ(a.size(Section::kMessages), 3u);
}

/// Printed values and digests come from one list of fields, so checking the digest suffices.
TEST(TimelineValues, ChangeWithEveryFieldOfASpan) {
  const auto digest_of = [](const std::function<void(core::Span&)>& change) {
    TimelineValues values;
    values.track({0, core::TrackKind::kLane, 0, "gpu0", 0, 0});
    values.track({1, core::TrackKind::kLane, 0, "gpu1", 0, 0});
    core::Span span = span_at(3, 1);
    change(span);
    values.span(0, span);
    values.sort();
    return values.digest(Section::kMessages);
  };
  const std::string plain = digest_of([](core::Span&) {});
  const std::vector<std::function<void(core::Span&)>> changes{
      [](core::Span& s) { s.start = core::Time(4); },
      [](core::Span& s) { s.duration = core::Time(6); },
      [](core::Span& s) { s.wait = core::Time(1); },
      [](core::Span& s) { s.kind = 1; },
      [](core::Span& s) { s.step = 1; },
      [](core::Span& s) { s.pack = 1; },
      [](core::Span& s) { s.index = 1; },
      [](core::Span& s) { s.bytes = core::Bytes(1); },
      [](core::Span& s) { s.peer = 0; },
      [](core::Span& s) { s.peer_index = 1; }};
  for (std::size_t i = 0; i < changes.size(); ++i)
    EXPECT_NE(digest_of(changes[i]), plain) << "change " << i;
}

TEST(TimelineValues, ValuesOfOneWorkerExcludeOtherWorkersAndWorkerNumbers) {
  const auto values_of = [](int worker) {
    TimelineValues values;
    core::StepRecord step;
    step.slowest = fmt::format("w{}/gpu1", worker);
    values.step(step);
    core::PathPiece piece;
    piece.slowest_link = fmt::format("w{}/nic0→w{}/nic1", worker, worker + 1);
    values.path(piece);
    values.track({0, core::TrackKind::kPacks, 0, "gpu0", 0, 0});
    values.track({1, core::TrackKind::kPacks, 1, "gpu0", 0, 0});
    values.span(0, span_at(1));
    values.span(1, span_at(worker));
    values.sort();
    return values;
  };
  const TimelineValues a = values_of(3), b = values_of(14);
  for (const Section section : {Section::kSteps, Section::kPath, Section::kFlights}) {
    EXPECT_NE(a.digest(section), b.digest(section)) << to_string(section);
    EXPECT_EQ(a.digest(section, TimelineValues::View::kOneWorker),
              b.digest(section, TimelineValues::View::kOneWorker))
        << to_string(section);
  }
}

TEST(Differences, NameThePartAndModeThatChanged) {
  const std::vector<std::string> was{"042 whole steps 0000000000000001",
                                     "042 whole packs 0000000000000002", "042 folded same",
                                     "042 both refused 0:0"};
  std::vector<std::string> is = was;
  EXPECT_TRUE(differences(was, is).empty());
  is[1] = "042 whole packs 0000000000000003";
  is[2] = "042 folded links 0000000000000004";
  EXPECT_EQ(differences(was, is),
            (std::vector<std::string>{"folded: was same, is absent",
                                      "folded links: was absent, is 0000000000000004",
                                      "whole packs: was 0000000000000002, is 0000000000000003"}));
  is = was;
  is[3] = "042 both same";
  EXPECT_EQ(differences(was, is), (std::vector<std::string>{"both: was refused 0:0, is same"}));
  is.pop_back();
  EXPECT_EQ(differences(was, is), (std::vector<std::string>{"both: was refused 0:0, is absent"}));
}

TEST(Differences, ShowTheFirstRecordThatChanged) {
  const std::vector<std::string> was{"whole ended ok", "whole packs step=0 end=1",
                                     "whole packs step=1 end=2", "whole packs step=2 end=3"};
  std::vector<std::string> is = was;
  EXPECT_EQ(first_differences(was, is), "");
  is[2] = "whole packs step=1 end=9";
  is.pop_back();
  EXPECT_EQ(first_differences(was, is),
            "whole packs, record 2 of 3 (now 2):\n  was: whole packs step=1 end=2\n  is:  whole "
            "packs step=1 end=9\n");
}

}  // namespace
}  // namespace tutti::test
