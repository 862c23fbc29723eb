// Execution traces (GOAL and Chakra) as graphs: how sends match receives, dependencies, the sizes
// and groups of collectives, and traces that are rejected.

#include "core/replay/execution_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "core/formats/chakra.h"
#include "core/replay/graph_reader.h"
#include "core/replay/message_matcher.h"
#include "tests/support/clusters.h"

namespace tutti::core {
namespace {

using testing::HasSubstr;

// --- matching ---

TEST(MessageMatcher, ReceivesMatchMessagesInTheOrderOfSending) {
  MessageMatcher matcher;
  EXPECT_FALSE(matcher.sent(0, 5, 100));
  EXPECT_FALSE(matcher.sent(0, 5, 101));
  EXPECT_FALSE(matcher.sent(1, 5, 102));
  EXPECT_EQ(matcher.posted(0, 5, 1), 100);
  EXPECT_EQ(matcher.posted(MessageMatcher::kAny, 5, 2), 101);
  EXPECT_EQ(matcher.posted(1, MessageMatcher::kAny, 3), 102);
  EXPECT_TRUE(matcher.empty());
}

TEST(MessageMatcher, MessagesMatchTheFirstSuitableReceive) {
  MessageMatcher matcher;
  constexpr std::int64_t kAny = MessageMatcher::kAny;
  EXPECT_FALSE(matcher.posted(2, 5, 1));
  EXPECT_FALSE(matcher.posted(kAny, 5, 2));
  EXPECT_FALSE(matcher.posted(0, kAny, 3));
  EXPECT_FALSE(matcher.posted(kAny, kAny, 4));
  EXPECT_EQ(matcher.sent(0, 5, 100), 2);
  EXPECT_EQ(matcher.sent(0, 5, 101), 3);
  EXPECT_EQ(matcher.sent(2, 5, 102), 1);
  EXPECT_EQ(matcher.sent(9, 9, 103), 4);
  EXPECT_FALSE(matcher.sent(9, 9, 104));
  EXPECT_EQ(matcher.unreceived(), 104);
}

// --- GOAL ---

std::vector<std::string> problems_of_goal(const std::string& text) {
  const auto input = byte_input_of(text, "s.goal");
  const auto graph = read_goal_graph(*input, "s.goal");
  std::vector<std::string> texts;
  if (!graph) {
    for (const Problem& problem : graph.error().problems()) texts.push_back(to_string(problem));
    return texts;
  }
  for (const Problem& problem : problems_of(*graph)) texts.push_back(problem.text);
  return texts;
}

TEST(ExecutionGraph, MatchingMessagesHaveNoProblems) {
  EXPECT_TRUE(problems_of_goal("num_ranks 2\n"
                               "rank 0 {\na: send 8b to 1 tag 3\nb: recv 8b from 1 tag 4\n"
                               "b requires a\n}\n"
                               "rank 1 {\na: send 8b to 0 tag 4\nb: recv 8b from 0 tag 3\n"
                               "b requires a\n}\n")
                  .empty())
      << "sends do not wait for receives";
}

TEST(ExecutionGraph, FindsMessagesThatWaitForever) {
  EXPECT_THAT(problems_of_goal("num_ranks 2\nrank 0 {\na: recv 8b from 1 tag 4\n"
                               "b: send 8b to 1 tag 3\nb requires a\n}\n"
                               "rank 1 {\na: recv 8b from 0 tag 3\nb: send 8b to 0 tag 4\n"
                               "b requires a\n}\n"),
              testing::ElementsAre(
                  HasSubstr("rank 0 waits forever for a message from rank 1 with tag 4 (line 3)"),
                  HasSubstr("rank 1 waits forever")));
  EXPECT_THAT(problems_of_goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3\n}\n"
                               "rank 1 {\nrecv 8b from 0 tag 4\n}\n"),
              testing::ElementsAre(
                  HasSubstr("rank 1 waits forever for a message from rank 0 with tag 4 (line 6)")));
  EXPECT_THAT(
      problems_of_goal("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3\nsend 9b to 1 tag 3\n}\n"
                       "rank 1 {\nrecv 8b from 0 tag 3\n}\n"),
      testing::ElementsAre(HasSubstr("rank 0 sends 9 bytes to rank 1 with tag 3 (line 4)")));
}

TEST(ExecutionGraph, FindsCycles) {
  EXPECT_THAT(problems_of_goal("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\n"
                               "b requires a\n}\n"),
              testing::ElementsAre(
                  HasSubstr("s.goal:3: rank 0: the dependencies of operations form a cycle")));
  EXPECT_FALSE(problems_of_goal("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na irequires b\n"
                                "b requires a\n}\n")
                   .empty());
}

// --- Chakra ---

ChakraNode collective(std::uint64_t id, const std::string& group, std::int64_t bytes,
                      ChakraNode::Collective kind = ChakraNode::Collective::kAllReduce) {
  ChakraNode node;
  node.id = id;
  node.name = "c" + std::to_string(id);
  node.type = ChakraNode::Type::kCollective;
  node.on_cpu = false;
  node.group = group;
  node.bytes = bytes;
  node.collective = static_cast<std::int64_t>(kind);
  return node;
}

ChakraNode compute(std::uint64_t id, std::int64_t us, std::vector<std::uint64_t> after = {}) {
  ChakraNode node;
  node.id = id;
  node.name = "k" + std::to_string(id);
  node.type = ChakraNode::Type::kCompute;
  node.on_cpu = false;
  node.duration_us = us;
  node.data_dependencies = std::move(after);
  return node;
}

/// The files of a trace, by name.
class Files {
 public:
  void add(const std::vector<ChakraNode>& nodes,
           const std::map<std::string, std::string>& attributes = {}) {
    std::ostringstream out;
    ChakraWriter writer(out, {"0.0.4", attributes});
    for (const ChakraNode& node : nodes) writer.add(node);
    texts_["t." + std::to_string(ranks_++) + ".et"] = out.str();
  }
  void groups(const std::string& text) { texts_["groups.json"] = text; }

  Expected<ExecutionGraph> read() {
    RankFiles files;
    files.path = "t";
    files.ranks = ranks_;
    files.file = [](std::int64_t rank) { return "t." + std::to_string(rank) + ".et"; };
    files.groups = texts_.contains("groups.json") ? "groups.json" : "";
    files.open = [this](const std::string& name) -> Expected<std::unique_ptr<ByteInput>> {
      return byte_input_of(texts_.at(name), name);
    };
    return read_chakra_graph(files);
  }
  std::string problem() {
    const auto graph = read();
    if (!graph) return to_string(graph.error().problems().front());
    const auto problems = problems_of(*graph);
    return problems.empty() ? "" : problems.front().text;
  }

 private:
  std::int64_t ranks_ = 0;
  std::map<std::string, std::string> texts_;
};

TEST(ExecutionGraph, CollectivesOfAGroupAreMergedOverItsRanks) {
  Files files;
  files.add({compute(1, 5), collective(2, "", 100), collective(3, "tp", 64)});
  files.add({collective(1, "tp", 64), collective(2, "", 100)});
  files.add({collective(7, "", 100)});
  files.groups("{\"tp\": [1, 0]}");
  const auto graph = files.read();
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_TRUE(problems_of(*graph).empty());
  ASSERT_EQ(graph->collectives.size(), 2U);
  EXPECT_EQ(graph->collectives[0].communicator, 0);
  EXPECT_EQ(graph->collectives[0].elements, 25);
  EXPECT_THAT(graph->communicators[1].ranks, testing::ElementsAre(1, 0));
  EXPECT_EQ(graph->ranks[2].uses.size(), 1U);
  EXPECT_EQ(graph->ranks[0].task_of(1), 2);
}

/// comm_size is the contribution of one rank, so the whole buffer of a gather is larger.
TEST(ExecutionGraph, SizesAreThoseOfTheWholeBuffer) {
  const auto elements = [](ChakraNode::Collective kind, std::int64_t bytes) {
    Files files;
    for (int r = 0; r < 4; ++r) files.add({collective(1, "", bytes, kind)});
    return files.read()->collectives.at(0).elements;
  };
  EXPECT_EQ(elements(ChakraNode::Collective::kAllReduce, 4096), 1024);
  EXPECT_EQ(elements(ChakraNode::Collective::kAllGather, 4096), 4096);
  EXPECT_EQ(elements(ChakraNode::Collective::kReduceScatter, 4096), 1024);
  EXPECT_EQ(elements(ChakraNode::Collective::kReduceScatter, 4100), 1028) << "equal blocks";
  EXPECT_EQ(elements(ChakraNode::Collective::kBarrier, -1), 1);
}

TEST(ExecutionGraph, FindsCollectivesThatDoNotMatch) {
  {
    Files files;
    files.add({collective(1, "", 100)});
    files.add({collective(1, "", 100), collective(2, "", 100)});
    EXPECT_THAT(files.problem(), HasSubstr("c2"));
  }
  {
    Files files;
    files.add({collective(1, "", 100)});
    files.add({collective(1, "", 100, ChakraNode::Collective::kAllGather)});
    EXPECT_THAT(files.problem(),
                HasSubstr("node 1 \"c1\" of rank 1 executes all_gather with root 0, but"));
  }
  {
    Files files;
    files.add({collective(1, "dp", 100)});
    EXPECT_THAT(files.problem(), HasSubstr("communicator \"dp\""));
    files.groups("{\"tp\": [0]}");
    EXPECT_THAT(files.problem(), HasSubstr("which groups.json does not list"));
    files.groups("{\"dp\": [0, 0]}");
    EXPECT_THAT(files.problem(), HasSubstr("groups.json:1:"));
  }
  {
    Files files;  // in different orders, so each rank waits for the other
    ChakraNode second = collective(2, "b", 100);
    second.data_dependencies = {1};
    files.add({collective(1, "a", 100), second});
    ChakraNode later = collective(1, "a", 100);
    later.data_dependencies = {2};
    files.add({later, collective(2, "b", 100)});
    files.groups("{\"a\": [0, 1], \"b\": [0, 1]}");
    EXPECT_NE(files.problem(), "");
  }
}

TEST(ExecutionGraph, FindsInvalidNodes) {
  const auto problem = [](const std::vector<ChakraNode>& nodes) {
    Files files;
    files.add(nodes);
    return files.problem();
  };
  EXPECT_THAT(problem({compute(1, 5), compute(1, 5)}), HasSubstr("two nodes have the id 1"));
  EXPECT_THAT(problem({compute(1, 5, {2}), compute(2, 5, {1})}), HasSubstr("cycle"));
  ChakraNode send;
  send.id = 3;
  send.type = ChakraNode::Type::kSend;
  send.bytes = 5;
  send.destination = 1;
  EXPECT_THAT(problem({send}), HasSubstr("comm_dst 1"));
}

/// In a PyTorch trace a control dependency represents a call; in other traces it orders nodes.
TEST(ExecutionGraph, ControlDependenciesOfPyTorchTracesAreCalls) {
  ChakraNode second = compute(2, 7);
  second.control_dependencies = {1};
  const auto edges = [&](const std::map<std::string, std::string>& attributes) {
    Files files;
    files.add({compute(1, 5), second}, attributes);
    return files.read()->ranks[0].program.first_edge[1];
  };
  EXPECT_EQ(edges({}), 1) << "task 0 leads to task 1";
  const auto pytorch = edges({{"pid", ""}});
  EXPECT_EQ(pytorch, 1) << "task 0 leads to the end";
  Files files;
  files.add({compute(1, 5), second}, {{"pid", ""}});
  const auto graph = files.read();
  EXPECT_EQ(graph->ranks[0].program.roots.size(), 2U);
}

TEST(ExecutionGraph, StreamsOfDevicesAreNumberedBeforeThoseOfHosts) {
  ChakraNode host = compute(1, 5);
  host.on_cpu = true;
  ChakraNode device = compute(2, 5);
  device.stream = 20;
  ChakraNode other = compute(3, 5);
  other.stream = 7;
  Files files;
  files.add({host, device, other});
  const auto graph = files.read();
  ASSERT_TRUE(graph);
  EXPECT_THAT(graph->ranks[0].streams, testing::ElementsAre(2, 1, 0, 0));
  EXPECT_EQ(graph->ranks[0].stream_count, 3);
}

TEST(ExecutionGraph, TracesOfAstraSimAreRead) {
  const std::string folder = test::source_folder() + "/tests/data/execution_traces/";
  const auto graph = read_graph({folder + "all_reduce_4npus_1MB", ""});
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ((*graph)->ranks.size(), 4U);
  ASSERT_EQ((*graph)->collectives.size(), 1U);
  EXPECT_EQ((*graph)->collectives[0].elements, 1 << 18);
  EXPECT_EQ((*graph)->source, "Chakra 0.0.4");
  const auto by_file = read_graph({folder + "all_reduce_4npus_1MB.2.et", ""});
  ASSERT_TRUE(by_file);
  EXPECT_EQ((*by_file)->ranks.size(), 4U);
  EXPECT_FALSE(read_graph({folder + "nothing", ""}));
}

}  // namespace
}  // namespace tutti::core
