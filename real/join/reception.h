#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "real/join/handshake.h"
#include "real/join/socket.h"

namespace tutti::real {

/// Shakes hands with everyone who connects, and with those whom it was told to reach: all at once, so that nobody who
/// dawdles keeps another waiting. Those who come get five seconds for the few bytes of a handshake, and there is room
/// for so many of them at a time; when it is full, who has been at it longest goes first.
class Reception {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string secret;
    Introduction self;  ///< as the one who listens
    RunId run{};
    std::size_t most_waiting = 64;
    std::chrono::milliseconds patience{5000};  ///< with those who come
  };

  /// How a handshake ended.
  struct Event {
    bool reached = false;     ///< it was begun by reach()
    std::int32_t worker = 0;  ///< reached: whom it meant
    Handshake::State state = Handshake::State::kStranger;
    Socket socket;        ///< kDone
    Introduction peer;    ///< what the other said of itself
    RunId run{};          ///< reached, kDone: the listener's
    std::string host;     ///< the other's address
    std::string failure;  ///< reached, not kDone: what went wrong with the connection, in words; may be empty
  };

  /// `listener` may be null: then only reach() makes connections. REQUIRES: it outlives the reception.
  Reception(Options options, const Listener* listener) : options_(std::move(options)), listener_(listener) {}

  /// Begins to connect to someone, as `self` says; `run`, if known, is the one it has to belong to. How it went is told
  /// by wait(), a failure at once or when `until` has come.
  void reach(const Address& to, Introduction self, std::optional<RunId> run, Clock::time_point until);

  /// Waits until something ended, `until` has come, or there is something to read at one of `others`.
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
  /// True while the handshake goes on.
  bool advance(Guest& guest, std::string& failure);
  [[nodiscard]] Event ended(Guest& guest, std::string failure) const;

  Options options_;
  const Listener* listener_;
  std::vector<std::unique_ptr<Guest>> guests_;  ///< in the order in which they came
  std::vector<Event> at_once_;
};

}  // namespace tutti::real
