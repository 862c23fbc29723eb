// The checker runs a schedule on symbols. Every element of every buffer holds a *sum*: the set of ranks whose
// contribution it contains. Sets are interned, so an element is one 32-bit number and adding two sums is a table
// look-up; a schedule over 64 ranks and thousands of elements is checked in milliseconds.
//
// Order between lanes is tracked with vector clocks (as race detectors for threads do): each lane counts its steps, a
// message carries its sender's clock, a wait copies the awaited lane's clock as it was after the awaited step. An
// access is ordered after an earlier one of another lane if the accessor's clock has reached that lane's count.

#include "core/schedule/checker.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/schedule/print.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMostProblems = 8;
constexpr std::int64_t kMostCells = std::int64_t{1} << 27;
constexpr std::size_t kMostClockWords = std::size_t{1} << 25;

/// Interned sets of contributing ranks.
class Sums {
 public:
  using Id = std::uint32_t;
  static constexpr Id kUndefined = 0;
  static constexpr Id kTwice = 1;  ///< some contribution is in there more than once

  explicit Sums(std::int32_t ranks) : words_((static_cast<std::size_t>(ranks) + 63) / 64) { sets_.assign(2, {}); }

  Id single(Rank rank) {
    std::vector<std::uint64_t> set(words_, 0);
    set[static_cast<std::size_t>(rank) / 64] = std::uint64_t{1} << (rank % 64);
    return intern(std::move(set));
  }

  Id add(Id a, Id b) {
    if (a == kUndefined || b == kUndefined) return kUndefined;
    if (a == kTwice || b == kTwice) return kTwice;
    const auto [known, fresh] = added_.try_emplace(std::pair(std::min(a, b), std::max(a, b)), kTwice);
    if (!fresh) return known->second;
    std::vector<std::uint64_t> set = sets_[a];
    for (std::size_t w = 0; w < words_; ++w) {
      if ((set[w] & sets_[b][w]) != 0) return kTwice;
      set[w] |= sets_[b][w];
    }
    return added_[std::pair(std::min(a, b), std::max(a, b))] = intern(std::move(set));
  }

  [[nodiscard]] std::string show(Id id, const RankSet& contributors) const {
    if (id == kUndefined) return "nothing";
    if (id == kTwice) return "some contribution twice";
    std::string missing;
    for (std::int32_t i = 0; i < contributors.count; ++i) {
      const auto r = static_cast<std::size_t>(contributors.at(i));
      if ((sets_[id][r / 64] >> (r % 64) & 1) == 0) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", r);
    }
    return missing.empty() ? "everything" : "all but the contribution of rank " + missing;
  }

 private:
  Id intern(std::vector<std::uint64_t> set) {
    const auto [known, fresh] = ids_.try_emplace(set, static_cast<Id>(sets_.size()));
    if (fresh) sets_.push_back(std::move(set));
    return known->second;
  }

  std::size_t words_;
  std::vector<std::vector<std::uint64_t>> sets_;
  std::map<std::vector<std::uint64_t>, Id> ids_;
  std::map<std::pair<Id, Id>, Id> added_;
};

using Clock = std::vector<std::uint32_t>;

struct Message {
  std::vector<Sums::Id> content;
  Clock clock;
};

/// When an element was last touched, by which lane. Lane numbers here run over all ranks.
struct Access {
  std::uint32_t lane = 0;
  std::uint32_t count = 0;  ///< 0: never
};
struct Cell {
  Sums::Id sum = Sums::kUndefined;
  Access written;
  std::vector<Access> read;
};

class Checker {
 public:
  Checker(const Schedule& schedule, const Contract& contract)
      : schedule_(schedule), contract_(contract), sums_(schedule.ranks()) {}

  std::vector<std::string> run(int order, std::uint64_t seed) {
    if (!set_up()) return std::move(problems_);
    play(order, seed);
    if (problems_.empty()) report_stuck_lanes();
    if (problems_.empty()) report_untaken_messages();
    if (problems_.empty()) report_results();
    return std::move(problems_);
  }

 private:
  struct LaneState {
    Rank rank = 0;
    Lane lane = 0;
    std::int64_t next = 0;
    std::int64_t steps = 0;
    Clock clock;
    std::vector<Clock> history;       ///< the clock after each step, if clocks are kept
    std::deque<std::size_t> arrived;  ///< senders, in order of arrival: for kReceiveAny
    /// What the first half of a receive-…-send step has taken and not sent on yet. Its slot is free by then.
    std::optional<std::vector<Sums::Id>> in_hand;
  };

  template <class... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    if (problems_.size() < kMostProblems) problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] std::string where(const LaneState& lane) const {
    return fmt::format("rank {} lane {} step {}", lane.rank, lane.lane, lane.next);
  }

  bool set_up() {
    std::int64_t cells = 0;
    for (Rank r = 0; r < schedule_.ranks(); ++r) cells += contract_.elements + schedule_.scratch(r);
    if (cells > kMostCells) {
      complain("{} elements over all ranks are too many to check; take fewer ranks or elements", cells);
      return false;
    }
    data_.resize(static_cast<std::size_t>(schedule_.ranks()));
    scratch_.resize(static_cast<std::size_t>(schedule_.ranks()));
    for (Rank r = 0; r < schedule_.ranks(); ++r) {
      data_[static_cast<std::size_t>(r)].resize(static_cast<std::size_t>(contract_.elements));
      scratch_[static_cast<std::size_t>(r)].resize(static_cast<std::size_t>(schedule_.scratch(r)));
      if (contract_.contributors.contains(r)) {
        for (Cell& cell : data_[static_cast<std::size_t>(r)]) cell.sum = sums_.single(r);
      }
      first_lane_.push_back(lanes_.size());
      for (Lane l = 0; l < schedule_.lanes(r); ++l) lanes_.push_back({r, l, 0, schedule_.steps(r, l), {}, {}, {}, {}});
    }
    std::size_t steps = lanes_.size();
    for (const LaneState& lane : lanes_) steps += static_cast<std::size_t>(lane.steps);
    keep_clocks_ = steps * lanes_.size() <= kMostClockWords;
    if (keep_clocks_) {
      for (LaneState& lane : lanes_) lane.clock.assign(lanes_.size(), 0);
    }
    return true;
  }

  [[nodiscard]] std::size_t lane_number(Rank rank, Lane lane) const {
    return first_lane_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(lane);
  }

  bool lane_exists(const LaneState& at, Rank rank, Lane lane) {
    if (rank >= 0 && rank < schedule_.ranks() && lane >= 0 && lane < schedule_.lanes(rank)) return true;
    complain("{}: there is no lane {} of rank {}", where(at), lane, rank);
    return false;
  }

  /// Orders 0: every lane as far as it goes, first to last; 1: last to first; 2: one step each in turn; 3…: random.
  void play(int order, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::size_t> turn(lanes_.size());
    for (std::size_t i = 0; i < turn.size(); ++i) turn[i] = order == 1 ? turn.size() - 1 - i : i;
    bool moved = true;
    while (moved && problems_.empty()) {
      moved = false;
      if (order >= 3) {
        for (std::size_t i = turn.size(); i > 1; --i) std::swap(turn[i - 1], turn[random.below(i)]);
      }
      for (const std::size_t number : turn) {
        std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        if (order == 2) most = 1;
        if (order >= 3) most = 1 + random.below(4);
        while (most-- > 0 && try_step(number)) moved = true;
        if (!problems_.empty()) return;
      }
    }
  }

  // --- one step ---

  /// Performs the lane's next step, or the half of it that can be done now, if nothing holds it back.
  bool try_step(std::size_t number) {
    LaneState& lane = lanes_[number];
    if (lane.next >= lane.steps || !problems_.empty()) return false;
    const Step step = schedule_.step(lane.rank, lane.lane, lane.next);
    if (!obstacle(number, step).empty() || !problems_.empty()) return false;

    if (!lane.in_hand) {
      tick(number, step);
      perform(number, step);
      if (lane.in_hand) return true;
    } else {
      post(number, step.to.rank(lane.rank, schedule_.ranks()), step.to.lane, std::move(*lane.in_hand));
      lane.in_hand.reset();
    }
    if (keep_clocks_) lane.history.push_back(lane.clock);
    ++lane.next;
    return true;
  }

  void tick(std::size_t number, const Step& step) {
    if (!keep_clocks_) return;
    LaneState& lane = lanes_[number];
    ++lane.clock[number];
    if (step.wait.lane < 0 || step.wait.count == 0) return;
    const LaneState& awaited = lanes_[lane_number(lane.rank, step.wait.lane)];
    join(lane.clock, awaited.history[static_cast<std::size_t>(step.wait.count - 1)]);
  }

  /// What keeps the lane from doing `step` now; "" if nothing does.
  std::string obstacle(std::size_t number, const Step& step) {
    const LaneState& lane = lanes_[number];
    if (lane.in_hand) return no_slot(number, step.to.rank(lane.rank, schedule_.ranks()), step.to.lane);
    if (step.wait.lane >= 0) {
      if (!lane_exists(lane, lane.rank, step.wait.lane)) return "";
      const LaneState& awaited = lanes_[lane_number(lane.rank, step.wait.lane)];
      if (awaited.next < step.wait.count)
        return fmt::format("waits for {} steps of lane {}, which stands at {}", step.wait.count, step.wait.lane,
                           awaited.next);
    }
    if (step.kind == StepKind::kReceiveAny) {
      if (lane.arrived.empty()) return "waits for a message from anyone";
    } else if (receives(step.kind)) {
      const Rank sender = step.from.rank(lane.rank, schedule_.ranks());
      if (!lane_exists(lane, sender, step.from.lane)) return "";
      const auto queue = messages_.find({lane_number(sender, step.from.lane), number});
      if (queue == messages_.end() || queue->second.empty())
        return fmt::format("waits for a message from rank {} lane {}", sender, step.from.lane);
    } else if (step.kind == StepKind::kMulticast) {
      for (std::int32_t i = 0; i < step.group.count; ++i) {
        if (step.group.at(i) == lane.rank) continue;
        std::string full = no_slot(number, step.group.at(i), step.to.lane);
        if (!full.empty()) return full;
      }
    } else if (step.kind == StepKind::kSend) {
      return no_slot(number, step.to.rank(lane.rank, schedule_.ranks()), step.to.lane);
    }
    return "";
  }

  std::string no_slot(std::size_t number, Rank to, Lane to_lane) {
    if (!lane_exists(lanes_[number], to, to_lane)) return "";
    const auto queue = messages_.find({number, lane_number(to, to_lane)});
    const bool full =
        queue != messages_.end() && queue->second.size() >= static_cast<std::size_t>(schedule_.credits(to, to_lane));
    return full ? fmt::format("waits for a free slot at rank {} lane {}", to, to_lane) : "";
  }

  void perform(std::size_t number, const Step& step) {
    LaneState& lane = lanes_[number];
    const Rank rank = lane.rank;
    switch (step.kind) {
      case StepKind::kNop: return;
      case StepKind::kSend:
        return post(number, step.to.rank(rank, schedule_.ranks()), step.to.lane, read(number, rank, step.source));
      case StepKind::kReceive:
        return write(number, step.target, take(number, sender_of(lane, step), step.target.count));
      case StepKind::kReceiveAny: return receive_any(number, step);
      case StepKind::kReceiveReduce: return write(number, step.target, received_sum(number, step, step.target));
      case StepKind::kReceiveSend:
        lane.in_hand = take(number, sender_of(lane, step), step.target.count);
        return write(number, step.target, *lane.in_hand);
      case StepKind::kReceiveReduceSend: lane.in_hand = received_sum(number, step, step.source); return;
      case StepKind::kReceiveReduceCopySend:
        lane.in_hand = received_sum(number, step, step.target);
        return write(number, step.target, *lane.in_hand);
      case StepKind::kCopy:
        if (step.source.count != step.target.count)
          return complain("{}: copies {} elements to {}", where(lane), step.source.count, step.target.count);
        return write(number, step.target, read(number, rank, step.source));
      case StepKind::kReduce: return reduce(number, step);
      case StepKind::kScale: return write(number, step.target, read(number, rank, step.target));
      case StepKind::kMulticast: {
        const std::vector<Sums::Id> content = read(number, rank, step.source);
        for (std::int32_t i = 0; i < step.group.count; ++i) {
          if (step.group.at(i) != rank) post(number, step.group.at(i), step.to.lane, content);
        }
        return;
      }
      case StepKind::kSwitchReduce: return switch_reduce(number, step);
    }
  }

  void receive_any(std::size_t number, const Step& step) {
    LaneState& lane = lanes_[number];
    const std::size_t sender = lane.arrived.front();
    Range target = step.target;
    target.offset += step.stride * schedule_.arrival_slot(lane.rank, lane.lane, lanes_[sender].rank);
    write(number, target, take(number, sender, target.count));
  }

  void reduce(std::size_t number, const Step& step) {
    const Rank rank = lanes_[number].rank;
    if (step.inputs < 1) return complain("{}: reduces {} inputs", where(lanes_[number]), step.inputs);
    std::vector<Sums::Id> sum;
    for (std::int32_t i = 0; i < step.inputs; ++i) {
      add_to(sum, read(number, rank, {step.source.buffer, step.source.offset + i * step.stride, step.target.count}));
    }
    if (step.accumulate) add_to(sum, read(number, rank, step.target));
    report_twice(number, sum);
    write(number, step.target, sum);
  }

  void switch_reduce(std::size_t number, const Step& step) {
    std::vector<Sums::Id> sum;
    if (step.source.count != step.target.count)
      return complain("{}: sums {} elements into {}", where(lanes_[number]), step.source.count, step.target.count);
    for (std::int32_t i = 0; i < step.group.count; ++i) {
      const Rank rank = step.group.at(i);
      if (keep_clocks_ && !has_heard_of(number, rank)) {
        return complain("{}: reads the buffer of rank {} without having heard that it is there", where(lanes_[number]),
                        rank);
      }
      add_to(sum, read(number, rank, step.source));
    }
    report_twice(number, sum);
    write(number, step.target, sum);
  }

  /// Something that `rank` did lies before the lane's step at hand.
  [[nodiscard]] bool has_heard_of(std::size_t number, Rank rank) const {
    if (rank == lanes_[number].rank) return true;
    for (Lane l = 0; l < schedule_.lanes(rank); ++l) {
      if (lanes_[number].clock[lane_number(rank, l)] > 0) return true;
    }
    return false;
  }

  void add_to(std::vector<Sums::Id>& sum, const std::vector<Sums::Id>& more) {
    if (sum.empty()) {
      sum = more;
      return;
    }
    for (std::size_t i = 0; i < std::min(sum.size(), more.size()); ++i) sum[i] = sums_.add(sum[i], more[i]);
  }

  void report_twice(std::size_t number, const std::vector<Sums::Id>& sum) {
    const auto bad = std::find(sum.begin(), sum.end(), Sums::kTwice);
    if (bad != sum.end())
      complain("{}: adds a contribution twice (at its element {})", where(lanes_[number]), bad - sum.begin());
  }

  std::vector<Sums::Id> received_sum(std::size_t number, const Step& step, const Range& own) {
    std::vector<Sums::Id> sum = take(number, sender_of(lanes_[number], step), own.count);
    add_to(sum, read(number, lanes_[number].rank, own));
    report_twice(number, sum);
    return sum;
  }

  [[nodiscard]] std::size_t sender_of(const LaneState& lane, const Step& step) const {
    return lane_number(step.from.rank(lane.rank, schedule_.ranks()), step.from.lane);
  }

  // --- messages ---

  void post(std::size_t from, Rank to, Lane to_lane, std::vector<Sums::Id> content) {
    const std::size_t number = lane_number(to, to_lane);
    messages_[{from, number}].push_back({std::move(content), lanes_[from].clock});
    lanes_[number].arrived.push_back(from);
  }

  std::vector<Sums::Id> take(std::size_t number, std::size_t sender, std::int64_t count) {
    LaneState& lane = lanes_[number];
    std::deque<Message>& queue = messages_[{sender, number}];
    Message message = std::move(queue.front());
    queue.pop_front();
    lane.arrived.erase(std::find(lane.arrived.begin(), lane.arrived.end(), sender));
    if (keep_clocks_) join(lane.clock, message.clock);
    if (static_cast<std::int64_t>(message.content.size()) != count) {
      complain("{}: expects {} elements, rank {} lane {} sent {}", where(lane), count, lanes_[sender].rank,
               lanes_[sender].lane, message.content.size());
    }
    message.content.resize(static_cast<std::size_t>(count));
    return std::move(message.content);
  }

  static void join(Clock& clock, const Clock& other) {
    for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
  }

  // --- buffers ---

  /// The cells of a range; nothing (and a problem) if it leaves its buffer.
  Cell* cells(std::size_t number, Rank rank, const Range& range) {
    std::vector<Cell>& buffer = (range.buffer == Buffer::kData ? data_ : scratch_)[static_cast<std::size_t>(rank)];
    if (range.offset >= 0 && range.count >= 0 && range.end() <= static_cast<std::int64_t>(buffer.size()))
      return buffer.data() + range.offset;
    complain("{}: {}[{}..{}) of rank {} reaches outside its {} elements", where(lanes_[number]),
             range.buffer == Buffer::kData ? "data" : "scratch", range.offset, range.end(), rank, buffer.size());
    return nullptr;
  }

  std::vector<Sums::Id> read(std::size_t number, Rank rank, const Range& range) {
    std::vector<Sums::Id> content(static_cast<std::size_t>(std::max<std::int64_t>(0, range.count)), Sums::kUndefined);
    Cell* const cell = cells(number, rank, range);
    if (!cell) return content;
    for (std::int64_t i = 0; i < range.count; ++i) {
      if (cell[i].sum == Sums::kUndefined) {
        complain("{}: reads element {} of {} of rank {} before anything was written there", where(lanes_[number]),
                 range.offset + i, range.buffer == Buffer::kData ? "data" : "scratch", rank);
        return content;
      }
      content[static_cast<std::size_t>(i)] = cell[i].sum;
      if (keep_clocks_) note_read(number, cell[i], range.offset + i);
    }
    return content;
  }

  void write(std::size_t number, const Range& range, const std::vector<Sums::Id>& content) {
    Cell* const cell = cells(number, lanes_[number].rank, range);
    if (!cell) return;
    for (std::int64_t i = 0; i < range.count; ++i) {
      if (keep_clocks_) note_write(number, cell[i], range.offset + i);
      cell[i].sum = content[static_cast<std::size_t>(i)];
    }
  }

  [[nodiscard]] bool ordered(std::size_t number, const Access& earlier) const {
    return earlier.count == 0 || lanes_[number].clock[earlier.lane] >= earlier.count;
  }

  void complain_of_race(std::size_t number, const Access& other, std::int64_t element) {
    complain("{}: touches element {} while step {} of rank {} lane {} may do so too; nothing orders the two",
             where(lanes_[number]), element, other.count - 1, lanes_[other.lane].rank, lanes_[other.lane].lane);
  }

  void note_read(std::size_t number, Cell& cell, std::int64_t element) {
    if (!ordered(number, cell.written)) return complain_of_race(number, cell.written, element);
    const Access access{static_cast<std::uint32_t>(number), lanes_[number].clock[number]};
    for (Access& earlier : cell.read) {
      if (earlier.lane != access.lane) continue;
      earlier = access;
      return;
    }
    cell.read.push_back(access);
  }

  void note_write(std::size_t number, Cell& cell, std::int64_t element) {
    if (!ordered(number, cell.written)) return complain_of_race(number, cell.written, element);
    for (const Access& earlier : cell.read) {
      if (!ordered(number, earlier)) return complain_of_race(number, earlier, element);
    }
    cell.read.clear();
    cell.written = {static_cast<std::uint32_t>(number), lanes_[number].clock[number]};
  }

  // --- the end ---

  void report_stuck_lanes() {
    for (std::size_t number = 0; number < lanes_.size(); ++number) {
      const LaneState& lane = lanes_[number];
      if (lane.next >= lane.steps) continue;
      const Step step = schedule_.step(lane.rank, lane.lane, lane.next);
      complain("deadlock: {} ({}) {}", where(lane), to_string(step.kind), obstacle(number, step));
    }
  }

  void report_untaken_messages() {
    for (const auto& [connection, queue] : messages_) {
      if (queue.empty()) continue;
      const LaneState& from = lanes_[connection.first];
      const LaneState& to = lanes_[connection.second];
      complain("{} messages from rank {} lane {} are never received by rank {} lane {}", queue.size(), from.rank,
               from.lane, to.rank, to.lane);
    }
  }

  void report_results() {
    Sums::Id all = sums_.single(contract_.contributors.first);
    for (std::int32_t i = 1; i < contract_.contributors.count; ++i)
      all = sums_.add(all, sums_.single(contract_.contributors.at(i)));
    for (std::int32_t i = 0; i < contract_.receivers.count; ++i) {
      const Rank rank = contract_.receivers.at(i);
      for (std::int64_t e = 0; e < contract_.elements; ++e) {
        const Sums::Id got = data_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(e)].sum;
        if (got == all) continue;
        complain("in the end element {} of rank {} holds {}", e, rank, sums_.show(got, contract_.contributors));
        break;
      }
    }
  }

  const Schedule& schedule_;
  const Contract& contract_;
  Sums sums_;
  std::vector<std::vector<Cell>> data_, scratch_;
  std::vector<std::size_t> first_lane_;
  std::vector<LaneState> lanes_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<Message>> messages_;
  bool keep_clocks_ = false;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> check(const Schedule& schedule, const Contract& contract, const CheckOptions& options) {
  for (int order = 0; order < 3 + options.random_orders; ++order) {
    std::vector<std::string> problems =
        Checker(schedule, contract).run(order, options.seed + static_cast<std::uint64_t>(order));
    if (!problems.empty()) return problems;
  }
  return {};
}

}  // namespace tutti::core
