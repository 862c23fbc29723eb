// Looks for ranks that wait for each other forever. A role is all replicas that run the same
// program (PlanView). For every communicator, all roles must execute the same collectives, equally
// often, in the same training steps and in the same order. To find
// deadlocks across several communicators, all programs are then combined into one graph. In this
// graph, one node represents all tasks of a collective, because no rank's task completes before the
// tasks of all ranks have started. Every cycle in this graph is a deadlock.

#include "core/plan/check_collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/plan/check_program.h"
#include "core/plan/issue_order.h"

namespace tutti::core {
namespace {

/// A communicate task that a role issues on a communicator.
struct Issued {
  TaskId task = kNoTask;
  std::int64_t collective = 0;
  std::int32_t block = -1;
  bool certain = true;  ///< false: timing decides whether this task or the previous task is issued
                        ///< first
};

/// Iterates over the tasks that a role issues on a communicator. A task of a block occurs once per
/// iteration of the block.
class Unrolled {
 public:
  Unrolled(const Program& program, const std::vector<Issued>& issued)
      : program_(program), issued_(issued) {}

  [[nodiscard]] bool at_end() const { return at_ == issued_.size(); }
  [[nodiscard]] const Issued& operator*() const { return issued_[at_]; }
  [[nodiscard]] std::int64_t number() const {
    const Task& task = program_.tasks[issued_[at_].task];
    return task.number + std::int64_t{task.number_stride} * iteration_;
  }
  void next() {
    const std::int32_t block = issued_[at_].block;
    if (block < 0) {
      ++at_;
      first_in_block_ = at_;
      return;
    }
    if (at_ + 1 < issued_.size() && issued_[at_ + 1].block == block) {
      ++at_;
      return;
    }
    if (++iteration_ < program_.blocks[block].repeat) {
      at_ = first_in_block_;
      return;
    }
    iteration_ = 0;
    first_in_block_ = ++at_;
  }

 private:
  const Program& program_;
  const std::vector<Issued>& issued_;
  std::size_t at_ = 0, first_in_block_ = 0;
  std::int64_t iteration_ = 0;
};

class CollectiveChecker {
 public:
  explicit CollectiveChecker(const PlanView& plan) : plan_(plan) {}

  std::vector<PlanProblem> problems() && {
    for (std::int32_t r = 0; r < std::ssize(plan_.roles); ++r) {
      for (PlanProblem& problem : problems_of(*plan_.roles[r].program)) {
        problem.role = r;
        if (plan_.roles.size() > 1) problem.text = role_name(r) + ": " + problem.text;
        problems_.push_back(std::move(problem));
      }
    }
    if (!problems_.empty()) return std::move(problems_);
    for (const PlanView::Role& role : plan_.roles) orders_.emplace_back(*role.program);
    list_issued();
    for (std::int32_t c = 0; c < std::ssize(plan_.communicators); ++c) {
      if (plan_.communicators[c].one_at_a_time) look_at_certainty(c);
      const std::vector<std::int32_t>& roles = plan_.communicators[c].roles;
      for (std::size_t i = 1; i < roles.size(); ++i) compare(c, roles.front(), roles[i]);
    }
    if (plan_.roles.size() > 1) look_for_deadlocks();
    return std::move(problems_);
  }

 private:
  using Key = std::pair<std::int32_t, std::int32_t>;  ///< communicator, role

  [[nodiscard]] const std::string& role_name(std::int32_t r) const { return plan_.roles[r].name; }
  [[nodiscard]] const Program& program(std::int32_t r) const { return *plan_.roles[r].program; }
  [[nodiscard]] const Task& task(std::int32_t r, TaskId t) const { return program(r).tasks[t]; }
  [[nodiscard]] const std::string& name(std::int32_t c) const {
    return plan_.communicators[c].name;
  }
  [[nodiscard]] std::string label(std::int32_t r, TaskId t) const { return label_of(task(r, t)); }
  [[nodiscard]] const std::vector<Issued>& issued(std::int32_t c, std::int32_t r) const {
    static const std::vector<Issued> none;
    const auto found = issued_.find({c, r});
    return found == issued_.end() ? none : found->second;
  }

  void add(PlanProblemCode code, std::int32_t r, TaskId t, std::string text) {
    PlanProblem problem{code, t, r, -1, -1, std::move(text)};
    if (t != kNoTask) {
      problem.pack = task(r, t).pack;
      problem.index = task(r, t).index;
    }
    problems_.push_back(std::move(problem));
  }

  void list_issued() {
    for (std::int32_t r = 0; r < std::ssize(plan_.roles); ++r) {
      const IssueOrder& order = orders_[r];
      for (const TaskId t : order.tasks()) {
        if (task(r, t).kind != Task::Kind::kCommunicate) continue;
        const PlanView::Use use = plan_.use(r, task(r, t));
        if (use.communicator < 0) continue;
        std::vector<Issued>& all = issued_[{use.communicator, r}];
        Issued one{t, use.collective, program(r).block_of(t), true};
        if (plan_.communicators[use.communicator].one_at_a_time && !all.empty())
          one.certain = order.is_certain(all.back().task, t);
        all.push_back(one);
      }
    }
  }

  /// Looks for a role that issues two collectives of a communicator in an order that depends on
  /// timing. If timing decides the order, another rank may issue the two collectives in the
  /// opposite order.
  void look_at_certainty(std::int32_t c) {
    for (const std::int32_t r : plan_.communicators[c].roles) {
      const std::vector<Issued>& all = issued(c, r);
      const auto count =
          std::count_if(all.begin(), all.end(), [](const Issued& one) { return !one.certain; });
      if (count == 0) continue;
      const auto first =
          std::find_if(all.begin(), all.end(), [](const Issued& one) { return !one.certain; });
      add(PlanProblemCode::kOrderUndetermined, r, first->task,
          fmt::format("{} may issue {} before or after {} on communicator \"{}\", which runs one "
                      "collective at a time. Two ranks that issue these collectives in different "
                      "orders deadlock. The order of {} of {} collectives is undetermined",
                      role_name(r), label(r, first->task), label(r, std::prev(first)->task),
                      name(c), count, all.size()));
    }
  }

  // --- two roles of a communicator ---

  void compare(std::int32_t c, std::int32_t a, std::int32_t b) {
    if (&program(a) == &program(b)) return;
    if (!compare_counts(c, a, b) || !plan_.communicators[c].one_at_a_time) return;
    bool certain = true;
    Unrolled x(program(a), issued(c, a)), y(program(b), issued(c, b));
    for (; !x.at_end() && !y.at_end(); x.next(), y.next()) {
      certain = certain && (*x).certain && (*y).certain;
      if ((*x).collective == (*y).collective && x.number() == y.number()) continue;
      if (!certain) return;  // look_at_certainty() has reported it
      return add(PlanProblemCode::kOrderDiffers, b, (*y).task,
                 fmt::format("on communicator \"{}\", {} issues {}, but {} issues {}", name(c),
                             role_name(b), label(b, (*y).task), role_name(a), label(a, (*x).task)));
    }
  }

  struct Count {
    std::int64_t times = 0;
    std::map<std::int32_t, std::int64_t> by_every_steps;
    TaskId first = kNoTask;
  };
  std::map<std::int64_t, Count> counts(std::int32_t c, std::int32_t r) const {
    std::map<std::int64_t, Count> all;
    for (const Issued& one : issued(c, r)) {
      const std::int64_t times = one.block < 0 ? 1 : program(r).blocks[one.block].repeat;
      Count& count = all[one.collective];
      count.times += times;
      count.by_every_steps[task(r, one.task).every_steps] += times;
      if (count.first == kNoTask) count.first = one.task;
    }
    return all;
  }

  bool compare_counts(std::int32_t c, std::int32_t a, std::int32_t b) {
    const std::map<std::int64_t, Count> of_a = counts(c, a), of_b = counts(c, b);
    bool same = true;
    const auto missing = [&](const std::map<std::int64_t, Count>& from, std::int32_t r,
                             const std::map<std::int64_t, Count>& in, std::int32_t who) {
      for (const auto& [collective, count] : from) {
        if (in.contains(collective)) continue;
        same = false;
        add(PlanProblemCode::kRankMissing, r, count.first,
            fmt::format("{} waits for {} in {} on communicator \"{}\", but {} never takes part in "
                        "this collective",
                        role_name(r), role_name(who), label(r, count.first), name(c),
                        role_name(who)));
      }
    };
    missing(of_a, a, of_b, b);
    missing(of_b, b, of_a, a);
    for (const auto& [collective, x] : of_a) {
      const auto found = of_b.find(collective);
      if (found == of_b.end()) continue;
      const Count& y = found->second;
      if (x.times != y.times) {
        same = false;
        add(PlanProblemCode::kCountsDiffer, b, y.first,
            fmt::format(
                "{} takes part in {} {} times on communicator \"{}\", but {} takes part {} times",
                role_name(b), label(b, y.first), y.times, name(c), role_name(a), x.times));
      } else if (x.by_every_steps != y.by_every_steps) {
        same = false;
        add(PlanProblemCode::kStepsDiffer, b, y.first,
            fmt::format("{} takes part in {} every {} steps on communicator \"{}\", but {} takes "
                        "part every {} steps, so in some steps one waits forever for the other",
                        role_name(b), label(b, y.first), task(b, y.first).every_steps, name(c),
                        role_name(a), task(a, x.first).every_steps));
      }
    }
    return same;
  }

  // --- all roles together ---

  /// Looks for cycles in the combined graph of all programs. In this graph, one node represents the
  /// tasks of all ranks in one execution of a collective.
  void look_for_deadlocks() {
    std::vector<std::int64_t> first(plan_.roles.size() + 1, 0);
    for (std::size_t r = 0; r < plan_.roles.size(); ++r)
      first[r + 1] = first[r] + plan_.roles[r].program->size();
    std::vector<std::int64_t> node(first.back());
    for (std::size_t i = 0; i < node.size(); ++i) node[i] = static_cast<std::int64_t>(i);
    for (std::int32_t c = 0; c < std::ssize(plan_.communicators); ++c) {
      std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>
          shared;  // collective, instance -> node
      for (const std::int32_t r : plan_.communicators[c].roles) {
        std::map<std::int64_t, std::int64_t> instance;
        for (const Issued& one : issued(c, r)) {
          const std::pair<std::int64_t, std::int64_t> key(one.collective,
                                                          instance[one.collective]++);
          const std::int64_t own = first[r] + one.task;
          node[own] = shared.try_emplace(key, own).first->second;
        }
      }
    }
    std::vector<std::vector<std::int64_t>> before(node.size());
    const auto edge = [&](std::int64_t from, std::int64_t to) {
      if (node[from] != node[to]) before[node[to]].push_back(node[from]);
    };
    for (std::int32_t r = 0; r < std::ssize(plan_.roles); ++r) {
      for (TaskId t = 0; t < program(r).size(); ++t) {
        orders_[r].each_awaited(t, [&](TaskId b) { edge(first[r] + b, first[r] + t); });
        if (const TaskId b = orders_[r].earlier_on_stream(t); b != kNoTask)
          edge(first[r] + b, first[r] + t);
      }
      for (std::int32_t c = 0; c < std::ssize(plan_.communicators); ++c) {
        if (!plan_.communicators[c].one_at_a_time) continue;
        const std::vector<Issued>& all = issued(c, r);
        for (std::size_t i = 1; i < all.size(); ++i) {
          if (all[i].certain) edge(first[r] + all[i - 1].task, first[r] + all[i].task);
        }
      }
    }
    const std::vector<std::int64_t> circle = cycle_of(before);
    if (circle.empty()) return;
    std::string text;
    std::int32_t role_of_first = 0;
    TaskId task_of_first = kNoTask;
    int named = 0;
    for (const std::int64_t n : circle) {
      const auto r = static_cast<std::int32_t>(std::upper_bound(first.begin(), first.end(), n) -
                                               first.begin()) -
                     1;
      const auto t = static_cast<TaskId>(n - first[r]);
      if (task(r, t).kind != Task::Kind::kCommunicate && circle.size() > 2) continue;
      if (task_of_first == kNoTask) role_of_first = r, task_of_first = t;
      if (++named <= 6) text += fmt::format("{}{}", text.empty() ? "" : " waits for ", label(r, t));
    }
    add(PlanProblemCode::kDeadlock, role_of_first, task_of_first,
        fmt::format("ranks wait for each other in a cycle: {}{} waits for the first", text,
                    named > 6 ? " …" : ""));
  }

  /// Returns a cycle of a graph; empty if there is no cycle. `predecessors` lists the nodes that
  /// each node waits for. In the result, each node waits for the previous node.
  static std::vector<std::int64_t> cycle_of(const std::vector<std::vector<std::int64_t>>& before) {
    std::vector<std::int64_t> missing(before.size(), 0);
    std::vector<std::vector<std::int64_t>> after(before.size());
    std::vector<std::int64_t> open;
    for (std::size_t n = 0; n < before.size(); ++n) {
      missing[n] = std::ssize(before[n]);
      if (missing[n] == 0) open.push_back(static_cast<std::int64_t>(n));
      for (const std::int64_t b : before[n]) after[b].push_back(static_cast<std::int64_t>(n));
    }
    while (!open.empty()) {
      const std::int64_t n = open.back();
      open.pop_back();
      for (const std::int64_t next : after[n]) {
        if (--missing[next] == 0) open.push_back(next);
      }
    }
    const auto left =
        std::find_if(missing.begin(), missing.end(), [](std::int64_t m) { return m > 0; });
    if (left == missing.end()) return {};
    const auto back = [&](std::int64_t n) {
      return *std::find_if(before[n].begin(), before[n].end(),
                           [&](std::int64_t b) { return missing[b] > 0; });
    };
    std::vector<bool> passed(before.size(), false);
    std::int64_t n = left - missing.begin();
    for (; !passed[n]; n = back(n)) passed[n] = true;
    std::vector<std::int64_t> circle{n};
    for (std::int64_t at = back(n); at != n; at = back(at)) circle.push_back(at);
    return circle;
  }

  const PlanView& plan_;
  std::vector<IssueOrder> orders_;             ///< by role
  std::map<Key, std::vector<Issued>> issued_;  ///< for each communicator and role: its collectives,
                                               ///< in the order in which they are issued
  std::vector<PlanProblem> problems_;
};

}  // namespace

std::vector<PlanProblem> problems_of(const PlanView& plan) {
  return CollectiveChecker(plan).problems();
}

}  // namespace tutti::core
