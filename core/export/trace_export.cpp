// All replicas on the same kind of device have the same program, so the training step is unrolled
// once for each kind of device. Replicas on the same kind of device differ only in the groups in
// which they execute collectives.

#include "core/export/trace_export.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/number.h"
#include "core/base/version.h"
#include "core/export/collective_messages.h"
#include "core/export/step_nodes.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/nccl_model.h"

namespace tutti::core {
namespace {

std::optional<ChakraNode::Collective> chakra_kind(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce: return ChakraNode::Collective::kAllReduce;
    case CollectiveKind::kReduceScatter: return ChakraNode::Collective::kReduceScatter;
    case CollectiveKind::kAllGather: return ChakraNode::Collective::kAllGather;
    case CollectiveKind::kBroadcast: return ChakraNode::Collective::kBroadcast;
    case CollectiveKind::kReduce: return ChakraNode::Collective::kReduce;
    case CollectiveKind::kAllToAll: return ChakraNode::Collective::kAllToAll;
    case CollectiveKind::kGather: return ChakraNode::Collective::kGather;
    case CollectiveKind::kScatter: return ChakraNode::Collective::kScatter;
    case CollectiveKind::kSendReceive: break;
  }
  return std::nullopt;
}

/// Rounds a sequence of times to whole microseconds. The sum of the rounded times differs from the
/// exact sum by at most half a microsecond.
class Microseconds {
 public:
  std::int64_t next(Time duration) {
    const std::int64_t exact = duration.count() + carried_;
    const std::int64_t us = std::max<std::int64_t>(0, (exact + 500'000) / 1'000'000);
    carried_ = exact - us * 1'000'000;
    return us;
  }

 private:
  std::int64_t carried_ = 0;
};

class ScenarioExport : public TraceExport {
 public:
  explicit ScenarioExport(const Scenario& scenario)
      : scenario_(scenario), plan_(scenario.plan), as_rings_(scenario) {
    simulate_as_rings(as_rings_);
    const Cluster& cluster = *scenario.cluster;
    if (!plan_.graph) programs_ = StepPrograms(scenario.workload, plan_);
    for (std::size_t g = 0; !plan_.graph && g < programs_.groups(); ++g) {
      const std::int64_t first = std::ssize(group_of_);
      const std::int64_t count = cluster.groups()[g].count * cluster.replicas_per_worker();
      const DeviceRates& rates = cluster.part(cluster.replica(first)).device;
      steps_.push_back(
          unroll(programs_.program(g).program, programs_.durations(g), {rates.copy, rates.memory}));
      group_of_.insert(group_of_.end(), count, g);
    }
    for (const PlannedCollective& one : plan_.collectives) names_.push_back(name_of(one));
    number_groups();
    give_tags();
  }

  [[nodiscard]] std::int64_t ranks() const override { return scenario_.cluster->replicas(); }

  // --- Chakra ---

  void write_chakra(std::int64_t rank, std::ostream& out) const override {
    ChakraMetadata metadata{"1.0.0",
                            {{"schema", "1.0.2-chakra.1.0.0"},
                             {"tutti_version", std::string(version())},
                             {"scenario", scenario_.name}}};
    ChakraWriter writer(out, metadata);
    const StepNodes step = step_of(rank);
    std::map<std::int64_t, Microseconds> streams;
    for (std::size_t n = 0; n < step.nodes.size(); ++n) {
      const StepNodes::Node& from = step.nodes[n];
      ChakraNode node;
      node.id = n;
      node.on_cpu = false;
      for (const std::int32_t after : from.after)
        node.data_dependencies.push_back(static_cast<std::uint64_t>(after));
      node.name = name_of_node(from);
      const Task& task = *from.task;
      if (task.kind == Task::Kind::kCommunicate) {
        communicate(rank, from, node);
      } else {
        node.type = ChakraNode::Type::kCompute;
      }
      if (task.kind == Task::Kind::kCompute) {
        node.stream = plan_.graph ? std::int64_t{rank_of(rank).streams[from.id]} : 0;
        node.duration_ps = from.duration.count();
        node.duration_us = streams[node.stream].next(from.duration);
        node.compute_bound_ppm =
            plan_.graph ? rank_of(rank).compute_bound_of(from.id) : from.compute_bound_ppm;
      }
      writer.add(node);
    }
  }

  [[nodiscard]] std::string chakra_groups() const override {
    std::map<std::string, std::vector<std::int64_t>> groups;
    for (std::size_t c = 0; c < plan_.collectives.size(); ++c) {
      const PlannedCollective& one = plan_.collectives[c];
      if (one.members) groups.emplace(group_name(c, 0), one.members->replicas());
      for (std::int64_t g = 0; one.groups && g < one.groups->groups(); ++g) {
        if (groups.contains(group_name(c, g))) continue;
        std::vector<std::int64_t>& ranks = groups[group_name(c, g)];
        for (std::int64_t r = 0; r < one.groups->group_size(); ++r)
          ranks.push_back(one.groups->replica({g, r}));
      }
    }
    if (groups.empty()) return "";
    std::string text = "{\n";
    for (auto one = groups.begin(); one != groups.end(); ++one)
      text += fmt::format("  \"{}\": [{}]{}\n", one->first, fmt::join(one->second, ", "),
                          std::next(one) == groups.end() ? "" : ",");
    return text + "}\n";
  }

  // --- GOAL ---

  [[nodiscard]] std::string why_no_goal() const override {
    for (const PlannedCollective& one : as_rings_.plan.collectives) {
      if (std::string why = why_no_messages(one.first); !why.empty()) return why;
    }
    constexpr std::int64_t kMaxTags = 0xFFFFFFFE;
    if (next_tag_ > kMaxTags)
      return "the scenario's collectives need more message tags than GOAL supports";
    return "";
  }

  [[nodiscard]] GoalRank goal(std::int64_t rank) const override {
    GoalRankBuilder builder(rank);
    CollectiveMessages messages;
    const StepNodes step = step_of(rank);
    std::vector<std::int32_t> made;  // for each node, its operation
    // Maps an announcing task to the computation that it announces.
    std::map<TaskId, std::int32_t> announced;
    if (plan_.graph) {
      for (TaskId t = 0; t < rank_of(rank).program.size(); ++t) {
        const TaskId by = rank_of(rank).announcement_of(t);
        if (by != kNoTask) announced[by] = t;
      }
    }
    std::map<TaskId, std::int32_t> operation_of;
    std::vector<std::pair<std::int32_t, TaskId>> at_start;
    for (const StepNodes::Node& node : step.nodes) {
      std::vector<std::int32_t> after;
      std::vector<TaskId> starts;
      for (const std::int32_t before : node.after) {
        if (made[before] >= 0) {
          after.push_back(made[before]);
        } else {
          starts.push_back(announced.at(step.nodes[before].id));
        }
      }
      const std::int32_t one = operation(rank, node, after, announced, messages, builder);
      made.push_back(one);
      if (one < 0) continue;
      operation_of[node.id] = one;
      for (const TaskId on : starts) at_start.emplace_back(one, on);
    }
    for (const auto& [one, on] : at_start) builder.require(one, operation_of.at(on), true);
    return builder.take();
  }

  [[nodiscard]] std::vector<std::string> notes(bool goal) const override {
    std::vector<std::string> notes;
    if (scenario_.run.compute_jitter_ppm > 0 ||
        scenario_.run.conditions.compute_noise.kind != Noise::Kind::kNone)
      notes.emplace_back("the durations of computations are exported without jitter and noise");
    if (!scenario_.run.conditions.late.empty())
      notes.emplace_back(
          "late hosts (conditions.late_host) are not exported, because all replicas share the "
          "exported durations");
    if (!goal) {
      if (plan_.graph && std::any_of(plan_.graph->ranks.begin(), plan_.graph->ranks.end(),
                                     [](const auto& rank) { return !rank.announced.empty(); }))
        notes.emplace_back(
            "a dependency on the start of a computation was replaced by dependencies on the "
            "predecessors of this computation, because Chakra has only dependencies on the end of "
            "a node");
      return notes;
    }
    const bool nccl =
        std::any_of(plan_.collectives.begin(), plan_.collectives.end(),
                    [](const PlannedCollective& one) { return one.first.nccl != nullptr; });
    if (nccl)
      notes.emplace_back(
          "NCCL's collectives are exported as the messages of rings (as with --nccl rings), "
          "because GOAL has no collectives");
    notes.emplace_back(
        "fused schedule steps (receive, reduce, send) are exported as separate operations, and "
        "messages never wait for a free slot of a connection, because GOAL has no slots");
    return notes;
  }

 private:
  [[nodiscard]] const ExecutionGraph::Rank& rank_of(std::int64_t rank) const {
    return plan_.graph->ranks[rank];
  }

  [[nodiscard]] StepNodes step_of(std::int64_t rank) const {
    if (!plan_.graph) return steps_[group_of_[rank]];
    static const Durations none;
    return unroll(rank_of(rank).program, none, {Bandwidth(1), Bandwidth(1)});
  }

  [[nodiscard]] std::string name_of_node(const StepNodes::Node& node) const {
    const Task& task = *node.task;
    if (!plan_.graph) return core::name_of(scenario_, node);
    if (task.kind == Task::Kind::kMark) return "join";
    if (task.kind == Task::Kind::kCompute) return "operation";
    if (task.pack >= 0) return plan_.packs[task.pack].payload.name;
    return "message";
  }

  // --- communicators ---

  /// Returns the name of the communicator in which a collective is executed; "gradients" for the
  /// all-reduces of gradients.
  [[nodiscard]] std::string name_of(const PlannedCollective& one) const {
    if (plan_.graph) {
      for (const ExecutionGraph::Collective& c : plan_.graph->collectives) {
        const std::size_t index = static_cast<std::size_t>(&c - plan_.graph->collectives.data());
        if (&plan_.planned(plan_.packs[index].collective) == &one)
          return plan_.graph->communicators[c.communicator].name;
      }
    }
    for (const PlannedExchange& e : plan_.exchanges) {
      if (&plan_.planned(e.collective) == &one) return scenario_.communicators[e.communicator].name;
    }
    return "gradients";
  }
  /// Returns the communicator's name and the index of the group. In an imported trace, each group
  /// is a communicator, whose name suffices.
  [[nodiscard]] std::string plain_name(std::size_t collective, std::int64_t group) const {
    return plan_.graph ? names_[collective] : fmt::format("{}.{}", names_[collective], group);
  }
  /// Numbers all groups, from 1. ASTRA-sim reads the number at the beginning of a group's name, and
  /// refuses names without a number.
  void number_groups() {
    std::set<std::string> names;
    for (std::size_t c = 0; c < plan_.collectives.size(); ++c) {
      const PlannedCollective& one = plan_.collectives[c];
      if (one.members) names.insert(plain_name(c, 0));
      for (std::int64_t g = 0; one.groups && g < one.groups->groups(); ++g)
        names.insert(plain_name(c, g));
    }
    const bool are_numbers = std::all_of(names.begin(), names.end(), [](const std::string& name) {
      return whole_number<std::int32_t>(name).value_or(0) > 0;
    });
    for (const std::string& name : names)
      group_names_[name] = are_numbers ? name : fmt::format("{}:{}", group_names_.size() + 1, name);
  }
  /// Returns the name of a group in the trace: "3:tensor.0".
  [[nodiscard]] const std::string& group_name(std::size_t collective, std::int64_t group) const {
    return group_names_.at(plain_name(collective, group));
  }

  /// Returns a number that identifies one execution of a collective in the training step.
  [[nodiscard]] std::int64_t key_of(const StepNodes::Node& node) const {
    const Task& task = *node.task;
    if (task.pack >= 0) return task.pack;
    constexpr std::int64_t kOccurrences = std::int64_t{1} << 32;
    return std::ssize(plan_.packs) + task.index + node.occurrence * kOccurrences;
  }
  [[nodiscard]] CollectiveId collective_of(const Task& task) const {
    return task.pack >= 0 ? plan_.packs[task.pack].collective
                          : plan_.exchanges[task.index].collective;
  }
  [[nodiscard]] bool is_message(const Task& task) const { return plan_.graph && task.pack < 0; }

  void communicate(std::int64_t rank, const StepNodes::Node& from, ChakraNode& node) const {
    const Task& task = *from.task;
    if (is_message(task)) {
      if (task.index < 0) {  // the task announces a computation
        node.type = ChakraNode::Type::kCompute;
        return;
      }
      const ExecutionGraph::Message& message = rank_of(rank).messages[task.index];
      node.type = message.sends ? ChakraNode::Type::kSend : ChakraNode::Type::kReceive;
      node.bytes = message.bytes;
      node.source = message.sends ? rank : message.peer;
      node.destination = message.sends ? message.peer : rank;
      node.tag = message.tag;
      return;
    }
    const std::size_t id = collective_of(task);
    const PlannedCollective& planned = plan_.collectives[id];
    const Collective& c = planned.first;
    node.type = ChakraNode::Type::kCollective;
    node.collective = static_cast<std::int64_t>(*chakra_kind(c.kind));
    const bool gathers = c.kind == CollectiveKind::kAllGather || c.kind == CollectiveKind::kGather;
    node.bytes = c.bytes().count() / (gathers ? c.contributors : 1);
    node.root = c.root;
    node.type_name = to_string(c.type);
    node.elements = c.elements;
    node.key = key_of(from);
    if (planned.groups || planned.members) node.group = group_name(id, planned.place(rank).group);
  }

  // --- tags ---

  /// Assigns different tags to all executions of collectives. Groups may use the same tags, because
  /// their ranks differ.
  void give_tags() {
    for (const Pack& pack : plan_.packs) {
      first_tag_.push_back(next_tag_);
      next_tag_ += CollectiveMessages::tags_of(as_rings_.plan.collective(pack));
    }
    for (const PlannedExchange& e : plan_.exchanges) {
      first_tag_.push_back(next_tag_);
      const std::int64_t times = std::int64_t{scenario_.workload.micro_batches} *
                                 (std::int64_t{e.exchange.per_forward} + e.exchange.per_backward);
      next_tag_ += times * CollectiveMessages::tags_of(as_rings_.plan.collective(e));
    }
    for (std::size_t r = 0; plan_.graph && r < plan_.graph->ranks.size(); ++r) {
      for (const ExecutionGraph::Message& message : plan_.graph->ranks[r].messages)
        max_tag_ = std::max(max_tag_, message.tag);
    }
    next_tag_ += max_tag_ + 1;
  }

  std::int32_t operation(std::int64_t rank, const StepNodes::Node& node,
                         const std::vector<std::int32_t>& after,
                         const std::map<TaskId, std::int32_t>& announced,
                         CollectiveMessages& messages, GoalRankBuilder& builder) const {
    const Task& task = *node.task;
    if (task.kind == Task::Kind::kMark) {
      if (after.size() == 1) return after.front();
      return builder.join(after);
    }
    if (task.kind == Task::Kind::kCompute) {
      const std::uint8_t cpu = plan_.graph ? rank_of(rank).streams[node.id] : 0;
      return builder.compute(node.duration, cpu, after);
    }
    if (is_message(task)) {
      if (task.index < 0) return announced.contains(node.id) ? -1 : builder.join(after);
      const ExecutionGraph::Message& message = rank_of(rank).messages[task.index];
      GoalOperation one;
      one.kind = message.sends ? GoalOperation::Kind::kSend : GoalOperation::Kind::kReceive;
      one.peer = message.peer;
      one.tag = message.tag;
      one.size = message.bytes;
      return builder.add(one, after);
    }
    const CollectiveId id = collective_of(task);
    const PlannedCollective& planned = as_rings_.plan.planned(id);
    const Partition::Place place = planned.place(rank);
    const Collective c = planned.in(place.group);
    const std::size_t index = task.pack >= 0 ? task.pack : plan_.packs.size() + task.index;
    const std::int64_t first_tag =
        max_tag_ + 1 + first_tag_[index] + node.occurrence * CollectiveMessages::tags_of(c);
    return messages.add({c, static_cast<Rank>(place.rank),
                         [&](Rank r) {
                           return planned.replica({place.group, r});
                         },
                         first_tag, planned.launch_overhead},
                        after, builder);
  }

  const Scenario& scenario_;
  const Plan& plan_;
  Scenario as_rings_;  ///< the scenario with schedules in place of NCCL's predicted times; GOAL
                       ///< files contain these schedules
  StepPrograms programs_;
  std::vector<StepNodes> steps_;  ///< the unrolled training step of each kind of device
  std::map<std::string, std::string> group_names_;  ///< names in the trace, by plain name
  std::vector<std::size_t> group_of_;    ///< for each replica, the index of its kind of device
  std::vector<std::string> names_;       ///< name of each collective's communicator
  std::vector<std::int64_t> first_tag_;  ///< first tag of each pack, then first tag of each
                                         ///< exchange
  std::int64_t next_tag_ = 0, max_tag_ = -1;
};

}  // namespace

Expected<std::unique_ptr<TraceExport>> TraceExport::of(const Scenario& scenario) {
  if (const std::string why = why_no_graph(scenario); !why.empty())
    return tl::make_unexpected(Error::request(
        {ProblemCode::kUnsupported, "--to"},
        fmt::format("the training step of this scenario cannot be exported as a task graph: {}",
                    why),
        {scenario.file, 0, 0}));
  return std::make_unique<ScenarioExport>(scenario);
}

}  // namespace tutti::core
