// The reader of text format and JSON: it keeps every value with its place, reports syntax errors
// with line and column, and limits the depth of nesting.

#include "core/text/document.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/text/utf8.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using test::placed;

/// Returns the values that were read in a compact form, such as "a: 1 b: { c: x }".
std::string shown(const Value& value) {
  if (value.kind == Value::Kind::kList) {
    std::string text = "[";
    for (const Value& item : value.items) text += " " + shown(item);
    return text + " ]";
  }
  if (value.kind != Value::Kind::kMessage) return value.text;
  std::string text;
  for (const Value::Field& field : value.fields) {
    const std::string inner = shown(field.value);
    text += (text.empty() ? "" : " ") + field.name + ": " +
            (field.value.kind == Value::Kind::kMessage ? "{ " + inner + " }" : inner);
  }
  return text;
}

TEST(TextFormat, KeepsEveryValueAndItsPosition) {
  Problems problems;
  const Value v =
      parse_text_format("# remark\na: 1\nb { c: \"x\" 'y' d: -inf }\ne: [1, 2.5]; f <g: YES>", "f",
                        problems)
          .root;
  EXPECT_EQ(placed(problems), "");
  ASSERT_EQ(v.fields.size(), 4u);
  EXPECT_EQ(v.fields[0].name, "a");
  EXPECT_EQ(v.fields[0].value.text, "1");
  EXPECT_EQ(v.fields[0].value.at.line, 2);
  EXPECT_EQ(v.fields[0].value.at.column, 4);
  const Value& b = v.fields[1].value;
  EXPECT_EQ(b.fields[0].value.text, "xy") << "neighbouring strings are one";
  EXPECT_EQ(b.fields[1].value.text, "-inf");
  EXPECT_EQ(v.fields[2].value.items[1].text, "2.5");
  EXPECT_EQ(v.fields[3].value.fields[0].value.kind, Value::Kind::kIdentifier);
}

/// Collects the text between the start and the end of every value, in the order of the text. The
/// lines must have no tabs.
void collect(const Value& value, const std::vector<std::string>& lines,
             std::vector<std::string>& found) {
  std::string text;
  for (int line = value.at.line; line <= value.end.line; ++line) {
    const std::string& whole = lines[static_cast<std::size_t>(line) - 1];
    const std::size_t from =
        line == value.at.line ? static_cast<std::size_t>(value.at.column) - 1 : 0;
    const std::size_t to =
        line == value.end.line ? static_cast<std::size_t>(value.end.column) - 1 : whole.size();
    text += (line == value.at.line ? "" : "|") + whole.substr(from, to - from);
  }
  found.push_back(text);
  for (const Value::Field& field : value.fields) collect(field.value, lines, found);
  for (const Value& item : value.items) collect(item, lines, found);
}
std::vector<std::string> values(const Value& root, const std::string& text) {
  std::vector<std::string> lines{""}, found;
  for (const char c : text) c == '\n' ? lines.emplace_back() : (lines.back() += c, lines.back());
  for (const Value::Field& field : root.fields) collect(field.value, lines, found);
  return found;
}

TEST(TextFormat, ValuesEndAfterTheirLastCharacter) {
  const std::string text = "a: 1;b <c: 'x'  # r\n \"é\" d: - inf >\ne: [1 , {f: 2}] g {\n} h: x";
  Problems problems;
  EXPECT_EQ(values(parse_text_format(text, "f", problems).root, text),
            (std::vector<std::string>{"1", "<c: 'x'  # r| \"é\" d: - inf >", "'x'  # r| \"é\"",
                                      "- inf", "[1 , {f: 2}]", "1", "{f: 2}", "2", "{|}", "x"}));
  EXPECT_EQ(placed(problems), "");
}

TEST(Json, ValuesEndAfterTheirLastCharacter) {
  const std::string text =
      "{\"a\": 1 ,\"b\":{ },\n\"c\" : [ 1, [true,null] , {\"d\": \"x\\\"y\" } ],\"e\":-1.5e3, "
      "\"f\": [ \n ]}";
  Problems problems;
  EXPECT_EQ(values(parse_json(text, "f", problems).root, text),
            (std::vector<std::string>{"1", "{ }", "[ 1, [true,null] , {\"d\": \"x\\\"y\" } ]", "1",
                                      "[true,null]", "true", "null", "{\"d\": \"x\\\"y\" }",
                                      "\"x\\\"y\"", "-1.5e3", "[ | ]"}));
  EXPECT_EQ(placed(problems), "");
}

TEST(TextFormat, ReportsAllErrors) {
  Problems problems;
  const Value v = parse_text_format("a: }\nb 5\nc: 7\n[d.e]: 1\n", "f", problems).root;
  EXPECT_EQ(placed(problems),
            "1:4 syntax\n"
            "2:3 syntax\n"
            "4:1 syntax");
  EXPECT_EQ(shown(v), "b: 5 c: 7") << "valid fields between errors are kept";
}

TEST(TextFormat, AnErrorDoesNotAffectOtherFields) {
  const auto read = [](const std::string& text) {
    Problems problems;
    std::string fields = shown(parse_text_format(text, "f", problems).root);
    return placed(problems) + " | " + fields;
  };
  EXPECT_EQ(read("a { b\n c: 2 } d: 3"), "2:2 syntax | a: { c: 2 } d: 3");
  EXPECT_EQ(read("a { b \"x\" c: 2 }"), "1:7 syntax | a: { b: x c: 2 }");
  EXPECT_EQ(read("a -1 b: 2"), "1:3 syntax | a: -1 b: 2");
  EXPECT_EQ(read("a:\nb: 2"), "2:1 syntax | b: 2");
  EXPECT_EQ(read("a: ! b: 2"), "1:4 syntax | b: 2");
  EXPECT_EQ(read("a: dgx1-v100 b: 2"), "1:8 syntax | a: dgx1 b: 2");
  EXPECT_EQ(read("a: [1 2] b: 2"), "1:7 syntax | b: 2");
  EXPECT_EQ(read("a: [1,\n 2 X,\n Y]\nb: 2"), "2:4 syntax | b: 2");
  EXPECT_EQ(read("a: [{ x 1 y: 2 }, { z: 3 }] b: 2"), "1:9 syntax | a: [ x: 1 y: 2 z: 3 ] b: 2");
  EXPECT_EQ(read("// a note: 1\na: 25mb b: 100Gbps"), "1:1 syntax | a: 25mb b: 100Gbps");
  EXPECT_EQ(read("a: “x” b: 2"),
            "1:4 syntax\n"
            "1:8 syntax | b: 2");
}

TEST(TextFormat, TerminatesForAnyInput) {
  const std::vector<std::string> tokens{"a", "b", ":", ":", "1",    "\"s\"", "{", "}",
                                        "<", ">", "[", "]", ",",    ";",     "-", "\n",
                                        "#", "é", "'", ".", "1.5f", "\n"};
  Random random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t n = random.below(24); n > 0; --n)
      text += tokens[random.below(tokens.size())] + " ";
    Problems problems;
    const Document document = parse_text_format(text, "f", problems);
    EXPECT_TRUE(!document.cut_off || !problems.empty()) << text;
  }
}

TEST(TextFormat, StopsAfterTooManyErrors) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "a {\n! }\n";
  Problems problems;
  EXPECT_TRUE(parse_text_format(text, "f", problems).cut_off);
  EXPECT_EQ(problems.size(), 200u);
}

TEST(TextFormat, ReportsAMissingBrace) {
  Problems problems;
  EXPECT_TRUE(parse_text_format("a {\n  b { c: 1\n", "f", problems).cut_off);
  EXPECT_EQ(placed(problems), "2:5 syntax") << "reported once, for the innermost message";
}

TEST(TextFormat, ContinuesAfterAnUnmatchedBracket) {
  Problems problems;
  const Document document = parse_text_format("a { > b: 1 } } c < } d: 2 >", "f", problems);
  EXPECT_EQ(document.root.fields.size(), 2u);
  EXPECT_GE(problems.size(), 3u);
}

TEST(TextFormat, RefusesDeepNestingInsteadOfOverflowingTheStack) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "a{";
  Problems problems;
  parse_text_format(deep, "f", problems);
  EXPECT_EQ(placed(problems), "1:130 syntax");
}

TEST(Json, KeepsEveryValueAndItsPosition) {
  Problems problems;
  const Value v =
      parse_json("{\n  \"a\": -1.5e3,\n  \"b\": [true, null, \"x\\u00e9\\/\"],\n \"c\": {}\n}", "f",
                 problems)
          .root;
  EXPECT_EQ(placed(problems), "");
  ASSERT_EQ(v.fields.size(), 3u);
  EXPECT_EQ(v.fields[0].at.line, 2);
  EXPECT_EQ(v.fields[0].at.column, 3);
  EXPECT_EQ(v.fields[0].value.at.column, 8);
  EXPECT_EQ(v.fields[0].value.text, "-1.5e3");
  EXPECT_EQ(v.fields[1].value.items[1].text, "null");
  EXPECT_EQ(v.fields[1].value.items[2].text, "xé/");
  EXPECT_EQ(v.fields[1].value.items[2].at.column, 21);
  EXPECT_EQ(v.fields[2].value.kind, Value::Kind::kMessage);
}

TEST(Json, ReportsSyntaxErrorsAtTheirPosition) {
  Problems problems;
  parse_json("{\n \"a\": 1,\n \"b\" 2\n}", "f", problems);
  EXPECT_EQ(placed(problems), "3:6 syntax");
}

TEST(Json, RefusesDeepNesting) {
  Problems problems;
  parse_json(std::string(100'000, '['), "f", problems);
  EXPECT_EQ(placed(problems), "1:65 syntax");
}

TEST(Utf8, FollowsRfc3629) {
  for (const char* good :
       {"", "abc", "\x7f", "é", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"})
    EXPECT_EQ(valid_utf8(good), std::string_view(good).size()) << good;
  for (const char* bad : {"\x80", "\xff", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf",
                          "\xe2\x82", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf",
                          "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"})
    EXPECT_EQ(valid_utf8("é" + std::string(bad)), 2u);
  EXPECT_EQ(valid_utf8(std::string_view("\0x", 2)), 2u);
}

TEST(Document, RefusesTextsThatAreNotUtf8) {
  for (const char* begin : {"a: 1\n", "[1,\n"}) {
    Problems problems;
    EXPECT_TRUE(parse_document(begin + std::string("  \"\xe9\""), "f", problems).cut_off);
    EXPECT_EQ(placed(problems), "2:4 syntax");
  }
}

TEST(Document, RefusesEscapesThatAreNotUtf8) {
  const std::pair<const char*, const char*> all[] = {
      {R"(a: 1 b: "\xff")", "1:9 syntax"},           {R"(a: 1 b: "\377")", "1:9 syntax"},
      {R"(a: 1 b: '\xc3' '(')", "1:9 syntax"},       {R"(a: 1 b: "\ud800")", "1:9 syntax"},
      {R"({"a": 1, "b": "\udc00"})", "1:15 syntax"}, {R"({"a": 1, "\udc00": 3})", "1:10 syntax"}};
  for (const auto& [text, mistake] : all) {
    Problems problems;
    parse_document(text, "f", problems);
    EXPECT_EQ(placed(problems), mistake) << text;
  }
  Problems problems;
  const Value v = parse_document(R"(a: '\xc3' "\xa9" b: "\351\u00e9")", "f", problems).root;
  EXPECT_EQ(placed(problems), "1:21 syntax") << "a character may be put together from its bytes";
  EXPECT_EQ(v.fields[0].value.text, "é");
}

TEST(Document, IgnoresAByteOrderMark) {
  Problems problems;
  const Value json = parse_document("\xEF\xBB\xBF{\"a\": 1}", "f", problems).root;
  ASSERT_EQ(json.fields.size(), 1u);
  EXPECT_EQ(json.fields[0].at.column, 2);
  const Value text = parse_document(
                         "\xEF\xBB\xBF"
                         "a: 1",
                         "f", problems)
                         .root;
  ASSERT_EQ(text.fields.size(), 1u);
  EXPECT_EQ(text.fields[0].at.column, 1);
  EXPECT_EQ(placed(problems), "");
}

TEST(Document, OtherKindsOfFilesAreOneProblem) {
  const auto problem = [](const std::string& text) {
    Problems problems;
    EXPECT_TRUE(parse_document(text, "f", problems).cut_off);
    EXPECT_EQ(problems.size(), 1u);
    return problems.take().value().message();
  };
  EXPECT_EQ(problem(std::string("\x7f"
                                "ELF\0\0\xb8",
                                7)),
            "f: this is a binary file; expected a text file");
  Problems yaml;
  EXPECT_TRUE(parse_document("run:\n  steps: 3\n", "f.yaml", yaml).cut_off);
  EXPECT_THAT(yaml.take().value().message(), testing::HasSubstr("YAML"));
  EXPECT_THAT(problem("\n<!doctype html>\n<p>e: 1e</p>"), testing::HasSubstr("HTML or XML"));
}

TEST(Document, RecognizesTextFormatAndJson) {
  Problems problems;
  EXPECT_EQ(parse_document("  \n{\"a\": 1}", "f", problems).root.fields.size(), 1u);
  EXPECT_EQ(parse_document("a: 1 b: 2", "f", problems).root.fields.size(), 2u);
  EXPECT_EQ(parse_document("", "f", problems).root.fields.size(), 0u);
  EXPECT_TRUE(problems.empty());
}

TEST(Document, HasABoundedNumberOfValues) {
  std::string items = "[0";
  for (int i = 0; i < 4'000'000; ++i) items += ",0";
  items += "]";
  Problems json;
  EXPECT_TRUE(parse_json(items, "f", json).cut_off);
  ASSERT_FALSE(json.empty());
  EXPECT_EQ(json.take().value().problems().front().kind.code, ProblemCode::kTooLarge);
  Problems text;
  EXPECT_TRUE(parse_text_format("a: " + items, "f", text).cut_off);
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.take().value().problems().front().kind.code, ProblemCode::kTooLarge);
}

}  // namespace
}  // namespace tutti::core
