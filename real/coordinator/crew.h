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

/// One worker as the coordinator sees it.
struct Member {
  std::optional<ControlChannel> channel;
  Address address;           ///< where its peers reach it
  bool only_there = false;   ///< it listens at that address and at no other
  std::string host;          ///< the name of its machine
  bool other_clock = false;  ///< it reads another clock than the coordinator
  ClockOffset clock;
  ControlChannel::Clock::time_point heard;            ///< when it last said anything
  std::string doing = "starting";                     ///< as it says itself
  ControlChannel::Clock::duration still{};            ///< for how long it had nothing to do then but wait,
  std::string stands;                                 ///< for what, if it is for other workers
  std::deque<std::unique_ptr<proto::Control>> inbox;  ///< come, and not yet asked for
  bool gone = false;
  std::string farewell;  ///< why, as the connection has it
};

/// The workers of a run as the coordinator talks to them: everyone at once. Whatever goes wrong with one is the end for
/// all, and is told as one error that names who it was and what it was doing.
class Crew {
 public:
  using Clock = ControlChannel::Clock;
  using Messages = std::vector<std::unique_ptr<proto::Control>>;

  /// A worker that says nothing for longest_silence(timeout) has failed. REQUIRES: children and control outlive it.
  Crew(std::size_t workers, Children& children, const core::RunControl& control, Clock::duration timeout);
  ~Crew();

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  Member& operator[](std::size_t worker) { return members_[worker]; }
  const Member& operator[](std::size_t worker) const { return members_[worker]; }
  /// "worker 3", with its machine where there are several.
  [[nodiscard]] std::string name(std::size_t worker) const;
  [[nodiscard]] bool several_machines() const;

  /// ERRORS: one of them is gone.
  core::Expected<void> tell(std::size_t worker, const proto::Control& message);
  /// One message of the kind `wanted` (proto::Control::ContentCase) from each; `due` says of whom has not sent it what it
  /// has not done ("has not ended its step"). Those who wait meanwhile hear that the coordinator is there.
  /// ERRORS: a worker failed, ended, fell silent or sent something else; the run was cancelled.
  core::Expected<Messages> from_everyone(int wanted, const std::string& due);
  /// The same of what has come already; nothing if it has not from all.
  std::optional<Messages> already_from_everyone(int wanted);
  /// Asks those on other machines for their clocks' time, some times over. REQUIRES: they all wait.
  core::Expected<void> align_clocks();
  /// While some are still missing: tells those who are here that the coordinator is, and notes who has left.
  void greet();

  /// Tells everyone that the run is over, and why if it failed, and waits a moment for them to go. `come_again`: those who
  /// were not started here are to join another run.
  void dismiss(const core::Error* why, bool come_again);

  /// A failure for which the worker is at fault: its name, and `what` it did.
  [[nodiscard]] core::Error failed(std::size_t worker, core::ProblemCode code, const std::string& what) const;

  /// The run was told to stop.
  bool cancelled();
  /// How much of the run is done, 0 … 1.
  void set_progress(double share) { share_ = share; }

 private:
  void take_all_that_came();
  Messages first_of_all();
  /// Waits until something comes from anyone.
  void wait(Clock::time_point until);
  void keep_company(bool everyone);
  void take(Member& member, std::unique_ptr<proto::Control> message);
  bool take_answer(std::size_t worker, std::int64_t sent_ns);
  std::optional<core::Error> trouble(const std::string& due);
  core::Error find_cause();
  [[nodiscard]] std::optional<core::Error> known_cause(bool last_word);
  [[nodiscard]] std::optional<std::size_t> silent(Clock::duration longer_than) const;
  [[nodiscard]] std::optional<core::Error> standstill() const;
  /// The failure that the worker itself has told of.
  [[nodiscard]] core::Error as_said_by(std::size_t worker, const core::Error& said) const;
  /// What the worker says has failed; nothing if it has not said so.
  [[nodiscard]] std::optional<core::Error> failure_of(std::size_t worker) const;

  std::vector<Member> members_;
  Children& children_;
  const core::RunControl& control_;
  Clock::duration timeout_;
  Clock::time_point kept_company_;
  Clock::time_point told_progress_;
  double share_ = 0;
  bool stopped_ = false;
};

}  // namespace tutti::real
