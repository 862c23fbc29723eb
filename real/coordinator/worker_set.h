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

/// The messages of a worker that the coordinator keeps until they are due. A worker that sends more
/// has failed, so that none can make the coordinator's memory grow.
struct InboxLimit {
  std::size_t messages = 4;
  /// Maximum size of all unread messages of a worker, and of each of them.
  std::size_t bytes = ControlChannel::kLongestMessage;
};

/// A message that has arrived, and its size on the wire.
struct Received {
  std::unique_ptr<proto::Control> message;
  std::size_t bytes = 0;
};

/// One worker as the coordinator sees it.
struct Member {
  std::optional<ControlChannel> channel;
  Address address;           ///< the address at which other workers reach it
  bool only_there = false;   ///< true: it listens at that address only
  std::string host;          ///< the name of its machine
  bool other_clock = false;  ///< true: its clock is not the coordinator's
  ClockOffset clock;
  ControlChannel::Clock::time_point heard;  ///< when its last message arrived
  std::string doing = "starting";           ///< its own report of its current activity
  ControlChannel::Clock::duration still{};  ///< how long it had been idle when it sent that message
  std::string stands;          ///< description of its wait, if it waits for other workers
  std::deque<Received> inbox;  ///< messages received and not yet taken
  std::size_t inbox_bytes = 0;
  std::uint64_t arrived = 0;  ///< bytes received over its connection when `heard` was set
  bool gone = false;
  bool exceeds = false;  ///< true: it was dropped because it sent more than InboxLimit allows
  std::string farewell;  ///< the connection's reason for its end
  core::ProblemCode gone_because = core::ProblemCode::kLost;
};

/// The workers of a run, as the coordinator talks to them, all concurrently. If one fails, the run
/// ends for all, with one error that names the worker and what it was doing.
class WorkerSet {
 public:
  using Clock = ControlChannel::Clock;
  using Messages = std::vector<std::unique_ptr<proto::Control>>;

  /// A worker that sends nothing for longest_silence(timeout) has failed. REQUIRES: children and
  /// control outlive it.
  /// `last_words`: how long to wait for the reports of others once one has failed, since the first
  /// to report is seldom the cause.
  WorkerSet(std::size_t workers, Children& children, const core::RunControl& control,
            Clock::duration timeout, Clock::duration last_words = std::chrono::seconds(1));
  ~WorkerSet();

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  Member& operator[](std::size_t worker) { return members_[worker]; }
  const Member& operator[](std::size_t worker) const { return members_[worker]; }
  /// Returns "worker 3", followed by its machine if there are several.
  [[nodiscard]] std::string name(std::size_t worker) const;
  [[nodiscard]] bool several_machines() const;

  /// Sets how much each worker may send before it is asked for more.
  void limit_inboxes(const InboxLimit& limit);

  /// Sends a message to one worker. ERRORS: a worker is gone.
  core::Expected<void> tell(std::size_t worker, const proto::Control& message);
  /// Waits for one message of the kind `wanted` (proto::Control::ContentCase) from every worker,
  /// and sends heartbeats to those that wait meanwhile. `due` completes the error about a worker
  /// that has not sent it, such as "has not ended its step".
  /// ERRORS: a worker failed, ended, fell silent or sent something else; the run was cancelled.
  core::Expected<Messages> from_everyone(int wanted, const std::string& due);
  /// Like from_everyone(), but without waiting: returns nothing unless all messages have arrived
  /// already.
  std::optional<Messages> already_from_everyone(int wanted);
  /// Measures the clock offsets of workers on other machines with several pings each. REQUIRES: all
  /// workers are waiting.
  core::Expected<void> align_clocks();
  /// While workers are still missing: sends heartbeats to those that have joined, and notes which
  /// have left.
  void greet();

  /// Tells all workers that the run is over (and why, if it failed), and waits briefly until they
  /// have left. `come_again`: workers that were not started here are to join another run.
  void dismiss(const core::Error* why, bool come_again);

  /// Returns an error for which the worker is at fault: its name, and `what` it did.
  [[nodiscard]] core::Error failed(std::size_t worker, core::ProblemCode code,
                                   const std::string& what) const;

  /// True if the run was cancelled.
  bool cancelled();
  /// Sets the share of the run that is done, 0 … 1.
  void set_progress(double share) { share_ = share; }

 private:
  void take_all_that_came();
  Messages first_of_all();
  /// Waits until a message arrives from any worker.
  void wait(Clock::time_point until);
  void keep_company(bool everyone);
  void take(Member& member, std::unique_ptr<proto::Control> message);
  bool take_answer(std::size_t worker, std::int64_t sent_ns);
  std::optional<core::Error> trouble(const std::string& due);
  core::Error find_cause();
  [[nodiscard]] std::optional<core::Error> known_cause(bool last_word);
  [[nodiscard]] std::optional<std::size_t> silent(Clock::duration longer_than) const;
  [[nodiscard]] std::optional<core::Error> standstill() const;
  /// Returns the failure that the worker itself has reported.
  [[nodiscard]] core::Error as_said_by(std::size_t worker, const core::Error& said) const;
  /// Returns the failure that the worker has reported; nothing if it has not.
  [[nodiscard]] std::optional<core::Error> failure_of(std::size_t worker) const;

  std::vector<Member> members_;
  Children& children_;
  const core::RunControl& control_;
  Clock::duration timeout_;
  Clock::duration last_words_;
  InboxLimit limit_;
  Clock::time_point kept_company_;
  Clock::time_point told_progress_;
  double share_ = 0;
  bool stopped_ = false;
};

}  // namespace tutti::real
