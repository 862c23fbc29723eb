#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/scenario/executor.h"
#include "real/coordinator/children.h"
#include "real/coordinator/clock_sync.h"
#include "real/join/control.h"

namespace tutti::real {

/// Limits on the messages of a worker that arrive before the coordinator expects them. The
/// coordinator stores these messages until it needs them. A worker that exceeds a limit counts as
/// failed, so that no worker can exhaust the coordinator's memory.
struct InboxLimit {
  std::size_t messages = 4;
  /// The maximum size in bytes of one message, and of all unread messages of a worker together.
  std::size_t bytes = ControlChannel::kLongestMessage;
};

/// A received message, and its size on the wire in bytes.
struct Received {
  std::unique_ptr<proto::Control> message;
  std::size_t bytes = 0;
};

/// The data that the coordinator has about one worker.
struct Member {
  std::optional<ControlChannel> channel;
  Address address;           ///< the address at which other workers reach the worker
  bool only_there = false;   ///< true: the worker listens at `address` only
  std::string host;          ///< the name of the worker's machine
  bool other_clock = false;  ///< true: the worker's clock differs from the coordinator's clock
  ClockOffset clock;
  ControlChannel::Clock::time_point heard;  ///< time at which the worker's last message arrived
  std::string doing = "starting";           ///< the activity that the worker reported last
  /// The time for which the worker had made no progress when it reported `doing`.
  ControlChannel::Clock::duration still{};
  /// If the worker waits for other workers: a text that describes what it waits for.
  std::string stands;
  std::deque<Received> inbox;  ///< messages received and not yet taken
  std::size_t inbox_bytes = 0;
  /// The number of bytes received over the connection when `heard` was last set.
  std::uint64_t arrived = 0;
  bool gone = false;
  /// True: the worker was dropped because it sent more than InboxLimit allows.
  bool exceeds = false;
  std::string farewell;  ///< why the connection ended
  core::ProblemCode gone_because = core::ProblemCode::kLost;
};

/// The workers of a run. The coordinator communicates with all workers concurrently. If one worker
/// fails, the run ends for all workers, with one error that names the failed worker and the
/// worker's activity.
class WorkerSet {
 public:
  using Clock = ControlChannel::Clock;
  using Messages = std::vector<std::unique_ptr<proto::Control>>;

  /// `timeout`: a worker that sends nothing for longest_silence(timeout) has failed.
  /// `drain_timeout`: the time to wait for the reports of the other workers after a failure,
  /// because the first worker that reports a failure is seldom the cause. REQUIRES: children and
  /// control outlive this object.
  WorkerSet(std::size_t workers, Children& children, const core::RunControl& control,
            Clock::duration timeout, Clock::duration drain_timeout = std::chrono::seconds(1));
  ~WorkerSet();

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  Member& operator[](std::size_t worker) { return members_[worker]; }
  const Member& operator[](std::size_t worker) const { return members_[worker]; }
  /// Returns "worker 3", followed by the name of its machine if the run has several machines.
  [[nodiscard]] std::string name(std::size_t worker) const;
  [[nodiscard]] bool several_machines() const;

  /// Sets the limit of the messages that a worker may send before the coordinator expects them.
  void limit_inboxes(const InboxLimit& limit);

  /// Sends a message to one worker. ERRORS: the worker is gone.
  core::Expected<void> send(std::size_t worker, const proto::Control& message);
  /// Waits for one message of the kind `wanted` (proto::Control::ContentCase) from every worker.
  /// During the wait, this function sends heartbeats to the workers whose message has arrived.
  /// `due` ends the error message about a worker that has not sent its message in time, such as
  /// "has not ended its step".
  /// ERRORS: a worker failed, ended, sent nothing for too long, or sent a message of another kind;
  /// the run was cancelled.
  core::Expected<Messages> receive_from_all(int wanted, const std::string& due);
  /// Returns one message of the kind `wanted` from every worker, like receive_from_all(), but does
  /// not wait. Returns nothing unless the messages of all workers have arrived.
  std::optional<Messages> try_receive_from_all(int wanted);
  /// Measures the clock offsets of workers on other machines with several pings each. REQUIRES:
  /// every worker is waiting for a message from the coordinator.
  core::Expected<void> align_clocks();
  /// Sends heartbeats to the workers that have joined, and records which workers have left. To be
  /// called while the coordinator waits for more workers to join.
  void serve_joined_workers();

  /// Informs all workers that the run is over, and waits for a short time until they have left.
  /// `why`: the error if the run failed; otherwise null. If `come_again` is true, asks workers that
  /// this process did not start to join another run.
  void dismiss(const core::Error* why, bool come_again);

  /// Returns an error that names the worker at fault. The message is the worker's name followed by
  /// `what`.
  [[nodiscard]] core::Error failed(std::size_t worker, core::ProblemCode code,
                                   const std::string& what) const;

  /// Returns true if the run was cancelled.
  bool cancelled();
  /// Sets the progress of the run, from 0 to 1.
  void set_progress(double share) { share_ = share; }

 private:
  void read_arrived();
  Messages first_of_all();
  /// Waits until a message arrives from any worker.
  void wait(Clock::time_point until);
  void send_heartbeats(bool everyone);
  void take(Member& member, std::unique_ptr<proto::Control> message);
  bool take_answer(std::size_t worker, std::int64_t sent_ns);
  std::optional<core::Error> check_failures(const std::string& due);
  core::Error find_cause();
  [[nodiscard]] std::optional<core::Error> known_cause(bool drain_over);
  [[nodiscard]] std::optional<std::size_t> silent(Clock::duration longer_than) const;
  [[nodiscard]] std::optional<core::Error> standstill() const;
  /// Returns the error `report` that the worker has reported, with the worker's name added to the
  /// message.
  [[nodiscard]] core::Error reported_by(std::size_t worker, const core::Error& report) const;
  /// Returns the failure that the worker has reported; nullopt if it has reported none.
  [[nodiscard]] std::optional<core::Error> failure_of(std::size_t worker) const;

  std::vector<Member> members_;
  Children& children_;
  const core::RunControl& control_;
  Clock::duration timeout_;
  Clock::duration drain_timeout_;
  InboxLimit limit_;
  Clock::time_point last_heartbeat_;
  Clock::time_point reported_progress_;
  double share_ = 0;
  bool stopped_ = false;
};

}  // namespace tutti::real
