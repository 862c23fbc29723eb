// The handshake between workers and a coordinator: both sides prove that they know the secret, and
// messages that are changed, replayed or meant for another run are rejected.

#include "real/join/handshake.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include <fmt/format.h>

namespace tutti::real {
namespace {

using State = Handshake::State;

Nonce nonce_of(int seed) {
  Nonce nonce;
  for (std::size_t i = 0; i < nonce.size(); ++i)
    nonce[i] = static_cast<std::byte>(seed * 31 + static_cast<int>(i));
  return nonce;
}

const RunId kRun{std::byte{7}, std::byte{8}};

Handshake joiner(const std::string& secret = "secret", std::int32_t worker = 3, int nonce = 1,
                 std::optional<RunId> run = {}, Purpose purpose = Purpose::kControl,
                 std::int32_t listener = kCoordinator, const std::string& version = "1.2.3") {
  return Handshake::join(secret, {purpose, worker, listener, version}, nonce_of(nonce), run);
}

Handshake listener(const std::string& secret = "secret", int nonce = 2,
                   Purpose purpose = Purpose::kControl, std::int32_t self = kCoordinator,
                   const std::string& version = "1.2.4") {
  return Handshake::listen(secret, {purpose, kAnyWorker, self, version}, nonce_of(nonce), kRun);
}

using Tamper = std::function<void(int message, std::string& bytes)>;

/// Exchanges messages between both sides. `tamper` may change each message on its way, and `heard`
/// receives all of them.
void talk(Handshake& a, Handshake& b, const Tamper& tamper = {},
          std::vector<std::string>* heard = nullptr) {
  for (int message = 0; message < 8; ++message) {
    Handshake& from = message % 2 == 0 ? a : b;
    Handshake& to = message % 2 == 0 ? b : a;
    std::string bytes = from.output();
    if (bytes.empty()) return;
    if (heard) heard->push_back(bytes);
    if (tamper) tamper(message, bytes);
    if (to.wants() == 0) return;
    ASSERT_EQ(bytes.size(), to.wants());
    to.take(bytes);
  }
}

TEST(Handshake, BothHoldTheSecretAndLearnWhoTheOtherIs) {
  Handshake a = joiner();
  Handshake b = listener();
  talk(a, b);
  ASSERT_EQ(a.state(), State::kDone);
  ASSERT_EQ(b.state(), State::kDone);
  EXPECT_EQ(b.peer().joiner, 3);
  EXPECT_EQ(b.peer().version, "1.2.3");
  EXPECT_EQ(a.peer().version, "1.2.4") << "two versions can tell each other so";
  EXPECT_EQ(a.run(), kRun);
}

TEST(Handshake, TheSecretNeverTravelsAndASecondTimeEverythingDiffers) {
  std::vector<std::string> first, second;
  for (auto* heard : {&first, &second}) {
    Handshake a = Handshake::join("the one secret", {Purpose::kControl, 3, kCoordinator, "v"},
                                  random_nonce());
    Handshake b = Handshake::listen("the one secret", {Purpose::kControl, 0, kCoordinator, "v"},
                                    random_nonce(), kRun);
    talk(a, b, {}, heard);
    ASSERT_EQ(a.state(), State::kDone);
    for (const std::string& bytes : *heard) EXPECT_EQ(bytes.find("the one"), std::string::npos);
  }
  ASSERT_EQ(first.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NE(first[i], second[i]);
}

TEST(Handshake, AnotherSecretIsNoticedByBothEnds) {
  Handshake a = joiner("secret");
  Handshake b = listener("Secret");
  talk(a, b);
  EXPECT_EQ(a.state(), State::kRefused);
  EXPECT_EQ(b.state(), State::kWrongSecret);
}

TEST(Handshake, AListenerWithoutTheSecretCannotPretend) {
  Handshake a = joiner("secret");
  Handshake b = listener("guess");
  talk(a, b, [](int message, std::string& bytes) {
    if (message == 3) bytes[0] = 0;  // "welcome"
  });
  EXPECT_EQ(a.state(), State::kWrongSecret);
}

TEST(Handshake, WhatWasOverheardIsOfNoUseASecondTime) {
  std::vector<std::string> heard;
  Handshake a = joiner();
  Handshake b = listener();
  talk(a, b, {}, &heard);
  Handshake again = listener("secret", 5);  // a real listener has a fresh nonce
  again.take(heard[0]);
  static_cast<void>(again.output());
  again.take(heard[2]);
  EXPECT_EQ(again.state(), State::kWrongSecret);
  // An attacker who has recorded a listener's messages cannot impersonate it.
  Handshake fresh = joiner("secret", 3, 6);
  static_cast<void>(fresh.output());
  fresh.take(heard[1]);
  static_cast<void>(fresh.output());
  fresh.take(heard[3]);
  EXPECT_EQ(fresh.state(), State::kWrongSecret);
}

TEST(Handshake, AProofSentBackToWhoMadeItProvesNothing) {
  Handshake a = joiner();
  Handshake b = listener();
  b.take(a.output());
  a.take(b.output());
  const std::string proof = a.output();
  a.take(std::string(1, '\0') + proof);
  EXPECT_EQ(a.state(), State::kWrongSecret);
}

TEST(Handshake, NoBitCanBeChangedOnTheWay) {
  const std::size_t sizes[] = {81, 88, 32, 33};
  for (int message = 0; message < 4; ++message) {
    for (std::size_t at = 0; at < sizes[message]; ++at) {
      Handshake a = joiner();
      Handshake b = listener();
      talk(a, b, [&](int m, std::string& bytes) {
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

TEST(Handshake, AConnectionIsForOnePurposeOneWorkerAndOneRun) {
  {
    Handshake a = joiner("secret", 3, 1, kRun, Purpose::kPeer, 1);
    Handshake b = listener("secret", 2, Purpose::kPeer, 1);
    talk(a, b);
    EXPECT_EQ(a.state(), State::kDone);
  }
  {
    Handshake a = joiner("secret", 3, 1, kRun, Purpose::kPeer, 1);
    Handshake b = listener("secret", 2, Purpose::kPeer, 2);
    talk(a, b);
    EXPECT_EQ(a.state(), State::kAnotherRun) << "it means another worker";
    EXPECT_EQ(b.state(), State::kAnotherRun);
  }
  {
    Handshake a = joiner("secret", 3, 1, kRun, Purpose::kPeer, kCoordinator);
    Handshake b = listener();
    talk(a, b);
    EXPECT_EQ(b.state(), State::kAnotherRun) << "a peer's greeting is none for the coordinator";
  }
  {
    Handshake a = joiner("secret", 3, 1, RunId{std::byte{1}}, Purpose::kPeer, 1);
    Handshake b = listener("secret", 2, Purpose::kPeer, 1);
    talk(a, b);
    EXPECT_EQ(a.state(), State::kAnotherRun);
  }
}

TEST(Handshake, AStrangerGetsNoAnswerAndNothingBeyondAHandshakesBytes) {
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

TEST(Handshake, AVersionIsPrintedAsWords) {
  Handshake a =
      Handshake::join("secret", {Purpose::kControl, 0, kCoordinator, "1\x1b[2J\n2"}, nonce_of(1));
  Handshake b = listener();
  talk(a, b);
  EXPECT_EQ(b.peer().version, "1?[2J?2");
}

TEST(Hmac, IsTheOneOfRfc4231) {
  std::string hex;
  for (const std::byte byte : hmac_sha256("Jefe", "what do ya want for nothing?"))
    hex += fmt::format("{:02x}", std::to_integer<int>(byte));
  EXPECT_EQ(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace tutti::real
