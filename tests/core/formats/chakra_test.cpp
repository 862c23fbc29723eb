#include "core/formats/chakra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/formats/wire.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

struct Trace {
  ChakraMetadata metadata;
  std::vector<ChakraNode> nodes;
  RecordCounts counts;
};

Expected<Trace> read(std::string_view bytes) {
  Trace trace;
  const auto input = byte_input_of(bytes, "t.0.et");
  const auto take = [&](const ChakraNode& node) -> Expected<void> {
    trace.nodes.push_back(node);
    return {};
  };
  auto metadata = read_chakra(*input, "t.0.et", take, trace.counts);
  if (!metadata) return tl::make_unexpected(metadata.error());
  trace.metadata = std::move(*metadata);
  return trace;
}

std::string sample(const std::string& file) {
  std::ifstream in(test::source_folder() + "/tests/data/execution_traces/" + file,
                   std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Chakra, ReadsATraceOfAstraSim) {
  const std::string bytes = sample("all_reduce_4npus_1MB.1.et");
  EXPECT_TRUE(is_chakra(bytes));
  const auto trace = read(bytes);
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->metadata.version, "0.0.4");
  ASSERT_EQ(trace->nodes.size(), 1U);
  const ChakraNode& node = trace->nodes[0];
  EXPECT_EQ(node.id, 1U);
  EXPECT_EQ(node.name, "all_reduce_4npus_1MB");
  EXPECT_EQ(node.type, ChakraNode::Type::kCollective);
  EXPECT_FALSE(node.on_cpu);
  EXPECT_EQ(node.collective, 0);
  EXPECT_EQ(node.bytes, 1 << 20);
}

TEST(Chakra, ReadsSendsReceivesAndDependencies) {
  const std::string bytes = sample("custom_ring_allreduce_8npus_1MB.0.et");
  EXPECT_TRUE(is_chakra(bytes));
  const auto trace = read(bytes);
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->metadata.version, "");
  EXPECT_EQ(trace->metadata.attributes.at("schema"), "1.0.2-chakra.0.0.4");
  EXPECT_EQ(trace->counts.used().at("COMM_SEND_NODE"), 14);
  EXPECT_EQ(trace->counts.used().at("COMM_RECV_NODE"), 14);
  EXPECT_EQ(trace->counts.used().at("COMP_NODE"), 7);
  const ChakraNode& receive = trace->nodes[1];
  EXPECT_EQ(receive.type, ChakraNode::Type::kReceive);
  EXPECT_EQ(receive.source, 7);
  EXPECT_EQ(receive.bytes, 131'072);
  EXPECT_THAT(receive.data_dependencies, testing::ElementsAre(0U));
}

ChakraNode node_with_everything() {
  ChakraNode node;
  node.id = 300;
  node.name = "all-gather of layer 7";
  node.type = ChakraNode::Type::kCollective;
  node.control_dependencies = {1, 200};
  node.data_dependencies = {2, 70'000};
  node.duration_us = 12;
  node.duration_ps = 12'345'678;
  node.compute_bound_ppm = 500'000;
  node.on_cpu = false;
  node.stream = 7;
  node.collective = 2;
  node.bytes = 4096;
  node.root = 3;
  node.group = "tensor.1";
  node.type_name = "bfloat16";
  node.elements = 8192;
  node.key = 5;
  return node;
}

std::string written(const std::vector<ChakraNode>& nodes) {
  std::ostringstream out;
  ChakraWriter writer(out, {"1.0.0", {{"schema", "1.0.2-chakra.1.0.0"}}});
  for (const ChakraNode& node : nodes) writer.add(node);
  return out.str();
}

TEST(Chakra, ReadsWhatItWrites) {
  const ChakraNode one = node_with_everything();
  ChakraNode send;
  send.type = ChakraNode::Type::kSend;
  send.bytes = 77;
  send.source = 0;
  send.destination = 3;
  send.tag = 9;
  const auto trace = read(written({one, send}));
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->metadata.version, "1.0.0");
  ASSERT_EQ(trace->nodes.size(), 2U);
  const ChakraNode& again = trace->nodes[0];
  EXPECT_EQ(
      std::tuple(again.id, again.name, again.type, again.control_dependencies,
                 again.data_dependencies, again.duration_us, again.duration_ps,
                 again.compute_bound_ppm, again.on_cpu, again.stream),
      std::tuple(one.id, one.name, one.type, one.control_dependencies, one.data_dependencies,
                 one.duration_us, one.duration_ps, one.compute_bound_ppm, one.on_cpu, one.stream));
  EXPECT_EQ(std::tuple(again.collective, again.bytes, again.root, again.group, again.type_name,
                       again.elements, again.key),
            std::tuple(one.collective, one.bytes, one.root, one.group, one.type_name, one.elements,
                       one.key));
  EXPECT_EQ(trace->nodes[1].destination, 3);
  EXPECT_EQ(trace->nodes[1].tag, 9);
}

/// Writers store integers in any member of the attribute value's oneof.
TEST(Chakra, TakesIntegersOfAnyType) {
  const auto with_arm = [](std::uint32_t arm, std::uint64_t value) {
    const std::string attribute = WireMessage().text(1, "comm_size").number(arm, value).bytes();
    const std::string node = WireMessage().number(1, 5).number(3, 7).text(10, attribute).bytes();
    std::string bytes;
    const std::string metadata = WireMessage().text(1, "0.0.4").bytes();
    for (const std::string& message : {metadata, node}) {
      WireMessage::put_varint(bytes, message.size());
      bytes += message;
    }
    return read(bytes)->nodes.at(0).bytes;
  };
  for (const std::uint32_t arm : {7U, 9U, 11U, 13U}) EXPECT_EQ(with_arm(arm, 100), 100) << arm;
  EXPECT_EQ(with_arm(15, 200), 100) << "zigzag";
  EXPECT_EQ(with_arm(17, 200), 100) << "zigzag";
}

TEST(Chakra, DamagedFilesAreRefusedOrRead) {
  const std::string whole = written({node_with_everything(), node_with_everything()});
  std::size_t complete = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto trace = read(whole.substr(0, size));
    // A file that is cut between two messages is valid.
    if (trace) {
      ++complete;
    } else {
      EXPECT_THAT(trace.error().problems().front().text, testing::HasSubstr("at byte"));
    }
  }
  EXPECT_EQ(complete, 2U) << "after the metadata, and after the first node";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char to : {'\0', '\xff', '\x7f', '1'}) {
      std::string other = whole;
      other[at] = to;
      if (const auto trace = read(other); !trace) {
        EXPECT_FALSE(trace.error().problems().front().text.empty());
      }
    }
  }
}

TEST(Chakra, RefusesOtherFiles) {
  for (const std::string& other :
       {std::string("{\"traceEvents\": []}"), std::string("num_ranks 3\n"), std::string(),
        std::string("\x05hello"), std::string("SQLite format 3")}) {
    EXPECT_FALSE(is_chakra(other)) << other;
    EXPECT_FALSE(read(other)) << other;
  }
}

}  // namespace
}  // namespace tutti::core
