// Compares the schema from which forms are built, including its comments, with the schema by which
// texts are read.

#include "core/edit/schema.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "core/proto/scenario.pb.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;

const FieldType& field(const Schema& schema, std::initializer_list<const char*> path) {
  const MessageType* message = &schema.root();
  const FieldType* found = nullptr;
  for (const char* name : path) {
    found = message->find(name);
    EXPECT_TRUE(found) << name;
    message = found->message;
  }
  return *found;
}

void expect_same(const MessageType& type, const google::protobuf::Descriptor& compiled) {
  ASSERT_EQ(type.fields.size(), static_cast<std::size_t>(compiled.field_count())) << type.name;
  for (int i = 0; i < compiled.field_count(); ++i) {
    const FieldType& field = type.fields[i];
    const auto& other = *compiled.field(i);
    EXPECT_EQ(field.full_name, other.full_name());
    EXPECT_EQ(field.repeated, other.is_repeated());
    EXPECT_EQ(field.message != nullptr, other.message_type() != nullptr) << field.full_name;
    if (field.message) expect_same(*field.message, *other.message_type());
  }
}

TEST(Schema, MatchesTheCompiledMessages) {
  const Schema schema = Schema::scenario();
  expect_same(schema.root(), *proto::Scenario::descriptor());
}

TEST(Schema, EveryNumericFieldHasADescription) {
  const Schema schema = Schema::scenario();
  EXPECT_FALSE(field(schema, {"cluster", "workers", "replicas"}).help.empty());
  EXPECT_EQ(field(schema, {"cluster", "workers", "count"}).otherwise, "1");
  EXPECT_EQ(field(schema, {"run", "steps"}).otherwise, "3");
  EXPECT_EQ(field(schema, {"cluster", "network", "latency_us"}).otherwise, "required");
  EXPECT_EQ(field(schema, {"cluster", "network", "latency_us"}).unit, "µs");
  EXPECT_EQ(field(schema, {"cluster", "network", "bandwidth_gb_per_s"}).unit, "GB/s");
  EXPECT_EQ(field(schema, {"strategy", "bytes_per_pack"}).unit, "bytes");
  EXPECT_EQ(
      field(schema, {"strategy", "merging"}).otherwise,
      "SCOPED_ALLOCATOR for ring and nccl, as in TensorFlow; CONCAT for all other algorithms");
  EXPECT_EQ(field(schema, {"strategy", "reduction"}).otherwise, "SUM");
  EXPECT_EQ(
      field(schema, {"workload", "update_ms"}).otherwise,
      "the time of 5 passes over the variables at the device's memory bandwidth (an optimizer "
      "with momentum reads weight, gradient and momentum, and writes weight and momentum)");
  EXPECT_FALSE(field(schema, {"cluster", "machine", "device"}).help.empty())
      << "a field without a comment has that of its message";
}

TEST(Schema, ChoicesAreTheDescribedEnumerators) {
  const Schema schema = Schema::scenario();
  const FieldType& kind = field(schema, {"cluster", "network", "kind"});
  ASSERT_EQ(kind.choices.size(), 4u);
  EXPECT_EQ(kind.choices[0].name, "ONE_SWITCH");
  EXPECT_EQ(kind.choices[0].help, "All network cards are connected to one non-blocking switch.");
  EXPECT_EQ(field(schema, {"strategy", "reduction"}).choices.size(), 5u);
}

TEST(Schema, ReportsErrorsInASchema) {
  const auto why = [](const std::string& type, const std::string& root) {
    google::protobuf::FileDescriptorSet files;
    auto& file = *files.add_file();
    file.set_name("x.proto");
    auto& message = *file.add_message_type();
    message.set_name("A");
    auto& field = *message.add_field();
    field.set_name("a");
    field.set_number(1);
    field.set_type_name(type);
    field.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    return test::kinds_of(Schema::read(files.SerializeAsString(), root));
  };
  EXPECT_THAT(why("B", "A"), ElementsAre("invalid A.a"));
  EXPECT_THAT(why("A", "B"), ElementsAre("unknown-name B"));
  EXPECT_THAT(why("A", "A"), ElementsAre("invalid A"));
  EXPECT_THAT(test::kinds_of(Schema::read("nonsense", "A")), ElementsAre("syntax"));
  EXPECT_THAT(test::kinds_of(Schema::read("", "A")), ElementsAre("unknown-name A"));
}

}  // namespace
}  // namespace tutti::core
