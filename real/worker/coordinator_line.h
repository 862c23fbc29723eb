#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "real/join/control.h"
#include "real/worker/heartbeat.h"
#include "real/worker/worker.h"

namespace tutti::proto {
class Ping;
}

namespace tutti::real {

/// A worker's connection to its coordinator: its orders, whether the run goes on, and reports of
/// its activity. Every function that receives also answers pings.
class CoordinatorLine {
 public:
  using Clock = ControlChannel::Clock;

  /// REQUIRES: `join` outlives the line.
  CoordinatorLine(Socket socket, const WorkerJoin& join);

  /// Starts to report to the coordinator, every `interval`, that this process is alive and what it
  /// does.
  void begin_heartbeat(std::chrono::milliseconds interval);
  /// Sets the reported activity. REQUIRES: the heartbeat has begun.
  void now_doing(std::string what);
  /// Reports that nothing has moved here since `since` and nothing is due; nothing: something
  /// moves. `where` describes what the run waits for; called once for each standstill. REQUIRES: as
  /// above.
  void standing_still(std::optional<Clock::time_point> since,
                      const std::function<std::string()>& where);

  /// ERRORS: the coordinator is gone.
  core::Expected<void> send(const proto::Control& message);
  /// Returns the next message that is an order; `meanwhile` is called when there is nothing to
  /// read.
  /// ERRORS: the coordinator is gone, sends nothing for `silence`, or reports that the run has
  /// failed; interrupted.
  core::Expected<std::unique_ptr<proto::Control>> next(Clock::duration silence,
                                                       const std::function<void()>& meanwhile);
  /// Checks, without waiting, that the run goes on. ERRORS: as next(); the run has been stopped.
  core::Expected<void> look();
  /// Does the same as look(), at most every 10 ms. After it returns false, stopped_or() has the
  /// reason.
  bool still_wanted();
  /// Returns the reason for which the coordinator stopped this worker; `error` if it did not.
  [[nodiscard]] core::Error stopped_or(const core::Error& error) const {
    return stop_reason_.value_or(error);
  }

  /// Ends the session with the coordinator: reports a failure that it does not know yet, and waits
  /// for its decision on the cause, which is based on the reports of all workers. Connections to
  /// peers stay open until then. Otherwise peers would report the closed connection as the failure,
  /// instead of its cause.
  WorkerEnd end(core::Expected<void> done);

  [[nodiscard]] int file() const { return channel_.file(); }

 private:
  bool tell(const core::Error& error);
  core::Error verdict(core::Error error);
  void answer(const proto::Ping& ping);
  core::Expected<std::unique_ptr<proto::Control>> understood(
      std::unique_ptr<proto::Control> message);
  [[nodiscard]] core::Expected<void> interrupted() const;
  [[nodiscard]] std::string doing() const { return heartbeat_ ? heartbeat_->doing() : "joining"; }

  const WorkerJoin& join_;
  ControlChannel channel_;
  std::optional<Heartbeat> heartbeat_;
  std::optional<core::Error> stop_reason_;
  Clock::time_point looked_;
  /// Since when the worker has been waiting, as reported to the heartbeat.
  std::optional<Clock::time_point> still_since_;
  bool said_so_ = false;  ///< true: the coordinator has reported how the run ended
  bool gone_ = false;
};

/// Returns the error that the coordinator sent something else than `what`.
core::Error not_due(const std::string& what);

}  // namespace tutti::real
