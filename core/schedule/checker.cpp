// The checker runs a schedule with symbols instead of numbers (symbolic_run.h) in several orders,
// and examines the final state.

#include "core/schedule/checker.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/schedule/print.h"
#include "core/schedule/symbolic_run.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMaxProblems = 8;

class Checker {
 public:
  Checker(const Schedule& schedule, const Contract& contract)
      : schedule_(schedule),
        contract_(contract),
        run_(schedule, contract, SymbolicRun::Races::kLookedFor) {}

  std::vector<Violation> run(int order, std::uint64_t seed) {
    play(order, seed);
    if (!run_.problems().empty()) return run_.problems();
    report_stuck_lanes();
    if (problems_.empty()) report_unreceived_messages();
    if (problems_.empty()) report_results();
    return std::move(problems_);
  }

 private:
  void complain(Violation violation) {
    if (problems_.size() < kMaxProblems) problems_.push_back(std::move(violation));
  }

  /// Runs the lanes in the given order. Order 0: from the first lane to the last, run each lane
  /// until it is blocked. Order 1: like order 0, but from the last lane to the first. Order 2:
  /// round robin, one step of each lane at a time. Order 3 and above: random.
  void play(int order, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::size_t> turn(run_.lanes());
    for (std::size_t i = 0; i < turn.size(); ++i) turn[i] = order == 1 ? turn.size() - 1 - i : i;
    bool moved = true;
    while (moved && run_.problems().empty()) {
      moved = false;
      if (order >= 3) {
        for (std::size_t i = turn.size(); i > 1; --i) std::swap(turn[i - 1], turn[random.below(i)]);
      }
      for (const std::size_t number : turn) {
        std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
        if (order == 2) most = 1;
        if (order >= 3) most = 1 + random.below(4);
        while (most-- > 0 && run_.try_step(number)) moved = true;
        if (!run_.problems().empty()) return;
      }
    }
  }

  void report_stuck_lanes() {
    std::vector<std::size_t> stuck;
    for (std::size_t number = 0; number < run_.lanes(); ++number) {
      if (!run_.lane(number).done()) stuck.push_back(number);
    }
    if (stuck.empty()) return;
    const std::vector<std::size_t> circle = circle_from(stuck.front());
    for (const std::size_t number : circle.empty() ? stuck : circle) {
      const SymbolicRun::LaneState& lane = run_.lane(number);
      const Step step = schedule_.step(lane.rank, lane.lane, lane.next);
      const std::optional<std::size_t> awaited = awaited_by(number);
      complain({ViolationKind::kDeadlock, lane.rank, lane.lane, lane.next,
                awaited ? run_.lane(*awaited).rank : -1, awaited ? run_.lane(*awaited).lane : -1,
                -1,
                fmt::format("{}: rank {} lane {} step {} ({}) {}",
                            circle.empty() ? "deadlock"
                                           : fmt::format("deadlock of {} lanes", circle.size()),
                            lane.rank, lane.lane, lane.next, to_string(step.kind),
                            run_.obstacle_in_words(number))});
    }
  }

  /// Returns the lane that a blocked lane waits for; nullopt if a message from any of several lanes
  /// would unblock it.
  std::optional<std::size_t> awaited_by(std::size_t number) {
    using Kind = SymbolicRun::Obstacle::Kind;
    const SymbolicRun::Obstacle obstacle = run_.obstacle(number);
    if (obstacle.kind == Kind::kNone || obstacle.kind == Kind::kAnyMessage) return std::nullopt;
    return obstacle.lane;
  }

  /// Finds a cycle of waiting lanes, beginning the search at `start`. Returns the lanes of the
  /// cycle; each lane waits for the next lane. Returns an empty list if the search ends at a lane
  /// that is done, or at a lane that accepts any message.
  std::vector<std::size_t> circle_from(std::size_t start) {
    std::vector<std::size_t> path{start};
    std::vector<bool> seen(run_.lanes());
    seen[start] = true;
    while (const std::optional<std::size_t> next = awaited_by(path.back())) {
      if (run_.lane(*next).done()) return {};
      if (seen[*next]) return {std::find(path.begin(), path.end(), *next), path.end()};
      seen[*next] = true;
      path.push_back(*next);
    }
    return {};
  }

  void report_unreceived_messages() {
    run_.unreceived_messages(
        [this](std::size_t sender, std::size_t receiver, std::size_t messages) {
          const SymbolicRun::LaneState& from = run_.lane(sender);
          const SymbolicRun::LaneState& to = run_.lane(receiver);
          complain(
              {ViolationKind::kNeverReceived, to.rank, to.lane, -1, from.rank, from.lane, -1,
               fmt::format("{} messages from rank {} lane {} are never received by rank {} lane {}",
                           messages, from.rank, from.lane, to.rank, to.lane)});
        });
  }

  void report_results() {
    for (std::int32_t i = 0; i < contract_.receivers.count; ++i) {
      const Rank rank = contract_.receivers.at(i);
      for (const Contract::Output& output : contract_.outputs(rank)) report_output(rank, output);
    }
  }

  void report_output(Rank rank, const Contract::Output& output) {
    Sums& sums = run_.sums();
    Sums::Id all = sums.single(output.from.first);
    for (std::int32_t i = 1; i < output.from.count; ++i)
      all = sums.add(all, sums.single(output.from.at(i)));
    for (const SymbolicBuffer::Cell& cell : run_.data(rank).cells()) {
      const std::int64_t begin = std::max(cell.begin, output.at.offset);
      if (begin >= std::min(cell.end, output.at.end())) continue;
      const std::int64_t got = cell.first + begin - cell.begin;
      const std::int64_t wanted = output.first + begin - output.at.offset;
      if (cell.sum != all)
        return complain({ViolationKind::kWrongSum, rank, -1, -1, -1, -1, begin,
                         fmt::format("at the end, element {} of rank {} holds {}", begin, rank,
                                     sums.show(cell.sum, output.from))});
      if (got != wanted)
        return complain(
            {ViolationKind::kWrongElement, rank, -1, -1, -1, -1, begin,
             fmt::format("at the end, element {} of rank {} holds element {} instead of {}", begin,
                         rank, got, wanted)});
    }
  }

  const Schedule& schedule_;
  const Contract& contract_;
  SymbolicRun run_;
  std::vector<Violation> problems_;
};

}  // namespace

std::vector<Violation> check(const Schedule& schedule, const Contract& contract,
                             const CheckOptions& options) {
  for (int order = 0; order < 3 + options.random_orders; ++order) {
    std::vector<Violation> problems =
        Checker(schedule, contract).run(order, options.seed + static_cast<std::uint64_t>(order));
    if (!problems.empty()) return problems;
  }
  return {};
}

}  // namespace tutti::core
