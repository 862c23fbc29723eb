// What workers and coordinators say to each other, byte by byte, as it was when kProtocolNumber got its number. Where this fails
// because the bytes are meant to change, raise the number and write down the new ones: builds of the old number are then refused in
// words, and do not take what they hear for something else.

#include "real/wire/protocol.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "real/join/handshake.h"
#include "real/transport/ring.h"
#include "real/transport/wire.h"
#include "real/wire/frame.h"

namespace tutti::real {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// A whole handshake of known secrets, nonces and versions.
std::string handshake() {
  Nonce one{}, two{};
  for (std::size_t i = 0; i < one.size(); ++i) {
    one[i] = static_cast<std::byte>(i);
    two[i] = static_cast<std::byte>(0x80 + i);
  }
  const RunId run{std::byte{7}, std::byte{8}};
  Handshake joiner = Handshake::join("secret", {Purpose::kPeer, 3, 1, "9.9 1-00000000"}, one, run);
  Handshake listener = Handshake::listen("secret", {Purpose::kPeer, kAnyWorker, 1, "9.9 1-00000000"}, two, run);
  std::string all;
  for (int message = 0; message < 4; ++message) {
    const std::string bytes = (message % 2 == 0 ? joiner : listener).output();
    all += hex(bytes) + "\n";
    Handshake& to = message % 2 == 0 ? listener : joiner;
    if (bytes.size() == to.wants()) to.take(bytes);
  }
  EXPECT_EQ(joiner.state(), Handshake::State::kDone);
  return all;
}

std::string header(const Header& header) {
  const HeaderBytes bytes = encode(header);
  const RingShare share = RingShare::of(header);
  return fmt::format("{} lines {} payloads {} at {}\n",
                     hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), share.lines, share.payloads,
                     share.payload_at);
}

std::string wire() {
  std::string all = hex(framed("a message")) + "\n";
  all += header({Header::Kind::kPiece, {{{5, 6}, 1, 2, 3, 4}, 1000, 200, 300, 77}});
  all += header({Header::Kind::kPiece, {{{5, 6}, 1, 2, 3, 4}, 1 << 20, 0, 1 << 20, 77}});
  all += header({Header::Kind::kSlot, {{{5, 6}, 1, 2, 3, 4}}});
  return all + fmt::format("{} {} {}\n", sizeof(RingCounts), kLine, kMostPieceBytes);
}

struct Recorded {
  int number;
  std::string bytes;
};

TEST(Protocol, NumberIsRaisedWhenBytesChange) {
  const Recorded recorded{1, R"(HERE)"};
  EXPECT_EQ(kProtocolNumber, recorded.number);
  EXPECT_EQ(handshake() + wire(), recorded.bytes);
}

TEST(Protocol, IsUnderstoodWhateverTheRelease) {
  const std::string ours(protocol());
  const std::string common = ours.substr(ours.rfind(' ') + 1);
  EXPECT_TRUE(speaks_ours(ours));
  EXPECT_TRUE(speaks_ours("7.8.9 " + common));
  EXPECT_FALSE(speaks_ours("7.8.9 0-" + common.substr(2)));
  EXPECT_FALSE(speaks_ours("7.8.9 " + common.substr(0, common.size() - 1)));
  EXPECT_FALSE(speaks_ours(""));
  constexpr std::size_t kMostBytes = 32;
  EXPECT_LE(ours.size(), kMostBytes) << "the handshake has room for so many";
}

}  // namespace
}  // namespace tutti::real
