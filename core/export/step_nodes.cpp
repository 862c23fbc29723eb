#include "core/export/step_nodes.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/lowering/sparse_plan.h"

namespace tutti::core {
namespace {

class Unroller {
 public:
  Unroller(const Program& program, const Durations& durations, const ComputeRates& rates)
      : program_(program), durations_(durations), rates_(rates) {
    offsets_.assign(program.tasks.size(), 0);
    for (TaskId t = 0; t < program.size(); ++t) {
      offsets_[t] = count_;
      const std::int32_t block = program.block_of(t);
      const std::int32_t times = block < 0 ? 1 : program.blocks[block].repeat;
      count_ += times;
    }
    successors_.resize(count_);
    missing_.assign(count_, 0);
    of_.resize(count_);
    for (TaskId t = 0; t < program.size(); ++t) {
      for (std::int32_t i = 0; i < repeats(t); ++i) of_[at(t, i)] = {t, i};
    }
    add_edges();
  }

  StepNodes unroll() {
    numbers_.assign(count_, -1);
    for (const TaskId root : program_.roots) visit(at(root, 0));
    TUTTI_CHECK(std::ssize(made_.nodes) == count_, "{} of {} nodes are reached", made_.nodes.size(),
                count_);
    for (StepNodes::Node& node : made_.nodes) std::sort(node.after.begin(), node.after.end());
    return std::move(made_);
  }

 private:
  struct TaskIteration {
    TaskId task = kNoTask;
    std::int32_t iteration = 0;
  };
  [[nodiscard]] std::int32_t repeats(TaskId t) const {
    const std::int32_t block = program_.block_of(t);
    return block < 0 ? 1 : program_.blocks[block].repeat;
  }
  [[nodiscard]] std::int32_t at(TaskId t, std::int32_t iteration) const {
    return offsets_[t] + iteration;
  }

  void edge(std::int32_t from, std::int32_t to) {
    successors_[from].push_back(to);
    ++missing_[to];
  }

  void add_edges() {
    // Add the edges of latches first, because the runner starts the tasks that wait for a latch
    // before the other successors of the task that opens it.
    std::map<std::int32_t, TaskId> openers;
    for (TaskId t = 0; t < program_.size(); ++t) {
      if (program_.tasks[t].opens >= 0) openers[program_.tasks[t].opens] = t;
    }
    for (TaskId t = 0; t < program_.size(); ++t) {
      const std::int32_t latch = program_.tasks[t].latch;
      if (latch >= 0) edge(at(openers.at(latch), 0), at(t, 0));
    }
    for (TaskId t = 0; t < program_.size(); ++t) {
      const std::int32_t block = program_.block_of(t);
      for (std::int32_t e = program_.first_edge[t]; e < program_.first_edge[t + 1]; ++e) {
        const TaskId to = program_.successors[e];
        if (block >= 0 && program_.block_of(to) == block) {
          for (std::int32_t i = 0; i < repeats(t); ++i) edge(at(t, i), at(to, i));
        } else {
          edge(at(t, repeats(t) - 1), at(to, 0));
        }
      }
    }
    for (const Block& block : program_.blocks) {
      for (std::int32_t i = 0; i + 1 < block.repeat; ++i)
        edge(at(block.exit, i), at(block.entry, i + 1));
    }
  }

  /// Visits nodes in depth-first order, as the runner does.
  void visit(std::int32_t root) {
    emit(root);
    std::vector<std::pair<std::int32_t, std::size_t>> open{{root, 0}};
    while (!open.empty()) {
      auto& [node, next] = open.back();
      if (next == successors_[node].size()) {
        open.pop_back();
        continue;
      }
      const std::int32_t to = successors_[node][next++];
      made_after_[to].push_back(numbers_[node]);
      if (--missing_[to] > 0) continue;
      emit(to);
      open.emplace_back(to, 0);
    }
  }

  void emit(std::int32_t place) {
    numbers_[place] = static_cast<std::int32_t>(made_.nodes.size());
    const auto [id, iteration] = of_[place];
    StepNodes::Node node;
    node.task = &program_.tasks[id];
    node.id = id;
    if (node.task->kind == Task::Kind::kCompute) {
      node.duration = duration_of(node.task->cost, 1'000'000, durations_, rates_, program_.shares,
                                  program_.share_whole);
      node.compute_bound_ppm = compute_bound_of(node.task->cost, durations_);
    }
    if (node.task->kind == Task::Kind::kCommunicate && node.task->pack < 0)
      node.occurrence = occurrences_[node.task->index]++;
    if (const auto known = made_after_.find(place); known != made_after_.end()) {
      node.after = std::move(known->second);
      made_after_.erase(known);
    }
    made_.nodes.push_back(std::move(node));
  }

  const Program& program_;
  const Durations& durations_;
  const ComputeRates rates_;
  std::int32_t count_ = 0;
  std::vector<std::int32_t> offsets_;  ///< for each task, the index of the node of its first
                                       ///< iteration
  std::vector<TaskIteration> of_;      ///< indexed by place
  std::vector<std::vector<std::int32_t>> successors_;
  std::vector<std::int32_t> missing_;
  std::vector<std::int32_t> numbers_;  ///< node of each place
  std::map<std::int32_t, std::vector<std::int32_t>> made_after_;
  std::map<std::int32_t, std::int64_t> occurrences_;
  StepNodes made_;
};

}  // namespace

StepNodes unroll(const Program& program, const Durations& durations, const ComputeRates& rates) {
  return Unroller(program, durations, rates).unroll();
}

std::string why_no_graph(const Scenario& scenario) {
  const Strategy& strategy = scenario.strategy;
  const Plan& plan = scenario.plan;
  if (strategy.servers) return "parameter servers cannot be ranks of a trace";
  if (strategy.spec)
    return "the packs of the scenario use different algorithms (all_reduce_spec), which the export "
           "does not support";
  if (strategy.custom)
    return "the scenario's algorithm is defined in a file, and a trace cannot refer to such a file";
  if (strategy.independent)
    return "the scenario's replicas are independent, so there is no communication to export";
  if (plan.gate)
    return fmt::format("a gate ({}) decides at run time when packs start", plan.gate->name());
  if (plan.checkpoint_every > 0)
    return "only some training steps save a checkpoint, so no single step represents all of them";
  if (has_slices(scenario.workload))
    return "the model has sparse gradients, but only training steps whose gradients are all dense "
           "can be exported";
  for (const Pack& pack : plan.packs) {
    if (plan.collective(pack).kind == CollectiveKind::kSendReceive)
      return "trace formats have no collective in which every rank sends to the next rank";
  }
  for (const PlannedCollective& one : plan.collectives) {
    if (!one.is_fixed())
      return "the sizes of some collectives differ between training steps, so no single step "
             "represents all of them";
    if (one.first.schedule && one.first.schedule->ranks() > one.first.contributors)
      return "CPUs take part in the scenario's collectives, but only GPUs can be ranks of a trace";
  }
  return "";
}

std::string name_of(const Scenario& scenario, const StepNodes::Node& node) {
  const Task& task = *node.task;
  if (task.kind == Task::Kind::kMark)
    return task.reported ? fmt::format("pack {} is ready", task.pack) : "join";
  if (task.kind == Task::Kind::kCommunicate) {
    if (task.pack >= 0) return fmt::format("pack {}", task.pack);
    const auto& exchange = scenario.plan.exchanges[task.index];
    return fmt::format("{} {}.{}", scenario.communicators[exchange.communicator].name, task.index,
                       node.occurrence);
  }
  std::string name(to_string(task.compute));
  const auto& segments = scenario.workload.segments;
  if (task.compute == ComputeKind::kBackward && task.index >= 0 &&
      task.index < std::ssize(segments))
    return name + " " + segments[task.index].layer;
  return task.pack >= 0 ? fmt::format("{} {}", name, task.pack) : name;
}

}  // namespace tutti::core
