// The JSON pull parser. The parser returns the right values wherever a buffer ends, and reports the
// place at which a truncated text ends.

#include "core/formats/json_stream.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/problems.h"

namespace tutti::core {
namespace {

/// Returns only a few bytes at a time, as pipes do.
class SlowInput final : public ByteInput {
 public:
  SlowInput(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  Expected<std::size_t> read(char* to, std::size_t most) override {
    const std::size_t got = std::min({most, piece_, bytes_.size()});
    std::copy_n(bytes_.data(), got, to);
    bytes_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view bytes_;
  std::size_t piece_;
};

/// Returns the values of a JSON text in one line: {a:1,b:[x,y]}.
std::string flat(JsonStream& in) {
  switch (in.peek()) {
    case JsonStream::Kind::kObject: {
      std::string text = "{";
      if (!in.enter_object()) return "?";
      while (const auto key = in.next_key()) {
        text += std::string(*key) + ":";
        text += flat(in) + ",";
      }
      return text + "}";
    }
    case JsonStream::Kind::kArray: {
      std::string text = "[";
      if (!in.enter_array()) return "?";
      while (in.next_item()) text += flat(in) + ",";
      return text + "]";
    }
    case JsonStream::Kind::kEnd: in.skip(); return "";
    default: return std::string(in.scalar());
  }
}

constexpr std::string_view kText =
    "{\"name\": \"a \\\"quoted\\\" \\u00e9 name\", \"ts\": 12.5, \"nested\": {\"list\": [1, [2, "
    "3], {}, []], \"t\": "
    "true},\n"
    " \"empty\": \"\", \"skipped\": {\"]}\": \"}\\\\\"}, \"last\": -Infinity}";

TEST(JsonStream, ResultsDoNotDependOnBufferBoundaries) {
  const std::string whole =
      "{name:a \"quoted\" é "
      "name,ts:12.5,nested:{list:[1,[2,3,],{},[],],t:true,},empty:,skipped:{]}:}\\,},last:-"
      "Infinity,}";
  for (std::size_t piece = 1; piece <= kText.size(); ++piece) {
    for (const std::size_t buffer : {std::size_t{64}, std::size_t{97}, std::size_t{4096}}) {
      SlowInput input(kText, piece);
      JsonStream in(input, "t", buffer);
      EXPECT_EQ(flat(in), whole) << piece << ' ' << buffer;
      EXPECT_TRUE(in.at_end());
      EXPECT_FALSE(in.failed()) << piece;
    }
  }
}

TEST(JsonStream, SkipsUnwantedValues) {
  for (std::size_t piece = 1; piece < 40; ++piece) {
    SlowInput input(kText, piece);
    JsonStream in(input, "t", 64);
    ASSERT_TRUE(in.enter_object());
    int keys = 0;
    while (const auto key = in.next_key()) {
      ++keys;
      in.skip();
    }
    EXPECT_EQ(keys, 6);
    EXPECT_FALSE(in.failed());
  }
}

TEST(JsonStream, ReportsATruncatedTextAtItsEnd) {
  for (std::size_t length = 1; length < kText.size(); ++length) {
    SlowInput input(kText.substr(0, length), 7);
    JsonStream in(input, "t", 64);
    flat(in);
    ASSERT_TRUE(in.failed()) << length;
    EXPECT_TRUE(in.cut_off()) << length;
    const Problem& problem = in.error().problems().front();
    EXPECT_EQ(problem.kind.code, ProblemCode::kSyntax);
    const std::size_t newline = kText.find('\n');
    EXPECT_EQ(problem.where.line, length > newline ? 2 : 1);
    EXPECT_EQ(problem.where.column,
              static_cast<int>(length > newline ? length - newline : length + 1));
  }
}

TEST(JsonStream, SyntaxErrorsAreNotReportedAsTruncation) {
  for (const char* text : {"{\"a\" 1}", "{a: 1}", "[1 2]", "{\"a\": 1 \"b\": 2}", "[1, }",
                           "{\"a\": [1}}", "@", "[\"\\u12g4\"]"}) {
    SlowInput input(text, 3);
    JsonStream in(input, "t");
    flat(in);
    ASSERT_TRUE(in.failed()) << text;
    EXPECT_FALSE(in.cut_off()) << text;
  }
}

TEST(JsonStream, CommasBeforeABracketAreAccepted) {
  SlowInput input("[1, 2, {\"a\": 3,},]", 2);
  JsonStream in(input, "t");
  EXPECT_EQ(flat(in), "[1,2,{a:3,},]");
  EXPECT_FALSE(in.failed());
}

TEST(JsonStream, DepthHasALimit) {
  const std::string deep(100'000, '[');
  for (const bool skip : {false, true}) {
    SlowInput input(deep, 4096);
    JsonStream in(input, "t");
    if (skip)
      in.skip();
    else
      while (in.enter_array() && in.next_item()) {
      }
    ASSERT_TRUE(in.failed());
    EXPECT_EQ(in.error().problems().front().kind.code, ProblemCode::kTooLarge);
  }
}

}  // namespace
}  // namespace tutti::core
