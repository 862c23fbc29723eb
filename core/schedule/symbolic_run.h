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

/// Runs a schedule on symbols instead of numbers: a buffer records which ranks' contributions its
/// elements contain. The caller decides which lane proceeds next: the checker tries several orders,
/// and the GUI follows the order of a recorded run.
///
/// Races between lanes of a rank (accesses to the same element in no defined order) are detected
/// with vector clocks, as in race detectors for threads. Each lane counts its steps, a message
/// carries the clock of its sender, and a wait merges the clock that the awaited lane had after the
/// awaited step. An earlier access of another lane is ordered before an access if the accessing
/// lane's clock contains the other lane's step count at the time of the earlier access.
///
/// A lane's number counts the lanes of all ranks, rank by rank. Cost of a step: proportional to the
/// number of stretches in its ranges, plus a search among the cells of its buffer; with race
/// detection, also one word per lane.
class SymbolicRun {
 public:
  enum class Races { kIgnored, kLookedFor };
  /// Initially, every rank of `contract.contributors` holds its input, and all other elements are
  /// undefined. Races are detected only if the number of steps of all ranks times the number of
  /// lanes of all ranks is at most 2^25. REQUIRES: `schedule` outlives this object.
  SymbolicRun(const Schedule& schedule, const Contract& contract, Races races);

  struct LaneState {
    Rank rank = 0;
    Lane lane = 0;
    std::int64_t next = 0;  ///< number of completed steps
    std::int64_t steps = 0;
    [[nodiscard]] bool done() const { return next >= steps; }
  };
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
  [[nodiscard]] const LaneState& lane(std::size_t number) const { return lanes_[number]; }
  [[nodiscard]] std::size_t lane_number(Rank rank, Lane lane) const {
    return first_lane_[rank] + static_cast<std::size_t>(lane);
  }

  /// Executes the lane's next step. A fused receive-and-send step may take two calls, one for each
  /// half. Returns false if the lane is blocked. If `sender` is given, a kReceiveAny step takes the
  /// oldest message of that lane, otherwise the oldest message of any lane.
  bool try_step(std::size_t number, std::optional<std::size_t> sender = std::nullopt);

  /// The reason why a lane's next step is blocked.
  struct Obstacle {
    enum class Kind { kNone, kLane, kMessage, kAnyMessage, kSlot };
    Kind kind = Kind::kNone;
    std::size_t lane = 0;  ///< the lane that must proceed first; unused for kAnyMessage
  };
  [[nodiscard]] Obstacle obstacle(std::size_t number,
                                  std::optional<std::size_t> sender = std::nullopt);
  /// Describes the obstacle; "" if there is none.
  [[nodiscard]] std::string obstacle_in_words(std::size_t number);

  /// Calls `tell(from, to, messages)` for each connection with messages that were never received.
  void unreceived_messages(const std::function<void(std::size_t from, std::size_t to,
                                                    std::size_t messages)>& tell) const;
  [[nodiscard]] const SymbolicBuffer& data(Rank rank) const { return data_[rank]; }
  [[nodiscard]] Sums& sums() { return sums_; }
  /// The problems found in the steps that have been executed. Execution stops at the first problem.
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
    std::deque<std::size_t> arrived;  ///< for kReceiveAny: senders in order of arrival
    /// The content that a fused receive-and-send step has received but not yet sent. The slot of
    /// the received message is already free.
    std::optional<Content> unsent_content;
  };

  /// The other lane and the element that a problem concerns, in addition to the lane's current
  /// step; -1: none.
  struct Besides {
    Rank rank = -1;
    Lane lane = -1;
    std::int64_t element = -1;
  };
  /// Adds a violation. The message begins with the location of the lane's current step.
  template <class... Args>
  void complain(ViolationKind kind, std::size_t number, Besides besides,
                fmt::format_string<Args...> format, Args&&... args);
  bool lane_exists(std::size_t at, Rank rank, Lane lane);
  [[nodiscard]] Step next_step(std::size_t number) const;
  [[nodiscard]] Obstacle obstacle(std::size_t number, const Step& step,
                                  std::optional<std::size_t> sender);
  Obstacle no_slot(std::size_t number, Rank to, Lane to_lane);

  void tick(std::size_t number, const Step& step);
  void perform(std::size_t number, const Step& step, std::optional<std::size_t> sender);
  void receive_any(std::size_t number, const Step& step, std::optional<std::size_t> sender);
  void reduce(std::size_t number, const Step& step);
  void switch_reduce(std::size_t number, const Step& step);
  void multicast(std::size_t number, const Step& step);
  [[nodiscard]] bool has_message_from(std::size_t number, Rank rank) const;
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
