#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "real/join/socket.h"

namespace tutti::test {

/// A proxy between one worker and the rest of its run, which does not know of it. The worker joins
/// at the proxy. The other processes get the proxy's address as that of the worker. The proxy
/// forwards all data, except that it applies one fault to one message.
class Middleman {
 public:
  /// The fault that it applies to a piece that another worker sends to its worker.
  enum class Deed {
    kLoses,        ///< the piece is dropped
    kRepeats,      ///< the piece is sent twice
    kCutsShort,    ///< half of the piece is sent, then the connection is closed
    kExaggerates,  ///< the header states a length of four gigabytes
    kScrambles,    ///< the header is random bytes
    kMisdirects,   ///< the header names another rank
    kGoesSilent,   ///< no data is sent any more, but the connection stays open
    kSlows,        ///< the piece is sent 4 kB at a time, ten times per second
  };

  /// `which`: the index of the piece with the fault, counted from 0 over all connections.
  Middleman(int coordinator_port, Deed deed, int which);
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
    bool silent = false;
    std::string slow{};                           ///< rest of the piece that is slowed down
    std::chrono::steady_clock::time_point due{};  ///< when its next 4 kB are due
  };

  void work();
  void accept(const real::Listener& listener, int port, bool control);
  bool move_on(Line& line);
  bool move_back(Line& line);
  /// Forwards the complete messages in `held`. Returns false if the connection ends here.
  bool pass(Line& line);
  bool pass_introduction(Line& line);
  bool pass_pieces(Line& line);
  bool do_to(Line& line, std::string piece);
  bool pass_slowly(Line& line);

  int coordinator_port_;
  Deed deed_;
  int which_;
  real::Listener control_;
  real::Listener data_;
  std::atomic<int> worker_port_{0};
  std::atomic<bool> done_{false};
  std::atomic<bool> ends_{false};
  std::vector<Line> lines_;
  std::thread thread_;
};

}  // namespace tutti::test
