// Faulty messages between real worker processes. A proxy between two workers changes or withholds
// one message.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/middleman.h"
#include "tests/tools/cluster_run.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

using Fault = Middleman::Fault;

const std::string kProxySecret = "0123456789abcdef0123456789abcdef";

/// A run of two workers, in which the messages from worker 1 to worker 0 pass through a proxy. Each
/// message has several pieces.
struct Interfered {
  Interfered(Fault fault, bool emulated) : Interfered(fault, options(emulated)) {}
  /// `secret`: as that of Middleman.
  Interfered(Fault fault, const std::vector<std::string>& options, const std::string& secret = "")
      : run(ring_of(2, 3, "variable { name: \"a\" shape: 300001 }"), options,
            {{{"TUTTI_SECRET", secret}}}),
        middleman(run.port(), fault, 4, secret) {
    run.join_at(middleman.at(), {"--worker", "0"}, {{{"TUTTI_SECRET", secret}}});
    run.join({"--worker", "1"}, {{{"TUTTI_SECRET", secret}}});
  }
  static std::vector<std::string> options(bool emulated) {
    std::vector<std::string> words{"--timeout-seconds", "2"};
    if (emulated) words.insert(words.end(), {"--emulate", "--time-scale", "50"});
    return words;
  }
  ClusterRun run;
  Middleman middleman;
};

/// Matches the error that worker 0 received a message from worker 1 for which no step waits.
auto says_not_in_schedule(int to) {
  return AllOf(says_that_it_failed(0, "worker 1 sent a message that is not in its schedule ("),
               HasSubstr(fmt::format("(pack 0, from rank 1 to rank {}, ", to)));
}

class MessagesOnTheWay : public testing::TestWithParam<bool> {};

void expect_told(Fault fault, bool emulated, const testing::Matcher<std::string>& says) {
  Interfered interfered(fault, emulated);
  ClusterRun& run = interfered.run;
  expect_failed(run.coordinator(), says, "coordinator");
  EXPECT_TRUE(interfered.middleman.done());
  for (const std::size_t w : {0, 1}) expect_failed(run.worker(w), says, "worker");
}

/// A piece or the whole message is then missing, or the next message is not the expected one.
TEST_P(MessagesOnTheWay, ALostMessageIsReported) {
  expect_told(Fault::kLoses, GetParam(),
              AnyOf(AllOf(HasSubstr("no progress for"), HasSubstr("(pack 0, step ")),
                    says_not_in_schedule(0)));
}

TEST_P(MessagesOnTheWay, ADelayBeyondTheTimeoutIsReported) {
  expect_told(
      Fault::kGoesSilent, GetParam(),
      AllOf(HasSubstr("no progress for 2"), HasSubstr(" lane 0 "), HasSubstr("(pack 0, step ")));
}

TEST_P(MessagesOnTheWay, AnIncompleteMessageIsReported) {
  // The kernel's error depends on the last write to the connection.
  expect_told(Fault::kCutsShort, GetParam(),
              AnyOf(says_that_it_failed(0, "worker 1 has closed its connection ("),
                    says_that_it_failed(0, "worker 1 has disconnected (")));
}

TEST_P(MessagesOnTheWay, ARepeatedMessageIsRefused) {
  expect_told(Fault::kRepeats, GetParam(), says_not_in_schedule(0));
}

TEST_P(MessagesOnTheWay, AMessageForAnotherPackIsRefused) {
  expect_told(Fault::kMisdirects, GetParam(), says_not_in_schedule(99));
}

TEST_P(MessagesOnTheWay, AMessageWithAnExcessiveLengthIsRefused) {
  expect_told(
      Fault::kExaggerates, GetParam(),
      says_that_it_failed(0, "worker 1 sent data that is not a message of Tutti (in steps"));
}

TEST_P(MessagesOnTheWay, RandomBytesAreRefused) {
  expect_told(
      Fault::kScrambles, GetParam(),
      says_that_it_failed(0, "worker 1 sent data that is not a message of Tutti (in steps"));
}

/// Without authentication codes, only the verification of results notices that a bit was changed.
TEST(MessagesOnTheWay, AChangedBitIsAcceptedWithoutCodesAndVerification) {
  Interfered interfered(Fault::kChanges, {"--timeout-seconds", "5", "--no-verify"});
  const Outcome outcome = interfered.run.coordinator().wait();
  EXPECT_TRUE(interfered.middleman.done());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

class MessagesWithCodes : public testing::TestWithParam<Fault> {};

TEST_P(MessagesWithCodes, RefusesMessagesThatAreNotTheNextOnes) {
  Interfered interfered(GetParam(), {"--timeout-seconds", "5", "--no-verify", "--integrity"},
                        kProxySecret);
  ClusterRun& run = interfered.run;
  // The header of a message is compared with the schedule before its code has arrived.
  const auto wrong_code =
      says_that_it_failed(0, "worker 1 sent a message whose authentication code is wrong");
  const testing::Matcher<std::string> says = GetParam() == Fault::kChanges
                                                 ? testing::Matcher<std::string>(wrong_code)
                                                 : AnyOf(wrong_code, says_not_in_schedule(0));
  expect_failed(run.coordinator(), says, "coordinator");
  EXPECT_TRUE(interfered.middleman.done());
  for (const std::size_t w : {0, 1}) expect_failed(run.worker(w), says, "worker");
}

INSTANTIATE_TEST_SUITE_P(Deeds, MessagesWithCodes,
                         testing::Values(Fault::kLoses, Fault::kRepeats, Fault::kChanges,
                                         Fault::kSwaps),
                         [](const auto& each) {
                           switch (each.param) {
                             case Fault::kLoses: return "Lost";
                             case Fault::kRepeats: return "Repeated";
                             case Fault::kChanges: return "Changed";
                             default: return "Reordered";
                           }
                         });

TEST(MessagesWithCodes, RefusesIncompleteMessages) {
  Interfered interfered(Fault::kCutsShort, {"--timeout-seconds", "5", "--integrity"}, kProxySecret);
  expect_failed(interfered.run.coordinator(),
                AnyOf(says_that_it_failed(0, "worker 1 has closed its connection ("),
                      says_that_it_failed(0, "worker 1 has disconnected (")),
                "coordinator");
}

TEST(MessagesWithCodes, ArriveWithoutInterference) {
  Interfered interfered(Fault::kSlows, {"--timeout-seconds", "5", "--integrity"}, kProxySecret);
  const Outcome outcome = interfered.run.coordinator().wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

/// A piece of 240 kB takes six seconds, three times the timeout. The bytes of the piece arrive at
/// one worker. The other worker waits for the first worker, and receives nothing itself.
TEST(MessagesOnTheWay, SlowMessagesAreAcceptedWhileTheyProgress) {
  ClusterRun run(ring_of(2, 1, "variable { name: \"a\" shape: 120001 }"),
                 {"--timeout-seconds", "2"});
  Middleman middleman(run.port(), Fault::kSlows, 0);
  run.join_at(middleman.at(), {"--worker", "0"});
  run.join({"--worker", "1"});
  const Outcome outcome = run.coordinator().wait();
  EXPECT_TRUE(middleman.done());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const std::size_t w : {0, 1}) EXPECT_EQ(run.worker(w).wait().status, 0);
}

INSTANTIATE_TEST_SUITE_P(Faults, MessagesOnTheWay, testing::Bool(), [](const auto& each) {
  return each.param ? "Emulated" : "AsFastAsTheyGo";
});

}  // namespace
}  // namespace tutti::test
