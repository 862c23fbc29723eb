#include "real/wire/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

namespace tutti::real {
namespace {

const Sha256 kKey{std::byte{1}, std::byte{2}};

std::string next_of(FrameReader& reader) {
  const auto message = reader.next();
  return !message ? "error" : !*message ? "nothing" : std::string(**message);
}

std::string failure_text(FrameReader& reader) {
  const auto message = reader.next();
  return message ? "" : message.error().message();
}

TEST(Frame, ReadsMessagesFromAnyFragmentsOfTheStream) {
  const std::vector<std::string> messages{"", "a", std::string(1000, 'b'), std::string(3, '\0'),
                                          "last"};
  FrameWriter writer(kKey);
  std::string stream;
  for (const std::string& message : messages) stream += writer.framed(message);
  for (std::size_t piece = 1; piece <= stream.size(); piece += 7) {
    FrameReader reader(1000, kKey);
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

TEST(Frame, RefusesLongMessagesFromTheirHeader) {
  FrameReader reader(1000, kKey);
  reader.take(FrameWriter(kKey).framed(std::string(1001, 'x')).substr(0, 4));
  EXPECT_EQ(next_of(reader), "error");
  EXPECT_EQ(next_of(reader), "error") << "the reader cannot continue";
}

TEST(Frame, AnIncompleteFrameIsNotAMessage) {
  FrameReader reader(1000, kKey);
  const std::string frame = FrameWriter(kKey).framed("abc");
  EXPECT_EQ(frame.size(), framed_size(3));
  EXPECT_FALSE(reader.in_the_middle());
  reader.take(frame.substr(0, 6));
  EXPECT_EQ(next_of(reader), "nothing");
  EXPECT_TRUE(reader.in_the_middle());
  reader.take(frame.substr(6, frame.size() - 7));
  EXPECT_EQ(next_of(reader), "nothing") << "the last byte of the code is missing";
}

/// Returns what a reader makes of these frames: the messages, or the error.
std::string read_all(const std::vector<std::string>& frames, const Sha256& key = kKey) {
  FrameReader reader(1000, key);
  for (const std::string& frame : frames) reader.take(frame);
  std::string all;
  for (std::string message = next_of(reader); message != "nothing"; message = next_of(reader)) {
    all += message + " ";
    if (message == "error") break;
  }
  return all;
}

TEST(Frame, RefusesChangedRepeatedDroppedOrReorderedMessages) {
  FrameWriter writer(kKey);
  const std::string one = writer.framed("one"), two = writer.framed("two"),
                    three = writer.framed("three");
  EXPECT_EQ(read_all({one, two, three}), "one two three ");
  for (std::size_t bit = 0; bit < 8 * one.size(); ++bit) {
    std::string changed = one;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    const std::string outcome = read_all({changed, two});
    EXPECT_TRUE(outcome.empty() || outcome == "error ") << "bit " << bit << ": " << outcome;
    if (bit >= 32) {
      EXPECT_EQ(outcome, "error ") << "bit " << bit;
    }
  }
  EXPECT_EQ(read_all({one, one}), "one error ") << "replayed";
  EXPECT_EQ(read_all({one, two, one}), "one two error ") << "replayed";
  EXPECT_EQ(read_all({two, one}), "error ") << "reordered";
  EXPECT_EQ(read_all({one, three}), "one error ") << "dropped";
  EXPECT_EQ(read_all({one, two.substr(0, two.size() - 16), three}), "one error ") << "code cut off";
  EXPECT_EQ(read_all({one}, Sha256{}), "error ") << "made with another key";
}

TEST(Frame, AReaderStopsAfterAnError) {
  FrameWriter writer(kKey);
  std::string one = writer.framed("one");
  one.back() = static_cast<char>(one.back() ^ 1);
  FrameReader reader(1000, kKey);
  reader.take(one + writer.framed("two"));
  const std::string error = failure_text(reader);
  EXPECT_NE(error.find("authentication code is wrong"), std::string::npos) << error;
  EXPECT_EQ(failure_text(reader), error);
}

/// Test case 13 of McGrew and Viega, "The Galois/Counter Mode of Operation": key, nonce and data
/// are zero or empty.
TEST(FrameMac, IsGmac) {
  std::string hex;
  for (const std::byte byte : FrameMac(Sha256{}).next({}, {}))
    hex += fmt::format("{:02x}", std::to_integer<int>(byte));
  EXPECT_EQ(hex, "530f8afbc74536b9a963b4f1c4cb738b");
}

}  // namespace
}  // namespace tutti::real
