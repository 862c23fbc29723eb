// Every operation of the log has a start and an end on its rank, but the log does not say what an
// operation waits for. A collective of a late rank and a slow collective look the same on a single
// rank. They differ if all ranks are compared: if two ranks wait for each other, their operations
// end at the same time although they start at different times. This file finds such operations in
// the first half of the steps. The clocks of ranks agree to about a millisecond.
//
// The time of a step then follows from the durations of computations alone: tasks are executed in
// the order of their ranks, until all are complete. A task that waits for a partner that has not
// started stops its rank; the other ranks go on.

#include "core/import/operation_graph.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/base/median.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
/// The ends of operations coincide if they differ by less than this.
constexpr std::int64_t kSameEnd = 3 * kMillisecond;
/// Starts coincide if they differ by less than this.
constexpr std::int64_t kSameStart = 2 * kMillisecond;
/// Two operations of a rank start together if they start within this time.
constexpr std::int64_t kTogether = 1'000;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

bool is_collective(const std::string& name) {
  return name.ends_with("-all-reduce") || name.ends_with("-all-gather") ||
         name.ends_with("-reduce-scatter");
}

}  // namespace

class OperationGraphMaker {
 public:
  explicit OperationGraphMaker(const std::vector<LoggedOperation>& operations)
      : operations_(operations) {}

  Expected<OperationGraph> make() {
    collect_tasks();
    collect_steps();
    if (graph_.steps_.size() < 2)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing}, fmt::format("in this log, every rank executes every operation "
                                               "in only {} steps; at least 2 such steps are needed",
                                               graph_.steps_.size())));
    // No sum of times may overflow.
    std::int64_t longest = 0;
    for (const OperationGraph::Step& step : graph_.steps_) longest = std::max(longest, step.time);
    constexpr double kMostNanoseconds = 4e18;
    const auto parts = static_cast<double>(graph_.tasks_.size() + graph_.steps_.size());
    if (3 * static_cast<double>(longest) * parts > kMostNanoseconds)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kTooLarge},
          fmt::format("a step of this log lasts {:.0f} s, which is too long for {} operations; do "
                      "all rows use the same clock?",
                      static_cast<double>(longest) / 1e9, graph_.tasks_.size())));
    graph_.inferred_from_ = graph_.steps_.size() / 2;
    order_tasks();
    find_messages();
    find_collectives();
    measure_transfers();
    if (graph_.step_time(graph_.steps_.front().durations) < 0)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kConflict},
          "the operations of this log wait for each other in a cycle, so no rank can complete a "
          "step; are the operations of all ranks in the log?"));
    return std::move(graph_);
  }

 private:
  using Task = OperationGraph::Task;
  using Kind = OperationGraph::Kind;
  struct Times {
    std::int64_t start = 0, end = 0;
    bool known = false;
  };

  void collect_tasks() {
    std::map<std::int64_t, std::tuple<std::int64_t, std::int64_t>> places;
    std::set<std::string> names;
    for (const LoggedOperation& o : operations_) {
      places[o.rank] = {o.dp_rank, o.stage};
      names.insert(o.name);
    }
    graph_.names_.assign(names.begin(), names.end());
    std::map<std::int64_t, std::int32_t> rank_index;
    for (const auto& [rank, place] : places) {
      rank_index[rank] = static_cast<std::int32_t>(graph_.ranks_.size());
      graph_.ranks_.push_back({rank, std::get<0>(place), std::get<1>(place), {}, 0});
    }
    // A task exists if most steps have it.
    std::map<Key, std::size_t> found;
    std::set<std::int64_t> steps;
    for (const LoggedOperation& o : operations_) {
      const auto name = std::lower_bound(graph_.names_.begin(), graph_.names_.end(), o.name);
      const Key key{rank_index[o.rank], static_cast<std::int32_t>(name - graph_.names_.begin()),
                    o.sequence};
      keys_.push_back(key);
      ++found[key];
      steps.insert(o.step);
    }
    for (const auto& [key, number] : found) {
      if (2 * number < steps.size()) continue;
      task_of_[key] = static_cast<std::int32_t>(graph_.tasks_.size());
      Task task;
      std::tie(task.rank, task.name, task.sequence) = key;
      graph_.tasks_.push_back(std::move(task));
    }
  }

  void collect_steps() {
    std::map<std::int64_t, std::vector<Times>> steps;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const auto task = task_of_.find(keys_[i]);
      auto& times = steps[operations_[i].step];
      times.resize(graph_.tasks_.size());
      if (task != task_of_.end())
        times[at(task->second)] = {operations_[i].start_ns, operations_[i].end_ns, true};
    }
    std::vector<double> sum(graph_.names_.size()), count(graph_.names_.size());
    for (auto& [number, times] : steps) {
      const bool complete =
          std::all_of(times.begin(), times.end(), [](const Times& t) { return t.known; });
      if (!complete || times.empty()) {
        ++graph_.other_steps_;
        continue;
      }
      OperationGraph::Step step;
      step.number = number;
      std::int64_t first = times.front().start, last = times.front().end;
      for (std::size_t t = 0; t < times.size(); ++t) {
        first = std::min(first, times[t].start);
        last = std::max(last, times[t].end);
        step.durations.push_back(times[t].end - times[t].start);
        sum[at(graph_.tasks_[t].name)] += static_cast<double>(step.durations.back());
        count[at(graph_.tasks_[t].name)] += 1;
      }
      for (Times& t : times) t.start -= first, t.end -= first;
      step.time = last - first;
      graph_.steps_.push_back(std::move(step));
      times_.push_back(std::move(times));
    }
    for (std::size_t n = 0; n < sum.size(); ++n)
      graph_.mean_of_name_.push_back(count[n] > 0 ? sum[n] / count[n] : 0);
  }

  /// Returns the median of a quantity over the steps from which the graph is inferred.
  template <class Value>
  [[nodiscard]] std::int64_t median_of(const Value& value) const {
    std::vector<std::int64_t> all;
    for (std::size_t s = 0; s < graph_.inferred_from_; ++s) all.push_back(value(times_[s]));
    return upper_median(all);
  }

  void order_tasks() {
    std::vector<std::pair<std::int64_t, std::int64_t>> usual;
    for (std::size_t t = 0; t < graph_.tasks_.size(); ++t) {
      usual.emplace_back(median_of([t](const auto& times) { return times[t].start; }),
                         median_of([t](const auto& times) { return times[t].end; }));
      graph_.ranks_[at(graph_.tasks_[t].rank)].tasks.push_back(static_cast<std::int32_t>(t));
    }
    for (OperationGraph::Rank& rank : graph_.ranks_) {
      std::stable_sort(rank.tasks.begin(), rank.tasks.end(),
                       [&](auto a, auto b) { return usual[at(a)] < usual[at(b)]; });
      for (std::size_t i = 1; i < rank.tasks.size(); ++i) {
        const auto a = at(rank.tasks[i - 1]), b = at(rank.tasks[i]);
        graph_.tasks_[b].with_previous = median_of([a, b](const auto& times) {
                                           return std::abs(times[b].start - times[a].start);
                                         }) < kTogether;
      }
    }
  }

  void find_messages() {
    // The ranks with the same stage and the same data-parallel rank, in ascending order, form a
    // tensor-parallel group. Messages go between ranks with the same index in their groups.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int32_t>> at_place;
    std::int64_t stages = 0;
    std::vector<std::size_t> index_at_place;
    for (std::size_t r = 0; r < graph_.ranks_.size(); ++r) {
      auto& here = at_place[{graph_.ranks_[r].dp_rank, graph_.ranks_[r].stage}];
      index_at_place.push_back(here.size());
      here.push_back(static_cast<std::int32_t>(r));
      stages = std::max(stages, graph_.ranks_[r].stage + 1);
    }
    for (auto& [key, t] : task_of_) {
      Task& task = graph_.tasks_[at(t)];
      const std::string& name = graph_.names_[at(task.name)];
      if (name.ends_with("-send")) task.kind = Kind::kSend;
      if (!name.ends_with("-recv")) continue;
      task.kind = Kind::kReceive;
      const OperationGraph::Rank& rank = graph_.ranks_[at(task.rank)];
      const std::int64_t from =
          (rank.stage + (name.starts_with("forward") ? stages - 1 : 1)) % stages;
      const auto senders = at_place.find({rank.dp_rank, from});
      if (senders == at_place.end() || index_at_place[at(task.rank)] >= senders->second.size())
        continue;
      const std::string sent = name.substr(0, name.size() - 4) + "send";
      const auto n = std::lower_bound(graph_.names_.begin(), graph_.names_.end(), sent);
      if (n == graph_.names_.end() || *n != sent) continue;
      const auto send =
          task_of_.find({senders->second[index_at_place[at(task.rank)]],
                         static_cast<std::int32_t>(n - graph_.names_.begin()), task.sequence});
      if (send != task_of_.end()) task.partners = {send->second};
    }
  }

  /// True if two ranks wait for each other in an operation.
  [[nodiscard]] bool wait_for_each_other(std::size_t a, std::size_t b, bool named) const {
    const std::int64_t ends =
        median_of([a, b](const auto& times) { return std::abs(times[a].end - times[b].end); });
    if (ends >= kSameEnd) return false;
    const std::int64_t starts =
        median_of([a, b](const auto& times) { return std::abs(times[a].start - times[b].start); });
    if (starts > 3 * ends + kMillisecond) return true;
    const bool same_stage = graph_.ranks_[at(graph_.tasks_[a].rank)].stage ==
                            graph_.ranks_[at(graph_.tasks_[b].rank)].stage;
    return named && same_stage && starts < kSameStart && ends < kSameStart;
  }

  void find_collectives() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::vector<std::int32_t>> by_operation;
    for (const auto& [key, t] : task_of_) {
      if (graph_.tasks_[at(t)].kind == Kind::kCompute)
        by_operation[{std::get<1>(key), std::get<2>(key)}].push_back(t);
    }
    for (const auto& [operation, tasks] : by_operation) {
      const bool named = is_collective(graph_.names_[at(operation.first)]);
      std::vector<std::size_t> group(tasks.size());
      std::iota(group.begin(), group.end(), 0);
      const auto root = [&group](std::size_t i) {
        while (group[i] != i) i = group[i] = group[group[i]];
        return i;
      };
      for (std::size_t a = 0; a < tasks.size(); ++a) {
        for (std::size_t b = a + 1; b < tasks.size(); ++b) {
          const OperationGraph::Rank& x = graph_.ranks_[at(graph_.tasks_[at(tasks[a])].rank)];
          const OperationGraph::Rank& y = graph_.ranks_[at(graph_.tasks_[at(tasks[b])].rank)];
          if ((x.stage != y.stage && x.dp_rank != y.dp_rank) || root(a) == root(b)) continue;
          if (wait_for_each_other(at(tasks[a]), at(tasks[b]), named)) group[root(a)] = root(b);
        }
      }
      std::map<std::size_t, std::vector<std::int32_t>> groups;
      for (std::size_t i = 0; i < tasks.size(); ++i) groups[root(i)].push_back(tasks[i]);
      for (const auto& [first, members] : groups) {
        if (members.size() < 2 && !named) continue;
        for (const std::int32_t t : members) {
          graph_.tasks_[at(t)].kind = Kind::kCollective;
          graph_.tasks_[at(t)].partners = members;
        }
      }
    }
  }

  void measure_transfers() {
    for (std::size_t t = 0; t < graph_.tasks_.size(); ++t) {
      Task& task = graph_.tasks_[t];
      if (task.kind != Kind::kReceive && task.kind != Kind::kCollective) continue;
      task.transfer = std::max<std::int64_t>(0, median_of([&](const std::vector<Times>& times) {
                                               std::int64_t last = times[t].start;
                                               for (const std::int32_t p : task.partners)
                                                 last = std::max(last, times[at(p)].start);
                                               return times[t].end - last;
                                             }));
    }
    // A send is complete when its message has been transferred.
    for (const Task& task : graph_.tasks_) {
      if (task.kind == Kind::kReceive && !task.partners.empty())
        graph_.tasks_[at(task.partners.front())].transfer = task.transfer;
    }
    for (OperationGraph::Rank& rank : graph_.ranks_) {
      if (rank.tasks.empty()) continue;
      const auto first = at(rank.tasks.front());
      rank.offset = median_of([first](const auto& times) { return times[first].start; });
      for (std::size_t i = 1; i < rank.tasks.size(); ++i) {
        graph_.tasks_[at(rank.tasks[i])].gap = median_of([&](const std::vector<Times>& times) {
          std::int64_t before = 0;
          for (std::size_t j = 0; j < i; ++j)
            before = std::max(before, times[at(rank.tasks[j])].end);
          return std::max<std::int64_t>(0, times[at(rank.tasks[i])].start - before);
        });
      }
    }
  }

  using Key = std::tuple<std::int32_t, std::int32_t, std::int64_t>;  // rank, name, sequence

  const std::vector<LoggedOperation>& operations_;
  OperationGraph graph_;
  std::vector<Key> keys_;  ///< for each operation
  std::map<Key, std::int32_t> task_of_;
  std::vector<std::vector<Times>> times_;  ///< for each step and task, since the start of the step
};

std::int64_t OperationGraph::step_time(const Durations& durations, bool with_gaps) const {
  std::vector<std::int64_t> start(tasks_.size(), -1);
  std::vector<std::size_t> next(ranks_.size(), 0);
  std::vector<std::int64_t> free;
  for (const Rank& rank : ranks_) free.push_back(with_gaps ? rank.offset : 0);
  std::int64_t first = -1, last = 0;
  bool progress = true;
  while (progress) {
    progress = false;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      for (; next[r] < ranks_[r].tasks.size(); ++next[r]) {
        const auto t = at(ranks_[r].tasks[next[r]]);
        const Task& task = tasks_[t];
        if (start[t] < 0) {
          start[t] = task.with_previous ? start[at(ranks_[r].tasks[next[r] - 1])]
                                        : free[r] + (with_gaps ? task.gap : 0);
          first = first < 0 ? start[t] : std::min(first, start[t]);
          progress = true;
        }
        std::int64_t begin = start[t];
        bool waits = false;
        if (task.kind == Kind::kReceive || task.kind == Kind::kCollective) {
          for (const std::int32_t p : task.partners) {
            waits = waits || start[at(p)] < 0;
            begin = std::max(begin, start[at(p)]);
          }
        }
        if (waits) break;
        const std::int64_t end =
            begin + (task.kind == Kind::kCompute ? durations[t] : task.transfer);
        free[r] = std::max(free[r], end);
        last = std::max(last, end);
        progress = true;
      }
    }
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (next[r] < ranks_[r].tasks.size()) return -1;
  }
  return last - std::max<std::int64_t>(0, first);
}

OperationGraph::Durations OperationGraph::without_stragglers(
    const Durations& of, const std::function<bool(const Task&)>& which) const {
  Durations made = of;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].kind == Kind::kCompute && which(tasks_[t]))
      made[t] = static_cast<std::int64_t>(mean_of_name_[at(tasks_[t].name)]);
  }
  return made;
}

Expected<OperationGraph> operation_graph(const std::vector<LoggedOperation>& operations) {
  return OperationGraphMaker(operations).make();
}

}  // namespace tutti::core
