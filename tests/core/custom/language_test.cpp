// The language for custom algorithms. Every mistake in a text is reported with its line and column,
// and valid texts compile to the expected steps.

#include <gtest/gtest.h>

#include "core/schedule/checker.h"
#include "tests/core/custom/shipped.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::algorithm_of;
using test::placed;

/// Returns the text of an all-reduce with one lane whose steps are `body`.
std::string with_lane(const std::string& body) {
  return "collective all_reduce\nchunks 4\nlane {\n" + body + "\n}\n";
}

/// Returns the problems of a text that is compiled for 8 ranks on 2 nodes.
std::string wrong(const std::string& text, const std::vector<AlgorithmParameter>& set = {}) {
  Problems problems;
  algorithm_of(text, {8, 4, 0}, problems, set);
  return placed(problems);
}

std::shared_ptr<const Schedule> made(const std::string& text, AlgorithmShape shape,
                                     std::int64_t elements) {
  Problems problems;
  const auto algorithm = algorithm_of(text, shape, problems);
  EXPECT_EQ(placed(problems), "") << text;
  return algorithm ? algorithm->schedule(elements, 0, Engine::kKernel) : nullptr;
}

TEST(Language, ReportsMissingParts) {
  EXPECT_EQ(wrong(""), "1:1 missing\n1:1 missing\n1:1 missing");
  EXPECT_EQ(wrong("collective all_reduce chunks 1"), "1:1 missing");
  EXPECT_EQ(wrong("lane { }"), "1:1 missing\n1:1 missing");
}

TEST(Language, SyntaxErrorsHavePositions) {
  EXPECT_EQ(wrong("collective all_sum\nchunks 1\nlane { }"), "1:12 unknown-name");
  EXPECT_EQ(wrong(with_lane("send data[0] rank + 1")), "4:14 syntax");
  EXPECT_EQ(wrong(with_lane("send data[0] to rank +")), "5:1 syntax");
  EXPECT_EQ(wrong(with_lane("send data[0 to rank + 1")), "5:1 syntax");
  EXPECT_EQ(wrong(with_lane("shout data[0] to rank + 1")), "4:1 syntax");
  EXPECT_EQ(wrong(with_lane("multicast data[0] to rank + 1")), "5:1 syntax");
  EXPECT_EQ(wrong(with_lane("reduce data[0] across count 4")), "4:23 syntax");
  EXPECT_EQ(wrong(with_lane("send data[$] to rank + 1")), "4:11 syntax\n4:12 syntax");
  EXPECT_EQ(wrong("collective all_reduce chunks 1 lane {"), "1:37 syntax");
  EXPECT_EQ(wrong("collective all_reduce chunks 1 lane { } \"open"), "1:41 syntax");
  EXPECT_EQ(wrong("collective all_reduce chunks 1 chunks 2 lane { }"), "1:32 duplicate");
}

TEST(Language, ContinuesAfterASyntaxError) {
  EXPECT_EQ(
      wrong(with_lane("send data[0] rank + 1\nreceive data[0] rank - 1\nsend data[1] to rank + 1")),
      "4:14 syntax\n5:17 syntax");
}

TEST(Language, ReportsUnknownNames) {
  EXPECT_EQ(wrong(with_lane("send data[0] to rnak + 1")), "4:17 unknown-name");
  EXPECT_EQ(wrong(with_lane("send data[0] to next(rank)")), "4:17 unknown-name");
  EXPECT_EQ(wrong(with_lane("send data[0] to rank + 1 lane up")), "4:31 unknown-name");
  EXPECT_EQ(wrong(with_lane("wait for summed[0]")), "4:1 unknown-name");
  EXPECT_EQ(wrong(with_lane("let rank = 5")), "4:5 duplicate");
  EXPECT_EQ(wrong(with_lane("let lane = 5")), "4:5 invalid");
  EXPECT_EQ(wrong(with_lane("mark a\nmark a")), "5:1 duplicate");
  EXPECT_EQ(wrong(with_lane("send data[0] to min(1)")), "4:17 wrong-type");
  EXPECT_EQ(wrong(with_lane("send data[0] to rank(1)")), "4:17 wrong-type");
  EXPECT_EQ(wrong(with_lane("send scratch[0] to rank + 1")), "4:6 missing");
  EXPECT_EQ(wrong(with_lane(""), {{"slices", 4}}), "0:0 unknown-name");
}

TEST(Language, RefusesDivisionByZeroBeforeAnythingRuns) {
  EXPECT_EQ(wrong(with_lane("send data[0] to 8 / rank")), "4:19 invalid");
  EXPECT_EQ(wrong(with_lane("for i from 0 to 3 { send data[i % i] to rank + 1 }")), "4:33 invalid");
  EXPECT_EQ(wrong(with_lane("for i from 1000 to 1001 { send data[(i - 1000) * 576460752303423488 "
                            "% 4] to rank + 1 }")),
            "")
      << "the product fits, although its constant term alone does not";
  EXPECT_EQ(wrong(with_lane("send data[1 / 0] to rank + 1")), "4:13 invalid");
  EXPECT_EQ(wrong(with_lane("send data[8 / (rank - 4)] to rank + 1")), "4:13 invalid");
  EXPECT_EQ(wrong(with_lane("send data[log2(rank)] to rank + 1")), "4:11 invalid");
  EXPECT_EQ(wrong(with_lane("send data[power(2, rank - 1)] to rank + 1")), "4:11 invalid");
  EXPECT_EQ(wrong(with_lane("send data[xor(rank, -1)] to rank + 1")), "4:11 invalid");
  EXPECT_EQ(wrong(with_lane("send data[8 / max(1, rank)] to rank + 1")), "");
}

TEST(Language, RefusesValuesThatAreTooLarge) {
  EXPECT_EQ(wrong(with_lane("send data[power(2, 61)] to rank + 1")), "4:11 too-large");
  EXPECT_EQ(wrong(with_lane("send data[power(power(2, 40), 40)] to rank + 1")), "4:11 too-large");
  EXPECT_EQ(wrong(with_lane("send data[1000000000000 * 1000000000000] to rank + 1")),
            "4:25 too-large");
  EXPECT_EQ(wrong(with_lane("send data[99999999999999999999] to rank + 1")), "4:11 too-large");
  EXPECT_EQ(wrong(with_lane("for i from 1 to 1000000000000 { send data[0] to rank + 1 }")),
            "3:1 too-large");
  EXPECT_EQ(
      wrong(with_lane(
          "for i from 1 to 1000000 { for j from 1 to 1000000 { send data[0] to rank + 1 } }")),
      "3:1 too-large");
  EXPECT_EQ(wrong(with_lane(
                "for i from 1 to 1000000 { for j from 1 to i { send data[0] to rank + 1 } }")),
            "3:1 too-large\n4:1 too-large");
  EXPECT_EQ(wrong("collective all_reduce chunks 0 lane { }"), "1:30 too-small");
  EXPECT_EQ(wrong("collective all_reduce chunks rank lane { }"), "1:30 invalid");
  EXPECT_EQ(wrong("collective all_reduce chunks 1 scratch 1000 lane { }"), "1:40 too-large");
  EXPECT_EQ(wrong("collective all_reduce chunks 1 lane a for l from 1 to 1000 { } lane b for l "
                  "from 1 to 1000 { }"),
            "1:64 too-large");
  EXPECT_EQ(wrong("collective all_gather chunks 3 lane { }"), "1:30 conflict");
}

TEST(Language, RefusesDeepNestingInsteadOfOverflowingTheStack) {
  std::string loops;
  std::string brackets;
  std::string signs;
  std::string choices = "send data[";
  std::string elses;
  for (int i = 0; i < 10'000; ++i) {
    loops += "if rank == 1 { ";
    brackets += "(";
    signs += "-";
    choices += "if rank == 1 then 1 else ";
    elses += "if rank == 1 { } else ";
  }
  for (const std::string& body :
       {loops, "send data[" + brackets, "send data[" + signs + "1] to rank + 1", choices, elses,
        "send data[not " + signs + "1]"}) {
    EXPECT_NE(wrong(with_lane(body)), "") << body.substr(0, 20);
  }
}

TEST(Language, LimitsFunctionsWhoseCallsDoubleAtEachLevel) {
  std::string text = "let f0(x) = x + 1\n";
  for (int i = 1; i <= 31; ++i)
    text += fmt::format("let f{}(x) = f{}(x) + f{}(x + 1)\n", i, i - 1, i - 1);
  EXPECT_NE(wrong(text + "let y = f31(rank)\n" + with_lane("")), "");
  std::string doubled = "let x0 = rank\n";
  for (int i = 1; i <= 50; ++i)
    doubled += fmt::format("let x{} = max(x{}, x{})\n", i, i - 1, i - 1);
  EXPECT_NE(wrong(doubled + with_lane("send data[x50] to rank + 1")), "");
}

TEST(Language, RefusesMessagesFromARankToItself) {
  EXPECT_EQ(wrong(with_lane("send data[0] to rank")), "4:17 invalid");
  EXPECT_EQ(wrong(with_lane("receive data[0] from rank + ranks")), "4:22 invalid");
}

TEST(Language, RefusesWritesToTheInput) {
  EXPECT_EQ(wrong(with_lane("receive input[0] from rank - 1")), "4:1 invalid");
  EXPECT_EQ(wrong(with_lane("copy data[0] to input[0]")), "4:1 invalid");
}

TEST(Language, ReportsStatementsThatBreakADeclaredSymmetry) {
  EXPECT_EQ(wrong("symmetry shift\n" + with_lane("if rank == 0 { send data[0] to rank + 1 }")),
            "5:1 conflict");
  EXPECT_EQ(wrong("symmetry shift\n" + with_lane("send data[0] to 3")), "5:17 conflict");
  EXPECT_EQ(wrong("symmetry exchange\n" + with_lane("send data[0] to rank + 1")), "5:17 conflict");
  EXPECT_EQ(wrong("symmetry shift\n" + with_lane("if gpu == 0 { send data[0] to rank + 4 }")), "");
}

TEST(Language, MulticastGroupsOfASymmetricAlgorithmShiftWithTheWorker) {
  const std::string head =
      "collective all_reduce chunks 4 symmetry shift lane { multicast data[0] ";
  EXPECT_EQ(wrong(head + "to node * gpus count gpus }"), "");
  EXPECT_EQ(wrong(head + "to 0 count gpus }"), "1:75 conflict");
  EXPECT_EQ(wrong(head + "to node * gpus count 1 + node }"), "1:75 conflict");
  EXPECT_EQ(wrong(head + "to 0 count 2 step gpu }"), "1:75 too-small");
}

TEST(Language, ChecksRequirements) {
  EXPECT_EQ(wrong("require ranks == 8 \"eight\"\n" + with_lane("")), "");
  EXPECT_EQ(wrong("require ranks == 9 \"nine\"\n" + with_lane("")), "1:1 conflict");
  EXPECT_EQ(wrong("require rank == 0 \"zero\"\n" + with_lane("")), "1:1 invalid");
}

TEST(Language, ParametersHaveDefaultsAndValues) {
  const std::string text =
      "parameter slices = 2\ncollective all_reduce\nchunks slices\nlane {\n"
      "for i from 1 to slices { send data[i] to rank + 1 receive data[i] from rank - 1 } }";
  Problems problems;
  EXPECT_EQ(algorithm_of(text, {4, 1, 0}, problems)->schedule(8, 0, Engine::kCpu)->steps(0, 0), 4);
  EXPECT_EQ(algorithm_of(text, {4, 1, 0}, problems, {{"slices", 5}})
                ->schedule(8, 0, Engine::kCpu)
                ->steps(0, 0),
            10);
}

TEST(Language, KernelsReplaceCopyEnginesOnlyOnGpus) {
  const auto engine_of = [](const std::string& head, Engine engine) {
    Problems problems;
    const auto algorithm =
        algorithm_of(head + with_lane("send data[0] to rank + 1"), {4, 1, 0}, problems);
    EXPECT_EQ(placed(problems), "");
    return algorithm->schedule(4, 0, engine)->engine(0, 0);
  };
  EXPECT_EQ(engine_of("", Engine::kCopyEngine), Engine::kCopyEngine);
  EXPECT_EQ(engine_of("engine kernel\n", Engine::kCopyEngine), Engine::kKernel);
  EXPECT_EQ(engine_of("engine kernel\n", Engine::kCpu), Engine::kCpu);
  EXPECT_EQ(wrong("engine steam\n" + with_lane("send data[0] to rank + 1")), "1:8 syntax");
}

TEST(Language, NumbersOfRanksAndChunksWrapAround) {
  const auto schedule =
      made(with_lane("send data[-1] to rank - 1\nreceive data[9] from rank + 9"), {8, 4, 0}, 40);
  EXPECT_EQ(schedule->step(0, 0, 0).source.offset, 30);
  EXPECT_EQ(schedule->step(0, 0, 0).to.rank(0, 8), 7);
  EXPECT_EQ(schedule->step(7, 0, 1).from.rank(7, 8), 0);
  EXPECT_EQ(schedule->step(7, 0, 1).target.offset, 10);
}

TEST(Language, RangesAreCutAtTheEndOfTheirBuffer) {
  const auto schedule = made(
      "collective all_reduce chunks 4 scratch 2 lane { copy data[2 to 9] to data[3 count 7] "
      "copy data[0 count 4] to scratch[1] }",
      {2, 1, 0}, 10);
  EXPECT_EQ(schedule->step(0, 0, 0).source.end(), 10);
  EXPECT_EQ(schedule->step(0, 0, 0).target.end(), 10);
  EXPECT_EQ(schedule->step(0, 0, 1).target.end(), schedule->scratch(0));
}

TEST(Language, RoundsWithDifferentNumbersOfStepsAreCounted) {
  const auto schedule =
      made(with_lane("for i from 1 to 4 { for j from 1 to i { send data[j] to rank + i } }\n"
                     "for i from 4 down to 1 { if i % 2 == rank % 2 { copy data[i] to data[0] } }"),
           {8, 4, 0}, 8);
  ASSERT_EQ(schedule->steps(0, 0), 12);
  std::vector<int> peers;
  for (int i = 0; i < 10; ++i) peers.push_back(schedule->step(0, 0, i).to.rank(0, 8));
  EXPECT_EQ(peers, (std::vector<int>{1, 2, 2, 3, 3, 3, 4, 4, 4, 4}));
}

TEST(Language, LanesWaitForMarksOfOtherLanes) {
  const std::string text =
      "collective all_reduce chunks 4\n"
      "lane first { for c from 0 to 3 { send data[c] to rank + 1 receive data[c] from rank - 1 "
      "mark seen } }\n"
      "lane second { for c from 0 to 3 { wait for seen[c] copy data[c] to data[c + 1] } wait for "
      "lane first }\n";
  const auto schedule = made(text, {4, 1, 0}, 8);
  ASSERT_EQ(schedule->steps(0, 1), 5);
  for (int c = 0; c < 4; ++c) {
    EXPECT_EQ(schedule->step(0, 1, c).wait.lane, 0);
    EXPECT_EQ(schedule->step(0, 1, c).wait.count, 2 * (c + 1));
  }
  EXPECT_EQ(schedule->step(0, 1, 4).kind, StepKind::kNop);
  EXPECT_EQ(schedule->step(0, 1, 4).wait.count, 8);
  EXPECT_EQ(wrong("collective all_reduce chunks 4 lane a { for c from 0 to 3 { mark m } } lane b { "
                  "wait for m }"),
            "1:81 wrong-type");
}

TEST(Language, EmptyChunksMoveNothing) {
  const auto schedule = made(
      with_lane("for i from 0 to 3 { send data[i] to rank + 1 receive data[i] from rank - 1 }"),
      {4, 1, 0}, 2);
  EXPECT_EQ(schedule->step(0, 0, 0).kind, StepKind::kSend);
  EXPECT_EQ(schedule->step(0, 0, 4).kind, StepKind::kNop);
  EXPECT_EQ(schedule->step(0, 0, 7).kind, StepKind::kNop);
}

TEST(Language, DeadlocksAndReadsBeforeWritesAreFoundByTheChecker) {
  const auto first_of = [](const std::string& text) {
    const std::vector<Violation> violations =
        check(*made(text, {4, 1, 0}, 8), Contract::all_reduce(4, 8));
    return violations.empty() ? ViolationKind::kCount : violations.front().kind;
  };
  EXPECT_EQ(first_of(with_lane("receive data[0] from rank - 1\nsend data[0] to rank + 1")),
            ViolationKind::kDeadlock);
  EXPECT_EQ(
      first_of("collective all_reduce chunks 1 scratch 1 lane { copy scratch[0] to data[0] }"),
      ViolationKind::kNeverWritten);
  EXPECT_EQ(
      first_of(
          "collective all_reduce chunks 1 lane a { wait for lane b } lane b { wait for lane a }"),
      ViolationKind::kDeadlock);
}

TEST(Language, EarlierProblemsOfTheScenarioDoNotRejectTheAlgorithm) {
  Problems problems;
  problems.add({ProblemCode::kUnused}, {"s.textproto", 7, 1}, "a mistake elsewhere");
  const std::string ring = test::text_of_algorithm("ring");
  const auto algorithm = test::algorithm_of(ring, {4, 1, 0}, problems);
  ASSERT_NE(algorithm, nullptr);
  EXPECT_EQ(problems.size(), 1u);
  EXPECT_GT(algorithm->schedule(64, 0, Engine::kKernel)->steps(0, 0), 0);
  EXPECT_EQ(test::algorithm_of("collective all_reduce chunks 1", {4, 1, 0}, problems), nullptr);
  EXPECT_EQ(problems.size(), 2u) << "the file has no lane";
}

TEST(Language, SwitchesMulticastToAndReduceOverGroups) {
  const std::string text =
      "collective all_reduce chunks 4 lane {\n"
      "  multicast nothing to rank / 4 * 4 count 2 step 2 lane other\n"
      "  reduce data[1] across 4 * node count 4\n"
      "  reduce data[2] with input[2] across 4 * node count 9\n"
      "  multicast data[3] to rank count 1\n"
      "} lane other { }";
  EXPECT_EQ(wrong(text), "");
  const auto schedule = made(text, {8, 4, 0}, 8);
  const Step signal = schedule->step(5, 0, 0);
  EXPECT_EQ(signal.kind, StepKind::kMulticast);
  EXPECT_EQ(signal.source.count, 0);
  EXPECT_EQ(signal.to.lane, 1);
  EXPECT_EQ(signal.group.first, 4);
  EXPECT_EQ(signal.group.count, 2);
  EXPECT_EQ(signal.group.stride, 2);
  const Step sum = schedule->step(5, 0, 1);
  EXPECT_EQ(sum.kind, StepKind::kSwitchReduce);
  EXPECT_EQ(sum.source, (Range{Buffer::kData, 2, 2}));
  EXPECT_EQ(sum.target, sum.source);
  EXPECT_EQ(schedule->step(5, 0, 2).group.count, 4) << "a group ends at the last rank";
  EXPECT_EQ(schedule->step(5, 0, 3).kind, StepKind::kNop) << "there is no other rank";
}

TEST(Language, TheRangeNothingIsOnlyAllowedInMessages) {
  EXPECT_EQ(wrong(with_lane("send nothing to rank + 1 receive nothing from rank - 1")), "");
  EXPECT_EQ(wrong(with_lane("copy nothing to data[0]")), "4:1 invalid");
  EXPECT_EQ(wrong(with_lane("reduce nothing from rank - 1")), "4:1 invalid");
  EXPECT_EQ(wrong(with_lane("receive nothing from rank - 1 then send to rank + 1")), "4:1 invalid");
  EXPECT_EQ(wrong(with_lane("reduce data[0] with nothing across 0 count 4")), "4:1 invalid");
}

TEST(Language, SwitchReductionsMustWaitForTheirInputs) {
  const auto first_of = [](const std::string& before) {
    const std::vector<Violation> violations = check(
        *made("collective all_reduce chunks 4 lane main {\n" + before +
                  "  reduce data[rank] across 0 count 4\n"
                  "  multicast data[rank] to 0 count 4 lane shard[rank]\n"
                  "} lane ready { for k from 1 to 3 { receive nothing from rank + k lane main "
                  "} }\n"
                  "lane shard for g from 0 to 3 { if g != rank { receive data[g] from g lane "
                  "main } }",
              {4, 4, 0}, 8),
        Contract::all_reduce(4, 8));
    return violations.empty() ? ViolationKind::kCount : violations.front().kind;
  };
  EXPECT_EQ(first_of("  multicast nothing to 0 count 4 lane ready wait for lane ready\n"),
            ViolationKind::kCount);
  EXPECT_EQ(first_of("  multicast nothing to 0 count 4 lane ready\n"),
            ViolationKind::kReadBeforeMessage);
}

TEST(Language, StepsHaveTheirPositionInTheText) {
  Problems problems;
  const auto algorithm = algorithm_of(
      with_lane("send data[0] to rank + 1\n  receive data[0] from rank - 1"), {4, 1, 0}, problems);
  EXPECT_EQ(algorithm->place_of(1, 0, 1)->line, 5);
  EXPECT_EQ(algorithm->place_of(1, 0, 1)->column, 3);
  EXPECT_FALSE(algorithm->place_of(1, 0, 2));
  EXPECT_FALSE(algorithm->place_of(9, 0, 0));
}

}  // namespace
}  // namespace tutti::core
