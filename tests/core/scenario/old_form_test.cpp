// Scenarios in the form that preceded strategy { tensorflow { … } }. Every row of the conversion
// table must give the same messages and the same plan as the new form. Errors must have the places
// of the original text.

#include "core/scenario/old_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/edit/old_form_text.h"
#include "core/edit/overrides.h"
#include "core/framework/registry.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/plan_digest.h"
#include "core/scenario/scenario.h"
#include "core/text/bind.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using test::at;
using test::FailsWith;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Returns the messages that a text is read as, in Protocol Buffers text format.
std::string message_of(const std::string& text) {
  Problems problems;
  SourceMap sources("f");
  proto::Scenario scenario;
  GuestMessages guests = framework_messages();
  bind(parse_scenario(text, "f", problems).root, scenario, sources, problems, &guests);
  EXPECT_TRUE(problems.empty()) << text;
  return scenario.DebugString();
}

/// Returns the nested form of a path and a value, such as "tensorflow { mirrored { num_packs: 2 }
/// }" for "tensorflow.mirrored.num_packs" and ": 2".
std::string nested(const std::string& path, const std::string& value) {
  std::vector<std::string> parts = parts_of(path);
  std::string text = parts.back() + value;
  for (parts.pop_back(); !parts.empty(); parts.pop_back())
    text = parts.back() + " { " + text + " }";
  return text;
}

/// Returns the text of the value of a field of the old form, for each row of the table.
std::string value_of(std::string_view was) {
  static const std::map<std::string_view, std::string> values{
      {"communication_options", " { bytes_per_pack: 4000 implementation: NCCL }"},
      {"hints", " { timeout_seconds: 5 }"},
      {"collective_all_reduce", " { generation: TF_2_5 }"},
      {"one_device", " {}"},
      {"mirrored", " { num_packs: 2 }"},
      {"central_storage", " {}"},
      {"parameter_server", " { placement: GREEDY_BY_BYTES }"},
      {"tf_cnn_benchmarks", " { variable_update: REPLICATED }"},
      {"all_reduce_spec", " { text: \"xring\" }"},
      {"num_packs", ": 3"},
      {"agg_small_grads_max_bytes", ": 100"},
      {"agg_small_grads_max_group", ": 4"},
      {"agg_small_grads_exact_group", ": true"},
      {"all_reduce_merge_scope", ": 2"},
      {"shards", ": 2"},
  };
  const auto found = values.find(was);
  return found == values.end() ? "" : found->second;
}

struct Pair {
  std::string old_form, now;
};

/// Returns a strategy in the old form with the field of a row, and the same strategy in the new
/// form.
Pair strategy_of(const MovedField& row) {
  const std::string was(row.was), now(row.now), beside(row.beside), value = value_of(was);
  if (beside.empty()) return {was + value, nested(now, value)};
  if (now.empty()) {
    const std::string other =
        beside +
        (beside == "bytes_per_pack" || beside == "agg_small_grads_max_bytes" ? ": 7" : " {}");
    return {other + " " + was + ": 0", other};
  }
  static const std::map<std::string, Pair> around{
      {"tensorflow.multi_worker_mirrored",
       {"communication_options {}", "communication_options {}"}},
      {"tensorflow.multi_worker_all_reduce", {"all_reduce_spec {}", "all_reduce_spec {}"}},
      {"tensorflow.tf_cnn_benchmarks",
       {"tf_cnn_benchmarks { variable_update: REPLICATED }", "variable_update: REPLICATED"}}};
  const Pair& there = around.at(beside);
  const std::string inside = there.now + " " + nested(now.substr(beside.size() + 1), value);
  return {there.old_form + " " + was + value, nested(beside, " { " + inside + " }")};
}

std::string scenario_with(const std::string& strategy) {
  return "strategy { launch_us: 1 " + strategy + " }\n";
}

TEST(OldForm, EveryOldFieldIsReadAsItsNewField) {
  for (const MovedField& row : moved_fields()) {
    SCOPED_TRACE(fmt::format("{} beside \"{}\"", row.was, row.beside));
    ASSERT_FALSE(value_of(row.was).empty()) << "give value_of() a value of the new row";
    const Pair strategy = strategy_of(row);
    EXPECT_EQ(message_of(scenario_with(strategy.old_form)),
              message_of(scenario_with(strategy.now)));
  }
}

TEST(OldForm, ConvertsEveryOldFieldAndOnlyOnce) {
  for (const MovedField& row : moved_fields()) {
    SCOPED_TRACE(fmt::format("{} beside \"{}\"", row.was, row.beside));
    const Pair strategy = strategy_of(row);
    EXPECT_FALSE(convert_text(scenario_with(strategy.now)));
    for (const std::string& text :
         {scenario_with(strategy.old_form),
          "strategy {\n  " + strategy.old_form + "\n  launch_us: 1\n}\n"}) {
      const auto converted = convert_text(text);
      ASSERT_TRUE(converted) << text;
      EXPECT_EQ(message_of(converted->text), message_of(scenario_with(strategy.now)))
          << converted->text;
      EXPECT_EQ(converted->origins.size(), converted->text.size());
      EXPECT_FALSE(convert_text(converted->text)) << converted->text;
      EXPECT_TRUE(have_equal_values(text, converted->text));
      EXPECT_THAT(old_form_warning(text, "f"), HasSubstr("tutti convert f"));
    }
  }
}

TEST(OldForm, ConvertsJson) {
  const std::string old_form =
      "{\"strategy\": {\"reduction\": \"MEAN\", \"allReduceSpec\": {\"text\": \"xring\"}, "
      "\"num_packs\": 2, "
      "\"mirrored\": null}}";
  const std::string now =
      "{\"strategy\": {\"reduction\": \"MEAN\", \"tensorflow\": {\"multi_worker_all_reduce\": "
      "{\"all_reduce_spec\": "
      "{\"text\": \"xring\"}, \"num_packs\": 2}}}}";
  EXPECT_EQ(message_of(old_form), message_of(now));
  const auto converted = convert_text(old_form);
  ASSERT_TRUE(converted);
  EXPECT_EQ(message_of(converted->text), message_of(now)) << converted->text;
  EXPECT_FALSE(convert_text(converted->text));
}

// --- whole scenarios ---

const std::string kSixteen =
    "cluster { workers { machine: \"dgx1-v100\" count: 2 } network { kind: ONE_SWITCH latency_us: "
    "1 } }\n";
const std::string kEight = "cluster { workers { machine: \"dgx1-v100\" } }\n";
const std::string kModel =
    "workload { variable { name: \"a\" shape: 1000 } variable { name: \"b\" shape: 77 } variable { "
    "name: \"c\" shape: "
    "9 "
    "} }\n";

TEST(OldForm, OldAndNewFieldsGiveTheSamePlan) {
  struct Case {
    std::string cluster, old_form, now;
  };
  for (const Case& c : std::vector<Case>{
           {kSixteen, "num_packs: 2 collective_all_reduce { generation: TF_2_1 }",
            "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_2_1 "
            "num_packs: 2 } } }"},
           {kSixteen, "collective_all_reduce { generation: TF_1_15 } all_reduce_merge_scope: 2",
            "tensorflow { multi_worker_mirrored { collective_all_reduce { generation: TF_1_15 "
            "all_reduce_merge_scope: 2 "
            "} } }"},
           {kSixteen,
            "communication_options { bytes_per_pack: 400 } hints { implementation: NCCL } shards: "
            "1",
            "tensorflow { multi_worker_mirrored { communication_options { bytes_per_pack: 400 } "
            "hints { implementation: "
            "NCCL } } } shards: 1"},
           {kSixteen,
            "agg_small_grads_max_bytes: 400 all_reduce_spec { text: \"pscpu\" } "
            "agg_small_grads_max_group: 1",
            "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"pscpu\" } "
            "agg_small_grads_max_bytes: 400 "
            "agg_small_grads_max_group: 1 } }"},
           {kSixteen,
            "tf_cnn_benchmarks { variable_update: COLLECTIVE_ALL_REDUCE } shards: 2 num_packs: 2",
            "tensorflow { tf_cnn_benchmarks { variable_update: COLLECTIVE_ALL_REDUCE shards: 2 "
            "gradient_repacking: 2 } "
            "}"},
           {kEight,
            "all_reduce_spec { text: \"nccl\" } tf_cnn_benchmarks { variable_update: REPLICATED }",
            "tensorflow { tf_cnn_benchmarks { variable_update: REPLICATED all_reduce_spec { text: "
            "\"nccl\" } } }"},
           {kEight, "mirrored { cross_device_ops: HIERARCHICAL_COPY_ALL_REDUCE num_packs: 2 }",
            "tensorflow { mirrored { cross_device_ops: HIERARCHICAL_COPY_ALL_REDUCE num_packs: 2 } "
            "}"}}) {
    SCOPED_TRACE(c.old_form);
    const auto before = read_scenario(c.cluster + kModel + "strategy { " + c.old_form + " }\n", "f",
                                      test::shipped_library());
    const auto now = read_scenario(c.cluster + kModel + "strategy { " + c.now + " }\n", "f",
                                   test::shipped_library());
    ASSERT_TRUE(before) << before.error().message();
    ASSERT_TRUE(now) << now.error().message();
    EXPECT_EQ(plan_digest(*before), plan_digest(*now));
    EXPECT_EQ(describe(before->strategy), describe(now->strategy));
    EXPECT_EQ(before->plan.notes, now->plan.notes);
  }
}

TEST(OldForm, ErrorsHavePositionsInTheText) {
  const auto fails = [](const std::string& strategy, const std::string& mark, ProblemCode code,
                        const std::string& field) {
    const std::string text = kSixteen + kModel + "strategy {\n  " + strategy + "\n}\n";
    EXPECT_THAT(read_scenario(text, "f", test::shipped_library()),
                FailsWith(at(text, mark, code, field)))
        << strategy;
    // Overrides are applied to the converted scenario, whose lines differ.
    const auto changed = read_scenario(text, "f", test::shipped_library(),
                                       {*parse_override("--set", "run.steps=2")});
    EXPECT_THAT(changed, FailsWith(at(text, mark, code, field))) << strategy;
  };
  fails("launch_us: 3\n  mirrored {\n    cross_device_ops: BOGUS\n  }", "BOGUS",
        ProblemCode::kUnknownName, "MirroredStrategy.cross_device_ops");
  fails("communication_options {\n    bytes_per_pack: -1\n  }\n  hints {}", "-1",
        ProblemCode::kTooSmall, "CommunicationOptions.bytes_per_pack");
  fails("algorithm: \"ring\"\n  hints {}", "\"ring\"", ProblemCode::kConflict,
        "Strategy.algorithm");
  fails("hints {}\n  pytorch_ddp {}", "pytorch_ddp", ProblemCode::kConflict,
        "Strategy.pytorch_ddp");
  fails("mirrored {}\n  central_storage {}", "central_storage", ProblemCode::kConflict,
        "TensorFlow.central_storage");
  fails("num_packs: -1\n  all_reduce_spec {}", "-1", ProblemCode::kTooSmall,
        "MultiWorkerAllReduce.num_packs");
}

TEST(OldForm, OverridesWithOldNamesChangeTextsOfEitherForm) {
  const auto plan = [](const std::string& strategy, const std::vector<std::string>& set) {
    std::vector<Override> overrides;
    for (const std::string& one : set) {
      auto parsed = parse_override("--set", one);
      EXPECT_TRUE(parsed) << one;
      if (parsed) overrides.push_back(std::move(*parsed));
    }
    const auto scenario = read_scenario(kEight + kModel + "strategy { " + strategy + " }\n", "f",
                                        test::shipped_library(), overrides);
    EXPECT_TRUE(scenario) << scenario.error().message();
    return scenario ? plan_digest(*scenario) : 0;
  };
  const std::uint64_t two = plan("tensorflow { mirrored { num_packs: 2 } }", {});
  EXPECT_NE(two, plan("tensorflow { mirrored {} }", {}));
  for (const char* text :
       {"mirrored {}", "tensorflow { mirrored {} }", "central_storage {}", "algorithm: \"nccl\""}) {
    for (const char* name :
         {"strategy.mirrored.num_packs=2", "strategy.tensorflow.mirrored.num_packs=2"})
      EXPECT_EQ(plan(text, {name, "strategy.algorithm="}), two) << text << name;
  }
  const std::uint64_t spec = plan(
      "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } num_packs: 3 } }",
      {});
  for (const char* text :
       {"all_reduce_spec { text: \"xring\" }",
        "tensorflow { multi_worker_all_reduce { all_reduce_spec { text: \"xring\" } } }"})
    EXPECT_EQ(plan(text, {"strategy.num_packs=3"}), spec) << text;
  const std::uint64_t ring = plan("algorithm: \"ring\"", {});
  for (const char* text : {"mirrored {}", "tensorflow { mirrored {} }"})
    EXPECT_EQ(plan(text, {"strategy.mirrored=", "strategy.algorithm=ring"}), ring) << text;
}

TEST(OldForm, AnOverrideRemovesFieldsThatItExcludesExceptOtherOverrides) {
  const std::string text = kEight + kModel + "strategy { algorithm: \"ring\" pytorch_ddp {} }\n";
  const auto with = [&](const std::vector<std::string>& set) {
    std::vector<Override> overrides;
    for (const std::string& one : set) overrides.push_back(*parse_override("--set", one));
    return read_scenario(text, "f", test::shipped_library(), overrides);
  };
  const auto bytes = with({"strategy.bytes_per_pack=7"});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->strategy.framework, nullptr);
  EXPECT_FALSE(with({"strategy.bytes_per_pack=7", "strategy.num_packs=2"}));
  EXPECT_TRUE(with({"strategy.bytes_per_pack=7", "strategy.num_packs=0"}))
      << "num_packs: 0 has no meaning";
  EXPECT_TRUE(with({"strategy.num_packs=0", "strategy.bytes_per_pack=7"}));
  EXPECT_TRUE(
      with({"strategy.bytes_per_pack=7", "strategy.bytes_per_pack=", "strategy.num_packs=2"}));
}

TEST(OldForm, WarningsStateFieldsPositionsAndReplacements) {
  EXPECT_THAT(old_form_warning("strategy { algorithm: \"ring\" num_packs: 2 }", "f"), IsEmpty());
  EXPECT_THAT(old_form_warning("strategy {", "f"), IsEmpty())
      << "syntax errors are reported by the reader";
  const std::string text = "strategy {\n  all_reduce_spec {}  # mine\n  num_packs: 2\n}\n";
  EXPECT_THAT(old_form_warning(text, "f"),
              AllOf(HasSubstr("f:2:3: warning: strategy.all_reduce_spec is now "
                              "strategy.tensorflow.multi_worker_all_reduce.all_reduce_spec"),
                    HasSubstr("f:3:3: warning: strategy.num_packs is"),
                    HasSubstr("  tensorflow {\n    multi_worker_all_reduce {\n      "
                              "all_reduce_spec {}  # mine\n      "
                              "num_packs: 2\n")));
}

TEST(OldForm, ConvertingKeepsCommentsOrderAndIndentation) {
  const std::string text =
      "# a scenario\n"
      "strategy {\n"
      "    # the flags\n"
      "    tf_cnn_benchmarks {\n"
      "      variable_update: REPLICATED   # one worker\n"
      "    }  # of the benchmarks\n"
      "    launch_us: 3\n"
      "\n"
      "    # what reduces,\n"
      "    # at last\n"
      "    all_reduce_spec {\n"
      "        text: \"nccl\"\n"
      "    }\n"
      "    num_packs: 2 reduction: MEAN  # both\n"
      "}\n";
  const std::string expected =
      "# a scenario\n"
      "strategy {\n"
      "    # the flags\n"
      "    tensorflow {\n"
      "      tf_cnn_benchmarks {\n"
      "        variable_update: REPLICATED   # one worker\n"
      "        # what reduces,\n"
      "        # at last\n"
      "        all_reduce_spec {\n"
      "            text: \"nccl\"\n"
      "        }\n"
      "        gradient_repacking: 2\n"
      "      }  # of the benchmarks\n"
      "    }\n"
      "    launch_us: 3\n"
      "\n"
      "    reduction: MEAN  # both\n"
      "}\n";
  const auto converted = convert_text(text);
  ASSERT_TRUE(converted);
  EXPECT_EQ(converted->text, expected);
  EXPECT_THAT(converted->moved, SizeIs(3));
}

}  // namespace
}  // namespace tutti::core
