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

/// Executes a schedule on symbols instead of numbers. The symbol of an element is the set of ranks
/// whose contributions the element contains. The caller decides which lane executes its next step.
/// The checker tries several orders, and the GUI follows the order of a recorded run.
///
/// Races between lanes of a rank (accesses to the same element in no defined order) are detected
/// with vector clocks, as in race detectors for threads. Each lane counts its steps in its clock,
/// and a message carries the clock of its sender. If a step waits for another lane, the clock that
/// the other lane had after the awaited step is merged into the clock of the waiting lane. If lane
/// A accesses an element in its k-th step and lane B accesses it later, the accesses are ordered if
/// B's clock has an entry of at least k for lane A. If B's clock has no such entry, the two
/// accesses are a race.
///
/// Lanes are numbered consecutively over all ranks: first the lanes of rank 0, then those of rank
/// 1, and so on. Cost of a step: proportional to the number of cells that its ranges contain
/// (SymbolicBuffer), plus a binary search for the first cell. Race detection adds a copy of a
/// clock, which has one word per lane.
class SymbolicRun {
 public:
  enum class Races { kIgnored, kLookedFor };
  /// Initially, the buffer of each rank in `contract.contributors` contains the rank's input; all
  /// other elements are undefined. Races are detected only if (total number of steps) × (total
  /// number of lanes) is at most 2^25. REQUIRES: `schedule` outlives this object.
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

  /// Executes the lane's next step. A fused step that receives and sends may need two calls: one to
  /// receive, one to send. Returns false if the lane is blocked. A kReceiveAny step receives the
  /// oldest message of the lane `sender` or, if `sender` is nullopt, the oldest of the messages of
  /// all lanes.
  bool try_step(std::size_t number, std::optional<std::size_t> sender = std::nullopt);

  /// The reason why a lane's next step is blocked.
  struct Obstacle {
    enum class Kind { kNone, kLane, kMessage, kAnyMessage, kSlot };
    Kind kind = Kind::kNone;
    std::size_t lane = 0;  ///< the lane that must execute more steps first; unused for kAnyMessage
  };
  [[nodiscard]] Obstacle obstacle(std::size_t number,
                                  std::optional<std::size_t> sender = std::nullopt);
  /// Returns a description of the obstacle; empty if there is none.
  [[nodiscard]] std::string obstacle_in_words(std::size_t number);

  /// Calls `tell(from, to, messages)` for each connection on which messages were sent but never
  /// received. `messages` is their number.
  void unreceived_messages(const std::function<void(std::size_t from, std::size_t to,
                                                    std::size_t messages)>& tell) const;
  [[nodiscard]] const SymbolicBuffer& data(Rank rank) const { return data_[rank]; }
  [[nodiscard]] Sums& sums() { return sums_; }
  /// The problems that were found in the steps executed so far. No step is executed after the first
  /// step with a problem.
  [[nodiscard]] const std::vector<Violation>& problems() const { return problems_; }

 private:
  using Clock = std::vector<std::uint32_t>;
  struct Message {
    Content content;
    Clock clock;
  };
  struct LaneWork {
    Clock clock;
    std::vector<Clock> history;       ///< the lane's clock after each of its steps, if races are
                                      ///< detected
    std::deque<std::size_t> arrived;  ///< for kReceiveAny: the sending lanes, in the order in which
                                      ///< their messages arrived
    /// The content that a fused step has received but not yet sent. The slot of the received
    /// message is already free.
    std::optional<Content> unsent_content;
  };

  /// Optional details of a problem in a lane's current step: another lane that is involved, and the
  /// element; -1: none.
  struct Besides {
    Rank rank = -1;
    Lane lane = -1;
    std::int64_t element = -1;
  };
  /// Records a violation. The violation's message begins with the location of the lane's current
  /// step.
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
