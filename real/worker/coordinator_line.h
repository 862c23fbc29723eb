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

/// A worker's talk with its coordinator: what it is to do next, whether it is still wanted, what it is doing. Pings are answered
/// by whatever listens.
class CoordinatorLine {
 public:
  using Clock = ControlChannel::Clock;

  /// REQUIRES: `join` outlives the line.
  CoordinatorLine(Socket socket, const WorkerJoin& join);

  /// From now on the coordinator hears every `interval` that this process is there, and what it does.
  void begin_heartbeat(std::chrono::milliseconds interval);
  /// REQUIRES: the heartbeat has begun.
  void now_doing(std::string what);
  /// Nothing has moved here since then and nothing is due; nothing: something is. `where`: where the run stands; asked once
  /// each time that it comes to a standstill. REQUIRES: as above.
  void standing_still(std::optional<Clock::time_point> since, const std::function<std::string()>& where);

  /// ERRORS: the coordinator is gone.
  core::Expected<void> send(const proto::Control& message);
  /// The next message that asks for something; `meanwhile` is called when there is nothing to read.
  /// ERRORS: the coordinator is gone, says nothing for `silence`, or says that the run has failed; interrupted.
  core::Expected<std::unique_ptr<proto::Control>> next(Clock::duration silence, const std::function<void()>& meanwhile);
  /// Checks, without waiting, that the run goes on. ERRORS: as next(); the run has been stopped.
  core::Expected<void> look();
  /// Does the same as look(), at most every 10 ms. After it returns false, stopped_or() has the
  /// reason.
  bool still_wanted();
  /// Why the coordinator did not want it any more; `error` if it was for something else.
  [[nodiscard]] core::Error stopped_or(const core::Error& error) const { return stop_reason_.value_or(error); }

  /// Ends the worker's life with the coordinator: tells it of a failure that it does not know yet, and asks what it, who
  /// hears of all, makes of it. Until then the connections to the others stay open, so that they hear of the cause from there
  /// too, and not of consequences from here.
  WorkerEnd end(core::Expected<void> done);

  [[nodiscard]] int file() const { return channel_.file(); }

 private:
  bool tell(const core::Error& error);
  core::Error verdict(core::Error error);
  void answer(const proto::Ping& ping);
  core::Expected<std::unique_ptr<proto::Control>> understood(std::unique_ptr<proto::Control> message);
  [[nodiscard]] core::Expected<void> interrupted() const;
  [[nodiscard]] std::string doing() const { return heartbeat_ ? heartbeat_->doing() : "joining"; }

  const WorkerJoin& join_;
  ControlChannel channel_;
  std::optional<Heartbeat> heartbeat_;
  std::optional<core::Error> stop_reason_;
  Clock::time_point looked_;
  std::optional<Clock::time_point> still_since_;  ///< as the heartbeat has it
  bool said_so_ = false;                          ///< the coordinator has said itself how the run ended
  bool gone_ = false;
};

/// The coordinator sent something else where `what` was due.
core::Error not_due(const std::string& what);

}  // namespace tutti::real
