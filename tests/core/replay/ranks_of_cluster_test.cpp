// Workloads of SimAI and AICB that do not state the number of GPUs have those of the cluster.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/replay/graph_reader.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Expected<ExecutionGraph> simai_on(const std::string& text, std::int64_t ranks) {
  const auto input = byte_input_of(text, "file");
  return read_simai_graph(*input, "file", nullptr, ranks);
}

TEST(RanksOfTheCluster, AreTheGpusOfASimaiWorkloadThatDoesNotStateThem) {
  const std::string text =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 pp: 2 checkpoints: 0\n1\n"
      "a -1 10 ALLREDUCE 64 20 NONE 0 30 ALLREDUCE 128 0\n";
  const auto graph = simai_on(text, 8);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_THAT(graph->ranks, SizeIs(8));
  EXPECT_THAT(graph->notes, Contains(HasSubstr("assumed: the 8 GPUs of the cluster")));
  EXPECT_THAT(graph->notes, Contains(HasSubstr("8 of 16 GPUs")));
  EXPECT_TRUE(problems_of(*graph).empty());
  EXPECT_THAT(test::kinds_of(simai_on(text, 3)), ElementsAre("missing SimAI"));
  const auto unknown = simai_on(text, 0);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message(), HasSubstr("--machine and --nodes"));
  EXPECT_EQ(unknown.error().problems().front().where, (Location{"file", 1, 1}));
}

TEST(RanksOfTheCluster, ExecuteTheCollectivesOfAMicroTest) {
  const auto graph = simai_on(
      "MICRO\n2\nmicro_test -1 1 NONE 0 1 NONE 0 1 ALLGATHER 4096 1\n"
      "micro_test -1 1 NONE 0 1 NONE 0 1 ALLGATHER 8192 1\n",
      4);
  ASSERT_TRUE(graph) << graph.error().message();
  ASSERT_THAT(graph->collectives, SizeIs(2));
  EXPECT_EQ(graph->collectives[0].kind, CollectiveKind::kAllGather);
  EXPECT_THAT(graph->communicators.at(graph->collectives[0].communicator).ranks,
              ElementsAre(0, 1, 2, 3));
}

TEST(RanksOfTheCluster, AreTheDataParallelGroupOfAicbsTestsOfCollectives) {
  const std::string text =
      "comm_type,comm_group,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"
      "CommType.all_gather,CommGroup.dp_group,4096,warmup,None,None,,None,None,None,1\n"
      "CommType.epoch_end,None,0,,None,None,,None,None,None,1\n"
      "CommType.all_gather,CommGroup.dp_group,8192,test_step,None,None,,None,None,None,1\n"
      "CommType.epoch_end,None,0,,None,None,,None,None,None,1\n";
  const auto read = [&](std::int64_t ranks) {
    const auto input = byte_input_of(text, "file");
    return read_aicb_graph(*input, "file", nullptr, ranks);
  };
  const auto graph = read(4);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_THAT(graph->ranks, SizeIs(4));
  ASSERT_THAT(graph->collectives, SizeIs(1));
  EXPECT_EQ(graph->collectives[0].elements, 4096);
  EXPECT_THAT(graph->notes, Contains(HasSubstr("comm_group_size")));
  const auto unknown = read(0);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message(), HasSubstr("--machine and --nodes"));
}

}  // namespace
}  // namespace tutti::core
