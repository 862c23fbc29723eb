#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "real/join/secret.h"
#include "real/join/session_keys.h"
#include "real/wire/digest.h"

namespace tutti::real {

/// The handshake at the beginning of every connection of a run. Both ends prove that they know the
/// run's secret. The secret itself is never transmitted. Before the handshake has
/// succeeded, an end reads no other data from the connection.
///
///     joiner                                          listener
///       greeting: purpose, TLS, own and intended
///                 worker, version, nonce   ──81──▶
///                                          ◀──88──    challenge: run, version, nonce
///       proof: HMAC(key, "joiner", greeting, challenge)
///                                          ──32──▶
///                                          ◀──33──    verdict, HMAC(key, "listener",
///                                                     greeting, challenge, proof, verdict)
///
/// The key is the secret, or the result of scrypt if the secret might be guessed
/// (RunSecret::key()). Both nonces are fresh, so a recorded handshake cannot be replayed. The words
/// "joiner" and "listener" in the proofs prevent a proof from being reflected to its sender. The
/// proofs cover purpose, worker numbers, versions and run, so none of these values can be changed
/// in transit, and a connection cannot be used for another purpose. All message sizes are fixed, so
/// an unauthenticated peer cannot make the other end read or store more bytes than a handshake has.
///
/// Both ends derive the keys of the connection from the key and all bytes of the handshake
/// (HKDF-SHA256). These keys authenticate every control message (real/wire/frame.h), and
/// optionally every message between workers. Optional TLS begins after the handshake
/// (real/join/tls.h).
///
/// All versions of Tutti have the same messages in the handshake, so that two authenticated ends
/// with different versions can report the mismatch. Version 0.2.0 does not use scrypt, so a later
/// version and 0.2.0 cannot authenticate each other by a secret that might be guessed. Both ends
/// then report a wrong secret, together with the version that the other end has stated.
enum class Purpose : std::uint8_t { kControl = 1, kPeer = 2 };

/// The use of TLS by the connections of a run. All processes of a run must have the same setting.
enum class TlsMode : std::uint8_t { kNone = 0, kSecret = 1, kCertificates = 2 };

inline constexpr std::int32_t kAnyWorker = -1;    ///< the joiner accepts any worker number
inline constexpr std::int32_t kCoordinator = -2;  ///< the listener is the coordinator

/// The data that one end of a connection sends to the other end about itself.
struct Introduction {
  Purpose purpose = Purpose::kControl;
  std::int32_t joiner = kAnyWorker;  ///< number of the worker that connects
  std::int32_t listener =
      kCoordinator;     ///< the number of the worker that the joiner intends to reach
  std::string version;  ///< version of Tutti, at most 32 bytes
  TlsMode tls = TlsMode::kNone;
};

/// Derives the keys of a connection. `key`: RunSecret::key(). `transcript`: all bytes of the
/// connection's handshake, in order. `joins`: true for the end that opened the connection (the
/// joiner); false for the listener.
SessionKeys session_keys(std::string_view key, std::string_view transcript, bool joins);

/// One end of a handshake. The handshake is a state machine that processes received bytes. The
/// handshake uses no socket and no clock.
class Handshake {
 public:
  /// The progress or the result of the handshake.
  enum class State {
    kRunning,
    kDone,  ///< both ends are authenticated
    /// The peer sent bytes that are not a handshake of Tutti, or are in a format that this version
    /// does not know.
    kUnknownProtocol,
    kWrongSecret,  ///< the other end does not know this end's secret
    kAnotherRun,   ///< the other end belongs to another run, or intends to reach another worker
    kRefused,      ///< the listener reports that this end has the wrong secret
    kOtherTls,     ///< the two ends have different settings of TLS
    kTlsFailed,    ///< the handshake succeeded, but TLS did not (only Reception has this result)
  };

  /// Creates the joiner, that is, the end that opens the connection. If `run` is given, the
  /// listener must belong to that run. (Workers get the run's id from the coordinator.)
  static Handshake join(const RunSecret& secret, Introduction self, const Nonce& nonce,
                        std::optional<RunId> run = {});
  /// Creates the listener, that is, the end that accepts the connection. `self.joiner` is ignored.
  /// The handshake fails if the joiner does not intend to reach `self.listener`.
  static Handshake listen(const RunSecret& secret, Introduction self, const Nonce& nonce,
                          const RunId& run);

  [[nodiscard]] State state() const { return state_; }
  /// Returns the number of bytes that the next call of take() needs; 0 if the handshake has ended.
  /// Any further bytes are not part of the handshake.
  [[nodiscard]] std::size_t wants() const;
  /// Processes received bytes. REQUIRES: `bytes` has exactly wants() bytes.
  void take(std::string_view bytes);
  /// Returns the bytes to send next; may be empty. If this end refuses the handshake, the result
  /// has the bytes of the refusal.
  std::string output() { return std::exchange(output_, {}); }

  /// Returns the introduction of the other end. REQUIRES: the state is kDone.
  [[nodiscard]] const Introduction& peer() const { return peer_; }
  /// Returns the version that the other end has stated; empty if it has stated none yet. The
  /// version is printable, but not authenticated before the state is kDone.
  [[nodiscard]] const std::string& stated_version() const { return peer_.version; }
  [[nodiscard]] const RunId& run() const { return run_; }
  /// Returns the keys of this connection. REQUIRES: the state is kDone.
  [[nodiscard]] SessionKeys keys() const;

 private:
  enum class Next { kGreeting, kChallenge, kProof, kVerdict, kNothing };

  Handshake(RunSecret secret, Introduction self, const Nonce& nonce, bool joins)
      : secret_(std::move(secret)), self_(std::move(self)), nonce_(nonce), joins_(joins) {}
  void end(State state);
  void take_greeting(std::string_view bytes);
  void take_challenge(std::string_view bytes);
  void take_proof(std::string_view bytes);
  void take_verdict(std::string_view bytes);
  [[nodiscard]] Sha256 joiner_proof() const;
  [[nodiscard]] Sha256 listener_proof(std::string_view proof, char verdict) const;

  RunSecret secret_;
  Introduction self_;
  Nonce nonce_;
  bool joins_;
  Introduction peer_;
  RunId run_{};
  bool run_known_ = false;
  State state_ = State::kRunning;
  Next next_ = Next::kNothing;
  std::string greeting_;  ///< the greeting that was sent or received
  std::string challenge_;
  std::string proof_;
  std::string verdict_;
  std::string output_;
};

}  // namespace tutti::real
