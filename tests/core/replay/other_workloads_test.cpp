// Reads workloads of SimAI and AICB, Chakra traces in the JSON form, and execution traces of
// PyTorch (tests/data/execution_traces), and damaged ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/formats/chakra.h"
#include "core/replay/graph_reader.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/program.h"

namespace tutti::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string folder() { return test::source_folder() + "/tests/data/execution_traces/"; }

std::string text_of(const std::string& file) {
  std::ifstream in(folder() + file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

ExecutionGraph graph_of(const std::string& path, RecordCounts* counts = nullptr) {
  const auto graph = read_graph({folder() + path, ""}, counts);
  if (!graph) throw std::runtime_error(graph.error().message());
  return **graph;
}

Expected<ExecutionGraph> simai(const std::string& text) {
  const auto input = byte_input_of(text, "file");
  return read_simai_graph(*input, "file");
}

std::int64_t total_compute(const ExecutionGraph::Rank& rank) {
  std::int64_t all = 0;
  for (const Task& task : rank.program.tasks) {
    if (task.kind == Task::Kind::kCompute) all += task.cost.value;
  }
  return all;
}

// ------------------------------------------------------------------------------ SimAI

TEST(SimaiWorkload, EachRankExecutesTheRowsInItsGroups) {
  RecordCounts counts;
  const ExecutionGraph graph = graph_of("simai.txt", &counts);
  EXPECT_EQ(graph.source, "SimAI");
  // 16 GPUs in 2 pipeline stages: one stage has 8 GPUs.
  ASSERT_EQ(graph.ranks.size(), 8u);
  EXPECT_THAT(graph.notes, Contains(HasSubstr("one of 2 pipeline stages, so 8 of 16 GPUs")));
  EXPECT_EQ(counts.used().at("layer"), 4);
  // A 1 stands for no computation. The delay of 100 ns follows one collective.
  EXPECT_EQ(total_compute(graph.ranks[3]), (3000 + 1000 + 5000 + 2000 + 4000 + 100) * 1000);
  std::map<std::string, std::vector<std::int64_t>> ranks;
  for (const auto& communicator : graph.communicators)
    ranks[communicator.name] = communicator.ranks;
  EXPECT_THAT(ranks["tensor 1"], ElementsAre(2, 3));
  EXPECT_THAT(ranks["data 1"], ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(ranks["expert 0"], ElementsAre(0, 2));
  EXPECT_THAT(ranks["expert 3"], ElementsAre(5, 7));
  EXPECT_THAT(ranks["data of experts 2"], ElementsAre(2, 6));
  // By row: the tensor group's all-reduce; all-gather and reduce-scatter; the experts' two
  // all-to-alls and the all-reduce of their data; the data group's reduce-scatter.
  std::map<CollectiveKind, std::int64_t> by_kind;
  for (const auto& one : graph.collectives) ++by_kind[one.kind];
  EXPECT_EQ(by_kind[CollectiveKind::kAllReduce], 4 + 4);
  EXPECT_EQ(by_kind[CollectiveKind::kAllGather], 4);
  EXPECT_EQ(by_kind[CollectiveKind::kReduceScatter], 4 + 2);
  EXPECT_EQ(by_kind[CollectiveKind::kAllToAll], 2 * 4);
  EXPECT_EQ(graph.ranks[0].uses.size(), 7u);
}

TEST(SimaiWorkload, TheBackwardPassGoesFromTheLastRowToTheFirst) {
  const auto graph = simai(
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 2\n2\n"
      "a -1 10 ALLREDUCE 64 20 ALLREDUCE 128 30 NONE 0 0\n"
      "b -1 40 NONE 0 50 ALLREDUCE 256 60 NONE 0 0\n");
  ASSERT_TRUE(graph) << graph.error().message();
  std::vector<std::int64_t> sizes;
  for (const Task& task : graph->ranks[1].program.tasks) {
    if (task.kind == Task::Kind::kCompute) sizes.push_back(task.cost.value / 1000);
    if (task.pack >= 0) sizes.push_back(graph->collectives[task.pack].elements * 2);
  }
  EXPECT_THAT(sizes, ElementsAre(10, 64, 40, 50, 256, 60, 20, 128, 30));
  EXPECT_TRUE(problems_of(*graph).empty());
}

TEST(SimaiWorkload, ErrorsHavePositions) {
  struct Case {
    std::string text;
    int line, column;
    std::string kind;
  };
  const std::string head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 2\n";
  for (const Case& one : std::vector<Case>{
           {"", 0, 0, "missing SimAI"},
           {"hello\n1\n", 1, 1, "syntax SimAI"},
           {"DATA all_gpus: 4\n1\n", 1, 1, "unsupported SimAI"},
           {"HYBRID_TRANSFORMER ep: 1\n1\n", 1, 1, "missing SimAI"},
           {"HYBRID_TRANSFORMER all_gpus: -4\n1\n", 1, 30, "invalid SimAI"},
           {"HYBRID_TRANSFORMER all_gpus: 6 ep: 4\n1\n", 1, 1, "conflict SimAI"},
           {"HYBRID_TRANSFORMER all_gpus: 6 checkpoints: 1 5\n1\n", 1, 32, "unsupported SimAI"},
           {head + "x\n", 2, 1, "invalid SimAI"},
           {head + "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0\n", 3, 1, "syntax SimAI"},
           {head + "1\na -1 1 SUM 8 1 NONE 0 1 NONE 0 0\n", 3, 8, "unknown-name SimAI"},
           {head + "1\na -1 1 NONE -1 1 NONE 0 1 NONE 0 0\n", 3, 13, "invalid SimAI"},
           {head + "2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n", 3, 0, "missing SimAI"},
           {head + "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\nb", 4, 1, "conflict SimAI"}}) {
    const auto read = simai(one.text);
    ASSERT_FALSE(read) << one.text;
    const Problem& problem = read.error().problems().front();
    EXPECT_THAT(test::kinds_of(read), ElementsAre(one.kind)) << one.text;
    EXPECT_EQ(problem.where.line, one.line) << one.text;
    EXPECT_EQ(problem.where.column, one.column) << one.text << problem.text;
  }
}

// ------------------------------------------------------------------------------ AICB

Expected<ExecutionGraph> aicb(const std::string& text) {
  const auto input = byte_input_of(text, "file");
  return read_aicb_graph(*input, "file");
}

const std::string kAicbHead =
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time\n";

TEST(AicbWorkload, EachStageExecutesItsLastIterationInItsGroups) {
  RecordCounts counts;
  const ExecutionGraph graph = graph_of("aicb.csv", &counts);
  EXPECT_EQ(graph.source, "AICB");
  // Two stages of four ranks. The initialisation is not part of the graph.
  ASSERT_EQ(graph.ranks.size(), 8u);
  EXPECT_EQ(counts.ignored().at("operation of the initialisation or of an earlier iteration"), 4);
  EXPECT_EQ(counts.used().at("computation"), 4);
  EXPECT_EQ(total_compute(graph.ranks[2]), 6'000'000'000);
  EXPECT_EQ(total_compute(graph.ranks[5]), 9'000'000'000);
  std::map<std::string, std::vector<std::int64_t>> ranks;
  for (const auto& communicator : graph.communicators)
    ranks[communicator.name] = communicator.ranks;
  EXPECT_THAT(ranks["tp_group of rank 2"], ElementsAre(2, 3));
  EXPECT_THAT(ranks["dp_group of rank 1"], ElementsAre(1, 3));
  EXPECT_THAT(ranks["dp_group of rank 4"], ElementsAre(4, 6));
  // Rank 3 sends activations to rank 7 and receives gradients from it.
  ASSERT_EQ(graph.ranks[3].messages.size(), 2u);
  EXPECT_TRUE(graph.ranks[3].messages[0].sends);
  EXPECT_FALSE(graph.ranks[3].messages[1].sends);
  for (const ExecutionGraph::Message& message : graph.ranks[3].messages) {
    EXPECT_EQ(message.peer, 7);
    EXPECT_EQ(message.bytes, 262'144);
  }
  for (const auto& one : graph.collectives) {
    if (one.kind == CollectiveKind::kReduceScatter) {
      EXPECT_EQ(one.elements, 4'194'304 / 2);
    }
  }
  EXPECT_TRUE(problems_of(graph).empty());
}

TEST(AicbWorkload, ALogHasMillisecondsAndItsRanksFollowFromTheGroups) {
  const auto log = aicb(kAicbHead +
                        "all_reduce,tp_group,2,64,a,None,None,,0.5\n"
                        "epoch_end,None,None,0,,None,None,,1\n"
                        "computation,all,None,((4, 8), (8, 4)),b,None,None,,2.5\n"
                        "all_gather,dp_group,3,100,b,None,None,,0.5\n"
                        "all_reduce,tp_group,2,7,b,None,None,,0.25\n");
  ASSERT_TRUE(log) << log.error().message();
  ASSERT_EQ(log->ranks.size(), 6u);
  EXPECT_EQ(total_compute(log->ranks[0]), 2'500'000'000);
  EXPECT_THAT(log->notes, Contains(HasSubstr("log of a run")));
  EXPECT_THAT(log->notes, Contains(HasSubstr("the sizes of its groups imply 6 ranks")));
  // The data-parallel groups have stride 2. Blocks have whole elements.
  for (const auto& one : log->collectives) {
    if (one.kind != CollectiveKind::kAllGather) continue;
    EXPECT_EQ(log->communicators[one.communicator].ranks.size(), 3u);
    EXPECT_EQ(one.elements, 51);
  }
  EXPECT_TRUE(problems_of(*log).empty());
}

TEST(AicbWorkload, TheFileOfOneStageIsExecutedWithoutItsMessages) {
  RecordCounts counts;
  const std::string text = "[rank0 ~ rank7]\n" + kAicbHead +
                           "all_reduce,tp_group,2,64,a,None,None,,None\n"
                           "isend,pp_group,1,64,a,None,None,send_next,None\n"
                           "all_reduce,dp_group,2,64,a,None,None,,None\n";
  const auto input = byte_input_of(text, "file");
  const auto graph = read_aicb_graph(*input, "file", &counts);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(graph->ranks.size(), 4u);
  EXPECT_TRUE(graph->ranks[0].messages.empty());
  EXPECT_EQ(RecordCounts::sum(counts.ignored()), 1);
  EXPECT_THAT(graph->notes, Contains(HasSubstr("one pipeline stage")));
}

TEST(AicbWorkload, ProblemsHaveTheirLines) {
  struct Case {
    std::string text;
    int line;
    std::string kind;
  };
  const std::string row = "all_reduce,tp_group,2,64,a,None,None,,None\n";
  for (const Case& one : std::vector<Case>{
           {"", 0, "missing AICB"},
           {"hello\n", 1, "syntax AICB"},
           {"[rank0 ~ rank3]\n", 1, "missing AICB"},
           {"[rankx ~ rank3]\n", 1, "invalid AICB"},
           {"[rank0, rank2]\n", 1, "unsupported AICB"},
           {"comm_type,comm_group,msg_size\n", 1, "missing AICB"},
           {kAicbHead, 1, "missing AICB"},
           {kAicbHead + row + "all_reduce,tp_gr", 3, "syntax AICB"},
           {kAicbHead + "all,tp_group,2,64,a,None,None,,None\n", 2, "unknown-name AICB"},
           {kAicbHead + "all_reduce,group,2,64,a,None,None,,None\n", 2, "unknown-name AICB"},
           {kAicbHead + "all_reduce,tp_group,2,x,a,None,None,,None\n", 2, "invalid AICB"},
           {kAicbHead + "isend,pp_group,1,8,a,None,None,up,None\n", 2, "unknown-name AICB"},
           {kAicbHead + "reduce,tp_group,2,8,a,2,None,,None\n", 2, "invalid AICB"},
           {kAicbHead + row + "all_reduce,tp_group,4,8,a,None,None,,None\n", 3, "conflict AICB"},
           {kAicbHead + row + "all_reduce,ep_group,None,8,a,None,None,,None\n", 3, "missing AICB"},
           {"[rank0 ~ rank2]\n" + kAicbHead + row, 3, "conflict AICB"},
           {"[rank0 ~ rank1]\n" + kAicbHead + row + "[rank4 ~ rank5]\n" + kAicbHead + row, 4,
            "conflict AICB"},
           {kAicbHead + "all_reduce,tp_group,1,64,a,None,None,,None\n", 1, "missing AICB"}}) {
    const auto read = aicb(one.text);
    ASSERT_FALSE(read) << one.text;
    EXPECT_THAT(test::kinds_of(read), ElementsAre(one.kind)) << one.text;
    EXPECT_EQ(read.error().problems().front().where.line, one.line)
        << one.text << read.error().message();
  }
}

// ------------------------------------------------------------------------------ Chakra JSON

TEST(ChakraJson, IsReadLikeTheBinaryForm) {
  RecordCounts counts;
  const ExecutionGraph graph = graph_of("chakra_json", &counts);
  ASSERT_EQ(graph.ranks.size(), 2u);
  EXPECT_EQ(total_compute(graph.ranks[0]), 150'000'000);
  ASSERT_EQ(graph.collectives.size(), 1u);
  EXPECT_EQ(graph.collectives[0].elements, 262'144);
  ASSERT_EQ(graph.ranks[1].messages.size(), 1u);
  EXPECT_FALSE(graph.ranks[1].messages[0].sends);
  EXPECT_EQ(graph.ranks[1].messages[0].tag, 7);
  EXPECT_EQ(counts.used().at("COMP_NODE"), 4);
  // The path may be that of one file.
  EXPECT_EQ(graph_of("chakra_json.1.json").tasks(), graph.tasks());
}

TEST(ChakraJson, ErrorsHavePositions) {
  const auto kinds = [](const std::string& text) {
    RankFiles files;
    files.path = "file";
    files.ranks = 1;
    files.is_json = true;
    files.file = [](std::int64_t) { return std::string("file"); };
    files.open = [&](const std::string& name) -> Expected<std::unique_ptr<ByteInput>> {
      return byte_input_of(text, name);
    };
    const auto read = read_chakra_graph(files);
    EXPECT_FALSE(read && text.size() > 2) << text;
    if (!read) {
      EXPECT_EQ(read.error().problems().front().where.file, "file") << text;
    }
    return test::kinds_of(read);
  };
  EXPECT_THAT(kinds("{\"nodes\": []}"), ElementsAre("missing workload_graph"));
  EXPECT_THAT(kinds("{\"workload_graph\": [{\"Id\": 1}]}"), ElementsAre("invalid Chakra"));
  EXPECT_THAT(kinds("{\"workload_graph\": [{\"NodeType\": 4}]}"), ElementsAre("invalid Chakra"));
  EXPECT_THAT(kinds("{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 9}]}"),
              ElementsAre("invalid Chakra"));
  EXPECT_THAT(kinds("{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"runtime\": -1}]}"),
              ElementsAre("invalid Chakra"));
  EXPECT_THAT(kinds("{\"workload_graph\": [{\"Id\": 1, "), ElementsAre("syntax"));
  // A fraction must not become 0.
  EXPECT_THAT(kinds("{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"runtime\": 0.9}]}"),
              ElementsAre("invalid Chakra"));
  EXPECT_THAT(kinds("{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 7, \"comm_type\": 0, "
                    "\"comm_size\": 8, \"involved_dim\": [true, false]}]}"),
              ElementsAre("unsupported ExecutionTrace.path"));
}

TEST(ChakraJson, InvalidNodesAreCountedAsUnknown) {
  const std::string text =
      R"({"workload_graph": [{"Id": 1, "NodeType": 0}, {"Id": 2, "NodeType": 4, "runtime": 5.0}]})";
  RecordCounts counts;
  const auto input = byte_input_of(text, "file");
  const auto read = read_chakra_json(
      *input, "file", [](const ChakraNode&) -> Expected<void> { return {}; }, counts);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(counts.unknown().at("INVALID_NODE"), 1);
  EXPECT_EQ(counts.used().size(), 1u);
}

// ------------------------------------------------------------------------------ PyTorch

TEST(PytorchTrace, CallsAreTheCollectivesOfEachRank) {
  RecordCounts counts;
  const ExecutionGraph graph = graph_of("pytorch", &counts);
  ASSERT_EQ(graph.ranks.size(), 4u);
  ASSERT_EQ(graph.collectives.size(), 4u);  // two pairs gather
  EXPECT_EQ(graph.collectives[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(graph.collectives[0].elements, 262'144);
  EXPECT_EQ(graph.collectives[1].kind, CollectiveKind::kAllGather);
  EXPECT_EQ(graph.collectives[1].elements, 2000);
  EXPECT_EQ(graph.collectives[1].type, DataType::kFloat16);
  EXPECT_THAT(graph.communicators[graph.collectives[1].communicator].ranks, ElementsAre(0, 2));
  EXPECT_EQ(graph.collectives[2].kind, CollectiveKind::kBroadcast);
  EXPECT_EQ(graph.collectives[2].root, 1);
  ASSERT_EQ(graph.ranks[0].messages.size(), 1u);
  EXPECT_TRUE(graph.ranks[0].messages[0].sends);
  EXPECT_EQ(graph.ranks[0].messages[0].bytes, 256);
  EXPECT_EQ(counts.used().at("call of allreduce"), 4);
  EXPECT_EQ(counts.ignored().at("wait or init"), 4);
}

TEST(PytorchTrace, TheRankMayFollowAnUnderscoreOrAHyphen) {
  const test::TemporaryFolder files;
  const std::string text = R"({"schema": "1.0.1", "nodes": [
    {"name": "record_param_comms", "id": 2, "rf_id": 1, "inputs":
      [[[5, 6, 0, 100, 4, "cuda:0"]], 151, 945940, 0, "allreduce", [], []]}]})";
  for (const std::string prefix : {"et_", "et-", "et.", "et_rank"}) {
    std::string path;
    for (const char* rank : {"0", "2", "1"}) path = files.write(prefix + rank + ".json", text);
    EXPECT_EQ(number_of_graph_files(path), 3) << prefix;
    const auto graph = read_graph({path, ""});
    ASSERT_TRUE(graph) << graph.error().message();
    EXPECT_EQ((*graph)->ranks.size(), 3u) << prefix;
    EXPECT_EQ((*graph)->collectives.size(), 1u) << prefix;
  }
  // A number that is a part of the name is not a rank.
  EXPECT_EQ(number_of_graph_files(files.write("resnet0.json", text)), 1);
  EXPECT_EQ(number_of_graph_files(files.write("resnet50.json", text)), 1);
  EXPECT_EQ(number_of_graph_files(files.file("missing")), 0);
}

TEST(PytorchTrace, OneTraceIsExecutedByAllRanks) {
  const std::string text = R"({"schema": "1.0.3", "nodes": [
    {"id": 1, "name": "## process_group:init ##", "inputs": {"values":
      ["[{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 3}]"]}},
    {"id": 2, "name": "record_param_comms", "ctrl_deps": 0, "inputs": {"values":
      [[[5, 6, 0, 100, 4, "cuda:0"], [7, 8, 0, 50, 4, "cuda:0"]], 1, "0", 0, "allreduce", [], []]}},
    {"id": 3, "name": "record_param_comms", "ctrl_deps": 0, "inputs": {"values":
      [[[5, 6, 0, 10, 2, "cuda:0"]], 1, ["0", "default_pg"], 0, "_allgather_base", [], []]}}]})";
  RankFiles files;
  files.path = "file";
  files.ranks = 1;
  files.file = [](std::int64_t) { return std::string("file"); };
  files.open = [&](const std::string& name) -> Expected<std::unique_ptr<ByteInput>> {
    return byte_input_of(text, name);
  };
  const auto graph = read_pytorch_graph(files);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(graph->ranks.size(), 3u);
  ASSERT_EQ(graph->collectives.size(), 2u);
  EXPECT_EQ(graph->collectives[0].elements, 150);
  EXPECT_EQ(graph->collectives[1].elements, 15);  // 60 bytes
  EXPECT_THAT(graph->notes, Contains(HasSubstr("trace of one rank was given; all 3 ranks")));
  EXPECT_TRUE(problems_of(*graph).empty());
}

TEST(PytorchTrace, ReadsParamsListOfCalls) {
  const std::string text = R"([
    {"comms": "init", "pgId": 0, "groupRanks": [0, 1], "worldSize": 2},
    {"comms": "all_reduce", "id": 3, "inMsgSize": 1000, "outMsgSize": 1000, "dtype": "float16",
     "pgId": 0, "groupRanks": [0, 1], "worldSize": 2, "req": 1},
    {"compute": "gemm", "mm0_dim0": 5},
    {"comms": "wait", "req": 1}])";
  EXPECT_EQ(recognise_graph(text), GraphFormat::kPytorch);
  RankFiles files;
  files.path = "file";
  files.ranks = 1;
  files.file = [](std::int64_t) { return std::string("file"); };
  files.open = [&](const std::string& name) -> Expected<std::unique_ptr<ByteInput>> {
    return byte_input_of(text, name);
  };
  RecordCounts counts;
  const auto graph = read_pytorch_graph(files, &counts);
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(graph->ranks.size(), 2u);
  ASSERT_EQ(graph->collectives.size(), 1u);
  EXPECT_EQ(graph->collectives[0].elements, 1000);
  EXPECT_EQ(graph->collectives[0].type, DataType::kFloat16);
  EXPECT_EQ(counts.ignored().at("row without a call"), 1);
}

/// Reads a trace of one rank.
Expected<ExecutionGraph> pytorch(const std::string& text) {
  RankFiles files;
  files.path = "file";
  files.ranks = 1;
  files.file = [](std::int64_t) { return std::string("file"); };
  files.open = [&](const std::string& name) -> Expected<std::unique_ptr<ByteInput>> {
    return byte_input_of(text, name);
  };
  return read_pytorch_graph(files);
}

/// Returns a call of schema 1.1.0 with these attributes, such as {"pg_size", "8"}.
std::string pytorch_call(const std::vector<std::pair<std::string, std::string>>& attributes) {
  std::string text =
      R"({"id": 1, "name": "record_param_comms", "inputs": {"values": []}, "attrs": [)";
  for (std::size_t i = 0; i < attributes.size(); ++i)
    text += std::string(i == 0 ? "" : ", ") + "{\"name\": \"" + attributes[i].first +
            "\", \"value\": " + attributes[i].second + "}";
  return text + "]}";
}

std::string pytorch_trace(const std::string& nodes) {
  return R"({"schema": "1.1.0", "nodes": [)" + nodes + "]}";
}

TEST(PytorchTrace, OneCallOfAHugeGroupIsRefused) {
  EXPECT_THAT(test::kinds_of(pytorch(pytorch_trace(
                  pytorch_call({{"collective_name", "\"allreduce\""}, {"pg_size", "16777216"}})))),
              ElementsAre("too-large ExecutionTrace.path"));
}

TEST(PytorchTrace, ARangeOfRanksIsAGroup) {
  const auto call = [](const std::string& size, const std::string& stride) {
    return pytorch_call({{"collective_name", "\"allreduce\""},
                         {"dtype", "\"Float\""},
                         {"in_msg_nelems", "4"},
                         {"out_msg_nelems", "4"},
                         {"pg_name", "\"0\""},
                         {"pg_size", size},
                         {"global_rank_start", "0"},
                         {"global_rank_stride", stride}});
  };
  const auto graph = pytorch(pytorch_trace(call("4", "1") + "," + call("4", "1")));
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(graph->ranks.size(), 4u);
  EXPECT_EQ(graph->collectives.size(), 2u);
  // All ranks but the last are members. The time must not grow with the square of the ranks.
  EXPECT_THAT(
      test::kinds_of(pytorch(pytorch_trace(call("131072", "1") + "," + call("131071", "1")))),
      ElementsAre("conflict ExecutionTrace.path"));
  // 4 ranks, of which the last is rank 6
  EXPECT_THAT(test::kinds_of(pytorch(pytorch_trace(call("5", "1") + "," + call("4", "2")))),
              ElementsAre("conflict ExecutionTrace.path"));
}

TEST(PytorchTrace, TheSizeOfALargeGatherDoesNotOverflow) {
  const auto graph = pytorch(R"({"schema": "1.0.3", "nodes": [
    {"id": 1, "name": "## process_group:init ##", "inputs": {"values":
      ["[{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 131072}]"]}},
    {"id": 3, "name": "record_param_comms", "inputs": {"values":
      [[[5, 6, 0, 70368744177664, 1, "cuda:0"]], 1, ["0", "default_pg"], 0, "_allgather_base", [],
       []]}}]})");
  ASSERT_TRUE(graph) << graph.error().message();
  ASSERT_EQ(graph->collectives.size(), 1u);
  EXPECT_EQ(graph->collectives[0].elements, (std::int64_t{1} << 46) / 4);  // the limit on sizes
}

TEST(PytorchTrace, AMessageOfParamWithoutAPeerIsRefused) {
  const auto text = [](const std::string& peer) {
    return R"([{"comms": "send", "id": 3, "inMsgSize": 10, "outMsgSize": 10, "dtype": "float",
               "worldSize": 2)" +
           peer + "}]";
  };
  // Rank 1 must not send to rank 0 because the peer is missing; rank 0 reports it first.
  const auto read = pytorch(text(""));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("has the peer -1"));
}

TEST(PytorchTrace, SplitSizesOfAnAllToAllAreNoted) {
  const auto graph = pytorch(R"([{"comms": "all_to_allv", "id": 3, "inMsgSize": 10,
    "outMsgSize": 10, "dtype": "float", "worldSize": 2, "inSplit": [3, 7], "outSplit": [3, 7]}])");
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_THAT(graph->notes, Contains(HasSubstr("state the size of each block")));
}

// ------------------------------------------------------------------------------ any bytes

/// Reads any bytes as a workload. They must be read, or refused with a place.
void read_anything(const std::string& bytes, GraphFormat format) {
  RankFiles files;
  files.path = "file";
  files.ranks = 1;
  files.is_json = format == GraphFormat::kChakraJson;
  files.file = [](std::int64_t) { return std::string("file"); };
  files.open = [&](const std::string& name) -> Expected<std::unique_ptr<ByteInput>> {
    return byte_input_of(bytes, name);
  };
  const auto graph = format == GraphFormat::kSimai     ? simai(bytes)
                     : format == GraphFormat::kPytorch ? read_pytorch_graph(files)
                                                       : read_chakra_graph(files);
  if (graph) return static_cast<void>(problems_of(*graph));
  ASSERT_FALSE(graph.error().problems().empty());
  for (const Problem& problem : graph.error().problems()) {
    EXPECT_EQ(problem.where.file, "file");
    EXPECT_FALSE(problem.text.empty());
  }
}

TEST(OtherWorkloads, DamagedFilesAreReadOrRefused) {
  std::uint64_t random = 54321;
  for (const char* file : {"simai.txt", "chakra_json.0.json", "pytorch.0.json"}) {
    const std::string whole = text_of(file);
    const auto format = recognise_graph(whole);
    ASSERT_TRUE(format);
    for (std::size_t length = 0; length < whole.size(); length += 3)
      read_anything(whole.substr(0, length), *format);
    for (int i = 0; i < 2000; ++i) {
      std::string changed = whole;
      random = random * 6364136223846793005u + 1442695040888963407u;
      changed[(random >> 33) % changed.size()] = static_cast<char>(random >> 20);
      read_anything(changed, *format);
    }
  }
}

TEST(RecogniseGraph, RecognisesEverySampleByItsContent) {
  EXPECT_EQ(recognise_graph(text_of("simai.txt")), GraphFormat::kSimai);
  EXPECT_EQ(recognise_graph(text_of("chakra_json.0.json")), GraphFormat::kChakraJson);
  EXPECT_EQ(recognise_graph(text_of("pytorch.0.json")), GraphFormat::kPytorch);
  EXPECT_EQ(recognise_graph(text_of("custom_ring_allreduce_8npus_1MB.0.et")), GraphFormat::kChakra);
  EXPECT_EQ(recognise_graph("num_ranks 2\nrank 0 {\n}\n"), GraphFormat::kGoal);
  for (const char* other : {"", "{}", "hello", "[1]", "DATA\n"})
    EXPECT_EQ(recognise_graph(other), std::nullopt) << other;
}

}  // namespace
}  // namespace tutti::core
