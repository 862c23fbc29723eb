#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "real/join/digest.h"

namespace tutti::real {

/// Opens every connection of a run, whatever its purpose, before anything else is read from it:
/// both ends prove that they hold the run's secret, which is never transmitted.
///
///     joiner                                          listener
///       greeting: purpose, who it is, whom it means,
///                 version, nonce           ──81──▶
///                                          ◀──88──    challenge: run, version, nonce
///       proof: HMAC(secret, "joiner", greeting, challenge)
///                                          ──32──▶
///                                          ◀──33──    verdict, HMAC(secret, "listener",
///                                                     greeting, challenge, proof, verdict)
///
/// Both nonces are fresh, so a recorded handshake cannot be replayed. The words "joiner" and
/// "listener" keep a proof from being reflected to its sender. The proofs cover purpose, numbers,
/// versions and run, so that none can be changed in transit, nor a connection be used for another.
/// Data after the handshake is neither encrypted nor signed. Sizes are fixed: an unauthenticated
/// peer cannot make the other end read, or keep, more than these bytes.
///
/// The form of these messages stays the same in all versions of Tutti, so that two authenticated
/// ends of different versions can report the mismatch.
enum class Purpose : std::uint8_t { kControl = 1, kPeer = 2 };

inline constexpr std::int32_t kAnyWorker = -1;    ///< the joiner accepts any worker number
inline constexpr std::int32_t kCoordinator = -2;  ///< the listener is the coordinator

/// The data that one end states about itself.
struct Introduction {
  Purpose purpose = Purpose::kControl;
  std::int32_t joiner = kAnyWorker;      ///< the worker that connects
  std::int32_t listener = kCoordinator;  ///< the intended listener
  std::string version;                   ///< version of Tutti, at most 32 bytes
};

/// One end of a handshake, as a function of the received bytes: it uses no socket and no clock.
class Handshake {
 public:
  /// The progress or the result of the handshake.
  enum class State {
    kRunning,
    kDone,         ///< both ends are authenticated
    kStranger,     ///< the bytes are no handshake of Tutti, or of a form this version does not know
    kWrongSecret,  ///< the other end does not hold this end's secret
    kAnotherRun,   ///< the other end belongs to another run, or means another worker
    kRefused,      ///< the listener reports that this end has the wrong secret
  };

  /// Creates the end that connects. If `run` is given, the listener has to belong to it (workers
  /// learn it from the coordinator).
  static Handshake join(std::string_view secret, Introduction self, const Nonce& nonce,
                        std::optional<RunId> run = {});
  /// Creates the end that listens. `self.joiner` is ignored; the joiner has to mean
  /// `self.listener`.
  static Handshake listen(std::string_view secret, Introduction self, const Nonce& nonce,
                          const RunId& run);

  [[nodiscard]] State state() const { return state_; }
  /// Returns the number of bytes that it expects next; 0 when it is over. Bytes after them are not
  /// part of the handshake.
  [[nodiscard]] std::size_t wants() const;
  /// REQUIRES: exactly wants() bytes.
  void take(std::string_view bytes);
  /// Returns the bytes to send; may be empty. Refusals also have something to send.
  std::string output() { return std::exchange(output_, {}); }

  /// The introduction of the other end, with its version. REQUIRES: kDone.
  [[nodiscard]] const Introduction& peer() const { return peer_; }
  [[nodiscard]] const RunId& run() const { return run_; }

 private:
  enum class Next { kGreeting, kChallenge, kProof, kVerdict, kNothing };

  Handshake(std::string_view secret, Introduction self, const Nonce& nonce)
      : secret_(secret), self_(std::move(self)), nonce_(nonce) {}
  void end(State state);
  void take_greeting(std::string_view bytes);
  void take_challenge(std::string_view bytes);
  void take_proof(std::string_view bytes);
  void take_verdict(std::string_view bytes);
  [[nodiscard]] Sha256 joiner_proof() const;
  [[nodiscard]] Sha256 listener_proof(std::string_view proof, char verdict) const;

  std::string secret_;
  Introduction self_;
  Nonce nonce_;
  Introduction peer_;
  RunId run_{};
  bool run_known_ = false;
  State state_ = State::kRunning;
  Next next_ = Next::kNothing;
  std::string greeting_;  ///< the greeting as sent or received
  std::string challenge_;
  std::string proof_;
  std::string output_;
};

}  // namespace tutti::real
