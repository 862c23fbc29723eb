#include "core/replay/rank_builder.h"

#include <algorithm>
#include <utility>

namespace tutti::core {

TaskId RankBuilder::add(const Task& task, std::uint8_t stream) {
  tasks_.push_back(task);
  rank_.streams.push_back(stream);
  rank_.stream_count = std::max(rank_.stream_count, std::int32_t{stream} + 1);
  return size() - 1;
}

TaskId RankBuilder::compute(Time duration, std::uint8_t stream, std::int32_t compute_bound_ppm) {
  Task task;
  task.kind = Task::Kind::kCompute;
  task.compute = ComputeKind::kOperation;
  task.cost.kind = TaskCost::Kind::kOwnTime;
  task.cost.value = std::min(duration, kLongestDuration).count();
  const TaskId id = add(task, stream);
  if (compute_bound_ppm != 1'000'000) {
    rank_.compute_bound_ppm.resize(tasks_.size(), 1'000'000);
    rank_.compute_bound_ppm.back() = compute_bound_ppm;
  }
  if (const TaskId announcing = std::exchange(announcing_, kNoTask); announcing != kNoTask) {
    announced_.resize(tasks_.size(), kNoTask);
    announced_[id] = announcing;
  }
  return id;
}

TaskId RankBuilder::message(const ExecutionGraph::Message& message) {
  Task task;
  task.kind = Task::Kind::kCommunicate;
  task.index = static_cast<std::int32_t>(rank_.messages.size());
  rank_.messages.push_back(message);
  return add(task);
}

TaskId RankBuilder::collective(std::int32_t number) {
  Task task;
  task.kind = Task::Kind::kCommunicate;
  task.pack = number;
  const TaskId id = add(task);
  rank_.uses.push_back({number, id});
  return id;
}

TaskId RankBuilder::mark() { return add({}); }

TaskId RankBuilder::announce() {
  Task task;
  task.kind = Task::Kind::kCommunicate;
  announcing_ = add(task);
  return announcing_;
}

ExecutionGraph::Rank RankBuilder::build() && {
  if (tasks_.empty()) compute(Time(), 0);  // so that every step of the rank has at least one event
  std::vector<bool> has_successor(tasks_.size(), false);
  for (const Edge& edge : edges_) has_successor[edge.from] = true;
  ProgramBuilder builder;
  for (const Task& task : tasks_) builder.add(task);
  for (const Edge& edge : edges_) builder.edge(edge.from, edge.to);
  const TaskId end = builder.add({});
  rank_.streams.push_back(0);
  for (TaskId t = 0; t < end; ++t) {
    if (!has_successor[t]) builder.edge(t, end);
  }
  if (!rank_.compute_bound_ppm.empty())
    rank_.compute_bound_ppm.resize(rank_.streams.size(), 1'000'000);
  if (!announced_.empty()) announced_.resize(rank_.streams.size(), kNoTask);
  rank_.announced = std::move(announced_);
  rank_.program = std::move(builder).build_unchecked(end);
  std::sort(rank_.uses.begin(), rank_.uses.end(),
            [](const auto& a, const auto& b) { return a.collective < b.collective; });
  return std::move(rank_);
}

}  // namespace tutti::core
