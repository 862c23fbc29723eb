// Gzip-compressed files are read as their uncompressed content.

#include "core/formats/byte_input.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/formats/decimal.h"
#include "core/formats/line_stream.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string made(text.size() + 1024, '\0');
  std::string content = text;
  stream.next_in = reinterpret_cast<Bytef*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(made.data());
  stream.avail_out = static_cast<uInt>(made.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  made.resize(made.size() - stream.avail_out);
  deflateEnd(&stream);
  return made;
}

Expected<std::string> read_all(const std::string& bytes, std::size_t piece) {
  const auto input = byte_input_of(bytes, "f");
  std::string all, some(piece, '\0');
  while (true) {
    const auto got = input->read(some.data(), some.size());
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) return all;
    all.append(some, 0, *got);
  }
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * i) + '\n';
  return text;
}

TEST(ByteInput, InflatesGzipOfOneOrMoreMembers) {
  const std::string text = long_text();
  for (const std::size_t piece : {std::size_t{1} << 16, std::size_t{777}}) {
    EXPECT_EQ(read_all(gzip(text), piece).value(), text);
    EXPECT_EQ(read_all(gzip(text) + gzip("more"), piece).value(), text + "more");
    EXPECT_EQ(read_all(gzip(text) + std::string(100, '\0'), piece).value(), text);
    EXPECT_EQ(read_all(text, piece).value(), text);
  }
  EXPECT_EQ(read_all("", 10).value(), "");
  EXPECT_EQ(read_all("\x1f", 10).value(), "\x1f");
}

TEST(ByteInput, ReportsTheByteAtWhichGzipIsTruncatedOrDamaged) {
  const std::string whole = gzip("some text that is long enough to have a few bytes");
  for (std::size_t length = 2; length < whole.size(); ++length) {
    const auto read = read_all(whole.substr(0, length), 4096);
    ASSERT_FALSE(read) << length;
    EXPECT_EQ(test::kinds_of(read), std::vector<std::string>{"syntax"});
  }
  std::string damaged = whole;
  damaged[20] ^= 0x55;
  EXPECT_FALSE(read_all(damaged, 4096));
}

TEST(ByteInput, RefusesFilesThatInflateToAMultipleThatTracesDoNot) {
  const std::string mebibyte(std::size_t{1} << 20, 'x');
  const std::string member = gzip(mebibyte);
  ASSERT_GT(mebibyte.size(), 250 * member.size());
  std::string bomb;
  for (int i = 0; i < 300; ++i) bomb += member;
  const auto input = byte_input_of(bomb, "f");
  std::string some(std::size_t{1} << 20, '\0');
  std::size_t all = 0;
  auto got = input->read(some.data(), some.size());
  for (; got && *got > 0; got = input->read(some.data(), some.size())) all += *got;
  EXPECT_THAT(got, test::FailsWith(test::Mistake{.code = ProblemCode::kTooLarge, .file = "f"}));
  EXPECT_GE(all, std::size_t{256} << 20);
  EXPECT_LE(all, std::size_t{258} << 20);
}

TEST(ByteInput, RefusesMissingFilesAndFolders) {
  EXPECT_EQ(test::kinds_of(open_byte_input("/no/such/file")), std::vector<std::string>{"missing"});
  EXPECT_EQ(test::kinds_of(open_byte_input("/")), std::vector<std::string>{"wrong-type"});
}

TEST(LineStream, ReadsCompleteLinesAndCountsThem) {
  const std::string text = "one\r\n\n" + std::string(600'000, 'x') + "\nlast";
  const auto input = byte_input_of(text, "f");
  LineStream lines(*input, "f");
  EXPECT_EQ(lines.next(), "one");
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next()->size(), 600'000u);
  EXPECT_EQ(lines.next(), "last");
  EXPECT_EQ(lines.number(), 4);
  EXPECT_EQ(lines.next(), std::nullopt);
}

TEST(ScaledDecimal, IsExact) {
  EXPECT_EQ(scaled_decimal("3743411222862.936", 3), 3743411222862936);
  EXPECT_EQ(scaled_decimal("1669783687464181", 3), 1669783687464181000);
  EXPECT_EQ(scaled_decimal("-0.5", 3), -500);
  EXPECT_EQ(scaled_decimal("12.3456", 3), 12345);
  EXPECT_EQ(scaled_decimal("1.5e3", 0), 1500);
  for (const char* wrong :
       {"", "-", "1.2.3", "nan", "Infinity", "9e99", "99999999999999999999", "12a"})
    EXPECT_EQ(scaled_decimal(wrong, 3), std::nullopt) << wrong;
}

}  // namespace
}  // namespace tutti::core
