// TLS after the handshake, between ends that are threads of this process.

#include "real/join/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <thread>

#include "real/join/meeting.h"
#include "real/wire/protocol.h"
#include "tests/support/certificates.h"
#include "tests/support/program.h"

namespace tutti::real {
namespace {

using State = Handshake::State;
using test::Authority;
using test::TemporaryFolder;
using testing::HasSubstr;

using Context = std::shared_ptr<const TlsContext>;

const std::string kTlsSecret = "fedcba9876543210fedcba9876543210";

/// Returns settings with a new certificate of `authority`. `trusts`: as in Authority::issue().
Context with_certificate(const TemporaryFolder& folder, const Authority& authority,
                         const Authority* trusts = nullptr) {
  authority.issue(folder.path(), trusts);
  auto context = TlsContext::open(folder.path());
  EXPECT_TRUE(context) << context.error().message();
  return *context;
}

Context with_secret() { return *TlsContext::open("secret"); }

struct Ends {
  Reception::Event listener, joiner;
};

/// Connects two ends with these settings. Returns the results at both ends.
Ends connect(const Context& listens, const Context& joins) {
  const auto at = Listener::open({"127.0.0.1", 0});
  Reception::Options options;
  options.secret = kTlsSecret;
  options.self = {Purpose::kPeer, kAnyWorker, 0, "1"};
  options.tls = listens;
  Reception listening(options, &*at);
  options.tls = joins;
  Reception joining(options, nullptr);
  const auto until = Reception::Clock::now() + std::chrono::seconds(30);
  joining.reach(at->address(), {Purpose::kPeer, 1, 0, "1"}, RunId{}, until);
  Ends ends;
  std::thread other([&] {
    auto events = listening.wait(until);
    if (!events.empty()) ends.listener = std::move(events.front());
  });
  auto events = joining.wait(until);
  if (!events.empty()) ends.joiner = std::move(events.front());
  other.join();
  return ends;
}

/// Waits for bytes, and returns them.
std::string receive(Connection& connection) {
  std::string bytes(64, '\0');
  for (int i = 0; i < 1000; ++i) {
    const ssize_t got = connection.receive(bytes.data(), bytes.size());
    if (got >= 0) return bytes.substr(0, static_cast<std::size_t>(got));
    pollfd entry{connection.file(), POLLIN, 0};
    ::poll(&entry, 1, 20);
  }
  return "nothing came";
}

void expect_private(Ends& ends) {
  ASSERT_EQ(ends.joiner.state, State::kDone) << ends.joiner.failure;
  ASSERT_EQ(ends.listener.state, State::kDone) << ends.listener.failure;
  Connection& from = ends.joiner.connection;
  Connection& to = ends.listener.connection;
  const std::string text = "the scenario of a customer";
  ASSERT_EQ(from.send(text.data(), text.size()), static_cast<ssize_t>(text.size()));
  pollfd entry{to.file(), POLLIN, 0};
  ASSERT_EQ(::poll(&entry, 1, 30'000), 1);
  std::string wire(256, '\0');
  const ssize_t seen = ::recv(to.file(), wire.data(), wire.size(), MSG_PEEK | MSG_DONTWAIT);
  ASSERT_GT(seen, static_cast<ssize_t>(text.size()));
  EXPECT_EQ(wire.find("customer"), std::string::npos) << "the network shows the text";
  EXPECT_EQ(receive(to), text);
  ASSERT_EQ(to.send("back", 4), 4);
  EXPECT_EQ(receive(from), "back");
  from.end_sending();
  EXPECT_EQ(receive(to), "") << "the end";
}

TEST(TlsConnections, AreEncryptedWithAKeyOfTheSecret) {
  Ends ends = connect(with_secret(), with_secret());
  expect_private(ends);
}

TEST(TlsConnections, AreEncryptedWithCertificates) {
  const Authority authority;
  const TemporaryFolder one, other;
  Ends ends = connect(with_certificate(one, authority), with_certificate(other, authority));
  expect_private(ends);
}

TEST(TlsConnections, AreRefusedByBothEndsIfSettingsDiffer) {
  const Ends ends = connect(with_secret(), nullptr);
  EXPECT_EQ(ends.joiner.state, State::kOtherTls);
  EXPECT_EQ(ends.listener.state, State::kOtherTls);
}

TEST(TlsConnections, AreRefusedWithACertificateOfAnotherAuthority) {
  const Authority authority, stranger;
  const TemporaryFolder one, other;
  const Context good = with_certificate(one, authority);
  const Context bad = with_certificate(other, stranger, &authority);
  {
    const Ends ends = connect(good, bad);
    EXPECT_EQ(ends.listener.state, State::kTlsFailed);
    EXPECT_THAT(ends.listener.failure, HasSubstr("certificate verify failed"));
    EXPECT_EQ(ends.joiner.state, State::kTlsFailed);
    EXPECT_THAT(ends.joiner.failure, HasSubstr("alert")) << "the joiner receives the reason";
    EXPECT_FALSE(ends.joiner.closed) << "another attempt would fail too";
  }
  {
    const Ends ends = connect(bad, good);
    EXPECT_EQ(ends.joiner.state, State::kTlsFailed);
    EXPECT_THAT(ends.joiner.failure, HasSubstr("certificate verify failed"));
    EXPECT_EQ(ends.listener.state, State::kTlsFailed);
  }
}

/// Advances both ends until neither waits for the other.
std::pair<Tls::Progress, Tls::Progress> negotiate(Tls& one, Tls& other) {
  Tls::Progress a = Tls::Progress::kReads, b = a;
  const auto waits = [](Tls::Progress p) {
    return p == Tls::Progress::kReads || p == Tls::Progress::kWrites;
  };
  for (int i = 0; i < 100 && (waits(a) || waits(b)); ++i) {
    if (waits(a)) a = one.handshake();
    if (waits(b)) b = other.handshake();
  }
  return {a, b};
}

/// A man in the middle with a certificate of the authority has one TLS session with each end, but
/// not the keys of the handshake, which he only forwards.
TEST(TlsConnections, AreRefusedFromAMachineWithoutAHandshake) {
  const Authority authority;
  const TemporaryFolder one, other;
  const Context ours = with_certificate(one, authority);
  const Context theirs = with_certificate(other, authority);
  for (const bool man_in_the_middle : {false, true}) {
    int sockets[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    const Socket first(sockets[0]), second(sockets[1]);
    SessionKeys keys, unknown;
    keys.send_binding = keys.receive_binding = Sha256{std::byte{1}};
    Tls joins(ours, sockets[0], true, keys);
    Tls listens(theirs, sockets[1], false, man_in_the_middle ? unknown : keys);
    const auto [a, b] = negotiate(joins, listens);
    EXPECT_EQ(a, man_in_the_middle ? Tls::Progress::kFailed : Tls::Progress::kDone);
    EXPECT_EQ(b, a);
    if (man_in_the_middle) {
      EXPECT_THAT(joins.failure(),
                  HasSubstr("is not the process that made the handshake before TLS"));
    }
  }
}

/// Makes the handshake of Tutti with the next joiner, and closes the connection before TLS.
void close_before_tls(const Listener& listener, const Introduction& self) {
  pollfd entry{listener.file(), POLLIN, 0};
  ASSERT_EQ(::poll(&entry, 1, 30'000), 1);
  const auto socket = listener.accept();
  ASSERT_TRUE(socket);
  Handshake handshake = Handshake::listen(kTlsSecret, self, random_nonce(), RunId{});
  while (handshake.wants() > 0) {
    std::string bytes(handshake.wants(), '\0');
    for (std::size_t done = 0; done < bytes.size();) {
      pollfd readable{socket->get(), POLLIN, 0};
      ASSERT_EQ(::poll(&readable, 1, 30'000), 1);
      const ssize_t got = ::recv(socket->get(), bytes.data() + done, bytes.size() - done, 0);
      ASSERT_GT(got, 0);
      done += static_cast<std::size_t>(got);
    }
    handshake.take(bytes);
    const std::string answer = handshake.output();
    ASSERT_EQ(::send(socket->get(), answer.data(), answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(answer.size()));
  }
  EXPECT_EQ(handshake.state(), State::kDone);
}

/// An overloaded coordinator may close a connection at any time.
TEST(TlsConnections, AreRetriedIfTheyEndEarly) {
  const auto listener = Listener::open({"127.0.0.1", 0});
  Reception::Options options;
  options.secret = kTlsSecret;
  options.self = {Purpose::kControl, kAnyWorker, kCoordinator, std::string(protocol())};
  options.tls = with_secret();
  std::thread coordinator([&] {
    Introduction self = options.self;
    self.tls = TlsMode::kSecret;
    close_before_tls(*listener, self);
    Reception listening(options, &*listener);
    const auto events = listening.wait(Reception::Clock::now() + std::chrono::seconds(10));
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events.front().state, State::kDone);
  });
  const Appointment at{listener->address(), kTlsSecret};
  const auto found = find_coordinator([&] { return std::optional(at); }, 0,
                                      Reception::Clock::now() + std::chrono::seconds(30),
                                      [] { return false; }, with_secret());
  EXPECT_TRUE(found) << found.error().message();
  coordinator.join();
}

/// ::send() never returns 0 either, and callers would try again without end.
TEST(TlsConnections, AcceptNoBytesAfterTheirEnd) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  Socket first(sockets[0]);
  const Socket second(sockets[1]);
  Tls leaves(with_secret(), sockets[0], true, SessionKeys{});
  Tls stays(with_secret(), sockets[1], false, SessionKeys{});
  ASSERT_EQ(negotiate(leaves, stays).second, Tls::Progress::kDone);
  leaves.end_sending();
  char byte = 0;
  EXPECT_EQ(stays.read(&byte, 1), 0);
  first = Socket();
  for (int i = 0; i < 3; ++i) {
    errno = 0;
    EXPECT_EQ(stays.write(&byte, 1), -1);
    EXPECT_EQ(errno, EPIPE);
  }
}

TEST(TlsConnections, FailWithADifferentPreSharedKey) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  const Socket first(sockets[0]), second(sockets[1]);
  SessionKeys keys, others;
  others.tls = Sha256{std::byte{1}};
  Tls joins(with_secret(), sockets[0], true, keys);
  Tls listens(with_secret(), sockets[1], false, others);
  const auto [a, b] = negotiate(joins, listens);
  EXPECT_EQ(a, Tls::Progress::kFailed);
  EXPECT_EQ(b, Tls::Progress::kFailed);
}

std::string why_not(const std::string& option) {
  const auto context = TlsContext::open(option);
  return context ? "" : context.error().message();
}

TEST(TlsSettings, NameFilesThatCannotBeUsed) {
  const TemporaryFolder folder;
  const Authority authority;
  EXPECT_THAT(why_not("/nowhere"), HasSubstr("--tls /nowhere: expected the word \"secret\""));
  EXPECT_THAT(why_not(folder.path()), HasSubstr("certificate.pem: No such file or directory"));
  static_cast<void>(folder.write("certificate.pem", "not a certificate\n"));
  EXPECT_THAT(why_not(folder.path()), HasSubstr("key.pem: No such file or directory"));
  authority.issue(folder.path());
  EXPECT_EQ(why_not(folder.path()), "");
  ASSERT_EQ(::chmod((folder.path() + "/key.pem").c_str(), 0644), 0);
  EXPECT_THAT(why_not(folder.path()), HasSubstr("key.pem: other users can access this file"));
  const TemporaryFolder other;
  authority.issue(other.path());
  ASSERT_EQ(::rename((other.path() + "/key.pem").c_str(), (folder.path() + "/key.pem").c_str()), 0);
  EXPECT_THAT(why_not(folder.path()), HasSubstr("key.pem"));
  static_cast<void>(folder.write("key.pem", "not a key\n"));
  ASSERT_EQ(::chmod((folder.path() + "/key.pem").c_str(), 0600), 0);
  EXPECT_THAT(why_not(folder.path()), HasSubstr("key.pem: this private key cannot be read"));
}

TEST(TlsSettings, RefuseAKeyWithAPassphraseWithoutPrompting) {
  const TemporaryFolder folder;
  const Authority authority;
  authority.issue(folder.path());
  // openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -aes-128-cbc
  static_cast<void>(
      folder.write("key.pem",
                   "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
                   "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiM9kDQJISEqAICCAAw\n"
                   "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEECKs4h1XCAlbaLQWii7AWWQEgZAf\n"
                   "lxnvbnPsTj9cAXM9+Bp4vSpsWrmKJuScLxXOokuF58OZhVFJ926kjB14SRDUbu0X\n"
                   "frtcdcttmtYF586guG5w5LJg1fhr1KutMPoipbBKO1EM7mugI/XfDmuywIW85BbX\n"
                   "07nG6558AZ8XfhyMEIFeAtwTZSckIFIAW5lePF89ZkJrkHo+VawuS0YChiBRWms=\n"
                   "-----END ENCRYPTED PRIVATE KEY-----\n"));
  EXPECT_THAT(why_not(folder.path()), HasSubstr("key.pem: this private key has a passphrase"));
}

}  // namespace
}  // namespace tutti::real
