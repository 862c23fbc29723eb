// The checker runs a schedule on symbols (symbolic_run.h) in several orders, and looks at what is left in the end.

#include "core/schedule/checker.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/schedule/print.h"
#include "core/schedule/symbolic_run.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMostProblems = 8;

class Checker {
 public:
  Checker(const Schedule& schedule, const Contract& contract)
      : schedule_(schedule), contract_(contract), run_(schedule, contract, SymbolicRun::Races::kLookedFor) {}

  std::vector<std::string> run(int order, std::uint64_t seed) {
    play(order, seed);
    if (!run_.problems().empty()) return run_.problems();
    report_stuck_lanes();
    if (problems_.empty()) report_untaken_messages();
    if (problems_.empty()) report_results();
    return std::move(problems_);
  }

 private:
  template <class... Args>
  void complain(fmt::format_string<Args...> format, Args&&... args) {
    if (problems_.size() < kMostProblems) problems_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  /// Orders 0: every lane as far as it goes, first to last; 1: last to first; 2: one step each in turn; 3…: random.
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
    for (std::size_t number = 0; number < run_.lanes(); ++number) {
      const SymbolicRun::LaneState& lane = run_.lane(number);
      if (lane.done()) continue;
      const Step step = schedule_.step(lane.rank, lane.lane, lane.next);
      complain("deadlock: rank {} lane {} step {} ({}) {}", lane.rank, lane.lane, lane.next, to_string(step.kind),
               run_.obstacle_in_words(number));
    }
  }

  void report_untaken_messages() {
    run_.untaken([this](std::size_t sender, std::size_t receiver, std::size_t messages) {
      const SymbolicRun::LaneState& from = run_.lane(sender);
      const SymbolicRun::LaneState& to = run_.lane(receiver);
      complain("{} messages from rank {} lane {} are never received by rank {} lane {}", messages, from.rank, from.lane,
               to.rank, to.lane);
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
    for (std::int32_t i = 1; i < output.from.count; ++i) all = sums.add(all, sums.single(output.from.at(i)));
    for (const SymbolicBuffer::Cell& cell : run_.data(rank).cells()) {
      const std::int64_t begin = std::max(cell.begin, output.at.offset);
      if (begin >= std::min(cell.end, output.at.end())) continue;
      const std::int64_t got = cell.first + begin - cell.begin;
      const std::int64_t wanted = output.first + begin - output.at.offset;
      if (cell.sum != all)
        return complain("in the end element {} of rank {} holds {}", begin, rank, sums.show(cell.sum, output.from));
      if (got != wanted)
        return complain("in the end element {} of rank {} holds element {}, not {}", begin, rank, got, wanted);
    }
  }

  const Schedule& schedule_;
  const Contract& contract_;
  SymbolicRun run_;
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
