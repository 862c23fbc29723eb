// Imports logs of NCCL: the groups that communicators form, and tables of nccl-tests in the log.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/import/import.h"
#include "tests/core/import/imported.h"

namespace tutti::core {
namespace {

using test::run_of_texts;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string init_line(int rank, int ranks, int pid, const std::string& comm,
                      const std::string& id) {
  return fmt::format(
      "node0:{0}:{0} [{1}] NCCL INFO ncclCommInitRank comm {2} rank {3} nranks {4} cudaDev {1} "
      "busId 1000{5} - Init COMPLETE\n",
      pid, pid % 100, comm, rank, ranks, id.empty() ? "" : " commId " + id);
}

/// Four ranks, which are divided into two tensor-parallel and two data-parallel groups.
std::string log_of_groups(bool with_ids) {
  std::string text;
  for (int r = 0; r < 4; ++r) {
    const auto id = [&](int number) {
      return with_ids ? fmt::format("0xabc{}", number) : std::string();
    };
    const auto pointer = [&](int number) { return fmt::format("0x5500{}{}", r, number); };
    text += init_line(r, 4, 100 + r, pointer(0), id(0)) +
            init_line(r % 2, 2, 100 + r, pointer(1), id(1 + r / 2)) +
            init_line(r / 2, 2, 100 + r, pointer(2), id(3 + r % 2));
    text += fmt::format(
        "node0:{0}:{0} [{1}] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f count 1024 datatype 7 op "
        "0 root 0 comm {2} [nranks=2] stream 0x1\n",
        100 + r, r, pointer(2));
  }
  return text;
}

TEST(NcclLogGroups, CommunicatorsOfOneSizeAreDistinguishedByTheirIds) {
  const MeasuredRun run = run_of_texts({log_of_groups(true)});
  ASSERT_THAT(run.groups, SizeIs(5));
  EXPECT_THAT(run.groups[0].ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(run.groups[1].ranks, ElementsAre(0, 1));
  EXPECT_THAT(run.groups[2].ranks, ElementsAre(0, 2));
  EXPECT_THAT(run.groups[3].ranks, ElementsAre(1, 3));
  EXPECT_THAT(run.groups[4].ranks, ElementsAre(2, 3));
  ASSERT_THAT(run.ranks, SizeIs(4));
  EXPECT_EQ(run.ranks[3].collectives.at(0).group, 3);
}

TEST(NcclLogGroups, LogsWithoutIdsHaveAGroupForEachCommunicatorOfAProcess) {
  const MeasuredRun run = run_of_texts({log_of_groups(false)});
  ASSERT_THAT(run.groups, SizeIs(3));
  EXPECT_EQ(run.groups[1].name, "communicator of 2");
  EXPECT_EQ(run.groups[2].name, "communicator 2 of 2");
  EXPECT_THAT(run.groups[2].ranks, IsEmpty());
  EXPECT_EQ(run.ranks[3].collectives.at(0).group, 2);
}

TEST(NcclLogGroups, ALogOfNcclTestsNamesTheCommandsThatReadItsResults) {
  const std::string line = init_line(0, 4, 100, "0x550000", "0xabc0");
  const std::string titles = "# size count type redop time algbw busbw error\n";
  EXPECT_THAT(run_of_texts({line + titles}).notes,
              Contains(HasSubstr("file:2: this log has results of nccl-tests")));
  EXPECT_THAT(run_of_texts({line}).notes, Each(Not(HasSubstr("nccl-tests"))));
}

}  // namespace
}  // namespace tutti::core
