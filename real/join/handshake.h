#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "real/join/digest.h"

namespace tutti::real {

/// What opens every connection of a run, whatever it is for, before anything else is read from it: both ends prove that
/// they hold the run's secret, which itself never travels.
///
///     joiner                                          listener
///       greeting: purpose, who it is, whom it means,
///                 version, nonce           ──81──▶
///                                          ◀──88──    challenge: run, version, nonce
///       proof: HMAC(secret, "joiner", greeting, challenge)
///                                          ──32──▶
///                                          ◀──33──    verdict, HMAC(secret, "listener", greeting, challenge,
///                                                          proof, verdict)
///
/// Both nonces are fresh, so nothing that was overheard is of use a second time; the words "joiner" and "listener" keep a
/// proof from being sent back to whom it came from; purpose, numbers, versions and run are under it, so that none can be
/// changed on the way, nor a connection be taken for another. What follows on the connection is neither encrypted nor
/// signed. Sizes are fixed: a stranger can make nobody read, or keep, more than these bytes.
///
/// The form of these messages stays the same from version to version of Tutti, so that two that differ can tell each
/// other so, once they know that neither is a stranger.
enum class Purpose : std::uint8_t { kControl = 1, kPeer = 2 };

inline constexpr std::int32_t kAnyWorker = -1;    ///< a joiner that takes the number it is given
inline constexpr std::int32_t kCoordinator = -2;  ///< as the one who is meant

/// What one end says of itself.
struct Introduction {
  Purpose purpose = Purpose::kControl;
  std::int32_t joiner = kAnyWorker;      ///< the worker who connects
  std::int32_t listener = kCoordinator;  ///< whom it means to reach
  std::string version;                   ///< of Tutti, at most 32 bytes
};

/// One end of a handshake, as a function of the bytes that come: knows no socket and no clock.
class Handshake {
 public:
  /// What became of it.
  enum class State {
    kRunning,
    kDone,         ///< both have proved themselves
    kStranger,     ///< what came is no handshake of Tutti, or one of a form this version does not know
    kWrongSecret,  ///< the other does not hold the secret of this end
    kAnotherRun,   ///< it belongs to another run, or means another worker
    kRefused,      ///< the listener says that this end has the wrong secret
  };

  /// The end that connects. With `run`, the listener has to belong to it (peers know it from the coordinator).
  static Handshake join(std::string_view secret, Introduction self, const Nonce& nonce, std::optional<RunId> run = {});
  /// The end that listens. `self.joiner` is not looked at; `self.listener` has to be whom the joiner means.
  static Handshake listen(std::string_view secret, Introduction self, const Nonce& nonce, const RunId& run);

  [[nodiscard]] State state() const { return state_; }
  /// How many bytes it waits for; 0 when it is over. What comes after them is not its own.
  [[nodiscard]] std::size_t wants() const;
  /// REQUIRES: exactly wants() bytes.
  void take(std::string_view bytes);
  /// What is to be sent; empty if nothing is. Refusals too leave something to send.
  std::string output() { return std::exchange(output_, {}); }

  /// kDone: what the other says of itself, with the version that it is.
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
  std::string greeting_;  ///< as it was sent or received
  std::string challenge_;
  std::string proof_;
  std::string output_;
};

}  // namespace tutti::real
