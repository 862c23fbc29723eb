#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "real/join/handshake.h"
#include "real/join/socket.h"

namespace tutti::real {

/// Performs the handshakes of incoming connections, and of those that reach() makes, all
/// concurrently, so that a slow peer does not delay others. An incoming connection gets five
/// seconds for the few bytes of a handshake, and their number is limited: when the limit is
/// reached, the oldest is dropped.
class Reception {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string secret;
    Introduction self;  ///< the introduction of this end
    RunId run{};
    std::size_t most_waiting = 64;
    std::chrono::milliseconds patience{5000};  ///< time limit of incoming connections
  };

  /// The result of a handshake.
  struct Event {
    bool reached = false;     ///< true: this end opened the connection, by reach()
    std::int32_t worker = 0;  ///< if `reached`: the intended worker
    Handshake::State state = Handshake::State::kStranger;
    Socket socket;        ///< if kDone: the connection
    Introduction peer;    ///< the other end's introduction
    RunId run{};          ///< if `reached` and kDone: the listener's run
    std::string host;     ///< the other end's address
    std::string failure;  ///< if `reached` and not kDone: the connection's error; may be empty
  };

  /// `listener` may be null: then only reach() makes connections. REQUIRES: it outlives this
  /// object.
  Reception(Options options, const Listener* listener)
      : options_(std::move(options)), listener_(listener) {}

  /// Starts to connect to `to` with the introduction `self`; `run`, if known, is the run it has to
  /// belong to. wait() reports the result: a failure at once, or when `until` has come.
  void reach(const Address& to, Introduction self, std::optional<RunId> run,
             Clock::time_point until);

  /// Waits until a handshake ended, `until` has come, or one of the files `others` is readable.
  std::vector<Event> wait(Clock::time_point until, const std::vector<int>& others = {});

 private:
  struct Guest {
    Socket socket;
    Handshake handshake;
    Clock::time_point until;
    bool reached = false;
    bool connecting = false;
    std::int32_t worker = 0;
    std::string in{};
    std::string out{};
    std::string host{};
  };

  void accept_all();
  /// Returns true while the handshake goes on.
  bool advance(Guest& guest, std::string& failure);
  [[nodiscard]] Event ended(Guest& guest, std::string failure) const;

  Options options_;
  const Listener* listener_;
  std::vector<std::unique_ptr<Guest>> guests_;  ///< connections in order of arrival
  std::vector<Event> at_once_;
};

}  // namespace tutti::real
