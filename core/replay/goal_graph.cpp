#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/formats/goal.h"
#include "core/plan/check_program.h"
#include "core/replay/graph_reader.h"
#include "core/replay/rank_builder.h"

namespace tutti::core {
namespace {

class GoalGraph {
 public:
  GoalGraph(const std::string& path, RecordCounts& counts) : path_(path), counts_(counts) {
    graph_.source = "GOAL";
    graph_.file = path;
  }

  Expected<ExecutionGraph> read(ByteInput& input) {
    std::int64_t ranks = 0;
    const auto begin = [&](std::int64_t stated) { ranks = stated; };
    const auto take = [this](GoalRank&& rank) { return add(rank); };
    if (auto done = read_goal(input, path_, begin, take); !done)
      return tl::make_unexpected(done.error());
    // Only now, all ranks are known to be in the file. A short file may state millions of ranks.
    graph_.ranks.resize(static_cast<std::size_t>(ranks));
    for (auto& [rank, built] : ranks_) graph_.ranks[rank] = std::move(built);
    return std::move(graph_);
  }

 private:
  void count(const GoalOperation& one) {
    switch (one.kind) {
      case GoalOperation::Kind::kSend: return counts_.use("send");
      case GoalOperation::Kind::kReceive: return counts_.use("recv");
      case GoalOperation::Kind::kCompute: return counts_.use("calc");
    }
  }

  Expected<void> add(const GoalRank& rank) {
    tasks_ += std::ssize(rank.operations);
    if (tasks_ > kMaxGraphTasks)
      return tl::make_unexpected(
          Error::request({ProblemCode::kTooLarge, "ExecutionTrace.path"},
                         fmt::format("the trace has more than {} operations; larger traces are "
                                     "refused, because they need too much memory",
                                     kMaxGraphTasks),
                         {path_, 0, 0}));
    RankBuilder builder;
    std::vector<bool> has_start(rank.operations.size(), false);
    for (const GoalDependency& one : rank.dependencies) {
      if (one.at_start) has_start[one.on] = true;
    }
    // For each operation: its task, and the task that announces its start.
    std::vector<TaskId> tasks, starts(rank.operations.size(), kNoTask);
    for (std::size_t i = 0; i < rank.operations.size(); ++i) {
      const GoalOperation& one = rank.operations[i];
      count(one);
      const bool computes = one.kind == GoalOperation::Kind::kCompute;
      // The start of a send or receive is the time at which it is posted.
      if (has_start[i]) starts[i] = computes ? builder.announce() : builder.mark();
      const Time duration(one.size * 1000);
      if (computes) {
        tasks.push_back(builder.compute(duration, one.cpu));
      } else {
        tasks.push_back(builder.message(
            {one.kind == GoalOperation::Kind::kSend, one.peer, one.tag, one.size, one.line}));
      }
    }
    for (const GoalDependency& one : rank.dependencies) {
      const auto on = static_cast<std::size_t>(one.on);
      const auto operation = static_cast<std::size_t>(one.operation);
      const TaskId before = one.at_start ? starts[on] : tasks[on];
      if (starts[operation] != kNoTask) builder.edge(before, starts[operation]);
      builder.edge(before, tasks[operation]);
    }
    ExecutionGraph::Rank built = std::move(builder).build();
    if (const auto problems = problems_of(built.program); !problems.empty())
      return tl::make_unexpected(damaged(rank, tasks, problems.front()));
    ranks_.emplace_back(rank.rank, std::move(built));
    return {};
  }

  [[nodiscard]] Error damaged(const GoalRank& rank, const std::vector<TaskId>& tasks,
                              const PlanProblem& problem) const {
    int line = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i] >= problem.task && line == 0) line = rank.operations[i].line;
    }
    const bool cycle = problem.code == PlanProblemCode::kCycle ||
                       problem.code == PlanProblemCode::kNotAwaited ||
                       problem.code == PlanProblemCode::kNoEnd;
    return Error::request(
        {ProblemCode::kConflict, "ExecutionTrace.path"},
        fmt::format("rank {}: {}", rank.rank,
                    cycle ? "the dependencies of operations form a cycle" : problem.text),
        {path_, line, 0});
  }

  const std::string& path_;
  RecordCounts& counts_;
  std::int64_t tasks_ = 0;
  std::vector<std::pair<std::int64_t, ExecutionGraph::Rank>> ranks_;  ///< in the order of the file
  ExecutionGraph graph_;
};

}  // namespace

Expected<ExecutionGraph> read_goal_graph(ByteInput& input, const std::string& name,
                                         RecordCounts* counts) {
  RecordCounts unused;
  return GoalGraph(name, counts == nullptr ? unused : *counts).read(input);
}

}  // namespace tutti::core
