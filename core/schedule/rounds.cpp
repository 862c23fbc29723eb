#include "core/schedule/rounds.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace tutti::core {
namespace {

class RoundCount {
 public:
  explicit RoundCount(const Schedule& schedule) : schedule_(schedule) {
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
      first_.push_back(lanes_.size());
      for (Lane lane = 0; lane < schedule.lanes(rank); ++lane)
        lanes_.push_back({rank, lane, schedule.steps(rank, lane)});
    }
  }

  Rounds count() {
    sent_.assign(first_.size(), 0);
    std::deque<std::size_t> ready;
    for (std::size_t i = 0; i < lanes_.size(); ++i) ready.push_back(i);
    while (!ready.empty()) {
      const std::size_t number = ready.front();
      ready.pop_front();
      while (advance(number)) continue;
      for (const std::size_t other : woken_) ready.push_back(other);
      woken_.clear();
    }
    rounds_.most_sent = *std::max_element(sent_.begin(), sent_.end());
    return rounds_;
  }

 private:
  struct LaneWork {
    Rank rank = 0;
    Lane lane = 0;
    std::int64_t steps = 0;
    std::int64_t next = 0;
    std::int64_t depth = 0;                 ///< number of messages in the longest chain of
                                            ///< dependent messages that ends at the current step
    std::vector<std::int64_t> depths = {};  ///< the value of `depth` after each step
    std::map<std::size_t, std::deque<std::int64_t>> arrived = {};
    std::vector<std::size_t> waiting = {};  ///< lanes that wait for this lane
  };

  [[nodiscard]] std::size_t number(Rank rank, Lane lane) const {
    return first_[rank] + static_cast<std::size_t>(lane);
  }

  void send(std::size_t from, Rank to, Lane lane, std::int64_t depth) {
    const std::size_t target = number(to, lane);
    lanes_[target].arrived[from].push_back(depth + 1);
    rounds_.chain = std::max(rounds_.chain, depth + 1);
    ++rounds_.messages;
    woken_.push_back(target);
  }

  /// Receives a message for the step if one has arrived; otherwise returns false. `depth` becomes
  /// the maximum of `depth` and the message's chain length.
  bool receive(LaneWork& lane, const Step& step, std::int64_t& depth) {
    auto from = lane.arrived.begin();
    if (step.kind == StepKind::kReceiveAny) {
      while (from != lane.arrived.end() && from->second.empty()) ++from;
    } else {
      from =
          lane.arrived.find(number(step.from.rank(lane.rank, schedule_.ranks()), step.from.lane));
    }
    if (from == lane.arrived.end() || from->second.empty()) return false;
    depth = std::max(depth, from->second.front());
    from->second.pop_front();
    return true;
  }

  bool advance(std::size_t own) {
    LaneWork& lane = lanes_[own];
    if (lane.next >= lane.steps) return false;
    const Step step = schedule_.step(lane.rank, lane.lane, lane.next);
    std::int64_t depth = lane.depth;
    if (step.wait.lane >= 0 && step.wait.count > 0) {
      LaneWork& other = lanes_[number(lane.rank, step.wait.lane)];
      if (other.next < step.wait.count) {
        other.waiting.push_back(own);
        return false;
      }
      depth = std::max(depth, other.depths[step.wait.count - 1]);
    }
    if (receives(step.kind) && !receive(lane, step, depth)) return false;
    if (sends(step.kind)) send_on(own, lane, step, depth);
    if (step.kind == StepKind::kSwitchReduce) depth = sum_in_switch(step, depth);
    lane.depth = depth;
    lane.depths.push_back(depth);
    ++lane.next;
    woken_.insert(woken_.end(), lane.waiting.begin(), lane.waiting.end());
    lane.waiting.clear();
    return true;
  }

  void send_on(std::size_t own, const LaneWork& lane, const Step& step, std::int64_t depth) {
    const std::int64_t elements = receives(step.kind) ? step.target.count : step.source.count;
    sent_[lane.rank] += elements;
    rounds_.all_sent += elements;
    if (step.kind != StepKind::kMulticast)
      return send(own, step.to.rank(lane.rank, schedule_.ranks()), step.to.lane, depth);
    for (std::int32_t i = 0; i < step.group.count; ++i) {
      if (step.group.at(i) != lane.rank) send(own, step.group.at(i), step.to.lane, depth);
    }
  }

  /// The ranks of the group send to the switch, and one message brings the sum. Returns its depth.
  std::int64_t sum_in_switch(const Step& step, std::int64_t depth) {
    for (std::int32_t i = 0; i < step.group.count; ++i)
      sent_[step.group.at(i)] += step.source.count;
    rounds_.all_sent += step.group.count * step.source.count;
    rounds_.chain = std::max(rounds_.chain, depth + 1);
    ++rounds_.messages;
    return depth + 1;
  }

  const Schedule& schedule_;
  std::vector<std::size_t> first_;
  std::vector<LaneWork> lanes_;
  std::vector<std::size_t> woken_;
  std::vector<std::int64_t> sent_;
  Rounds rounds_;
};

}  // namespace

Rounds rounds_of(const Schedule& schedule) { return RoundCount(schedule).count(); }

}  // namespace tutti::core
