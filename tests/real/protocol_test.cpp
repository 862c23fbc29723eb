// The messages between workers and coordinators, byte by byte, as defined by the current
// kProtocolNumber. If this test fails after an intended change of the bytes, increase the number
// and store the new bytes. Builds with the old number are then rejected with a message, and do not
// misinterpret the new bytes.

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

/// Returns a complete handshake with fixed secrets, nonces and versions.
std::string handshake() {
  Nonce one{}, two{};
  for (std::size_t i = 0; i < one.size(); ++i) {
    one[i] = static_cast<std::byte>(i);
    two[i] = static_cast<std::byte>(0x80 + i);
  }
  const RunId run{std::byte{7}, std::byte{8}};
  Handshake joiner = Handshake::join("secret", {Purpose::kPeer, 3, 1, "9.9+1-00000000"}, one, run);
  Handshake listener =
      Handshake::listen("secret", {Purpose::kPeer, kAnyWorker, 1, "9.9+1-00000000"}, two, run);
  std::string all;
  for (int message = 0; message < 4; ++message) {
    const std::string bytes = (message % 2 == 0 ? joiner : listener).output();
    all += hex(bytes) + "\n";
    Handshake& to = message % 2 == 0 ? listener : joiner;
    if (bytes.size() == to.wants()) to.take(bytes);
  }
  EXPECT_EQ(joiner.state(), Handshake::State::kDone);
  EXPECT_EQ(joiner.peer().version, "9.9+1-00000000");
  const SessionKeys keys = joiner.keys();
  for (const Sha256& key : {keys.send, keys.receive, keys.send_data, keys.receive_data, keys.tls,
                            keys.send_binding, keys.receive_binding})
    all += hex({reinterpret_cast<const char*>(key.data()), key.size()}) + "\n";
  return all;
}

std::string header(const Header& header) {
  const HeaderBytes bytes = encode(header);
  const RingShare share = RingShare::of(header);
  return fmt::format("{} lines {} payloads {} at {}\n",
                     hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), share.lines,
                     share.payloads, share.payload_at);
}

std::string wire() {
  FrameWriter writer(Sha256{std::byte{1}});
  // Two statements, because the code of a frame depends on the number of frames before it.
  std::string all = hex(writer.framed("a message")) + "\n";
  all += hex(writer.framed("")) + "\n";
  all += header({Header::Kind::kPiece, {{{5, 6}, 1, 2, 3, 4}, 1000, 200, 300, 77}});
  all += header({Header::Kind::kPiece, {{{5, 6}, 1, 2, 3, 4}, 1 << 20, 0, 1 << 20, 77}});
  all += header({Header::Kind::kSlot, {{{5, 6}, 1, 2, 3, 4}}});
  return all + fmt::format("{} {} {}\n", sizeof(RingCounts), kLine, kMaxPieceBytes);
}

struct Recorded {
  int number;
  std::string bytes;
};

TEST(Protocol, VersionMustIncreaseIfMessagesChange) {
  const Recorded recorded{
      3,
      R"(54555454496a6e31020300000001000000392e392b312d3030303030303030000000000000000000000000000000000000000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
545554544963683107080000000000000000000000000000392e392b312d3030303030303030000000000000000000000000000000000000808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f
40455d3a3e3faa0830ff7cce09ff73b356c0ab20af9f738d161809c451f5f131
009d66a56f5fe7efdbc9e73a6bacf018e9d0f814ce242a2adfa16fa0ead750447a
c7aa92e9e49ea93a654fd64dd8758b37e2b105555c472522b8aedc126ef3965c
2a182ec3ad103167132f3b0b811fe5e1055d7c0eca3e8ebbb2f342885b449113
5ebe63da279fdb02922746e51e93f3bf677aaec750a41b0d53ee7ebb17b8aebf
90303f29e8f1dc091374a8c26583d75702919284448ac08c889d317fbcb5a01b
5323788273028a5033b494d5382039528bc2dd1298f7fe3d64e138ed567c7230
5a5fb4b183f19c6bec9efab9dd7a3cf87ab6510c54cf4b2eb4bd531847f86437
2d2232455f09a663215c5367947c195375f8a2a2737cf9bbecfd3b5a84c99ae2
0900000061206d65737361676599aeb39a91dd38c697c96a9efecf1688
000000005c1a2f26d05dce0228d7682f8ac2f2f5
014d00000500000006000000010000000200000003000000040000002c010000e803000000000000c800000000000000 lines 384 payloads 0 at 64
014d00000500000006000000010000000200000003000000040000000000100000001000000000000000000000000000 lines 64 payloads 1048576 at 0
020000000500000006000000010000000200000003000000040000000000000000000000000000000000000000000000 lines 64 payloads 0 at 64
128 64 1048576
)"};
  EXPECT_EQ(kProtocolNumber, recorded.number);
  EXPECT_EQ(handshake() + wire(), recorded.bytes);
}

TEST(Protocol, IsCompatibleBetweenReleases) {
  const std::string ours(protocol());
  const std::string common = ours.substr(ours.rfind('+') + 1);
  EXPECT_TRUE(is_compatible(ours));
  EXPECT_TRUE(is_compatible("7.8.9+" + common));
  EXPECT_FALSE(is_compatible("7.8.9+0-" + common.substr(2)));
  EXPECT_FALSE(is_compatible("7.8.9+" + common.substr(0, common.size() - 1)));
  EXPECT_FALSE(is_compatible(""));
  constexpr std::size_t kMaxBytes = 32;
  EXPECT_LE(ours.size(), kMaxBytes) << "the handshake has room for so many";
}

}  // namespace
}  // namespace tutti::real
