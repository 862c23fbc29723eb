#include "core/text/document.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

std::string problems_of(Problems& problems) { return problems.empty() ? "" : problems.take().value().message(); }

TEST(TextFormat, KeepsEveryValueAndItsPlace) {
  Problems problems;
  const Value v =
      parse_text_format("# remark\na: 1\nb { c: \"x\" 'y' d: -inf }\ne: [1, 2.5]; f <g: YES>", "f", problems).root;
  EXPECT_EQ(problems_of(problems), "");
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

TEST(TextFormat, ReportsEveryMistakeNotOnlyTheFirst) {
  Problems problems;
  const Value v = parse_text_format("a: }\nb 5\nc: 7\n[d.e]: 1\n", "f", problems).root;
  EXPECT_EQ(problems_of(problems),
            "f:1:4: expected a value, found '}'\n"
            "f:2:3: expected ':' after \"b\", found '5'\n"
            "f:4:1: extension names in [ ] mean nothing here; write a field of the schema");
  ASSERT_EQ(v.fields.size(), 1u);
  EXPECT_EQ(v.fields[0].name, "c") << "what is right in between is kept";
}

TEST(TextFormat, SaysWhenABraceIsMissing) {
  Problems problems;
  EXPECT_TRUE(parse_text_format("a {\n  b { c: 1\n", "f", problems).cut_off);
  EXPECT_EQ(problems_of(problems), "f:2:5: this is not closed; a '}' is missing") << "of the innermost, once";
}

TEST(TextFormat, GoesOnBehindABracketThatClosesNothing) {
  Problems problems;
  const Document document = parse_text_format("a { > b: 1 } } c < } d: 2 >", "f", problems);
  EXPECT_EQ(document.root.fields.size(), 2u);
  EXPECT_GE(problems.size(), 3u);
}

TEST(TextFormat, RefusesDepthInsteadOfOverflowingTheStack) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "a{";
  Problems problems;
  parse_text_format(deep, "f", problems);
  EXPECT_NE(problems_of(problems).find("nested deeper than 64 levels"), std::string::npos);
}

TEST(Json, KeepsEveryValueAndItsPlace) {
  Problems problems;
  const Value v =
      parse_json("{\n  \"a\": -1.5e3,\n  \"b\": [true, null, \"x\\u00e9\\/\"],\n \"c\": {}\n}", "f", problems).root;
  EXPECT_EQ(problems_of(problems), "");
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

TEST(Json, SaysWhereItStopsBeingJson) {
  Problems problems;
  parse_json("{\n \"a\": 1,\n \"b\" 2\n}", "f", problems);
  EXPECT_EQ(problems_of(problems), "f:3:6: this is not JSON: Missing a colon after a name of object member.");
}

TEST(Json, RefusesDepth) {
  Problems problems;
  parse_json(std::string(100'000, '['), "f", problems);
  EXPECT_NE(problems_of(problems).find("nested deeper than 64 levels"), std::string::npos);
}

TEST(Document, TellsTheFormsApart) {
  Problems problems;
  EXPECT_EQ(parse_document("  \n{\"a\": 1}", "f", problems).root.fields.size(), 1u);
  EXPECT_EQ(parse_document("a: 1 b: 2", "f", problems).root.fields.size(), 2u);
  EXPECT_EQ(parse_document("", "f", problems).root.fields.size(), 0u);
  EXPECT_TRUE(problems.empty());
}

}  // namespace
}  // namespace tutti::core
