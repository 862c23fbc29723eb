// The handshake between workers and a coordinator: both sides prove that they know the secret, and
// messages that are changed, replayed or meant for another run are rejected.

#include "real/join/handshake.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace tutti::real {
namespace {

using State = Handshake::State;

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

Nonce nonce_of(int seed) {
  Nonce nonce;
  for (std::size_t i = 0; i < nonce.size(); ++i)
    nonce[i] = static_cast<std::byte>(seed * 31 + static_cast<int>(i));
  return nonce;
}

const RunId kRun{std::byte{7}, std::byte{8}};

/// A secret in the form of random bits, whose key needs no time.
const std::string kHandshakeSecret = "0123456789abcdef0123456789abcdef";

Handshake joiner(const std::string& secret = kHandshakeSecret, std::int32_t worker = 3,
                 int nonce = 1, std::optional<RunId> run = {}, Purpose purpose = Purpose::kControl,
                 std::int32_t listener = kCoordinator, const std::string& version = "1.2.3") {
  return Handshake::join(secret, {purpose, worker, listener, version}, nonce_of(nonce), run);
}

Handshake listener(const std::string& secret = kHandshakeSecret, int nonce = 2,
                   Purpose purpose = Purpose::kControl, std::int32_t self = kCoordinator,
                   const std::string& version = "1.2.4") {
  return Handshake::listen(secret, {purpose, kAnyWorker, self, version}, nonce_of(nonce), kRun);
}

using Tamper = std::function<void(int message, std::string& bytes)>;

/// Exchanges messages between both sides. `tamper` may change each message on its way, and
/// `recorded` receives all of them.
void exchange_messages(Handshake& a, Handshake& b, const Tamper& tamper = {},
                       std::vector<std::string>* recorded = nullptr) {
  for (int message = 0; message < 8; ++message) {
    Handshake& from = message % 2 == 0 ? a : b;
    Handshake& to = message % 2 == 0 ? b : a;
    std::string bytes = from.output();
    if (bytes.empty()) return;
    if (recorded) recorded->push_back(bytes);
    if (tamper) tamper(message, bytes);
    if (to.wants() == 0) return;
    ASSERT_EQ(bytes.size(), to.wants());
    to.take(bytes);
  }
}

TEST(Handshake, ProvesTheSecretAndIdentifiesBothSides) {
  Handshake a = joiner();
  Handshake b = listener();
  exchange_messages(a, b);
  ASSERT_EQ(a.state(), State::kDone);
  ASSERT_EQ(b.state(), State::kDone);
  EXPECT_EQ(b.peer().joiner, 3);
  EXPECT_EQ(b.peer().version, "1.2.3");
  EXPECT_EQ(a.peer().version, "1.2.4") << "two versions can exchange their version";
  EXPECT_EQ(a.run(), kRun);
}

TEST(Handshake, TheSecretIsNotSentAndMessagesNeverRepeat) {
  std::vector<std::string> first, second;
  for (auto* recorded : {&first, &second}) {
    Handshake a = Handshake::join("the one secret", {Purpose::kControl, 3, kCoordinator, "v"},
                                  random_nonce());
    Handshake b = Handshake::listen("the one secret", {Purpose::kControl, 0, kCoordinator, "v"},
                                    random_nonce(), kRun);
    exchange_messages(a, b, {}, recorded);
    ASSERT_EQ(a.state(), State::kDone);
    for (const std::string& bytes : *recorded) EXPECT_EQ(bytes.find("the one"), std::string::npos);
  }
  ASSERT_EQ(first.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NE(first[i], second[i]);
}

TEST(Handshake, TheVersionOfTheOtherEndIsKnownEvenIfTheHandshakeFails) {
  Handshake a = joiner(), b = listener("another secret");
  EXPECT_EQ(a.stated_version(), "");
  exchange_messages(a, b);
  EXPECT_EQ(a.state(), State::kRefused);
  EXPECT_EQ(a.stated_version(), "1.2.4");
  Handshake c = joiner(kHandshakeSecret, 3, 1, RunId{std::byte{9}}), d = listener();
  exchange_messages(c, d);
  EXPECT_EQ(c.state(), State::kAnotherRun);
  EXPECT_EQ(c.stated_version(), "1.2.4");
}

TEST(Handshake, BothEndsDetectADifferentSecret) {
  Handshake a = joiner(kHandshakeSecret);
  Handshake b = listener("0123456789abcdef0123456789abcdee");
  exchange_messages(a, b);
  EXPECT_EQ(a.state(), State::kRefused);
  EXPECT_EQ(b.state(), State::kWrongSecret);
}

TEST(Handshake, AListenerWithoutTheSecretIsRejected) {
  Handshake a = joiner(kHandshakeSecret);
  Handshake b = listener("guess");
  exchange_messages(a, b, [](int message, std::string& bytes) {
    if (message == 3) bytes[0] = 0;  // "welcome"
  });
  EXPECT_EQ(a.state(), State::kWrongSecret);
}

TEST(Handshake, ARecordedHandshakeCannotBeReplayed) {
  std::vector<std::string> recorded;
  Handshake a = joiner();
  Handshake b = listener();
  exchange_messages(a, b, {}, &recorded);
  Handshake again = listener(kHandshakeSecret, 5);  // a real listener has a fresh nonce
  again.take(recorded[0]);
  static_cast<void>(again.output());
  again.take(recorded[2]);
  EXPECT_EQ(again.state(), State::kWrongSecret);
  // An attacker who has recorded a listener's messages cannot impersonate it.
  Handshake fresh = joiner(kHandshakeSecret, 3, 6);
  static_cast<void>(fresh.output());
  fresh.take(recorded[1]);
  static_cast<void>(fresh.output());
  fresh.take(recorded[3]);
  EXPECT_EQ(fresh.state(), State::kWrongSecret);
}

TEST(Handshake, RefusesAReflectedProof) {
  Handshake a = joiner();
  Handshake b = listener();
  b.take(a.output());
  a.take(b.output());
  const std::string proof = a.output();
  a.take(std::string(1, '\0') + proof);
  EXPECT_EQ(a.state(), State::kWrongSecret);
}

TEST(Handshake, DetectsEveryChangedBit) {
  const std::size_t sizes[] = {81, 88, 32, 33};
  for (int message = 0; message < 4; ++message) {
    for (std::size_t at = 0; at < sizes[message]; ++at) {
      Handshake a = joiner();
      Handshake b = listener();
      exchange_messages(a, b, [&](int m, std::string& bytes) {
        if (m == message) bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
      });
      EXPECT_FALSE(a.state() == State::kDone && b.state() == State::kDone)
          << message << ", byte " << at;
      if (message < 3) {
        EXPECT_NE(b.state(), State::kDone) << message << ", byte " << at;
      }
      EXPECT_NE(a.state(), State::kDone) << message << ", byte " << at;
    }
  }
}

TEST(Handshake, AConnectionIsBoundToOnePurposeOneWorkerAndOneRun) {
  {
    Handshake a = joiner(kHandshakeSecret, 3, 1, kRun, Purpose::kPeer, 1);
    Handshake b = listener(kHandshakeSecret, 2, Purpose::kPeer, 1);
    exchange_messages(a, b);
    EXPECT_EQ(a.state(), State::kDone);
  }
  {
    Handshake a = joiner(kHandshakeSecret, 3, 1, kRun, Purpose::kPeer, 1);
    Handshake b = listener(kHandshakeSecret, 2, Purpose::kPeer, 2);
    exchange_messages(a, b);
    EXPECT_EQ(a.state(), State::kAnotherRun) << "it means another worker";
    EXPECT_EQ(b.state(), State::kAnotherRun);
  }
  {
    Handshake a = joiner(kHandshakeSecret, 3, 1, kRun, Purpose::kPeer, kCoordinator);
    Handshake b = listener();
    exchange_messages(a, b);
    EXPECT_EQ(b.state(), State::kAnotherRun) << "the coordinator refuses the greeting of a peer";
  }
  {
    Handshake a = joiner(kHandshakeSecret, 3, 1, RunId{std::byte{1}}, Purpose::kPeer, 1);
    Handshake b = listener(kHandshakeSecret, 2, Purpose::kPeer, 1);
    exchange_messages(a, b);
    EXPECT_EQ(a.state(), State::kAnotherRun);
  }
}

TEST(Handshake, AStrangerGetsNoReplyAndCanSendNoMoreThanAHandshake) {
  Handshake b = listener();
  ASSERT_LE(b.wants(), 256u);
  std::string http =
      "GET / HTTP/1.1\r\nHost: somewhere.example\r\nUser-Agent: a stranger who goes on and on and "
      "on and on\r\n";
  b.take(http.substr(0, b.wants()));
  EXPECT_EQ(b.state(), State::kUnknownProtocol);
  EXPECT_EQ(b.output(), "");
  EXPECT_EQ(b.wants(), 0u);
  b.take("more");
  EXPECT_EQ(b.state(), State::kUnknownProtocol);
}

TEST(Handshake, VersionsOfStrangersAreSafeToPrint) {
  Handshake a = Handshake::join(kHandshakeSecret,
                                {Purpose::kControl, 0, kCoordinator, "1\x1b[2J\n2"}, nonce_of(1));
  Handshake b = listener();
  exchange_messages(a, b);
  EXPECT_EQ(b.peer().version, "1?[2J?2");
}

TEST(Handshake, BothEndsDeriveTheSameKeysThatDifferBetweenConnections) {
  std::set<Sha256> keys;
  for (const int nonce : {1, 9}) {
    Handshake a = joiner(kHandshakeSecret, 3, nonce);
    Handshake b = listener();
    std::vector<std::string> recorded;
    exchange_messages(a, b, {}, &recorded);
    ASSERT_EQ(b.state(), State::kDone);
    EXPECT_EQ(a.keys().send, b.keys().receive);
    EXPECT_EQ(a.keys().receive, b.keys().send);
    EXPECT_EQ(a.keys().send_data, b.keys().receive_data);
    EXPECT_EQ(a.keys().receive_data, b.keys().send_data);
    EXPECT_EQ(a.keys().tls, b.keys().tls);
    EXPECT_EQ(a.keys().send_binding, b.keys().receive_binding);
    EXPECT_EQ(a.keys().receive_binding, b.keys().send_binding);
    const std::string all = recorded[0] + recorded[1] + recorded[2] + recorded[3];
    EXPECT_EQ(session_keys(kHandshakeSecret, all, true).send, a.keys().send);
    EXPECT_NE(session_keys("another", all, true).send, a.keys().send);
    for (const Sha256& key :
         {a.keys().send, a.keys().receive, a.keys().send_data, a.keys().receive_data, a.keys().tls,
          a.keys().send_binding, a.keys().receive_binding})
      EXPECT_TRUE(keys.insert(key).second) << "a key is used twice";
  }
}

TEST(Handshake, EndsWithDifferentTlsSettingsDisconnectAndReportWhy) {
  constexpr TlsMode kModes[] = {TlsMode::kNone, TlsMode::kSecret, TlsMode::kCertificates};
  for (const TlsMode one : kModes) {
    for (const TlsMode other : kModes) {
      Handshake a = Handshake::join(kHandshakeSecret,
                                    {Purpose::kControl, 3, kCoordinator, "1", one}, nonce_of(1));
      Handshake b = Handshake::listen(kHandshakeSecret,
                                      {Purpose::kControl, kAnyWorker, kCoordinator, "1", other},
                                      nonce_of(2), kRun);
      exchange_messages(a, b);
      EXPECT_EQ(a.state(), one == other ? State::kDone : State::kOtherTls);
      EXPECT_EQ(b.state(), a.state());
      if (one == other) {
        EXPECT_EQ(b.peer().tls, one);
      }
    }
  }
}

/// An attacker who has recorded a handshake compares its proof with the proofs of guessed secrets.
TEST(RunSecret, SecretsThatCouldBeGuessedAreStretchedWithASaltOfTheRun) {
  const RunSecret guessable("correct horse battery staple");
  const std::string key = guessable.key(kRun);
  // python3: hashlib.scrypt(secret, salt=b"tutti run \x07\x08" + bytes(14), n=2**15, r=8, p=1,
  //                         maxmem=2**26, dklen=32).hex_of()
  EXPECT_EQ(hex_of(key), "91a364636b91cec3b47d9e2d2e9753c308ad94619265b8f506fe34e2b11375f1");
  EXPECT_EQ(guessable.key(kRun), key) << "the second time, from the cache";
  EXPECT_NE(guessable.key(RunId{}), key) << "the stretched keys of one run do not apply to another";
  EXPECT_EQ(RunSecret(kHandshakeSecret).key(kRun), kHandshakeSecret)
      << "2^128 guesses need no stretching";
  EXPECT_EQ(RunSecret("").key(kRun), "");
  Handshake a = joiner("correct horse battery staple");
  Handshake b = listener("correct horse battery staple");
  exchange_messages(a, b);
  EXPECT_EQ(a.state(), State::kDone);
}

TEST(RunSecret, OnlyRandomDigitsAreNotStretched) {
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(is_random(random_secret()));
  EXPECT_TRUE(is_random("DEADBEEF0123456789abcdef01234567"));
  EXPECT_FALSE(is_random("0123456789abcdef0123456789abcde")) << "31 digits";
  EXPECT_FALSE(is_random("0123456789abcdef0123456789abcdeg"));
  EXPECT_FALSE(is_random("01010101010101010101010101010101"));
  EXPECT_FALSE(is_random(""));
}

TEST(RunSecret, RefusesSecretsThatAreEasyToGuessWithTheReason) {
  EXPECT_EQ(weakness_of(kHandshakeSecret), "");
  EXPECT_EQ(weakness_of("correct horse battery staple"), "");
  EXPECT_EQ(weakness_of("1234"),
            "has 4 characters; a run with workers on other machines needs at least 16");
  EXPECT_EQ(
      weakness_of("aaaabbbbccccdddd"),
      "has only 4 different characters; a run with workers on other machines needs at least 8");
}

TEST(Hmac, MatchesRfc4231) {
  const Sha256 mac = hmac_sha256("Jefe", "what do ya want for nothing?");
  EXPECT_EQ(hex_of({reinterpret_cast<const char*>(mac.data()), mac.size()}),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hkdf, MatchesRfc5869) {
  std::string salt, info;
  for (char c = 0; c <= 0x0c; ++c) salt += c;
  for (int c = 0xf0; c <= 0xf9; ++c) info += static_cast<char>(c);
  const Sha256 key = hkdf_sha256(std::string(22, 0x0b), salt, info);
  EXPECT_EQ(hex_of({reinterpret_cast<const char*>(key.data()), key.size()}),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf");
}

}  // namespace
}  // namespace tutti::real
