#include "real/transport/tcp.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "core/algorithm/ring.h"
#include "core/strategy/collective.h"
#include "real/interpreter/interpreter.h"
#include "real/transport/wire.h"
#include "tests/support/clusters.h"

namespace tutti::real {
namespace {

using core::Algorithm;
using core::DataType;
using core::Rank;

/// Two ends of a TCP connection over loopback.
std::pair<int, int> connected() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener, 1), 0);
  socklen_t length = sizeof address;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  const int one = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(::connect(one, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const int other = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  return {one, other};
}

/// sockets[w][v]: worker w's end of the connection to worker v.
std::vector<std::vector<int>> mesh(int workers) {
  std::vector<std::vector<int>> sockets(static_cast<std::size_t>(workers),
                                        std::vector<int>(static_cast<std::size_t>(workers), -1));
  for (std::size_t a = 0; a < sockets.size(); ++a) {
    for (std::size_t b = a + 1; b < sockets.size(); ++b) std::tie(sockets[a][b], sockets[b][a]) = connected();
  }
  return sockets;
}

std::vector<std::int32_t> workers_of(const core::Collective& collective) {
  std::vector<std::int32_t> workers;
  for (Rank r = 0; r < collective.schedule->ranks(); ++r) workers.push_back(collective.group.device(r).worker);
  return workers;
}

class CountDone : public InterpreterListener {
 public:
  void rank_done(CollectiveTag, Rank) override { ++done; }
  void step_done(const StepDone&) override {}
  int done = 0;
};

double input(Rank rank, std::int64_t element) {
  return static_cast<double>(rank + 1) * 0.5 + static_cast<double>(element % 97);
}

/// One worker's part of a collective, in a thread of its own.
void run_worker(const core::Collective& collective, std::int32_t worker, std::vector<int> sockets,
                std::atomic<int>& wrong, std::atomic<int>& left) {
  const std::vector<std::int32_t> worker_of = workers_of(collective);
  TcpTransport transport(std::move(sockets), worker_of, {});
  CountDone done;
  HostDevices devices;
  Interpreter interpreter(transport, devices, done, false);
  transport.connect(interpreter, devices);
  std::vector<Rank> ranks;
  std::vector<std::vector<std::byte>> data;
  for (Rank r = 0; r < collective.schedule->ranks(); ++r) {
    if (worker_of[static_cast<std::size_t>(r)] != worker) continue;
    ranks.push_back(r);
    data.emplace_back(r < collective.contributors ? static_cast<std::size_t>(collective.bytes().count()) : 0);
    if (r >= collective.contributors) continue;
    for (std::int64_t e = 0; e < collective.elements; ++e)
      set_element(collective.type, data.back().data(), e, input(r, e));
  }
  std::vector<std::byte*> buffers;
  for (std::vector<std::byte>& d : data) buffers.push_back(d.data());
  interpreter.open({0, 0}, collective, Operation::kSum, ranks, buffers);
  for (const Rank r : ranks) interpreter.start({0, 0}, r);
  bool told = false;
  while (left > 0) {  // until everybody is through: others may still need what is queued here
    interpreter.run_ready();
    const auto moved = transport.poll(Transport::Clock::now() + std::chrono::milliseconds(5));
    if (!moved) {
      if (left > 0) ADD_FAILURE() << "worker " << worker << ": " << moved.error().message();
      break;
    }
    if (!told && done.done == static_cast<int>(ranks.size()) && transport.flushed()) {
      told = true;
      --left;
    }
  }
  for (std::size_t i = 0; i < ranks.size() && ranks[i] < collective.contributors; ++i) {
    for (std::int64_t e = 0; e < collective.elements; ++e) {
      double sum = 0;
      for (Rank r = 0; r < collective.contributors; ++r) sum += input(r, e);
      if (element_at(collective.type, data[i].data(), e) != sum) ++wrong;
    }
  }
}

void all_reduce(const core::Collective& collective, int workers, const std::string& what) {
  std::atomic<int> wrong = 0;
  std::atomic<int> left = workers;
  std::vector<std::vector<int>> sockets = mesh(workers);
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] { run_worker(collective, w, sockets[static_cast<std::size_t>(w)], wrong, left); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0) << what;
}

TEST(Tcp, EveryAlgorithmBetweenWorkersAndInsideThem) {
  for (const auto& [workers, gpus] : std::vector<std::pair<int, int>>{{2, 1}, {3, 1}, {2, 2}, {4, 2}}) {
    const core::Cluster cluster({{test::switch_machine(gpus), workers}}, gpus,
                                core::Network{core::Network::Kind::kOneSwitch, std::nullopt, core::Time(), "test"});
    for (const std::string& name : core::algorithm_names()) {
      const core::Strategy strategy = core::Strategy::for_algorithm(*core::parse_algorithm(name));
      if (!core::problems_of(strategy, cluster).empty()) continue;
      for (const std::int64_t elements : {std::int64_t{1}, std::int64_t{1009}, std::int64_t{300'007}}) {
        all_reduce(core::make_all_reduce(cluster, strategy, DataType::kFloat64, elements, 0), workers,
                   fmt::format("{} on {} x {}, {} elements", name, workers, gpus, elements));
      }
    }
  }
}

TEST(Tcp, AFullSocketIsNoEndOfIt) {
  const auto cluster = test::plain_cluster(2);
  const std::int64_t elements = 8 << 20;  // 64 MB, far beyond any socket's buffer
  all_reduce(test::on_plain_cluster(*cluster, core::ring_all_reduce(2, elements), elements, DataType::kFloat64), 2,
             "ring");
}

TEST(Tcp, AStrangersBytesAreAnErrorAndSoIsAClosedConnection) {
  const auto cluster = test::plain_cluster(2);
  const core::Collective collective = test::on_plain_cluster(*cluster, core::ring_all_reduce(2, 100), 100);
  for (const bool closes : {false, true}) {
    const auto [ours, theirs] = connected();
    TcpTransport transport({-1, ours}, {0, 1}, {});
    CountDone done;
    HostDevices devices;
    Interpreter interpreter(transport, devices, done, false);
    transport.connect(interpreter, devices);
    std::vector<std::byte> data(400);
    interpreter.open({0, 0}, collective, Operation::kSum, {0}, {data.data()});
    const std::string http = "GET / HTTP/1.1\r\nHost: somewhere.example\r\nUser-Agent: a stranger\r\n\r\n";
    if (!closes) {
      ASSERT_GT(::send(theirs, http.data(), http.size(), 0), 0);
    }
    if (closes) ::close(theirs);
    core::Expected<void> result;
    for (int i = 0; i < 100 && result; ++i)
      result = transport.poll(Transport::Clock::now() + std::chrono::milliseconds(20));
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message().find(closes ? "worker 1 has closed" : "worker 1 sent something"),
              std::string::npos)
        << result.error().message();
    if (!closes) ::close(theirs);
  }
}

TEST(Wire, HeadersSurviveTheWayThereAndNothingElseIsOne) {
  const Header header{Header::Kind::kPiece, {{{1, 2}, 3, 4, 5, 6}, 1000, 400, 600}};
  const auto back = decode(encode(header));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->piece.channel, header.piece.channel);
  EXPECT_EQ(back->piece.total, 1000);
  EXPECT_EQ(back->piece.offset, 400);
  EXPECT_EQ(back->piece.length, 600);
  EXPECT_FALSE(decode(HeaderBytes{})) << "zeros";
  for (const Piece& bad : {Piece{{{0, 0}, -1, 0, 0, 0}, 8, 0, 8}, Piece{{{0, 0}, 0, 0, 0, -1}, 8, 0, 8},
                           Piece{{{0, 0}, 0, 0, 0, 0}, -8, 0, 8}, Piece{{{0, 0}, 0, 0, 0, 0}, 8, -8, 8},
                           Piece{{{0, 0}, 0, 0, 0, 0}, 8, 4, 8}, Piece{{{0, 0}, 0, 0, 0, 0}, 1 << 30, 0, 2 << 20}}) {
    EXPECT_FALSE(decode(encode({Header::Kind::kPiece, bad})));
  }
}

}  // namespace
}  // namespace tutti::real
