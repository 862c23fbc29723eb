#include "core/text/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/proto/scenario.pb.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

Places places_of(const std::string& text) {
  Problems problems;
  const Document document = parse_document(text, "f", problems);
  EXPECT_TRUE(problems.empty());
  return Places::of(document.root, *proto::Scenario::descriptor(), "f");
}

std::string at(const Places& places, std::string_view path) { return to_string(places.at(path)); }

TEST(Places, FindTheValueOfAPath) {
  const Places places = places_of("name: \"n\"\nstrategy {\n  byteps { partition_bytes: 8 }\n}\n");
  EXPECT_EQ(at(places, "name"), "f:1:7");
  EXPECT_EQ(at(places, "strategy"), "f:2:10");
  EXPECT_EQ(at(places, "strategy.byteps.partition_bytes"), "f:3:29");
  EXPECT_TRUE(places.has("strategy.byteps"));
  EXPECT_FALSE(places.has("strategy.byteps.scheduling_credit"));
}

TEST(Places, UnsetFieldsHaveThePositionOfTheEnclosingMessage) {
  const Places places = places_of("name: \"n\"\nstrategy {\n  byteps { }\n}\n");
  EXPECT_EQ(at(places, "strategy.byteps.scheduling_credit"), "f:3:10");
  EXPECT_EQ(at(places, "strategy.horovod.cycle_time_ms"), "f:2:10");
  EXPECT_EQ(at(places, "run.steps"), "f:1:1");
  EXPECT_EQ(at(places, ""), "f:1:1");
  EXPECT_EQ(to_string(Places("g").at("run.steps")), "g");
}

TEST(Places, RepeatedFieldsHaveIndices) {
  const Places places = places_of(
      "communicator { name: \"a\" }\ncommunicator {\n  exchange: [{ bytes: 4 }, { bytes: 8 "
      "}]\n}\n");
  EXPECT_EQ(at(places, "communicator[0].name"), "f:1:22");
  EXPECT_EQ(at(places, "communicator[1].exchange[1].bytes"), "f:3:37");
  EXPECT_EQ(at(places, "communicator[1].name"), "f:2:14") << "the message around it";
  EXPECT_EQ(at(places, "communicator"), "f:1:14") << "the first";
}

TEST(Places, JsonPathsHaveTheNamesOfTheSchema) {
  const Places places = places_of("{\"strategy\": {\"bytesPerPack\": 4,\n \"numPacks\": null}}");
  EXPECT_EQ(at(places, "strategy.bytes_per_pack"), "f:1:31");
  EXPECT_FALSE(places.has("strategy.num_packs")) << "null does not set the field";
}

TEST(Places, ComplaintsHaveThePositionOfTheirField) {
  const Places places = places_of("strategy {\n  byteps { servers_on_workers: 9 }\n}\n");
  Problems problems;
  Complaints complaints(places, problems);
  EXPECT_EQ(complaints.in_range("strategy.byteps.servers_on_workers", "byteps", 9, 1, 9), 9);
  EXPECT_EQ(complaints.in_range("strategy.byteps.servers_on_workers", "byteps", 9, 1, 4),
            std::nullopt);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(test::placed(problems), "2:32 too-large BytePs.servers_on_workers");
}

}  // namespace
}  // namespace tutti::core
