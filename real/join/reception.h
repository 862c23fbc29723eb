#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "real/join/connection.h"
#include "real/join/handshake.h"
#include "real/join/socket.h"

namespace tutti::real {

/// Performs the handshakes of incoming connections and of connections made by reach(). All
/// handshakes run concurrently, so that a slow peer does not delay other peers. An incoming
/// connection must complete the handshake within five seconds. The number of incoming connections
/// in handshake is limited. When the limit is reached, the oldest connection is dropped.
class Reception {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    RunSecret secret;
    Introduction self;  ///< the introduction of this end
    RunId run{};
    std::size_t most_waiting = 64;
    std::chrono::milliseconds patience{5000};  ///< time limit of incoming connections
    /// The settings of TLS; null: no TLS. If `tls` is given, every connection of this object uses
    /// TLS after its handshake.
    std::shared_ptr<const TlsContext> tls{};
  };

  /// The result of a handshake.
  struct Event {
    bool reached = false;  ///< true: this end opened the connection with reach()
    /// If `reached` is true: the worker that this process intends to reach.
    std::int32_t worker = 0;
    Handshake::State state = Handshake::State::kUnknownProtocol;
    Connection connection;  ///< if kDone: the connection
    Introduction peer;      ///< the other end's introduction
    /// The version that the other end has stated (Handshake::stated_version()); also set if the
    /// handshake failed.
    std::string stated_version{};
    RunId run{};  ///< if `reached` is true and the handshake succeeded: the run of the listener
    std::string host;  ///< the other end's address
    /// If the connection or TLS failed: a text that describes the error. Empty if the handshake
    /// failed for another reason; `state` then specifies the reason.
    std::string failure;
    /// True: the other end has closed the connection, or TLS was not ready in time. Another attempt
    /// may succeed.
    bool closed = false;
  };

  /// `listener`: the socket that accepts connections; null if all connections are made by reach().
  /// REQUIRES: `listener` outlives this object.
  Reception(Options options, const Listener* listener)
      : options_(std::move(options)), listener_(listener) {
    options_.self.tls = mode();
  }

  /// Starts to connect to `to` with the introduction `self`. If `run` is given, the listener at
  /// that address must belong to `run`. The function wait() returns the result: success, or a
  /// failure at time `until` at the latest.
  void reach(const Address& to, Introduction self, std::optional<RunId> run,
             Clock::time_point until);

  /// Accepts no more connections. After this call, the listener may be closed.
  void stop_listening() { listener_ = nullptr; }

  /// Waits until a handshake has ended, until time `until`, or until one of the file descriptors
  /// `others` is readable. Returns the handshakes that have ended.
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
    bool closed = false;  ///< the other end closed the connection
    std::unique_ptr<Tls> tls{};
    bool tls_done = false;
    bool tls_writes = false;  ///< true: TLS waits until the socket is writable
  };

  [[nodiscard]] TlsMode mode() const {
    return options_.tls ? options_.tls->mode() : TlsMode::kNone;
  }
  /// A connection on which this end has refused TLS. This end keeps the socket open for a short
  /// time and discards arriving data. If it closed the socket while data arrives, TCP would reset
  /// the connection, and the other end might not receive the reason.
  struct Refused {
    Socket socket;
    Clock::time_point until;
  };

  void accept_all();
  /// Closes the sending direction of a connection, and keeps the connection for a short time.
  void refuse(Guest& guest);
  /// Discards the data that has arrived on refused connections, and closes those that have ended.
  void drain_refused();
  /// Continues TLS after the handshake. Returns true while TLS is being set up.
  bool advance_tls(Guest& guest, std::string& failure) const;
  /// Returns true while the handshake is in progress.
  bool advance(Guest& guest, std::string& failure);
  [[nodiscard]] Event ended(Guest& guest, std::string failure) const;

  Options options_;
  const Listener* listener_;
  std::vector<std::unique_ptr<Guest>>
      guests_;  ///< connections whose handshake is in progress, in order of arrival
  std::vector<Refused> refused_;  ///< at most `most_waiting`
  std::vector<Event> at_once_;
};

}  // namespace tutti::real
