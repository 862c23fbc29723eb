#include "core/text/printable.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(printable("größe 5 µs → 東"), "größe 5 µs → 東");
  EXPECT_EQ(printable("\x1b[2J\x07"), "?[2J?");
  EXPECT_EQ(printable("a\u009b31m"), "a?31m") << "the control sequence introducer in one character";
  EXPECT_EQ(printable("a\u00a0b"), "a\u00a0b");
  EXPECT_EQ(printable("\xff\xc3"), "??") << "no UTF-8";
  EXPECT_EQ(printable("abc\u202edef"), "abc?def");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a b c?d");
  EXPECT_EQ(printable("a\nb\rc", LineBreaks::kStay), "a\nb?c");
}

TEST(Printable, ShortenedTextsEndWithWholeCharacters) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc…");
  EXPECT_EQ(shortened("äöü", 5), "ä…");
}

}  // namespace
}  // namespace tutti::core
