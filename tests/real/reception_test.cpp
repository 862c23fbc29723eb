// The coordinator's reception of many connections at the same time. Slow, silent and wrong peers
// must not delay the others, and the number of open connections is limited.

#include "real/join/reception.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <thread>
#include <type_traits>

#include "real/join/meeting.h"
#include "real/wire/protocol.h"
#include "tests/support/cluster.h"

namespace tutti::real {
namespace {

using Clock = Reception::Clock;
using State = Handshake::State;
using test::connect_plainly;

/// A secret in the form of random bits, whose key needs no time.
const std::string kReceptionSecret = "0123456789abcdef0123456789abcdef";
const RunId kRun{std::byte{1}, std::byte{2}};

Reception::Options options_of(const std::string& secret, std::int32_t worker = 0,
                              std::chrono::milliseconds patience = std::chrono::seconds(30)) {
  Reception::Options options;
  options.secret = secret;
  options.self = {Purpose::kPeer, kAnyWorker, worker, "1"};
  options.run = kRun;
  options.patience = patience;
  return options;
}

Clock::time_point soon() { return Clock::now() + std::chrono::seconds(30); }

/// Returns the next `count` handshakes that end.
std::vector<Reception::Event> ended(Reception& reception, std::size_t count) {
  std::vector<Reception::Event> events;
  while (events.size() < count) {
    for (Reception::Event& event : reception.wait(soon())) events.push_back(std::move(event));
  }
  return events;
}

std::string receive_all(int socket, std::size_t bytes) {
  std::string got(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::recv(socket, got.data() + done, bytes - done, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) break;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return got.substr(0, done);
}

void send_all(const Socket& socket, const std::string& bytes) {
  ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

TEST(Reception, ConnectsToAListener) {
  const auto listener = Listener::open({"127.0.0.1", 0});
  Reception listening(options_of(kReceptionSecret), &*listener);
  Reception joining(options_of(kReceptionSecret, 1), nullptr);
  joining.reach(listener->address(), {Purpose::kPeer, 1, 0, "1"}, kRun, soon());
  std::thread other([&] {
    const auto events = ended(listening, 1);
    EXPECT_EQ(events[0].state, State::kDone);
    EXPECT_EQ(events[0].peer.joiner, 1);
    EXPECT_EQ(events[0].host, "127.0.0.1");
  });
  const auto events = ended(joining, 1);
  other.join();
  EXPECT_EQ(events[0].state, State::kDone);
  EXPECT_TRUE(events[0].reached);
}

TEST(Reception, DropsSlowHandshakesWithoutDelayingOthers) {
  const auto listener = Listener::open({"127.0.0.1", 0});
  Reception listening(options_of(kReceptionSecret, 0, std::chrono::milliseconds(50)), &*listener);
  const Socket silent = connect_plainly(listener->address().port);
  const Socket slow = connect_plainly(listener->address().port);
  send_all(slow, "TUTTIjn1");
  for (const auto& event : ended(listening, 2)) {
    EXPECT_EQ(event.state, State::kUnknownProtocol);
    EXPECT_EQ(event.failure, "no answer within the timeout");
  }
  EXPECT_EQ(receive_all(silent.get(), 1), "") << "closed";
}

TEST(Reception, DropsTheOldestHandshakeIfThereAreTooMany) {
  const auto listener = Listener::open({"127.0.0.1", 0});
  Reception::Options options = options_of(kReceptionSecret);
  options.most_waiting = 3;
  Reception listening(options, &*listener);
  std::vector<Socket> strangers;
  for (int i = 0; i < 5; ++i) strangers.push_back(connect_plainly(listener->address().port));
  EXPECT_TRUE(listening.wait(Clock::now() + std::chrono::milliseconds(100)).empty());
  EXPECT_EQ(receive_all(strangers[0].get(), 1), "");
  EXPECT_EQ(receive_all(strangers[1].get(), 1), "");
  char byte = 0;
  EXPECT_EQ(::recv(strangers[4].get(), &byte, 1, MSG_DONTWAIT), -1) << "still waited for";
}

TEST(Reception, RefusesARecordedHandshake) {
  const auto listener = Listener::open({"127.0.0.1", 0});
  Reception listening(options_of(kReceptionSecret), &*listener);
  Nonce nonce{};
  std::string greeting, proof;
  for (const bool replay : {false, true}) {
    const Socket socket = connect_plainly(listener->address().port);
    std::thread joiner([&] {
      Handshake h = Handshake::join(kReceptionSecret, {Purpose::kPeer, 1, 0, "1"}, nonce, kRun);
      if (!replay) greeting = h.output();
      send_all(socket, greeting);
      h.take(receive_all(socket.get(), h.wants()));
      if (!replay) proof = h.output();
      send_all(socket, proof);
    });
    const auto events = ended(listening, 1);
    joiner.join();
    EXPECT_EQ(events[0].state, replay ? State::kWrongSecret : State::kDone);
  }
}

TEST(Reception, ARefusedConnectionFailsAtOnce) {
  Reception joining(options_of(kReceptionSecret), nullptr);
  joining.reach({"127.0.0.1", 1}, {Purpose::kPeer, 1, 0, "1"}, kRun, soon());
  const auto events = ended(joining, 1);
  EXPECT_EQ(events[0].state, State::kUnknownProtocol);
  EXPECT_EQ(events[0].failure, "Connection refused");
}

TEST(Subnet, ContainsTheAddressesWithItsPrefix) {
  const auto contains = [](const std::string& subnet, const std::string& host) {
    const auto parsed = parse_subnet(subnet);
    return parsed && parsed->contains(ipv4_number(host).value());
  };
  EXPECT_TRUE(contains("10.1.0.0/16", "10.1.255.3"));
  EXPECT_FALSE(contains("10.1.0.0/16", "10.2.0.0"));
  EXPECT_TRUE(contains("10.1.0.7", "10.1.0.7"));
  EXPECT_FALSE(contains("10.1.0.7", "10.1.0.6"));
  EXPECT_TRUE(contains("0.0.0.0/0", "255.255.255.255"));
  for (const char* wrong :
       {"", "/8", "10.1.0.0/33", "10.1.0.0/-1", "10.1.0.0/", "10.1.0.0/8x", "node1/8", "10.1.0/8"})
    EXPECT_FALSE(parse_subnet(wrong)) << wrong;
  EXPECT_TRUE(is_own_address("127.0.0.1"));
  EXPECT_FALSE(is_own_address("192.0.2.1"));
  EXPECT_FALSE(is_own_address("localhost"));
  EXPECT_FALSE(is_own_address("0.0.0.0"));
}

/// Waits for one byte, and returns it; 0 if none arrives.
char receive_one(Connection& connection) {
  for (int i = 0; i < 1000; ++i) {
    char byte = 0;
    if (connection.receive(&byte, 1) == 1) return byte;
    pollfd entry{connection.file(), POLLIN, 0};
    ::poll(&entry, 1, 20);
  }
  return 0;
}

class Meeting : public testing::TestWithParam<bool> {};

TEST_P(Meeting, ConnectsAllWorkersInSpiteOfStrangers) {
  constexpr std::int32_t kWorkers = 5;
  std::vector<Listener> listeners;
  PeerConnectionOptions all;
  all.secret = kReceptionSecret;
  all.run = kRun;
  all.until = soon();
  if (GetParam()) all.tls = *TlsContext::open("secret");
  std::vector<Socket> strangers;
  for (std::int32_t w = 0; w < kWorkers; ++w) {
    listeners.push_back(std::move(*Listener::open({"127.0.0.1", 0})));
    all.peers.push_back(listeners.back().address());
    for (int i = 0; i < 20; ++i) {
      strangers.push_back(connect_plainly(all.peers.back().port));
      if (i % 2 == 0) send_all(strangers.back(), std::string(200, 'x'));
    }
  }
  std::vector<std::vector<Connection>> connections(kWorkers);
  std::vector<std::thread> threads;
  for (std::int32_t w = 0; w < kWorkers; ++w) {
    threads.emplace_back([&, w] {
      PeerConnectionOptions meeting = all;
      meeting.worker = w;
      auto met = connect_peers(meeting, listeners[w], [] { return core::Expected<void>(); });
      ASSERT_TRUE(met) << met.error().message();
      connections[w] = std::move(*met);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t a = 0; a < kWorkers; ++a) {
    for (std::size_t b = 0; b < kWorkers; ++b) {
      if (a == b) continue;
      EXPECT_EQ(connections[a][b].keys().send_data, connections[b][a].keys().receive_data);
      EXPECT_EQ(connections[a][b].encrypted(), GetParam());
      const char byte = static_cast<char>('a' + a);
      EXPECT_EQ(connections[a][b].send(&byte, 1), 1);
      pollfd entry{connections[b][a].file(), POLLIN, 0};
      ASSERT_EQ(::poll(&entry, 1, 30'000), 1);
      char on_the_network[64];
      const ssize_t seen = ::recv(connections[b][a].file(), on_the_network, sizeof on_the_network,
                                  MSG_PEEK | MSG_DONTWAIT);
      EXPECT_EQ(seen > 1, GetParam()) << "a record of TLS is longer than its text";
      EXPECT_EQ(receive_one(connections[b][a]), byte);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tls, Meeting, testing::Bool(),
                         [](const auto& each) { return each.param ? "Encrypted" : "Plain"; });

TEST(MeetingErrors, RefusesOtherRunsAndSecrets) {
  const auto listener = Listener::open({"127.0.0.1", 0});
  Reception listening(options_of(kReceptionSecret), &*listener);
  std::thread answers([&] { static_cast<void>(ended(listening, 2)); });
  for (const bool run : {true, false}) {
    PeerConnectionOptions meeting;
    meeting.secret = run ? kReceptionSecret : "another";
    if (!run) meeting.run = kRun;
    meeting.worker = 1;
    meeting.peers = {listener->address(), {"127.0.0.1", 2}};
    meeting.until = soon();
    const auto own = Listener::open({"127.0.0.1", 0});
    const auto met = connect_peers(meeting, *own, [] { return core::Expected<void>(); });
    ASSERT_FALSE(met);
    EXPECT_THAT(met.error().message(), testing::ContainsRegex("127.0.0.1:.* is not worker 0"));
  }
  answers.join();
}

/// Version 0.2.0 has another key for a secret that might be guessed, so it seems to have another
/// secret.
TEST(MeetingErrors, ReportsAnotherVersionWithAnotherSecret) {
  // All attempts to join share the key, which takes scrypt a while.
  static_assert(std::is_same_v<decltype(Appointment::secret), RunSecret>);
  const auto listener = Listener::open({"127.0.0.1", 0});
  for (const bool same_version : {true, false}) {
    Reception::Options options = options_of(kReceptionSecret);
    options.self = {Purpose::kControl, kAnyWorker, kCoordinator,
                    same_version ? std::string(protocol()) : "0.2.0+1-5f3a09c1"};
    Reception listening(options, &*listener);
    std::thread answers([&] { static_cast<void>(ended(listening, 1)); });
    const Appointment at{listener->address(), "another"};
    const auto found =
        find_coordinator([&] { return std::optional(at); }, 0, soon(), [] { return false; });
    answers.join();
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), testing::HasSubstr("has a different secret"));
    EXPECT_EQ(found.error().message().find("another version of Tutti (theirs: 0.2.0+1-5f3a09c1") !=
                  std::string::npos,
              !same_version);
  }
}

TEST(MeetingErrors, NamesMissingWorkers) {
  PeerConnectionOptions meeting;
  meeting.worker = 1;
  const auto own = Listener::open({"127.0.0.1", 0});
  meeting.peers = {{"127.0.0.1", 1}, own->address(), {"127.0.0.1", 3}};
  meeting.until = Clock::now();
  auto met = connect_peers(meeting, *own, [] { return core::Expected<void>(); });
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().message(), "workers 0, 2 did not connect in time");
  meeting.worker = 0;
  met = connect_peers(meeting, *own, [] { return core::Expected<void>(); });
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().message(), "workers 1, 2 did not connect in time");
  meeting.peers.pop_back();
  met = connect_peers(meeting, *own, [] { return core::Expected<void>(); });
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().message(), "worker 1 did not connect in time");
  meeting.peers.push_back({"127.0.0.1", 3});
  met = connect_peers(meeting, *own, [] {
    return core::Expected<void>(tl::make_unexpected(core::Error::run("enough")));
  });
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().message(), "enough");
}

}  // namespace
}  // namespace tutti::real
