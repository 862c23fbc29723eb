#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"
#include "core/schedule/symbolic_buffer.h"
#include "core/schedule/violation.h"

namespace tutti::core {

/// Runs a schedule on symbols in place of numbers: what each buffer holds is told as whose contributions are in it. Whoever
/// uses it decides which lane goes on next: the checker to try many orders, the window to follow what a run recorded.
///
/// Whether two lanes of a rank touch the same element with nothing that orders them is told by vector clocks (as race
/// detectors for threads do it): each lane counts its steps, a message carries its sender's clock, a wait copies the
/// awaited lane's clock as it was after the awaited step. An access is ordered after an earlier one of another lane if the
/// accessor's clock has reached that lane's count.
///
/// Lanes are numbered over all ranks. Cost of a step: the stretches of its ranges that differ, and a search among the
/// cells of its buffer; with races looked for, also a word per lane.
class SymbolicRun {
 public:
  enum class Races { kIgnored, kLookedFor };
  /// Every rank of `contract.contributors` holds its input, all else is undefined. Races are looked for while
  /// steps times lanes, over all ranks, is at most 2^25.
  /// REQUIRES: `schedule` outlives it.
  SymbolicRun(const Schedule& schedule, const Contract& contract, Races races);

  struct LaneState {
    Rank rank = 0;
    Lane lane = 0;
    std::int64_t next = 0;  ///< steps that are done
    std::int64_t steps = 0;
    [[nodiscard]] bool done() const { return next >= steps; }
  };
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
  [[nodiscard]] const LaneState& lane(std::size_t number) const { return lanes_[number]; }
  [[nodiscard]] std::size_t lane_number(Rank rank, Lane lane) const {
    return first_lane_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(lane);
  }

  /// Does the lane's next step, or the half of it that can be done now; false if something keeps it from that.
  /// A step that takes whatever arrives takes the oldest, or with `sender` what that lane sent.
  bool try_step(std::size_t number, std::optional<std::size_t> sender = std::nullopt);

  /// What keeps a lane from its next step.
  struct Obstacle {
    enum class Kind { kNone, kLane, kMessage, kAnyMessage, kSlot };
    Kind kind = Kind::kNone;
    std::size_t lane = 0;  ///< the one that has to move first; not of kAnyMessage
  };
  [[nodiscard]] Obstacle obstacle(std::size_t number, std::optional<std::size_t> sender = std::nullopt);
  /// The same in words; "" if nothing does.
  [[nodiscard]] std::string obstacle_in_words(std::size_t number);

  /// Calls with sender, receiver and how many messages of the one the other has not taken.
  void untaken(const std::function<void(std::size_t from, std::size_t to, std::size_t messages)>& tell) const;
  [[nodiscard]] const SymbolicBuffer& data(Rank rank) const { return data_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Sums& sums() { return sums_; }
  /// What is wrong with the steps done so far. Nothing goes on once there is something.
  [[nodiscard]] const std::vector<Violation>& problems() const { return problems_; }

 private:
  using Clock = std::vector<std::uint32_t>;
  struct Message {
    Content content;
    Clock clock;
  };
  struct LaneWork {
    Clock clock;
    std::vector<Clock> history;       ///< the clock after each step, if clocks are kept
    std::deque<std::size_t> arrived;  ///< senders, in order of arrival: for kReceiveAny
    /// What the first half of a receive-…-send step has taken and not sent on yet. Its slot is free by then.
    std::optional<Content> in_hand;
  };

  /// What is at fault besides the lane's step at hand: another lane, an element.
  struct Besides {
    Rank rank = -1;
    Lane lane = -1;
    std::int64_t element = -1;
  };
  /// The message begins with the place of the lane's step at hand.
  template <class... Args>
  void complain(ViolationKind kind, std::size_t number, Besides besides, fmt::format_string<Args...> format,
                Args&&... args);
  bool lane_exists(std::size_t at, Rank rank, Lane lane);
  [[nodiscard]] Step next_step(std::size_t number) const;
  [[nodiscard]] Obstacle obstacle(std::size_t number, const Step& step, std::optional<std::size_t> sender);
  Obstacle no_slot(std::size_t number, Rank to, Lane to_lane);

  void tick(std::size_t number, const Step& step);
  void perform(std::size_t number, const Step& step, std::optional<std::size_t> sender);
  void receive_any(std::size_t number, const Step& step, std::optional<std::size_t> sender);
  void reduce(std::size_t number, const Step& step);
  void switch_reduce(std::size_t number, const Step& step);
  void multicast(std::size_t number, const Step& step);
  [[nodiscard]] bool has_heard_of(std::size_t number, Rank rank) const;
  void report_bad_sum(std::size_t number, const Content& sum);
  Content received_sum(std::size_t number, const Step& step, const Range& own);
  [[nodiscard]] std::size_t sender_of(std::size_t number, const Step& step) const;
  [[nodiscard]] Rank receiver_of(std::size_t number, const Step& step) const;

  void post(std::size_t from, Rank to, Lane to_lane, Content content);
  Content take(std::size_t number, std::size_t sender, std::int64_t count);

  bool inside(std::size_t number, Rank rank, const Range& range);
  [[nodiscard]] SymbolicBuffer& buffer(Rank rank, Buffer which);
  Content read(std::size_t number, Rank rank, const Range& range);
  void write(std::size_t number, const Range& range, const Content& content);
  [[nodiscard]] bool ordered(std::size_t number, const Access& earlier) const;
  void complain_of_race(std::size_t number, const Access& other, std::int64_t element);
  void note_read(std::size_t number, SymbolicBuffer::Cell& cell, std::int64_t element);
  void note_write(std::size_t number, SymbolicBuffer::Cell& cell, std::int64_t element);

  const Schedule& schedule_;
  Sums sums_;
  std::vector<SymbolicBuffer> data_, scratch_;
  std::vector<std::size_t> first_lane_;
  std::vector<LaneState> lanes_;
  std::vector<LaneWork> work_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<Message>> messages_;
  bool keep_clocks_ = false;
  std::vector<Violation> problems_;
};

}  // namespace tutti::core
