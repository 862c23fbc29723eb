// Reads texts into Protocol Buffers messages: all kinds of fields, units, JSON, and the places of
// errors. A text that Protocol Buffers' own printers have written must give the same message.

#include "core/text/bind.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/proto/scenario.pb.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

std::string bind_text(const std::string& text, proto::Scenario& message) {
  Problems problems;
  SourceMap sources("f");
  bind(parse_document(text, "f", problems).root, message, sources, problems);
  return test::placed(problems);
}

std::string errors_of(const std::string& text) {
  proto::Scenario message;
  return bind_text(text, message);
}

TEST(Bind, FillsEveryKindOfField) {
  proto::Scenario message;
  EXPECT_EQ(
      bind_text(
          "name: \"n\" run { steps: 0x10 seed: 18446744073709551615 compute_jitter_percent: 1.5 "
          "network_model: IDEAL }\n"
          "workload { variable { name: \"v\" shape: [2, 3] shape: 4 } } cluster { machine { switch "
          "{ "
          "in_switch_reduction: true } } }",
          message),
      "");
  EXPECT_EQ(message.run().steps(), 16);
  EXPECT_EQ(message.run().seed(), 18446744073709551615u);
  EXPECT_EQ(message.run().network_model(), proto::Run::IDEAL);
  EXPECT_EQ(message.workload().variable(0).shape_size(), 3);
  EXPECT_TRUE(message.cluster().machine(0).switch_(0).in_switch_reduction());
}

TEST(Bind, NumbersMayHaveUnits) {
  for (const std::string text :
       {"cluster { network { latency_us: 1.5ms bandwidth_gb_per_s: 200Gbit/s } }\n"
        "strategy { bytes_per_pack: 25MiB # as people say it\n shards: 2 }",
        R"({"cluster": {"network": {"latency_us": "1.5ms", "bandwidth_gb_per_s": "200Gbit/s"}},
            "strategy": {"bytes_per_pack": "25MiB", "shards": 2}})"}) {
    proto::Scenario message;
    EXPECT_EQ(bind_text(text, message), "");
    EXPECT_EQ(message.cluster().network().latency_us(), 1500);
    EXPECT_EQ(message.cluster().network().bandwidth_gb_per_s(), 25);
    EXPECT_EQ(message.strategy().bytes_per_pack(), 26214400);
    EXPECT_EQ(message.strategy().shards(), 2);
  }
  EXPECT_NE(errors_of("strategy { shards: 2KiB }"), "");
  EXPECT_NE(errors_of("cluster { network { latency_us: 25MiB } }"), "");
  EXPECT_NE(errors_of("strategy { bytes_per_pack: 0.3B }"), "");
  EXPECT_NE(errors_of("strategy { bytes_per_pack: 9000000TiB }"), "");
  EXPECT_NE(errors_of("cluster { network { bandwidth_gb_per_s: 25GB } }"), "");
  EXPECT_NE(errors_of("cluster { network { bandwidth_gb_per_s: 25GB/h } }"), "");
  // The next field follows without a space.
  proto::Scenario message;
  EXPECT_EQ(bind_text("strategy { shards: 2algorithm: \"ring\" }", message), "");
  EXPECT_EQ(message.strategy().algorithm(), "ring");
}

TEST(Bind, OnlyJsonAcceptsQuotedNumbers) {
  EXPECT_EQ(errors_of("cluster { network { latency_us: \"1.5\" } }\nstrategy { shards: \"2\" }"),
            "1:33 wrong-type Network.latency_us\n2:20 wrong-type Strategy.shards");
  Problems problems;
  SourceMap sources("f");
  proto::Scenario message;
  bind(parse_document("strategy { shards: \"2\" bytes_per_pack: \"many\" }", "f", problems).root,
       message, sources, problems);
  const Error error = problems.take().value();
  ASSERT_EQ(error.problems().size(), 2u);
  EXPECT_THAT(error.problems()[0].text, testing::EndsWith("; write the number without quotes"));
  EXPECT_THAT(error.problems()[1].text, testing::Not(testing::HasSubstr("without quotes")));
}

TEST(Bind, AcceptsJsonConventionsOfProtobuf) {
  proto::Scenario message;
  EXPECT_EQ(
      bind_text(
          R"({"run": {"seed": "123", "computeJitterPercent": 2, "networkModel": "FIFO", "steps": null}})",
          message),
      "");
  EXPECT_EQ(message.run().seed(), 123u);
  EXPECT_EQ(message.run().compute_jitter_percent(), 2);
  EXPECT_FALSE(message.run().has_steps());
}

TEST(Bind, AMessageIsCompleteOnlyIfAllItsFieldsAreValid) {
  const auto whole = [](const std::string& text) {
    Problems problems;
    SourceMap sources("f");
    proto::Scenario message;
    bind(parse_document(text, "f", problems).root, message, sources, problems);
    return std::tuple(sources.whole(message), sources.whole(message.cluster()),
                      sources.whole(message.cluster().network()), sources.whole(message.run()));
  };
  const std::string run = "run { steps: 2 } ";
  EXPECT_EQ(whole(run + "cluster { network { latency_us: 1 } }"),
            std::tuple(true, true, true, true));
  EXPECT_EQ(whole(run + "cluster { network { latency_us: \"x\" } }"),
            std::tuple(false, false, false, true));
  EXPECT_EQ(whole(run + "cluster { network { no_such: 1 } }"),
            std::tuple(false, false, false, true));
  EXPECT_EQ(whole(run + "cluster { network { latency_us: 1 latency_us: 1 } }"),
            std::tuple(false, false, false, true));
  EXPECT_EQ(whole(run + "cluster { network { } workers { count: 1.5 } }"),
            std::tuple(false, false, true, true));
  EXPECT_EQ(whole(run + "cluster { network { latency_us: \nkind: RAILS } }"),
            std::tuple(false, false, false, true))
      << "a field that cannot be read";
  EXPECT_EQ(whole(run + "cluster { machine { ring { gpu: [0, x] } } network { } }"),
            std::tuple(false, false, true, true));
  EXPECT_EQ(whole(run + "name: 5 cluster { network { } }"), std::tuple(false, true, true, true));
}

TEST(Bind, ReportsEveryWrongTypeAtItsPosition) {
  EXPECT_EQ(errors_of("nmae: \"x\"\n"
                      "run {\n"
                      "  steps: 99999999999\n"
                      "  seed: -1\n"
                      "  compute_jitter_percent: nan\n"
                      "  network_model: FIFA\n"
                      "}\n"
                      "run { }\n"
                      "strategy: 5\n"
                      "workload { batch: 1.5 flops_efficiency: 1e999 model: 7 }\n"),
            "1:1 unknown-field Scenario.nmae\n"
            "3:10 too-large Run.steps\n"
            "4:9 too-small Run.seed\n"
            "5:27 invalid Run.compute_jitter_percent\n"
            "6:18 unknown-name Run.network_model\n"
            "8:1 duplicate Scenario.run\n"
            "9:11 wrong-type Scenario.strategy\n"
            "10:19 wrong-type Workload.batch\n"
            "10:41 too-large Workload.flops_efficiency\n"
            "10:54 wrong-type Workload.model");
}

TEST(Bind, AcceptsIntegersUpToTheLimitsOfTheirType) {
  proto::Scenario message;
  EXPECT_EQ(
      bind_text("strategy { bytes_per_pack: -9223372036854775808 channels: 2147483647 }", message),
      "");
  EXPECT_EQ(message.strategy().bytes_per_pack(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(errors_of("strategy { bytes_per_pack: 9223372036854775808 }"),
            "1:28 too-large Strategy.bytes_per_pack");
  EXPECT_EQ(errors_of("strategy { bytes_per_pack: -9223372036854775809 }"),
            "1:28 too-small Strategy.bytes_per_pack");
  EXPECT_EQ(errors_of("strategy { num_packs: 2147483648 }"), "1:23 too-large Strategy.num_packs");
}

TEST(Bind, RefusesTwoSigns) {
  for (const char* text : {"--5", "---5", "0x-5", "-0x-5", "0x5.0", "+5", "-", ""}) {
    EXPECT_EQ(errors_of(std::string("strategy { bytes_per_pack: \"") + text + "\" }"),
              "1:28 wrong-type Strategy.bytes_per_pack")
        << text;
    EXPECT_EQ(errors_of(std::string("run { compute_jitter_percent: \"") + text + "\" }"),
              "1:31 wrong-type Run.compute_jitter_percent")
        << text;
  }
}

TEST(Bind, StopsAfterTooManyErrors) {
  Value root;
  for (int i = 1; i <= 100'000; ++i) root.fields.push_back({"nonsense", {i, 1}, {}});
  proto::Scenario message;
  Problems problems;
  SourceMap sources("f");
  bind(root, message, sources, problems);
  EXPECT_EQ(problems.size(), 200u);
}

TEST(Bind, RefusesAPlainValue) { EXPECT_EQ(errors_of("[1, 2]"), "1:1 wrong-type Scenario"); }

/// Sets random fields of a message, to any depth of the schema.
void fill_randomly(google::protobuf::Message& message, Random& random, int depth) {
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const auto* field = message.GetDescriptor()->field(i);
    if (random.below(3) == 0) continue;
    for (std::uint64_t n = field->is_repeated() ? random.below(4) : 1; n > 0; --n) {
      const auto add = [&](auto value, auto adder, auto setter) {
        field->is_repeated() ? (reflection.*adder)(&message, field, value)
                             : (reflection.*setter)(&message, field, value);
      };
      using R = google::protobuf::Reflection;
      switch (field->cpp_type()) {
        case google::protobuf::FieldDescriptor::CPPTYPE_INT32:
          add(static_cast<std::int32_t>(random.next()), &R::AddInt32, &R::SetInt32);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_INT64:
          add(static_cast<std::int64_t>(random.next()), &R::AddInt64, &R::SetInt64);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_UINT64:
          add(random.next(), &R::AddUInt64, &R::SetUInt64);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE:
          add(static_cast<double>(static_cast<std::int64_t>(random.next())) / 1e7, &R::AddDouble,
              &R::SetDouble);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_BOOL:
          add(random.below(2) == 0, &R::AddBool, &R::SetBool);
          break;
        case google::protobuf::FieldDescriptor::CPPTYPE_STRING: {
          std::string text;
          for (std::uint64_t c = random.below(12); c > 0; --c)
            text += static_cast<char>(32 + random.below(95));
          text += random.below(4) == 0 ? "é\n\t\"\\" : "";
          field->is_repeated() ? reflection.AddString(&message, field, text)
                               : reflection.SetString(&message, field, text);
          break;
        }
        case google::protobuf::FieldDescriptor::CPPTYPE_ENUM: {
          const auto* value = field->enum_type()->value(static_cast<int>(
              random.below(static_cast<std::uint64_t>(field->enum_type()->value_count()))));
          field->is_repeated() ? reflection.AddEnum(&message, field, value)
                               : reflection.SetEnum(&message, field, value);
          break;
        }
        case google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE:
          if (depth > 0) {
            fill_randomly(field->is_repeated() ? *reflection.AddMessage(&message, field)
                                               : *reflection.MutableMessage(&message, field),
                          random, depth - 1);
          }
          break;
        default: break;
      }
    }
  }
}

TEST(Bind, ReadsTheOutputOfProtobufsPrinters) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    proto::Scenario written;
    fill_randomly(written, random, 4);
    std::string text, json;
    ASSERT_TRUE(google::protobuf::TextFormat::PrintToString(written, &text));
    google::protobuf::util::JsonPrintOptions options;
    options.preserve_proto_field_names = i % 2 == 0;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(written, &json, options).ok());
    for (const std::string& form : {text, json}) {
      proto::Scenario read;
      ASSERT_EQ(bind_text(form, read), "") << form;
      EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(written, read)) << form;
    }
  }
}

}  // namespace
}  // namespace tutti::core
