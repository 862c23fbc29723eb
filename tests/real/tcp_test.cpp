#include "real/transport/tcp.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/algorithm/ring.h"
#include "core/strategy/collective.h"
#include "real/interpreter/interpreter.h"
#include "real/transport/wire.h"
#include "real/wire/frame_mac.h"
#include "tests/real/mesh.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::Rank;

class Nobody : public InterpreterListener {
 public:
  void rank_done(CollectiveTag, Rank) override {}
  void step_done(const StepDone&) override {}
};

TEST(Tcp, InvalidBytesAndAClosedConnectionAreErrors) {
  const auto cluster = test::plain_cluster(2);
  const core::Collective collective =
      test::on_plain_cluster(*cluster, core::ring_all_reduce(2, 100), 100);
  for (const bool closes : {false, true}) {
    const auto [ours, theirs] = connected();
    TcpTransport transport(connections_of({-1, ours}), {0, 1}, {});
    Nobody done;
    HostDevices devices;
    Interpreter interpreter(transport, devices, done, false);
    transport.connect(interpreter, devices);
    std::vector<std::byte> data(400);
    interpreter.open({0, 0}, collective, Operation::kSum, {0}, {data.data()});
    const std::string http =
        "GET / HTTP/1.1\r\nHost: somewhere.example\r\nUser-Agent: a stranger\r\n\r\n";
    if (!closes) {
      ASSERT_GT(::send(theirs, http.data(), http.size(), 0), 0);
    }
    if (closes) ::close(theirs);
    core::Expected<void> result;
    for (int i = 0; i < 100 && result; ++i)
      result = transport.poll(Transport::Clock::now() + std::chrono::milliseconds(20));
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message().find(closes ? "worker 1 has closed" : "worker 1 sent data"),
              std::string::npos)
        << result.error().message();
    if (!closes) ::close(theirs);
  }
}

TEST(Tcp, OnlyTheReceiverOfASlotFreesIt) {
  const auto cluster = test::plain_cluster(3);
  core::RingOptions options;
  options.credits = 2;
  const core::Collective collective =
      test::on_plain_cluster(*cluster, core::ring_all_reduce(3, 300, options), 300);
  for (const int says : {1, 2}) {
    const auto [first, of_first] = connected();
    const auto [second, of_second] = connected();
    TcpTransport transport(connections_of({-1, first, second}), {0, 1, 2}, {});
    Nobody done;
    HostDevices devices;
    Interpreter interpreter(transport, devices, done, false);
    transport.connect(interpreter, devices);
    std::vector<std::byte> data(1200);
    interpreter.open({0, 0}, collective, Operation::kSum, {0}, {data.data()});
    interpreter.start({0, 0}, 0);
    interpreter.run_ready();  // sends to rank 1
    const HeaderBytes slot = encode({Header::Kind::kSlot, {{{0, 0}, 0, 0, 1, 0}}});
    ASSERT_EQ(::send(says == 1 ? of_first : of_second, slot.data(), slot.size(), 0),
              static_cast<ssize_t>(slot.size()));
    core::Expected<void> result;
    for (int i = 0; i < 5 && result; ++i)
      result = transport.poll(Transport::Clock::now() + std::chrono::milliseconds(20));
    EXPECT_EQ(result ? "" : result.error().message(),
              says == 1 ? "" : "worker 2 released a slot that was not in use");
    ::close(of_first);
    ::close(of_second);
  }
}

/// Accepts every piece, so that only authentication codes can show what is wrong.
class AcceptsAll : public Receiver {
 public:
  std::byte* place(const Piece& piece) override {
    memory_.resize(static_cast<std::size_t>(piece.length));
    return memory_.data();
  }
  void arrived(const Piece& piece) override { pieces.push_back(piece.message); }
  bool slot_freed(const Channel&) override { return true; }
  void sent(Ticket) override {}
  std::vector<std::uint32_t> pieces;

 private:
  std::vector<std::byte> memory_;
};

class Codes {
 public:
  Codes()
      : sockets_(connected()),
        transport_(connections_of({-1, sockets_.first}), {0, 1}, {}, 1, MessageMacs::kOn) {
    transport_.connect(receiver_, devices_);
    for (std::uint32_t n = 0; n < 3; ++n) {
      Piece piece{{{0, 0}, 1, 0, 0, 0}, kBytes, 0, kBytes};
      piece.message = n;
      const HeaderBytes header = encode({Header::Kind::kPiece, piece});
      const std::vector<std::byte> payload(kBytes, std::byte{7});
      const MacTag tag = mac_.next(header, payload);
      std::string& message = messages.emplace_back();
      for (const std::span<const std::byte> part :
           {std::span<const std::byte>(header), {payload}, {tag}})
        message.append(reinterpret_cast<const char*>(part.data()), part.size());
    }
  }
  Codes(const Codes&) = delete;
  Codes& operator=(const Codes&) = delete;
  ~Codes() { close(); }

  void send(const std::string& bytes) const {
    ASSERT_EQ(::send(sockets_.second, bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  void close() {
    if (sockets_.second >= 0) ::close(std::exchange(sockets_.second, -1));
  }
  /// Returns the error that ends the connection; empty if there is none within 200 ms.
  std::string error() {
    for (int i = 0; i < 10; ++i) {
      const auto polled = transport_.poll(Transport::Clock::now() + std::chrono::milliseconds(20));
      if (!polled) return polled.error().message();
    }
    return "";
  }
  [[nodiscard]] const std::vector<std::uint32_t>& arrived() const { return receiver_.pieces; }

  static constexpr std::int64_t kBytes = 1000;
  std::vector<std::string> messages;  ///< pieces 0, 1 and 2 of worker 1, with their codes

 private:
  std::pair<int, int> sockets_;
  FrameMac mac_{Sha256{}};
  HostDevices devices_;
  AcceptsAll receiver_;
  TcpTransport transport_;
};

using MessageIndices = std::vector<std::uint32_t>;

TEST(TcpWithCodes, AcceptsPiecesInOrder) {
  Codes codes;
  for (const std::string& message : codes.messages) codes.send(message);
  EXPECT_EQ(codes.error(), "");
  EXPECT_EQ(codes.arrived(), (MessageIndices{0, 1, 2}));
}

/// The headers alone would be accepted.
TEST(TcpWithCodes, RefusesAPieceThatIsNotTheNextOne) {
  const std::vector<std::pair<std::vector<std::size_t>, MessageIndices>> cases{
      {{0, 0}, {0}},  // repeated
      {{0, 2}, {0}},  // lost
      {{1, 0}, {}},   // reordered
  };
  for (const auto& [order, arrived] : cases) {
    Codes codes;
    for (const std::size_t i : order) codes.send(codes.messages[i]);
    EXPECT_NE(codes.error().find("worker 1 sent a message whose authentication code is wrong"),
              std::string::npos);
    EXPECT_EQ(codes.arrived(), arrived);
  }
}

TEST(TcpWithCodes, RefusesAPieceWithAnIncompleteCode) {
  for (const std::size_t missing : {kMacBytes, std::size_t{1}}) {
    Codes codes;
    codes.send(codes.messages[0].substr(0, codes.messages[0].size() - missing));
    EXPECT_EQ(codes.error(), "");
    codes.close();
    EXPECT_NE(codes.error().find("worker 1 has closed"), std::string::npos);
    EXPECT_EQ(codes.arrived(), MessageIndices());
  }
}

TEST(Wire, EncodingPreservesHeadersAndDecodingRefusesOtherBytes) {
  const Header header{Header::Kind::kPiece, {{{1, 2}, 3, 4, 5, 6}, 1000, 400, 600, 0xabcdef}};
  const auto back = decode(encode(header));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->piece.channel, header.piece.channel);
  EXPECT_EQ(back->piece.total, 1000);
  EXPECT_EQ(back->piece.offset, 400);
  EXPECT_EQ(back->piece.length, 600);
  EXPECT_EQ(back->piece.message, 0xabcdefu);
  EXPECT_FALSE(decode(HeaderBytes{})) << "zeros";
  for (const Piece& bad :
       {Piece{{{0, 0}, -1, 0, 0, 0}, 8, 0, 8}, Piece{{{0, 0}, 0, 0, 0, -1}, 8, 0, 8},
        Piece{{{0, 0}, 0, 0, 0, 0}, -8, 0, 8}, Piece{{{0, 0}, 0, 0, 0, 0}, 8, -8, 8},
        Piece{{{0, 0}, 0, 0, 0, 0}, 8, 4, 8}, Piece{{{0, 0}, 0, 0, 0, 0}, 1 << 30, 0, 2 << 20}}) {
    EXPECT_FALSE(decode(encode({Header::Kind::kPiece, bad})));
  }
}

}  // namespace
}  // namespace tutti::real
