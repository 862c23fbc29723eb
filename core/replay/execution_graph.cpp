// A graph is checked in two steps. First, the checker of plans (core/plan/check_collectives.h)
// examines each program and the collectives. As the second step, the runner that simulations use
// executes the whole trace once, without time. If some task has not ended when nothing more can
// happen, it would wait forever. As in a simulation, sends do not wait for their receives.

#include "core/replay/execution_graph.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/plan/check_collectives.h"
#include "core/plan/runner.h"
#include "core/replay/message_matcher.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMaxProblems = 20;

Problem problem_of(const ExecutionGraph& graph, const std::string& text) {
  Problem problem;
  problem.where.file = graph.file;
  problem.text = text;
  problem.kind = {ProblemCode::kConflict, "ExecutionTrace.path"};
  return problem;
}

/// Executes the programs of all ranks without simulating time.
class DryRun {
 public:
  DryRun(const ExecutionGraph& graph, std::vector<Problem>& problems)
      : graph_(graph), problems_(problems), arrived_(graph.collectives.size()) {}

  void run() {
    const Durations none;
    const ComputeRates rates{Bandwidth(1), Bandwidth(1)};
    for (std::size_t r = 0; r < graph_.ranks.size(); ++r) {
      runners_.emplace_back(graph_.ranks[r].program, none, rates);
      worlds_.push_back({});
    }
    matchers_.resize(graph_.ranks.size());
    for (std::size_t r = 0; r < graph_.ranks.size(); ++r) {
      worlds_[r].run = this;
      worlds_[r].rank = static_cast<std::int64_t>(r);
      runners_[r].begin_step(1'000'000, worlds_[r]);
      work_off();
    }
    report();
  }

 private:
  struct World : Host {
    DryRun* run = nullptr;
    std::int64_t rank = 0;
    bool ended = false;
    void compute(TaskId id, const Task&, Time, std::int64_t) override { run->finish(rank, id); }
    void communicate(TaskId id, const Task& task, std::int64_t) override {
      run->communicate(rank, id, task);
    }
    void mark(const Task&) override {}
    void step_done() override { ended = true; }
  };
  struct Done {
    std::int64_t rank;
    TaskId task;
  };

  void finish(std::int64_t rank, TaskId task) { done_.push_back({rank, task}); }
  void work_off() {
    while (!done_.empty()) {
      const Done next = done_.front();
      done_.pop_front();
      const std::size_t r = next.rank;
      runners_[r].done(next.task, worlds_[r]);
    }
  }

  void communicate(std::int64_t rank, TaskId id, const Task& task) {
    if (task.pack >= 0) return collective(rank, id, task.pack);
    if (task.index < 0) return finish(rank, id);
    const ExecutionGraph::Message& message = message_of(rank, task.index);
    if (message.sends) {
      finish(rank, id);
      const std::int64_t number = std::ssize(sent_);
      sent_.push_back({rank, task.index});
      const auto taken = matchers_[message.peer].sent(rank, message.tag, number);
      if (taken) finish(message.peer, static_cast<TaskId>(*taken));
    } else {
      const auto taken = matchers_[rank].posted(message.peer, message.tag, id);
      if (taken) finish(rank, id);
    }
  }

  void collective(std::int64_t rank, TaskId id, std::int32_t number) {
    std::vector<Done>& came = arrived_[number];
    came.push_back({rank, id});
    if (came.size() < communicator_of(number).ranks.size()) return;
    for (const Done& one : came) finish(one.rank, one.task);
    came.clear();
  }

  void add(const std::string& text) {
    if (problems_.size() < kMaxProblems) problems_.push_back(problem_of(graph_, text));
  }

  void report() {
    // For a receive with wildcards, the times of messages decide which one it gets. This execution
    // has no times, so it reports nothing if a rank uses wildcards.
    if (has_wildcards()) return;
    std::int64_t stuck = 0;
    for (const World& world : worlds_) stuck += world.ended ? 0 : 1;
    if (stuck > 0) {
      report_receives();
      report_collectives();
      if (problems_.empty())
        add(fmt::format("{} of {} ranks never end, because their tasks wait for each other", stuck,
                        worlds_.size()));
      return;
    }
    for (std::size_t r = 0; r < matchers_.size(); ++r) {
      const auto number = matchers_[r].unreceived();
      if (!number) continue;
      const Sent& sent = sent_[*number];
      const ExecutionGraph::Message& message = message_of(sent.rank, sent.message);
      add(
          fmt::format("rank {} sends {} bytes to rank {} with tag {} ({}), but the receiving rank "
                      "never receives this message",
                      sent.rank, message.bytes, r, message.tag, place(message)));
    }
  }

  [[nodiscard]] bool has_wildcards() const {
    return std::any_of(graph_.ranks.begin(), graph_.ranks.end(), [](const auto& rank) {
      return std::any_of(rank.messages.begin(), rank.messages.end(),
                         [](const ExecutionGraph::Message& message) {
                           return message.peer < 0 || message.tag < 0;
                         });
    });
  }

  void report_receives() {
    for (std::size_t r = 0; r < matchers_.size(); ++r) {
      const auto task = matchers_[r].unmatched_receive();
      if (!task) continue;
      const auto rank = static_cast<std::int64_t>(r);
      const Task& receive = graph_.ranks[r].program.tasks[*task];
      const ExecutionGraph::Message& message = message_of(rank, receive.index);
      add(
          fmt::format("rank {} waits forever for {} with {} ({}): no rank sends this message, or "
                      "its send depends on this receive",
                      rank,
                      message.peer < 0 ? std::string("a message from any rank")
                                       : fmt::format("a message from rank {}", message.peer),
                      message.tag < 0 ? std::string("any tag") : fmt::format("tag {}", message.tag),
                      place(message)));
    }
  }

  void report_collectives() {
    for (std::size_t c = 0; c < arrived_.size(); ++c) {
      if (arrived_[c].empty()) continue;
      const auto& ranks = communicator_of(static_cast<std::int32_t>(c)).ranks;
      std::string missing;
      int named = 0;
      for (const std::int64_t rank : ranks) {
        const bool here = std::any_of(arrived_[c].begin(), arrived_[c].end(),
                                      [&](const Done& one) { return one.rank == rank; });
        if (here) continue;
        if (++named <= 8) missing += fmt::format("{}{}", named == 1 ? "" : ", ", rank);
      }
      add(fmt::format("collective \"{}\": {} of {} ranks wait forever for rank{} {}{}",
                      graph_.collectives[c].name, arrived_[c].size(), ranks.size(),
                      named == 1 ? "" : "s", missing, named > 8 ? ", …" : ""));
    }
  }

  [[nodiscard]] std::string place(const ExecutionGraph::Message& message) const {
    const bool has_nodes = !graph_.source.starts_with("GOAL");
    return has_nodes           ? fmt::format("node {}", message.place)
           : message.place > 0 ? fmt::format("line {}", message.place)
                               : "binary form";
  }
  [[nodiscard]] const ExecutionGraph::Message& message_of(std::int64_t rank,
                                                          std::int32_t index) const {
    return graph_.ranks[rank].messages[index];
  }
  [[nodiscard]] const ExecutionGraph::Communicator& communicator_of(std::int32_t number) const {
    return graph_.communicators[graph_.collectives[number].communicator];
  }

  struct Sent {
    std::int64_t rank = 0;
    std::int32_t message = 0;
  };

  const ExecutionGraph& graph_;
  std::vector<Problem>& problems_;
  std::vector<Runner> runners_;
  std::deque<World> worlds_;
  std::vector<MessageMatcher> matchers_;    ///< by receiving rank
  std::vector<std::vector<Done>> arrived_;  ///< for each collective: the tasks that wait for other
                                            ///< ranks to start it
  std::vector<Sent> sent_;
  std::deque<Done> done_;
};

/// A role is a set of ranks that run the same program. In a trace, each rank has its own program.
PlanView view_of(const ExecutionGraph& graph) {
  PlanView view;
  for (std::size_t r = 0; r < graph.ranks.size(); ++r)
    view.roles.push_back({&graph.ranks[r].program, fmt::format("rank {}", r)});
  for (const ExecutionGraph::Communicator& communicator : graph.communicators) {
    std::vector<std::int32_t> roles(communicator.ranks.begin(), communicator.ranks.end());
    std::sort(roles.begin(), roles.end());
    view.communicators.push_back(
        {communicator.name.empty() ? "all ranks" : communicator.name, std::move(roles), false});
  }
  view.use = [&graph](std::int32_t, const Task& task) -> PlanView::Use {
    if (task.pack < 0) return {};
    return {graph.collectives[task.pack].communicator, task.pack};
  };
  return view;
}

}  // namespace

TaskId ExecutionGraph::Rank::task_of(std::int32_t collective) const {
  const auto found =
      std::lower_bound(uses.begin(), uses.end(), collective,
                       [](const Use& use, std::int32_t number) { return use.collective < number; });
  TUTTI_CHECK(found != uses.end() && found->collective == collective, "no task of collective {}",
              collective);
  return found->task;
}

std::int64_t ExecutionGraph::tasks() const {
  std::int64_t all = 0;
  for (const Rank& rank : ranks) all += rank.program.size();
  return all;
}

std::int64_t ExecutionGraph::sends() const {
  std::int64_t all = 0;
  for (const Rank& rank : ranks)
    all += std::count_if(rank.messages.begin(), rank.messages.end(),
                         [](const Message& message) { return message.sends; });
  return all;
}

std::vector<Problem> problems_of(const ExecutionGraph& graph) {
  std::vector<Problem> problems;
  const auto add = [&](const PlanProblem& found) {
    if (problems.size() >= kMaxProblems || !is_certain(found.code)) return;
    const std::string of = found.pack >= 0 ? fmt::format(" (pack {} is \"{}\")", found.pack,
                                                         graph.collectives[found.pack].name)
                                           : "";
    problems.push_back(problem_of(graph, found.text + of));
  };
  for (const PlanProblem& found : problems_of(view_of(graph))) add(found);
  if (problems.empty()) DryRun(graph, problems).run();
  return problems;
}

}  // namespace tutti::core
