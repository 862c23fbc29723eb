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

/// A worker's connection to its coordinator. Receives the coordinator's orders, checks whether the
/// run continues, and reports the worker's activity. Every function that receives messages also
/// answers pings.
class CoordinatorLine {
 public:
  using Clock = ControlChannel::Clock;

  /// REQUIRES: `join` outlives this object.
  CoordinatorLine(Connection connection, const WorkerJoin& join);

  /// Starts to send heartbeats to the coordinator, every `interval`, with the current activity.
  void begin_heartbeat(std::chrono::milliseconds interval);
  /// Sets the activity that heartbeats report. REQUIRES: begin_heartbeat() was called.
  void now_doing(std::string what);
  /// Reports a standstill that began at `since`. If `since` is nullopt, reports that this process
  /// makes progress. In a standstill, the process moves no data and has no pending timers. `where`
  /// returns a text that describes what the run waits for; `where` is called once per standstill.
  /// REQUIRES: begin_heartbeat() was called.
  void set_standstill(std::optional<Clock::time_point> since,
                      const std::function<std::string()>& where);

  /// Sends a message. ERRORS: the coordinator is gone.
  core::Expected<void> send(const proto::Control& message);
  /// Returns the next order: the next message that is not a ping or a similar notification.
  /// `meanwhile` is called while there is nothing to read. ERRORS: the coordinator is gone, sends
  /// nothing for the time `silence`, or reports that the run has failed; the user interrupted this
  /// process.
  core::Expected<std::unique_ptr<proto::Control>> next(Clock::duration silence,
                                                       const std::function<void()>& meanwhile);
  /// Returns an error if the run does not continue. Does not wait. ERRORS: the errors of next();
  /// the run was stopped.
  core::Expected<void> look();
  /// Calls look() if the last call was at least 10 ms ago. Returns false if the run has ended;
  /// stopped_or() then returns the reason.
  bool still_wanted();
  /// Returns the reason why the coordinator stopped this worker; `error` if the coordinator did not
  /// stop it.
  [[nodiscard]] core::Error stopped_or(const core::Error& error) const {
    return stop_reason_.value_or(error);
  }

  /// Ends the session with the coordinator. Reports a failure that the coordinator does not know
  /// yet. Then waits up to three seconds until the coordinator, which gets reports from all
  /// workers, has determined the cause. Must be called before connections to peers are closed. If
  /// connections were closed first, peers would report the closed connection instead of the cause.
  WorkerEnd end(core::Expected<void> done);

  [[nodiscard]] int file() const { return channel_.file(); }

 private:
  bool report(const core::Error& error);
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
  /// The value of `since` in the last call of set_standstill().
  std::optional<Clock::time_point> still_since_;
  /// True: the coordinator has reported the end of the run.
  bool failure_reported_ = false;
  bool gone_ = false;
};

/// Returns the error for an unexpected message from the coordinator. `what` is the message that was
/// expected, such as "an assignment".
core::Error not_due(const std::string& what);

}  // namespace tutti::real
