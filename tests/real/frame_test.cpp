#include "real/wire/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tutti::real {
namespace {

std::string next_of(FrameReader& reader) {
  const auto message = reader.next();
  return !message ? "error" : !*message ? "nothing" : std::string(**message);
}

TEST(Frame, MessagesComeOutAsTheyWentInHoweverTheyAreCut) {
  const std::vector<std::string> messages{"", "a", std::string(1000, 'b'), std::string(3, '\0'),
                                          "last"};
  std::string stream;
  for (const std::string& message : messages) stream += framed(message);
  for (std::size_t piece = 1; piece <= stream.size(); piece += 7) {
    FrameReader reader(1000);
    std::vector<std::string> got;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.take(std::string_view(stream).substr(at, piece));
      for (std::string message = next_of(reader); message != "nothing"; message = next_of(reader)) {
        ASSERT_NE(message, "error");
        got.push_back(message);
      }
    }
    EXPECT_EQ(got, messages);
    EXPECT_FALSE(reader.in_the_middle());
  }
}

TEST(Frame, TooLongIsAnErrorBeforeAnyOfItHasCome) {
  FrameReader reader(1000);
  reader.take(framed(std::string(1001, 'x')).substr(0, 4));
  EXPECT_EQ(next_of(reader), "error");
  EXPECT_EQ(next_of(reader), "error") << "there is no way on";
}

TEST(Frame, HalfOfOneIsNothingYet) {
  FrameReader reader(1000);
  EXPECT_FALSE(reader.in_the_middle());
  reader.take(framed("abc").substr(0, 6));
  EXPECT_EQ(next_of(reader), "nothing");
  EXPECT_TRUE(reader.in_the_middle());
}

}  // namespace
}  // namespace tutti::real
