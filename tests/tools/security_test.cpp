// Runs whose messages are encrypted or have authentication codes, and the options for them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/certificates.h"
#include "tests/tools/cluster_run.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"

namespace tutti::test {
namespace {

using core::ProblemCode;
using testing::AllOf;
using testing::HasSubstr;

const std::string kSharedSecret = "89abcdef0123456789abcdef01234567";

void expect_verified(Process& coordinator) {
  const Outcome outcome = coordinator.wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, says_verified());
}

TEST(ProtectedRuns, GiveTheSameResultsWithLocalWorkers) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", ring_of(3));
  const Authority authority;
  authority.issue(folder.path());
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--integrity"},
        {"--tls", "secret"},
        {"--tls", folder.path()},
        {"--tls", "secret", "--integrity", "--streams", "3"},
        {"--tls", "secret", "--emulate"}}) {
    std::vector<std::string> words{"run", file};
    words.insert(words.end(), options.begin(), options.end());
    Process run(words);
    SCOPED_TRACE(options.back());
    const Outcome outcome = run.wait();
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, says_verified());
    const auto given = [&](const char* option) {
      return std::find(options.begin(), options.end(), option) != options.end();
    };
    EXPECT_EQ(outcome.out.find("had authentication codes") != std::string::npos,
              given("--integrity"));
    EXPECT_EQ(outcome.out.find("were encrypted by TLS") != std::string::npos, given("--tls"));
  }
  Process perf({"perf", file, "--backend", "tcp", "--tls", "secret", "--integrity", "-b", "8", "-e",
                "64K", "-f", "64", "-n", "2", "-w", "0"});
  const Outcome outcome = perf.wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(ProtectedRuns, WorkersJoinOnlyWithTheSameSetting) {
  const Process::Options with{{{"TUTTI_SECRET", kSharedSecret}}};
  ClusterRun run(ring_of(2), {"--tls", "secret", "--integrity"}, with);
  run.join({"--tls", "secret"}, with);
  Process& without = run.join({}, with);
  const Outcome refused = without.wait();
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr(run.at()), HasSubstr("another setting of --tls")));
  run.join({"--tls", "secret"}, with);
  expect_verified(run.coordinator());
}

TEST(ProtectedRuns, WorkersNeedACertificateOfTheAuthority) {
  const Process::Options with{{{"TUTTI_SECRET", kSharedSecret}}};
  const TemporaryFolder ours, theirs;
  const Authority authority, stranger;
  authority.issue(ours.path());
  stranger.issue(theirs.path(), &authority);
  ClusterRun run(ring_of(1), {"--tls", ours.path()}, with);
  const Outcome refused = run.join({"--tls", theirs.path()}, with).wait();
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("TLS with the coordinator at " + run.at()), HasSubstr("failed: ")));
  run.join({"--tls", ours.path()}, with);
  expect_verified(run.coordinator());
}

/// A memorable secret is stretched (real/join/secret.h).
TEST(ProtectedRuns, TheSecretMayBeMemorable) {
  const Process::Options with{{{"TUTTI_SECRET", "correct horse battery staple"}}};
  ClusterRun run(ring_of(2), {}, with);
  run.join({}, with);
  run.join({}, with);
  expect_verified(run.coordinator());
}

TEST(ProtectedRuns, NeedASecretAndMessagesOverTcp) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", ring_of(2));
  const std::string at = "127.0.0.1:0";
  expect_refused({"run", file, "--listen", at, "--tls", "secret"}, folder,
                 {ProblemCode::kMissing, "--secret-file"});
  expect_refused({"run", file, "--listen", at, "--integrity"}, folder,
                 {ProblemCode::kMissing, "--secret-file"});
  expect_refused({"run", file, "--transport", "shm", "--tls", "secret"}, folder,
                 {ProblemCode::kConflict, "--tls"});
  expect_refused({"run", file, "--transport", "shm", "--integrity"}, folder,
                 {ProblemCode::kConflict, "--integrity"});
  expect_refused({"run", file, "--backend", "nccl", "--integrity"}, folder,
                 {ProblemCode::kConflict, "--integrity"});
  expect_refused({"run", file, "--tls", "/nowhere"}, folder, {ProblemCode::kUnknownName, "--tls"});
  expect_refused({"perf", file, "--integrity"}, folder, {ProblemCode::kUnused, "--integrity"});
  expect_refused({"perf", file, "--tls", "secret"}, folder, {ProblemCode::kUnused, "--tls"});
  expect_refused(
      {"sweep", file, "--over", "run.seed=1,2", "--tls", "secret", "-o", folder.file("s.sweep")},
      folder, {ProblemCode::kUnused, "--tls"});
  expect_refused({"run", file, "--worker-network", "node1/8"}, folder,
                 {ProblemCode::kSyntax, "--worker-network"});
  expect_refused({"run", file, "--worker-network", "10.0.0.0/8"}, folder,
                 {ProblemCode::kUnused, "--worker-network"});
  expect_refused({"perf", file, "--worker-network", "10.0.0.0/8"}, folder,
                 {ProblemCode::kUnused, "--worker-network"});
  const Outcome outcome =
      Process({"worker", "--join", "192.0.2.7:4711"}, {{{"TUTTI_SECRET", "abcabcabcabcabcabcabc"}}})
          .wait();
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the secret has only 3 different characters"));
}

}  // namespace
}  // namespace tutti::test
