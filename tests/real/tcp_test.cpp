#include "real/transport/tcp.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include "core/algorithm/ring.h"
#include "core/strategy/collective.h"
#include "real/interpreter/interpreter.h"
#include "real/transport/wire.h"
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

TEST(Tcp, AStrangersBytesAreAnErrorAndSoIsAClosedConnection) {
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

TEST(Tcp, ASlotIsFreedByWhomItBelongsTo) {
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

TEST(Wire, HeadersSurviveTheWayThereAndNothingElseIsOne) {
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
