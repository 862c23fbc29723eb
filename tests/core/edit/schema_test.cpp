// Compares the schema from which forms are built, including its comments, with the schema by which
// texts are read.

#include "core/edit/schema.h"

#include <functional>
#include <set>

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
  EXPECT_EQ(field(schema, {"cluster", "network", "latency_us"}).otherwise,
            "required, unless `link` is given");
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

TEST(Schema, DefaultsAreThoseOfTheComments) {
  const Schema schema = Schema::scenario();
  EXPECT_EQ(field(schema, {"strategy", "launch_us"}).otherwise,
            "the launch time that NCCL's predicted times include, and for all other collectives "
            "5.4 on GPUs whose gpu_model or nearest_gpu_model is stated, 0 on CPUs, on other GPUs, "
            "on servers and in calibrated clusters");
  EXPECT_EQ(field(schema, {"conditions", "background", "pause_ms"}).otherwise,
            "required with burst_ms");
  EXPECT_EQ(field(schema, {"conditions", "compute_noise", "tail_index"}).otherwise, "required");
  EXPECT_EQ(field(schema, {"cluster", "network", "fat_tree"}).otherwise,
            "required for kind FAT_TREE");
  EXPECT_EQ(field(schema, {"strategy", "algorithm"}).otherwise,
            "required, unless `custom` names a file, or the framework chooses the algorithm "
            "(TensorFlow; BytePS with servers)");
  EXPECT_EQ(field(schema, {"strategy", "nccl", "buffers"}).otherwise, "PLAIN");
  EXPECT_EQ(field(schema, {"cluster", "network", "kind"}).otherwise, "");
}

/// Calls `visit` with every field of the message and of the messages inside it.
void visit_fields(const MessageType& type, const std::function<void(const FieldType&)>& visit) {
  for (const FieldType& one : type.fields) {
    visit(one);
    if (one.message) visit_fields(*one.message, visit);
  }
}

TEST(Schema, EveryCommentThatMentionsADefaultStatesOne) {
  const Schema schema = Schema::scenario();
  std::set<std::string> stated;
  visit_fields(schema.root(), [&](const FieldType& one) {
    const bool mentions = one.help.find("efault") != std::string::npos ||
                          one.help.find("equired") != std::string::npos;
    // A field without a comment of its own has the comment of its message.
    if (mentions && !one.message) {
      EXPECT_NE(one.otherwise, "") << one.full_name << ": " << one.help;
    }
    if (!one.otherwise.empty()) stated.insert(one.full_name);
    const bool has_zero =
        one.kind == FieldType::Kind::kChoice && !one.repeated && !one.choices.empty();
    if (has_zero && one.choices.front().help.find("Default.") != std::string::npos) {
      EXPECT_EQ(one.otherwise, one.choices.front().name);
    }
  });
  EXPECT_GT(stated.size(), 100u);
}

TEST(Schema, AClauseStatesADefault) {
  const auto read = [](const std::string& comment) {
    google::protobuf::FileDescriptorSet files;
    auto& file = *files.add_file();
    file.set_name("x.proto");
    auto& message = *file.add_message_type();
    message.set_name("A");
    auto& one = *message.add_field();
    one.set_name("a");
    one.set_number(1);
    one.set_type(google::protobuf::FieldDescriptorProto::TYPE_INT32);
    one.set_label(google::protobuf::FieldDescriptorProto::LABEL_OPTIONAL);
    auto& place = *file.mutable_source_code_info()->add_location();
    for (const int step : {4, 0, 2, 0}) place.add_path(step);
    for (const int step : {1, 1, 1}) place.add_span(step);
    place.set_leading_comments(comment);
    const auto schema = Schema::read(files.SerializeAsString(), "A");
    EXPECT_TRUE(schema) << comment;
    return schema ? schema->root().fields.front().otherwise : "";
  };
  EXPECT_EQ(read("The size. Default 3. More text."), "3");
  EXPECT_EQ(read("The size. Default: 3; 4 on Sundays."), "3");
  EXPECT_EQ(read("The size; default: 2.5"), "2.5");
  EXPECT_EQ(read("The size in bytes (B). Default (as in X; see Y) 3."), "(as in X; see Y) 3");
  EXPECT_EQ(read("The size.\nDefault 3"), "3");
  EXPECT_EQ(read("The size by default. The default is large. Defaults vary."), "");
  EXPECT_EQ(read("The size that is Required."), "");
  EXPECT_EQ(read("The size; required with x. Only for y."), "required with x");
  EXPECT_EQ(read("The size. Required; the defaults of others depend on it."), "required");
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
