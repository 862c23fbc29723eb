#include "real/join/handshake.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::real {

namespace {

constexpr std::string_view kGreetingMagic = "TUTTIjn1";
constexpr std::string_view kChallengeMagic = "TUTTIch1";
constexpr std::size_t kVersionBytes = 32;
constexpr std::size_t kGreetingBytes = 8 + 1 + 4 + 4 + kVersionBytes + sizeof(Nonce);
constexpr std::size_t kChallengeBytes = 8 + sizeof(RunId) + kVersionBytes + sizeof(Nonce);
constexpr std::size_t kProofBytes = sizeof(Sha256);
constexpr std::size_t kVerdictBytes = 1 + sizeof(Sha256);
constexpr char kWelcome = 0;
constexpr char kSecretDiffers = 1;
constexpr char kRunDiffers = 2;
constexpr char kTlsDiffers = 3;
/// One byte of the greeting has the purpose in its lower half, and the setting of TLS in its upper
/// half.
constexpr int kTlsShift = 4;
constexpr int kPurposeBits = (1 << kTlsShift) - 1;
static_assert(kGreetingBytes == 81 && kChallengeBytes == 88);

template <class Array>
std::string_view bytes_of(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.size()};
}

std::string number_bytes(std::int32_t n) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(static_cast<std::uint32_t>(n) >> shift & 0xff);
  return bytes;
}

std::int32_t number_in(std::string_view bytes) {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < 4; ++i)
    n |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return static_cast<std::int32_t>(n);
}

std::string version_bytes(std::string version) {
  version.resize(kVersionBytes, '\0');
  return version;
}

/// Returns the version string that the peer sent, made safe to print, because the peer is not
/// authenticated yet.
std::string version_in(std::string_view bytes) {
  std::string version(bytes.substr(0, std::min(bytes.find('\0'), bytes.size())));
  for (char& c : version) c = c > ' ' && c < 127 ? c : '?';
  return version;
}

/// Returns the result of a handshake with this authenticated verdict.
Handshake::State state_of(char verdict) {
  switch (verdict) {
    case kWelcome: return Handshake::State::kDone;
    case kTlsDiffers: return Handshake::State::kOtherTls;
    default: return Handshake::State::kAnotherRun;
  }
}

Sha256 proof_in(std::string_view bytes) {
  Sha256 proof;
  std::memcpy(proof.data(), bytes.data(), proof.size());
  return proof;
}

}  // namespace

SessionKeys session_keys(std::string_view key, std::string_view transcript, bool joins) {
  const Sha256 digest = sha256(transcript);
  const auto derived = [&](bool from_joiner, const std::string& use) {
    return hkdf_sha256(key, bytes_of(digest),
                       "tutti session " + use + (from_joiner ? " joiner" : " listener"));
  };
  SessionKeys keys;
  keys.send = derived(joins, "control");
  keys.receive = derived(!joins, "control");
  keys.send_data = derived(joins, "data");
  keys.receive_data = derived(!joins, "data");
  keys.tls = derived(true, "tls");
  keys.send_binding = derived(joins, "binding");
  keys.receive_binding = derived(!joins, "binding");
  return keys;
}

Handshake Handshake::join(const RunSecret& secret, Introduction self, const Nonce& nonce,
                          std::optional<RunId> run) {
  Handshake h(secret, std::move(self), nonce, true);
  h.run_known_ = run.has_value();
  h.run_ = run.value_or(RunId{});
  h.greeting_ = std::string(kGreetingMagic) +
                static_cast<char>(static_cast<int>(h.self_.purpose) | static_cast<int>(h.self_.tls)
                                                                          << kTlsShift) +
                number_bytes(h.self_.joiner) + number_bytes(h.self_.listener) +
                version_bytes(h.self_.version) + std::string(bytes_of(nonce));
  h.output_ = h.greeting_;
  h.next_ = Next::kChallenge;
  return h;
}

Handshake Handshake::listen(const RunSecret& secret, Introduction self, const Nonce& nonce,
                            const RunId& run) {
  Handshake h(secret, std::move(self), nonce, false);
  h.run_ = run;
  h.run_known_ = true;
  h.next_ = Next::kGreeting;
  return h;
}

std::size_t Handshake::wants() const {
  switch (next_) {
    case Next::kGreeting: return kGreetingBytes;
    case Next::kChallenge: return kChallengeBytes;
    case Next::kProof: return kProofBytes;
    case Next::kVerdict: return kVerdictBytes;
    case Next::kNothing: return 0;
  }
  return 0;
}

void Handshake::take(std::string_view bytes) {
  switch (next_) {
    case Next::kGreeting: return take_greeting(bytes);
    case Next::kChallenge: return take_challenge(bytes);
    case Next::kProof: return take_proof(bytes);
    case Next::kVerdict: return take_verdict(bytes);
    case Next::kNothing: return;
  }
}

void Handshake::end(State state) {
  state_ = state;
  next_ = Next::kNothing;
}

void Handshake::take_greeting(std::string_view bytes) {
  if (!bytes.starts_with(kGreetingMagic)) return end(State::kUnknownProtocol);
  greeting_ = bytes;
  const auto purpose = static_cast<std::uint8_t>(bytes[8]);
  peer_ = {static_cast<Purpose>(purpose & kPurposeBits), number_in(bytes.substr(9)),
           number_in(bytes.substr(13)), version_in(bytes.substr(17, kVersionBytes)),
           static_cast<TlsMode>(purpose >> kTlsShift)};
  challenge_ = std::string(kChallengeMagic) + std::string(bytes_of(run_)) +
               version_bytes(self_.version) + std::string(bytes_of(nonce_));
  output_ = challenge_;
  next_ = Next::kProof;
}

void Handshake::take_challenge(std::string_view bytes) {
  if (!bytes.starts_with(kChallengeMagic)) return end(State::kUnknownProtocol);
  challenge_ = bytes;
  peer_ = self_;
  peer_.version = version_in(bytes.substr(8 + sizeof(RunId), kVersionBytes));
  RunId run;
  std::memcpy(run.data(), bytes.data() + 8, run.size());
  if (run_known_ && run != run_) return end(State::kAnotherRun);
  run_ = run;
  proof_ = bytes_of(joiner_proof());
  output_ = proof_;
  next_ = Next::kVerdict;
}

void Handshake::take_proof(std::string_view bytes) {
  if (!same(proof_in(bytes), joiner_proof())) {
    output_ = std::string(1, kSecretDiffers) + std::string(sizeof(Sha256), '\0');
    return end(State::kWrongSecret);
  }
  // Fill in the listener's worker number only now, so that only a peer that knows the secret can
  // learn the number of the worker that it has reached.
  const bool meant = peer_.purpose == self_.purpose && peer_.listener == self_.listener;
  const char verdict = !meant ? kRunDiffers : peer_.tls != self_.tls ? kTlsDiffers : kWelcome;
  proof_ = bytes;
  verdict_ = std::string(1, verdict) + std::string(bytes_of(listener_proof(bytes, verdict)));
  output_ = verdict_;
  end(state_of(verdict));
}

void Handshake::take_verdict(std::string_view bytes) {
  if (bytes[0] == kSecretDiffers) return end(State::kRefused);
  if (!same(proof_in(bytes.substr(1)), listener_proof(proof_, bytes[0])))
    return end(State::kWrongSecret);
  verdict_ = bytes;
  end(state_of(bytes[0]));
}

SessionKeys Handshake::keys() const {
  return session_keys(secret_.key(run_), greeting_ + challenge_ + proof_ + verdict_, joins_);
}

Sha256 Handshake::joiner_proof() const {
  return hmac_sha256(secret_.key(run_), "tutti joiner" + greeting_ + challenge_);
}

Sha256 Handshake::listener_proof(std::string_view proof, char verdict) const {
  return hmac_sha256(secret_.key(run_),
                     "tutti listener" + greeting_ + challenge_ + std::string(proof) + verdict);
}

}  // namespace tutti::real
