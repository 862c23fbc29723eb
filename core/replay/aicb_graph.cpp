// All ranks of a block execute the same operations, one after the other. Sends and receives that
// follow each other in the file are one batch (batch_isend_irecv): they start together, and the
// next operation waits for all of them. The ranks are numbered as in Megatron, with the
// tensor-parallel rank first. In a pipeline stage of R ranks with T tensor-parallel ranks:
//
//     group             ranks
//     tp_group          T consecutive ranks
//     ep_tp_group       as many consecutive ranks as the group has
//     dp_group          n ranks with stride R / n
//     ep_group          n ranks with stride T
//     ep_dp_group       n ranks with stride R / n
//     pp_group          the ranks with the same number in all stages
//     embedding_group   the ranks with the same number in the first and the last stage
//
// The operations before the first end of an iteration initialise the training. Further iterations
// repeat the same operations, so the graph has the last iteration only.
// SOURCE: aliyun/aicb workload_applyer.py, utils/utils.py (RankGenerator).

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/formats/aicb.h"
#include "core/replay/graph_reader.h"
#include "core/replay/rank_builder.h"

namespace tutti::core {
namespace {

CollectiveKind kind_of_aicb(AicbOperation::Collective collective) {
  switch (collective) {
    case AicbOperation::Collective::kAllReduce: break;
    case AicbOperation::Collective::kAllGather: return CollectiveKind::kAllGather;
    case AicbOperation::Collective::kReduceScatter: return CollectiveKind::kReduceScatter;
    case AicbOperation::Collective::kAllToAll: return CollectiveKind::kAllToAll;
    case AicbOperation::Collective::kBroadcast: return CollectiveKind::kBroadcast;
    case AicbOperation::Collective::kReduce: return CollectiveKind::kReduce;
  }
  return CollectiveKind::kAllReduce;
}

class AicbGraph {
 public:
  using Kind = AicbOperation::Kind;
  using Group = AicbOperation::Group;

  AicbGraph(const std::string& path, RecordCounts& counts, std::int64_t ranks)
      : path_(path), counts_(counts), given_ranks_(ranks) {
    graph_.source = "AICB";
    graph_.file = path;
  }

  Expected<ExecutionGraph> read(ByteInput& input) {
    const auto begin = [this](const AicbBlock& block) -> Expected<void> {
      end_iteration();
      stages_.push_back({block, {}, {}, 0});
      return {};
    };
    const auto take = [this](const AicbOperation& one) { return add(one); };
    if (auto done = read_aicb(input, path_, begin, take); !done)
      return tl::make_unexpected(done.error());
    end_iteration();
    if (auto found = find_sizes(); !found) return tl::make_unexpected(found.error());
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      for (std::int64_t rank = 0; rank < stage_ranks_; ++rank) {
        auto made = rank_of(s, rank);
        if (!made) return tl::make_unexpected(made.error());
        graph_.ranks.push_back(std::move(*made));
      }
    }
    add_notes();
    return std::move(graph_);
  }

 private:
  struct Stage {
    AicbBlock block;
    std::vector<AicbOperation> operations;  ///< the last iteration that has operations
    std::vector<AicbOperation> current;     ///< the iteration that is being read
    std::int64_t iterations = 0;            ///< number of ends of iterations
  };

  template <class... Args>
  tl::unexpected<Error> fail(ProblemCode code, int line, fmt::format_string<Args...> format,
                             Args&&... args) const {
    return tl::make_unexpected(Error::request(
        {code, "AICB"}, fmt::format(format, std::forward<Args>(args)...), {path_, line, 0}));
  }

  Expected<void> add(const AicbOperation& one) {
    if (one.kind == Kind::kIterationEnd) {
      counts_.use("end of an iteration");
      ++stages_.back().iterations;
      end_iteration();
      return {};
    }
    if (++read_ > kMaxGraphTasks)
      return fail(ProblemCode::kTooLarge, one.line, "the file has more than {} operations",
                  kMaxGraphTasks);
    is_log_ = is_log_ || (one.kind != Kind::kComputation && one.elapsed);
    stages_.back().current.push_back(one);
    return {};
  }

  /// Replaces the last iteration of the stage by the one that was read, unless it is empty.
  void end_iteration() {
    if (stages_.empty() || stages_.back().current.empty()) return;
    Stage& stage = stages_.back();
    if (!stage.operations.empty())
      counts_.ignore("operation of the initialisation or of an earlier iteration",
                     std::ssize(stage.operations));
    stage.operations = std::move(stage.current);
    stage.current.clear();
  }

  /// If the file states neither its ranks nor the size of any group, the given ranks are one
  /// data-parallel group, which is the group of AICB's tests of single collectives.
  Expected<void> use_given_ranks() {
    const bool is_stated =
        std::any_of(size_.begin(), size_.end(), [](std::int64_t size) { return size > 0; });
    if (is_stated || stages_.size() != 1 || stages_.front().block.ranks > 0) return {};
    if (given_ranks_ == 0)
      return fail(ProblemCode::kMissing, stages_.front().block.line,
                  "the column comm_group_size is missing, so the number of GPUs is unknown; hint: "
                  "name the cluster with --machine and --nodes, or add the column");
    size_[static_cast<std::size_t>(Group::kData)] = given_ranks_;
    graph_.notes.push_back(
        fmt::format("the file does not state the sizes of groups (comm_group_size); assumed: the "
                    "data-parallel group has the {} GPUs of the cluster",
                    given_ranks_));
    return {};
  }

  /// Determines the size of each kind of group, and the number of ranks of a pipeline stage.
  Expected<void> find_sizes() {
    std::array<int, 8> line{};
    for (const Stage& stage : stages_) {
      if (stage.operations.empty())
        return fail(ProblemCode::kMissing, stage.block.line,
                    "no operation follows this line; is the file cut off?");
      for (const AicbOperation& one : stage.operations) {
        if (one.kind != Kind::kCollective || one.group_size == 0) continue;
        std::int64_t& size = size_[static_cast<std::size_t>(one.group)];
        if (size > 0 && size != one.group_size)
          return fail(ProblemCode::kConflict, one.line,
                      "{} has {} ranks, but an earlier operation states {}", to_string(one.group),
                      one.group_size, size);
        if (size == 0) line[static_cast<std::size_t>(one.group)] = one.line;
        size = one.group_size;
      }
    }
    if (auto checked = use_given_ranks(); !checked) return checked;
    tensor_ = std::max<std::int64_t>(1, size_of_group(Group::kTensor));
    const std::int64_t listed = stages_.front().block.ranks;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const AicbBlock& block = stages_[s].block;
      if (stages_.size() > 1 && (block.ranks != listed || listed == 0 ||
                                 block.first_rank != static_cast<std::int64_t>(s) * listed))
        return fail(ProblemCode::kConflict, block.line,
                    "each block of a file is a pipeline stage: expected the block of ranks {} to "
                    "{} here, found a block of {} ranks that begins with rank {}",
                    static_cast<std::int64_t>(s) * listed,
                    static_cast<std::int64_t>(s + 1) * listed - 1, block.ranks, block.first_rank);
    }
    // A file without a line of ranks states the number of GPUs only by the sizes of its groups.
    const auto times = [](std::int64_t x, std::int64_t y) {
      return std::min(x * std::max<std::int64_t>(1, y), kMaxGraphTasks);
    };
    std::int64_t from_groups = std::max(
        times(tensor_, size_of_group(Group::kData)),
        times(times(tensor_, size_of_group(Group::kExpert)), size_of_group(Group::kDataOfExperts)));
    from_groups =
        std::max({from_groups, size_of_group(Group::kTensorOfExperts), size_of_group(Group::kAll)});
    stage_ranks_ = listed > 0 ? listed : from_groups;
    if (stages_.size() == 1) only_stage_ = has_messages();
    if (listed > 0 && only_stage_ && from_groups < listed) stage_ranks_ = from_groups;
    const std::int64_t all = stage_ranks_ * std::ssize(stages_);
    if (all < 2)
      return fail(ProblemCode::kMissing, stages_.front().block.line,
                  "no group of this file has more than one rank, so there is nothing to simulate");
    std::int64_t tasks = 0;
    for (const Stage& stage : stages_) {
      const std::int64_t own = std::ssize(stage.operations) * 2 + 4;
      if (stage_ranks_ > (kMaxGraphTasks - tasks) / own)
        return fail(ProblemCode::kTooLarge, stage.block.line,
                    "{} operations on each of {} ranks exceed the limit of {} tasks",
                    stage.operations.size(), stage_ranks_, kMaxGraphTasks);
      tasks += stage_ranks_ * own;
    }
    for (std::size_t g = 0; g < size_.size(); ++g) {
      const Group group = static_cast<Group>(g);
      if (size_[g] == 0 || group == Group::kPipeline || group == Group::kEmbedding) continue;
      if (group == Group::kAll && (only_stage_ || size_[g] == all)) continue;
      const std::int64_t span = group == Group::kExpert ? size_[g] * tensor_ : size_[g];
      if (group == Group::kAll || stage_ranks_ % span != 0)
        return fail(ProblemCode::kConflict, line[g],
                    "{} has {} ranks, which does not fit the {} ranks{}", to_string(group),
                    size_[g], group == Group::kAll ? all : stage_ranks_,
                    group != Group::kAll && stages_.size() > 1 ? " of each pipeline stage"
                                                               : " of the file");
    }
    return {};
  }

  [[nodiscard]] std::int64_t size_of_group(Group group) const {
    return size_[static_cast<std::size_t>(group)];
  }

  [[nodiscard]] bool has_messages() const {
    return std::any_of(stages_.front().operations.begin(), stages_.front().operations.end(),
                       [](const AicbOperation& one) {
                         return one.kind == Kind::kSend || one.kind == Kind::kReceive;
                       });
  }

  /// Returns the communicator of the group of this kind (such as tensor-parallel or data-parallel
  /// ranks) that contains rank `rank` of pipeline stage `stage`. Returns nullopt if the rank is in
  /// no such group, if the group has one rank, or if the group also has ranks of stages that are
  /// not in the file.
  std::optional<std::int32_t> communicator(Group group, std::size_t stage, std::int64_t rank) {
    const std::int64_t stages = std::ssize(stages_);
    std::int64_t size = size_of_group(group), stride = 1, first = 0;
    switch (group) {
      case Group::kPipeline:
      case Group::kEmbedding:
        if (stages < 2) return std::nullopt;
        size = group == Group::kPipeline ? stages : 2;
        if (group == Group::kEmbedding && stage != 0 && stage + 1 != stages_.size())
          return std::nullopt;
        return communicator_of(
            group, rank, size,
            group == Group::kPipeline ? stage_ranks_ : stage_ranks_ * (stages - 1));
      case Group::kAll: return communicator_of(group, 0, stage_ranks_ * stages, 1);
      case Group::kData:
      case Group::kDataOfExperts: stride = size > 0 ? stage_ranks_ / size : 1; break;
      case Group::kExpert: stride = tensor_; break;
      case Group::kTensor:
      case Group::kTensorOfExperts: break;
    }
    first = rank / (size > 0 ? size * stride : 1) * (size * stride) + rank % stride;
    return communicator_of(group, static_cast<std::int64_t>(stage) * stage_ranks_ + first, size,
                           stride);
  }

  std::optional<std::int32_t> communicator_of(Group group, std::int64_t first, std::int64_t size,
                                              std::int64_t stride) {
    if (size < 2) return std::nullopt;
    const auto [known, fresh] = communicators_.try_emplace(
        {group, first}, static_cast<std::int32_t>(graph_.communicators.size()));
    if (fresh) {
      ExecutionGraph::Communicator made{fmt::format("{} of rank {}", to_string(group), first), {}};
      for (std::int64_t r = 0; r < size; ++r) made.ranks.push_back(first + r * stride);
      graph_.communicators.push_back(std::move(made));
    }
    return known->second;
  }

  Expected<ExecutionGraph::Rank> rank_of(std::size_t s, std::int64_t rank) {
    RankBuilder builder;
    TaskId last = kNoTask;
    std::vector<TaskId> batch;
    const bool counts = rank == 0;
    const auto follow = [&](TaskId task) {
      if (last != kNoTask) builder.edge(last, task);
      return task;
    };
    const auto end_batch = [&] {
      if (batch.empty()) return;
      const TaskId end = builder.mark();
      for (const TaskId task : batch) builder.edge(task, end);
      batch.clear();
      last = end;
    };
    for (const AicbOperation& one : stages_[s].operations) {
      if (one.kind == Kind::kSend || one.kind == Kind::kReceive) {
        if (const auto message = message_of(one, s, rank, counts))
          batch.push_back(follow(builder.message(*message)));
        continue;
      }
      end_batch();
      if (one.kind == Kind::kComputation) {
        const Time duration = duration_of(one, counts);
        if (duration > Time()) last = follow(builder.compute(duration, 0));
        continue;
      }
      const auto number = collective_of(one, s, rank, counts);
      if (!number) return tl::make_unexpected(number.error());
      if (*number >= 0) last = follow(builder.collective(*number));
    }
    end_batch();
    if (last == kNoTask) static_cast<void>(builder.mark());
    return std::move(builder).build();
  }

  std::optional<ExecutionGraph::Message> message_of(const AicbOperation& one, std::size_t s,
                                                    std::int64_t rank, bool counts) {
    const std::int64_t stage = static_cast<std::int64_t>(s) + (one.to_next ? 1 : -1);
    if (only_stage_ || stage < 0 || stage >= std::ssize(stages_)) {
      if (counts) counts_.ignore("message to or from a pipeline stage that is not in the file");
      return std::nullopt;
    }
    if (counts) counts_.use(one.kind == Kind::kSend ? "send" : "receive");
    return ExecutionGraph::Message{one.kind == Kind::kSend, stage * stage_ranks_ + rank, 0,
                                   std::max<std::int64_t>(1, one.bytes), one.line};
  }

  Time duration_of(const AicbOperation& one, bool counts) {
    if (!one.elapsed) {
      if (counts) counts_.incomplete("computation without a time"), ++untimed_;
      return {};
    }
    if (counts) counts_.use("computation");
    // The log of a run has milliseconds. A workload has nanoseconds.
    constexpr double kMostPicoseconds = 1e18;
    const double picoseconds = *one.elapsed * (is_log_ ? 1e9 : 1e3);
    return Time(std::llround(std::min(picoseconds, kMostPicoseconds)));
  }

  /// Returns the collective of the graph of which an operation is a rank's part; -1 if the rank is
  /// alone in its group.
  Expected<std::int32_t> collective_of(const AicbOperation& one, std::size_t s, std::int64_t rank,
                                       bool counts) {
    const bool in_stage =
        one.group != Group::kAll && one.group != Group::kPipeline && one.group != Group::kEmbedding;
    if (in_stage && size_of_group(one.group) == 0)
      return fail(ProblemCode::kMissing, one.line,
                  "comm_group_size is missing for all collectives in {}; hint: state the number of "
                  "ranks of the group in this row",
                  to_string(one.group));
    const auto which = communicator(one.group, s, rank);
    if (counts) {
      if (one.bytes == 0)
        counts_.ignore("collective of 0 bytes");
      else if (which || (in_stage && size_of_group(one.group) == 1))
        counts_.use(to_string(kind_of_aicb(one.collective)));
      else
        counts_.ignore("collective with ranks of pipeline stages that are not in the file");
    }
    if (!which || one.bytes == 0) return -1;
    const std::int64_t turn = turn_[{*which, static_cast<std::int64_t>(s) * stage_ranks_ + rank}]++;
    const auto [known, fresh] =
        numbers_.try_emplace({*which, turn}, static_cast<std::int32_t>(graph_.collectives.size()));
    const CollectiveKind kind = kind_of_aicb(one.collective);
    const std::int64_t ranks = std::ssize(graph_.communicators[*which].ranks);
    if (one.root >= ranks)
      return fail(ProblemCode::kInvalid, one.line, "dst is {}, but {} has {} ranks", one.root,
                  to_string(one.group), ranks);
    if (!fresh) {
      if (const auto& there = graph_.collectives[known->second]; there.kind != kind)
        return fail(ProblemCode::kConflict, one.line,
                    "the ranks of {} do not call the same collectives in the same order: this {} "
                    "has the same position as \"{}\" on another rank",
                    to_string(one.group), to_string(kind), there.name);
      return known->second;
    }
    ExecutionGraph::Collective made;
    made.communicator = *which;
    made.kind = kind;
    made.type = DataType::kFloat16;
    made.elements = (one.bytes + 1) / 2;
    if (has_blocks(kind)) made.elements = (made.elements + ranks - 1) / ranks * ranks;
    made.root = static_cast<std::int32_t>(one.root);
    made.name = fmt::format("{} (line {})", one.name, one.line);
    graph_.collectives.push_back(std::move(made));
    return known->second;
  }

  void add_notes() {
    if (untimed_ > 0)
      graph_.notes.push_back(
          fmt::format("{} computations have no time in the file, so they take no time in the "
                      "simulation; hint: run AICB with --aiob_enable",
                      untimed_));
    if (only_stage_)
      graph_.notes.push_back(fmt::format(
          "the file has the operations of one pipeline stage, so the {} ranks of one stage are "
          "simulated, without messages between stages",
          stage_ranks_));
    else if (stages_.front().block.ranks == 0)
      graph_.notes.push_back(fmt::format(
          "the file does not state the number of ranks; the sizes of its groups imply {} ranks",
          stage_ranks_));
    if (is_log_)
      graph_.notes.emplace_back(
          "the file is the log of a run; its computations take the measured times, and its "
          "collectives are simulated");
  }

  const std::string& path_;
  RecordCounts& counts_;
  std::int64_t given_ranks_ = 0;
  std::vector<Stage> stages_;
  std::int64_t read_ = 0, untimed_ = 0;
  bool is_log_ = false;
  bool only_stage_ = false;  ///< the file has one of several pipeline stages
  /// The number of ranks of each kind of group; 0: the file has no such group.
  std::array<std::int64_t, 8> size_{};
  std::int64_t tensor_ = 1, stage_ranks_ = 0;
  std::map<std::pair<Group, std::int64_t>, std::int32_t> communicators_;
  /// The number of calls of a rank in a communicator.
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> turn_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> numbers_;
  ExecutionGraph graph_;
};

}  // namespace

Expected<ExecutionGraph> read_aicb_graph(ByteInput& input, const std::string& name,
                                         RecordCounts* counts, std::int64_t ranks) {
  RecordCounts unused;
  return AicbGraph(name, counts == nullptr ? unused : *counts, ranks).read(input);
}

}  // namespace tutti::core
