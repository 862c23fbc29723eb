// Edits that a form makes in the text of a scenario. Each test applies the same edits to the
// message that the text stands for, and compares the two.

#include "core/edit/field_edits.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/random.h"
#include "core/proto/scenario.pb.h"
#include "core/text/bind.h"
#include "tests/support/clusters.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

namespace fs = std::filesystem;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::MessageDifferencer;
using test::FailsWith;
using test::Mistake;

const Schema& schema() {
  static const Schema schema = Schema::scenario();
  return schema;
}

FieldPath path(const std::string& written) {
  FieldPath path;
  std::istringstream steps(written);
  for (std::string step; std::getline(steps, step, '.');) {
    const auto bracket = step.find('[');
    path.push_back({step.substr(0, bracket),
                    bracket == std::string::npos ? 0 : std::stoi(step.substr(bracket + 1))});
  }
  return path;
}

std::string set(const std::string& text, const std::string& field, const std::string& typed) {
  const ScenarioText scenario(text, schema());
  const auto edits = set_field(scenario, path(field), typed);
  return edits ? with_edits(text, *edits) : edits.error().message();
}
std::string add(const std::string& text, const std::string& field, const std::string& typed = "") {
  const auto edits = add_field(ScenarioText(text, schema()), path(field), typed);
  return edits ? with_edits(text, *edits) : edits.error().message();
}
std::string removed(const std::string& text, const std::string& field) {
  const auto edits = remove_field(ScenarioText(text, schema()), path(field));
  return edits ? with_edits(text, *edits) : edits.error().message();
}

TEST(FieldEdits, ChangesAValueInPlaceAndNothingElse) {
  const std::string text =
      "# why\nrun { steps: 3  # a few\n  seed:7 ; }\nworkload{model:'a' \"b\" "
      "batch:32layer_times:\"x\"}\n";
  EXPECT_EQ(set(text, "run.steps", "12"),
            "# why\nrun { steps: 12  # a few\n  seed:7 ; }\nworkload{model:'a' \"b\" "
            "batch:32layer_times:\"x\"}\n");
  EXPECT_EQ(set(text, "run.steps", "3"), text);
  EXPECT_EQ(set(text, "workload.model", "ab"), text) << "the field already has this value";
  EXPECT_EQ(set(text, "workload.model", "c\"\\\n"),
            "# why\nrun { steps: 3  # a few\n  seed:7 ; }\nworkload{model:\"c\\\"\\\\\\n\" "
            "batch:32layer_times:\"x\"}\n");
  EXPECT_EQ(set(text, "workload.batch", "64"),
            "# why\nrun { steps: 3  # a few\n  seed:7 ; }\nworkload{model:'a' \"b\" batch:64 "
            "layer_times:\"x\"}\n");
}

TEST(FieldEdits, InvalidValuesAreErrorsAtTheirPosition) {
  for (const std::string typed :
       {"} strategy {", "# remark", "12 13", "\"", "\\", "-", "[1]", "1.2.3", "0x", "true"}) {
    for (const char* const form :
         {"run { steps: 3 seed: 1 }", "{\"run\": {\"steps\": 3, \"seed\": 1}}"}) {
      const std::string text = set(form, "run.steps", typed);
      const ScenarioText now(text, schema());
      EXPECT_FALSE(now.broken()) << text;
      EXPECT_EQ(now.value(path("run.steps")), typed) << text;
      EXPECT_EQ(now.value(path("run.seed")), "1") << text;
    }
  }
}

struct NewField {
  const char *before, *field, *value, *after;
};

TEST(FieldEdits, NewFieldsFollowTheExistingOnes) {
  const NewField cases[] = {
      {"", "run.steps", "5", "run { steps: 5 }\n"},
      {"# only a remark", "name", "n", "# only a remark\nname: \"n\"\n"},
      {"run { steps: 1 }  # one\n# the end\n", "strategy.reduction", "MEAN",
       "run { steps: 1 }  # one\nstrategy { reduction: MEAN }\n# the end\n"},
      {"run { steps: 1 }", "run.seed", "2", "run { steps: 1 seed: 2 }"},
      {"run {}", "run.seed", "2", "run { seed: 2 }"},
      {"run {\n}\n", "run.seed", "2", "run {\n  seed: 2\n}\n"},
      {"run {\n    steps: 1;  # one\n  # more\n}\n", "run.seed", "2",
       "run {\n    steps: 1;  # one\n    seed: 2\n  # more\n}\n"},
      {"run { steps: 1\n}\n", "run.seed", "2", "run { steps: 1\n  seed: 2\n}\n"},
      {"run {\r\n  steps: 1\r\n}\r\n", "run.seed", "2",
       "run {\r\n  steps: 1\r\n  seed: 2\r\n}\r\n"},
      {"cluster { }\n", "cluster.network.kind", "RAILS", "cluster { network { kind: RAILS } }\n"},
      {"", "cluster.workers.machine", "m", "cluster { workers { machine: \"m\" } }\n"},
      {"{\"run\": {\"steps\": 1}}", "run.seed", "2", "{\"run\": {\"steps\": 1, \"seed\": 2}}"},
      {"{\n  \"run\": {\n    \"steps\": 1\n  }\n}", "strategy.reduction", "MEAN",
       "{\n  \"run\": {\n    \"steps\": 1\n  },\n  \"strategy\": {\"reduction\": \"MEAN\"}\n}"},
      {"{}", "cluster.workers.machine", "m",
       "{\"cluster\": {\"workers\": [{\"machine\": \"m\"}]}}"},
      {"{\"run\": {\"steps\": null}}", "run.steps", "2", "{\"run\": {\"steps\": 2}}"},
      {"{\"run\": {\"computeJitterPercent\": 1}}", "run.compute_jitter_percent", "2",
       "{\"run\": {\"computeJitterPercent\": 2}}"},
  };
  for (const NewField& c : cases) EXPECT_EQ(set(c.before, c.field, c.value), c.after);
}

TEST(FieldEdits, AddsAndRemovesElements) {
  EXPECT_EQ(add("cluster {\n  workers { machine: \"a\" }  # first\n  network { }\n}\n",
                "cluster.workers"),
            "cluster {\n  workers { machine: \"a\" }  # first\n  workers {}\n  network { }\n}\n");
  EXPECT_EQ(set("cluster {\n  workers {}\n}\n", "cluster.workers.machine", "a"),
            "cluster {\n  workers { machine: \"a\" }\n}\n");
  EXPECT_EQ(add("workload { variable { shape: [2, 3] } }", "workload.variable.shape", "4"),
            "workload { variable { shape: [2, 3, 4] } }");
  EXPECT_EQ(add("workload { variable { shape: 2 } }", "workload.variable.shape", "4"),
            "workload { variable { shape: 2 shape: 4 } }");
  EXPECT_EQ(add("workload { variable { shape: [] } }", "workload.variable.shape", "4"),
            "workload { variable { shape: [4] } }");
  EXPECT_EQ(removed("workload { variable { shape: [2, 3, 4] } }", "workload.variable.shape[1]"),
            "workload { variable { shape: [2, 4] } }");
  EXPECT_EQ(removed("workload { variable { shape: [2, 3, 4] } }", "workload.variable.shape[0]"),
            "workload { variable { shape: [3, 4] } }");
  EXPECT_EQ(
      removed("workload { variable { name: \"v\" shape: [2] } }", "workload.variable.shape[0]"),
      "workload { variable { name: \"v\" } }");
  EXPECT_EQ(removed("workload { variable { shape: [2, # two\n 3, # three\n 4] } }",
                    "workload.variable.shape[1]"),
            "workload { variable { shape: [2 # two\n , # three\n 4] } }");
  EXPECT_EQ(removed("{\"cluster\": {\"workers\": [{}, {\"count\": 2}]}}", "cluster.workers[0]"),
            "{\"cluster\": {\"workers\": [{\"count\": 2}]}}");
  EXPECT_EQ(add("{\"workload\": {\"variable\": {\"shape\": 2}}}", "workload.variable.shape", "3"),
            "{\"workload\": {\"variable\": {\"shape\": [2, 3]}}}");
  EXPECT_EQ(add("run { }", "run"), "run { }") << "there is one";
}

TEST(FieldEdits, RemovingAFieldRemovesItsLineButNotComments) {
  EXPECT_EQ(removed("run {\n  steps: 1\n  seed: 2\n}\n", "run.steps"), "run {\n  seed: 2\n}\n");
  EXPECT_EQ(removed("run {\n  steps: 1;  # one\n  seed: 2\n}\n", "run.steps"),
            "run {\n  # one\n  seed: 2\n}\n");
  EXPECT_EQ(removed("run { steps: 1, seed: 2 }\n", "run.steps"), "run { seed: 2 }\n");
  EXPECT_EQ(removed("run { steps: 1 seed: 2 }\n", "run.seed"), "run { steps: 1 }\n");
  EXPECT_EQ(removed("name: \"a\"\nrun { }", "run"), "name: \"a\"\n");
  EXPECT_EQ(removed("{\"run\": {\"steps\": 1, \"seed\": 2}}", "run.steps"),
            "{\"run\": {\"seed\": 2}}");
  EXPECT_EQ(removed("{\"run\": {\"steps\": 1, \"seed\": 2}}", "run.seed"),
            "{\"run\": {\"steps\": 1}}");
  EXPECT_EQ(removed("{\n  \"name\": \"a\",\n  \"run\": {}\n}\n", "run"),
            "{\n  \"name\": \"a\"\n}\n");
  EXPECT_EQ(removed("{\n  \"run\": {},\n  \"name\": \"a\"\n}\n", "run"),
            "{\n  \"name\": \"a\"\n}\n");
  EXPECT_EQ(set("run {\n  steps: 1\n}\n", "run.steps", ""), "run {\n}\n");
}

TEST(FieldEdits, RefusesToEditATextWithSyntaxErrors) {
  const auto why = [](const std::string& text, const std::string& field) {
    return set_field(ScenarioText(text, schema()), path(field), "2");
  };
  using enum ProblemCode;
  EXPECT_THAT(why("name: \"a\"\nrun { steps: 1", "run.steps"),
              FailsWith(Mistake{kSyntax, "", 2, 5}));
  EXPECT_THAT(why("{\"run\": }", "run.steps"), FailsWith(Mistake{kSyntax, "", 1, 9}));
  EXPECT_THAT(why("name: \"\xff\"", "run.steps"), FailsWith(Mistake{kSyntax, "", 1, 8}));
  for (const char* field : {"run.stepps", "run", "cluster.workers[3].count"})
    EXPECT_THAT(why("", field), FailsWith(Mistake{kUnknownField, field})) << field;
  EXPECT_THAT(remove_field(ScenarioText("", schema()), path("run")),
              FailsWith(Mistake{kUnknownField, "run"}));
}

TEST(FieldEdits, SettingAFieldOfAOneofRemovesItsOtherField) {
  google::protobuf::FileDescriptorSet files;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "file { name: 'x.proto' syntax: 'proto3' message_type { name: 'M' oneof_decl { name: 'which' "
      "} "
      "field { name: 'a' number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL } "
      "field { name: 'b' number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL oneof_index: 0 } "
      "field { name: 'c' number: 3 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 } } }",
      &files));
  const auto own = Schema::read(files.SerializeAsString(), "M");
  ASSERT_TRUE(own);
  const auto set_own = [&](const std::string& text, const std::string& field,
                           const std::string& typed) {
    return with_edits(text, *set_field(ScenarioText(text, *own), path(field), typed));
  };
  EXPECT_EQ(own->root().find("b")->one_of, "which");
  EXPECT_EQ(own->root().find("a")->one_of, "");
  EXPECT_EQ(set_own("b: 1  # b\na: 2\n", "c", "x"), "# b\na: 2\nc: \"x\"\n");
  EXPECT_EQ(set_own("a: 2\nb: 1\n", "a", "3"), "a: 3\nb: 1\n");
  EXPECT_EQ(set_own("{\"b\": 1, \"c\": \"x\"}", "c", "y"), "{\"c\": \"y\"}");
}

TEST(ScenarioText, FindsTheFieldAtAPosition) {
  const std::string text =
      "cluster { workers { count: 2 } workers { count: 3 } }\nworkload { variable { shape: [4, 5] "
      "} }";
  const ScenarioText scenario(text, schema());
  const auto at = [&](const std::string& what) {
    return to_string(scenario.path_at(text.find(what)));
  };
  EXPECT_EQ(at("cluster"), "cluster");
  EXPECT_EQ(at("3"), "cluster.workers[1].count");
  EXPECT_EQ(at("5"), "workload.variable.shape[1]");
  EXPECT_EQ(at("\n"), "cluster");
  EXPECT_EQ(scenario.count(path("cluster.workers")), 2);
  EXPECT_EQ(scenario.count(path("workload.variable.shape")), 2);
  EXPECT_EQ(scenario.value(path("workload.variable.shape[1]")), "5");
  EXPECT_EQ(scenario.value(path("cluster.workers[2].count")), "");
}

TEST(TextPlaces, OffsetsConvertToPositionsAndBack) {
  for (const std::string text : {"a: 1\n\tb:\t2\nc\n", "{\"a\":\t1,\n\t\"b\": 2}",
                                 "\xEF\xBB\xBF"
                                 "a: 1\nb: 2",
                                 "", "\n"}) {
    const TextPlaces places(text);
    for (std::size_t i = text.starts_with("\xEF") ? 3 : 0; i <= text.size(); ++i)
      EXPECT_EQ(places.offset(places.position(i)), i) << text;
    EXPECT_EQ(places.offset({100, 1}), text.size());
  }
}

// --- random edits ---

using Field = google::protobuf::FieldDescriptor;

/// Applies the same edits to a message.
class Mirror {
 public:
  explicit Mirror(proto::Scenario& message) : message_(message) {}

  void set(const FieldPath& path, const std::string& typed) {
    Message* const message = reach(path);
    const Field& field = *message->GetDescriptor()->FindFieldByName(path.back().field);
    const Reflection& r = *message->GetReflection();
    const int index = path.back().index;
    const bool there = field.is_repeated() && index < r.FieldSize(*message, &field);
    const auto put = [&](auto value, auto set_one, auto set_repeated, auto add) {
      if (!field.is_repeated()) return (r.*set_one)(message, &field, value);
      there ? (r.*set_repeated)(message, &field, index, value) : (r.*add)(message, &field, value);
    };
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return put(std::stoi(typed), &Reflection::SetInt32, &Reflection::SetRepeatedInt32,
                   &Reflection::AddInt32);
      case Field::CPPTYPE_INT64:
        return put(std::stol(typed), &Reflection::SetInt64, &Reflection::SetRepeatedInt64,
                   &Reflection::AddInt64);
      case Field::CPPTYPE_UINT64:
        return put(std::stoul(typed), &Reflection::SetUInt64, &Reflection::SetRepeatedUInt64,
                   &Reflection::AddUInt64);
      case Field::CPPTYPE_DOUBLE:
        return put(std::stod(typed), &Reflection::SetDouble, &Reflection::SetRepeatedDouble,
                   &Reflection::AddDouble);
      case Field::CPPTYPE_BOOL:
        return put(typed == "true", &Reflection::SetBool, &Reflection::SetRepeatedBool,
                   &Reflection::AddBool);
      case Field::CPPTYPE_ENUM:
        return put(field.enum_type()->FindValueByName(typed), &Reflection::SetEnum,
                   &Reflection::SetRepeatedEnum, &Reflection::AddEnum);
      default:
        return put(typed, &Reflection::SetString, &Reflection::SetRepeatedString,
                   &Reflection::AddString);
    }
  }
  void add_message(const FieldPath& path) {
    Message* const message = reach(path);
    const Field& field = *message->GetDescriptor()->FindFieldByName(path.back().field);
    const Reflection& r = *message->GetReflection();
    field.is_repeated() ? r.AddMessage(message, &field) : r.MutableMessage(message, &field);
  }
  void remove(const FieldPath& path) {
    Message* const message = reach(path);
    const Field& field = *message->GetDescriptor()->FindFieldByName(path.back().field);
    const Reflection& r = *message->GetReflection();
    if (!field.is_repeated()) return r.ClearField(message, &field);
    for (int i = path.back().index; i + 1 < r.FieldSize(*message, &field); ++i)
      r.SwapElements(message, &field, i, i + 1);
    r.RemoveLast(message, &field);
  }

 private:
  /// Returns the message that holds the last field of the path. Creates missing messages on the
  /// way.
  Message* reach(const FieldPath& path) {
    Message* message = &message_;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      const Field& field = *message->GetDescriptor()->FindFieldByName(path[i].field);
      const Reflection& r = *message->GetReflection();
      if (!field.is_repeated()) {
        message = r.MutableMessage(message, &field);
      } else if (path[i].index < r.FieldSize(*message, &field)) {
        message = r.MutableRepeatedMessage(message, &field, path[i].index);
      } else {
        message = r.AddMessage(message, &field);
      }
    }
    return message;
  }

  proto::Scenario& message_;
};

std::string random_value(const FieldType& field, Random& random) {
  switch (field.kind) {
    case FieldType::Kind::kWhole: return std::to_string(random.below(1000));
    case FieldType::Kind::kNumber:
      return std::to_string(random.below(1000)) + (random.below(2) == 0 ? "" : ".25");
    case FieldType::Kind::kYesNo: return random.below(2) == 0 ? "true" : "false";
    case FieldType::Kind::kChoice: return field.choices[random.below(field.choices.size())].name;
    default: {
      std::string text = "x";
      for (std::uint64_t n = random.below(6); n > 0; --n)
        text += std::string_view("ab # \"'\\{}\n\t\x01")[random.below(13)];
      return text + (random.below(4) == 0 ? "é" : "");
    }
  }
}

/// Returns a random field of the schema. The index of a repeated field is at most one past the last
/// element.
FieldPath random_path(const ScenarioText& text, Random& random) {
  FieldPath path;
  const MessageType* message = &text.schema().root();
  while (true) {
    const FieldType& field = message->fields[random.below(message->fields.size())];
    path.push_back({field.name, 0});
    if (field.repeated)
      path.back().index =
          static_cast<int>(random.below(static_cast<std::uint64_t>(text.count(path)) + 1));
    if (!field.message || field.message->fields.empty() || random.below(4) == 0) return path;
    message = field.message;
  }
}

std::vector<std::string> remarks(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find("#remark");
    if (at != std::string::npos) found.push_back(line.substr(at));
  }
  return found;
}

/// Applies random edits and compares the text with the message after each.
void edit_randomly(std::string text, std::uint64_t seed, bool with_remarks) {
  Random random(seed);
  proto::Scenario mirrored;
  const auto read = [](const std::string& what, proto::Scenario& message) {
    Problems problems;
    SourceMap sources("f");
    bind(parse_document(what, "f", problems).root, message, sources, problems);
    return problems.empty() ? std::string() : problems.take().value().message();
  };
  ASSERT_EQ(read(text, mirrored), "") << text;
  Mirror mirror(mirrored);
  for (int i = 0; i < 60; ++i) {
    const ScenarioText scenario(text, schema());
    const FieldPath field = random_path(scenario, random);
    const FieldType& type = *scenario.type(field);
    const bool message = type.message != nullptr;
    Expected<TextEdits> edits;
    std::vector<FieldPath> gone;
    if (scenario.find(field) && random.below(3) == 0) {
      edits = remove_field(scenario, field);
      mirror.remove(field);
      if (message) gone = {field};
    } else if (message && (type.repeated || !scenario.find(field))) {
      FieldPath end = field;
      if (type.repeated) end.back().index = scenario.count(field);
      edits = add_field(scenario, field);
      gone = excluded_by(scenario, end);
      mirror.add_message(end);
    } else if (!message) {
      const std::string typed = random_value(type, random);
      edits = set_field(scenario, field, typed);
      if (!typed.empty()) gone = excluded_by(scenario, field);
      mirror.set(field, typed);
    } else {
      continue;
    }
    ASSERT_TRUE(edits) << edits.error().message() << "\n" << text;
    const std::string after = with_edits(text, *edits);
    proto::Scenario now;
    ASSERT_EQ(read(after, now), "") << to_string(field) << "\n" << text << "\n=====\n" << after;
    ASSERT_TRUE(MessageDifferencer::Equals(now, mirrored)) << to_string(field) << "\n"
                                                           << text << "\n=====\n"
                                                           << after << "\n=====\n"
                                                           << mirrored.DebugString();
    if (with_remarks) {
      std::string outside = text;
      for (const FieldPath& one :
           gone) {  // fields inside are removed, too; a oneof has at most one field
        const auto inside = scenario.range(*scenario.find(one));
        outside = text.substr(0, inside.from) + "\n" + text.substr(inside.to);
      }
      ASSERT_LE(gone.size(), 1U);
      ASSERT_EQ(remarks(after), remarks(outside)) << to_string(field) << "\n"
                                                  << text << "\n=====\n"
                                                  << after;
    }
    text = after;
  }
}

std::string file_text(const fs::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Returns the line without its remark. A # within quotes does not start a remark.
std::string without_remark(const std::string& line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

/// Returns the text with a numbered remark at the end of each line.
std::string with_remarks(const std::string& text) {
  std::istringstream lines(text);
  std::string made;
  int number = 0;
  for (std::string line; std::getline(lines, line);)
    made += without_remark(line) + " #remark " + std::to_string(++number) + "\n";
  return made;
}

TEST(FieldEdits, TextAndMessageAgreeAfterRandomEditsOfTheShippedScenarios) {
  std::uint64_t seed = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(test::source_folder()) / "scenarios")) {
    if (entry.path().extension() != ".textproto") continue;
    const std::string text = file_text(entry.path());
    for (int i = 0; i < 12; ++i) edit_randomly(text, ++seed, false);
    for (int i = 0; i < 12; ++i) edit_randomly(with_remarks(text), ++seed, true);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seed, 100u);
}

TEST(FieldEdits, TextAndMessageAgreeAfterRandomEditsOfEveryNotation) {
  std::uint64_t seed = 1000;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(test::source_folder()) / "scenarios")) {
    if (entry.path().extension() != ".textproto") continue;
    proto::Scenario message;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(file_text(entry.path()), &message));
    google::protobuf::TextFormat::Printer one_line;
    one_line.SetSingleLineMode(true);
    google::protobuf::TextFormat::Printer short_lists;
    short_lists.SetUseShortRepeatedPrimitives(true);
    std::string in_one_line, with_lists, json, json_lines;
    ASSERT_TRUE(one_line.PrintToString(message, &in_one_line));
    ASSERT_TRUE(short_lists.PrintToString(message, &with_lists));
    google::protobuf::util::JsonPrintOptions options;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(message, &json, options).ok());
    options.add_whitespace = true;
    options.preserve_proto_field_names = true;
    ASSERT_TRUE(google::protobuf::util::MessageToJsonString(message, &json_lines, options).ok());
    for (const std::string& text : {in_one_line, with_lists, json, json_lines}) {
      for (int i = 0; i < 6; ++i) edit_randomly(text, ++seed, false);
      if (HasFatalFailure()) return;
    }
  }
  for (int i = 0; i < 20; ++i) edit_randomly(i % 2 == 0 ? "" : "{}", ++seed, false);
}

}  // namespace
}  // namespace tutti::core
