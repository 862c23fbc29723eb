#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "real/join/session_keys.h"
#include "real/join/socket.h"

namespace tutti::test {

/// A proxy between one worker and the other processes of its run. Neither side notices the proxy.
/// The worker joins at the proxy. The other processes get the proxy's address as that of the
/// worker. The proxy forwards all data, except that it applies one fault to one message. The proxy
/// knows the run's secret, so it can derive the keys of a control connection and change the first
/// message on this connection.
class Middleman {
 public:
  /// The fault that the proxy applies to a piece of a message from another worker to the proxy's
  /// worker.
  enum class Fault {
    kLoses,    ///< the piece is dropped
    kRepeats,  ///< the piece is sent twice
    /// If the run has authentication codes, the whole piece is sent without its code; otherwise,
    /// half of the piece is sent. Then the connection is closed.
    kCutsShort,
    kExaggerates,  ///< the header states a length of four gigabytes
    kScrambles,    ///< the header is random bytes
    kMisdirects,   ///< the header names another rank
    kGoesSilent,   ///< no data is sent any more, but the connection stays open
    kChanges,      ///< a bit of the last element is changed
    kSwaps,        ///< the piece and the following piece change places
    kSlows,        ///< the piece is sent 4 kB at a time, ten times per second
  };

  /// `which`: the index of the piece with the fault, counted from 0 over all connections. `secret`:
  /// the secret of a run whose messages have authentication codes (--integrity), in the form of
  /// random bits (real::is_random()); empty: the run has neither a secret nor codes.
  Middleman(int coordinator_port, Fault fault, int which, std::string secret = "");
  Middleman(const Middleman&) = delete;
  Middleman& operator=(const Middleman&) = delete;
  ~Middleman();

  /// Returns the address "127.0.0.1:PORT" at which the worker joins.
  [[nodiscard]] std::string at() const { return to_string(control_.address()); }
  /// Returns true if the fault was applied.
  [[nodiscard]] bool done() const { return done_; }

 private:
  /// A connection to the proxy, the connection that it has made to forward the data, and the data
  /// that was received and not forwarded yet.
  struct Line {
    real::Socket from, to;
    bool control = false;
    /// The number of handshake bytes that the joiner has yet to send.
    std::size_t handshake;
    std::string held{};
    std::array<std::string, 2>
        heard{};         ///< the bytes of the handshake from the joiner and from the listener
    std::string kept{};  ///< a piece that is sent after the next piece
    bool silent = false;
    std::string slow{};                           ///< rest of the piece that is slowed down
    std::chrono::steady_clock::time_point due{};  ///< time at which the next 4 kB of this piece are
                                                  ///< sent
  };

  void work();
  void accept(const real::Listener& listener, int port, bool control);
  bool move_on(Line& line);
  bool move_back(Line& line);
  /// Forwards the complete messages in `held`. Returns false if the connection has to be closed.
  bool pass(Line& line);
  bool pass_introduction(Line& line);
  [[nodiscard]] real::SessionKeys keys_of(const Line& line) const;
  bool pass_pieces(Line& line);
  bool do_to(Line& line, std::string piece);
  bool pass_slowly(Line& line);

  int coordinator_port_;
  Fault fault_;
  int which_;
  std::string secret_;
  std::size_t tail_;  ///< the number of bytes of the code after each message between workers
  real::Listener control_;
  real::Listener data_;
  std::atomic<int> worker_port_{0};
  std::atomic<bool> done_{false};
  std::atomic<bool> ends_{false};
  std::vector<Line> lines_;
  std::thread thread_;
};

}  // namespace tutti::test
