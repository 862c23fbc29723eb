// All GPUs execute the same rows. In the forward pass, each layer computes, then waits for its
// collective. In the backward pass, from the last row to the first, a layer computes its input
// gradients, waits for their collective, computes its weight gradients, and starts their
// collective, which only the end of the step waits for.
//
// The rows are those of one pipeline stage, so the trace has the GPUs of one stage. GPUs are
// numbered by tensor-parallel rank first, then by expert-parallel rank:
//
//     group            ranks, for tensor = T, expert = E, in one stage of R GPUs
//     tensor           T consecutive ranks
//     data             R / T ranks with stride T
//     expert           E ranks with stride T
//     data of experts  R / (T · E) ranks with stride T · E
//
// SOURCE: aliyun/SimAI Workload.cc, iterate_hybrid_parallel_Transformer_fwd_in_bckwd();
// MockNcclGroup.cc, MockNcclGroup().

#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/formats/simai.h"
#include "core/replay/graph_reader.h"
#include "core/replay/rank_builder.h"

namespace tutti::core {
namespace {

CollectiveKind kind_of_row(SimaiCollective::Kind kind) {
  switch (kind) {
    case SimaiCollective::Kind::kAllGather: return CollectiveKind::kAllGather;
    case SimaiCollective::Kind::kReduceScatter: return CollectiveKind::kReduceScatter;
    case SimaiCollective::Kind::kAllToAll: return CollectiveKind::kAllToAll;
    case SimaiCollective::Kind::kNone:
    case SimaiCollective::Kind::kAllReduce: break;
  }
  return CollectiveKind::kAllReduce;
}

class SimaiGraph {
 public:
  SimaiGraph(const std::string& path, RecordCounts& counts, std::int64_t ranks)
      : path_(path), counts_(counts), given_ranks_(ranks) {
    graph_.source = "SimAI";
    graph_.file = path;
  }

  Expected<ExecutionGraph> read(ByteInput& input) {
    const auto begin = [this](const SimaiHeader& header) -> Expected<void> {
      header_ = header;
      if (header.gpus == 0) {
        if (auto checked = use_given_ranks(); !checked) return checked;
      }
      ranks_ = header_.gpus / header_.pipeline_parallel;
      return check_size();
    };
    const auto take = [this](const SimaiLayer& layer) -> Expected<void> {
      layers_.push_back(layer);
      return check_size();
    };
    if (auto done = read_simai(input, path_, begin, take, counts_); !done)
      return tl::make_unexpected(done.error());
    make_groups();
    number_collectives();
    for (std::int64_t rank = 0; rank < ranks_; ++rank) graph_.ranks.push_back(rank_of(rank));
    if (header_.pipeline_parallel > 1)
      graph_.notes.push_back(fmt::format(
          "the file has the rows of one of {} pipeline stages, so {} of {} GPUs are simulated; "
          "the file contains neither messages between stages nor pipeline bubbles",
          header_.pipeline_parallel, ranks_, header_.gpus));
    return std::move(graph_);
  }

 private:
  /// Sets the number of GPUs of a workload that does not state it.
  Expected<void> use_given_ranks() {
    const std::int64_t model = header_.tensor_parallel * header_.expert_parallel;
    if (given_ranks_ == 0 || given_ranks_ % model != 0)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing, "SimAI"},
          given_ranks_ == 0
              ? std::string("all_gpus is missing; hint: name the cluster with --machine and "
                            "--nodes, or add \"all_gpus: N\", the number of GPUs, to this line")
              : fmt::format(
                    "all_gpus is missing, and the {} GPUs of the cluster are not a multiple "
                    "of model_parallel_NPU_group · ep ({} · {})",
                    given_ranks_, header_.tensor_parallel, header_.expert_parallel),
          {path_, header_.line, 1}));
    header_.gpus = given_ranks_ * header_.pipeline_parallel;
    graph_.notes.push_back(
        fmt::format("the file does not state the number of GPUs (all_gpus); assumed: the {} GPUs "
                    "of the cluster",
                    given_ranks_));
    return {};
  }

  Expected<void> check_size() const {
    constexpr std::int64_t kTasksPerLayer = 9;
    if (ranks_ * static_cast<std::int64_t>(layers_.size() + 1) <= kMaxGraphTasks / kTasksPerLayer)
      return {};
    return tl::make_unexpected(Error::request(
        {ProblemCode::kTooLarge, "ExecutionTrace.path"},
        fmt::format(
            "{} rows on {} GPUs may need more than {} tasks; such traces are refused, because they "
            "need too much memory; hint: reduce ga, the number of micro-batches, in the file",
            layers_.size(), ranks_, kMaxGraphTasks),
        {path_, 0, 0}));
  }

  enum GroupKind : std::uint8_t { kTensor, kData, kExpert, kDataOfExperts, kGroupKinds };

  /// All groups of one kind, such as the tensor-parallel groups. `first` is the index of the first
  /// group's communicator; group_of() returns the index of a rank's group.
  struct Groups {
    std::int64_t size = 1, stride = 1;
    std::int32_t first = 0;
    [[nodiscard]] std::int64_t group_of(std::int64_t rank) const {
      return rank / (size * stride) * stride + rank % stride;
    }
  };

  void make_groups() {
    const std::int64_t tensor = header_.tensor_parallel, expert = header_.expert_parallel;
    groups_[kTensor] = {tensor, 1};
    groups_[kData] = {ranks_ / tensor, tensor};
    groups_[kExpert] = {expert, tensor};
    groups_[kDataOfExperts] = {ranks_ / tensor / expert, tensor * expert};
    constexpr std::array<std::string_view, kGroupKinds> kNames{"tensor", "data", "expert",
                                                               "data of experts"};
    for (std::size_t kind = 0; kind < kGroupKinds; ++kind) {
      Groups& groups = groups_[kind];
      groups.first = static_cast<std::int32_t>(graph_.communicators.size());
      if (groups.size < 2) continue;
      const std::size_t count = static_cast<std::size_t>(ranks_ / groups.size);
      graph_.communicators.resize(graph_.communicators.size() + count);
      for (std::size_t g = 0; g < count; ++g)
        graph_.communicators[groups.first + g].name = fmt::format("{} {}", kNames[kind], g);
      for (std::int64_t rank = 0; rank < ranks_; ++rank)
        graph_.communicators[groups.first + groups.group_of(rank)].ranks.push_back(rank);
    }
  }

  [[nodiscard]] static GroupKind group_kind(const SimaiCollective& one, bool of_weights) {
    if (one.group == SimaiCollective::Group::kExpert) return kExpert;
    if (one.group == SimaiCollective::Group::kDataOfExperts) return kDataOfExperts;
    return of_weights ? kData : kTensor;
  }

  /// Each collective of a row is one collective of the graph in each group.
  void number_collectives() {
    first_.assign(layers_.size() * 3, -1);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const SimaiLayer& layer = layers_[l];
      const std::array passes{&layer.forward, &layer.input_gradient, &layer.weight_gradient};
      for (std::size_t p = 0; p < passes.size(); ++p) {
        const SimaiCollective& one = passes[p]->collective;
        const Groups& groups = groups_[group_kind(one, p == 2)];
        if (one.kind == SimaiCollective::Kind::kNone || groups.size < 2) continue;
        first_[l * 3 + p] = static_cast<std::int32_t>(graph_.collectives.size());
        ExecutionGraph::Collective made;
        made.kind = kind_of_row(one.kind);
        made.type = DataType::kFloat16;
        made.elements = (one.bytes + 1) / 2;
        if (has_blocks(made.kind))
          made.elements = (made.elements + groups.size - 1) / groups.size * groups.size;
        made.name = fmt::format("{} (line {})", layer.name, layer.line);
        for (std::int64_t g = 0; g < ranks_ / groups.size; ++g) {
          made.communicator = groups.first + static_cast<std::int32_t>(g);
          graph_.collectives.push_back(made);
        }
      }
    }
  }

  [[nodiscard]] ExecutionGraph::Rank rank_of(std::int64_t rank) const {
    RankBuilder builder;
    TaskId last = kNoTask;
    const auto follow = [&](TaskId task) {
      if (last != kNoTask) builder.edge(last, task);
      return task;
    };
    const auto pass = [&](std::size_t layer, std::size_t which, const SimaiPass& of, bool waits) {
      if (of.compute_ns > 0) last = follow(builder.compute(Time(of.compute_ns * 1000), 0));
      const std::int32_t first = first_[layer * 3 + which];
      if (first < 0) return;
      const Groups& groups = groups_[group_kind(of.collective, which == 2)];
      TaskId end =
          follow(builder.collective(first + static_cast<std::int32_t>(groups.group_of(rank))));
      if (layers_[layer].update_ns > 0) {
        // The delay occupies no multiprocessors.
        const TaskId delay = builder.compute(Time(layers_[layer].update_ns * 1000),
                                             static_cast<std::uint8_t>(waits ? 1 : 2), 0);
        builder.edge(end, delay);
        end = delay;
      }
      if (waits) last = end;
    };
    for (std::size_t l = 0; l < layers_.size(); ++l) pass(l, 0, layers_[l].forward, true);
    for (std::size_t l = layers_.size(); l-- > 0;) {
      pass(l, 1, layers_[l].input_gradient, true);
      pass(l, 2, layers_[l].weight_gradient, false);
    }
    return std::move(builder).build();
  }

  const std::string& path_;
  RecordCounts& counts_;
  SimaiHeader header_;
  std::int64_t given_ranks_ = 0;
  std::int64_t ranks_ = 0;
  std::vector<SimaiLayer> layers_;
  std::array<Groups, kGroupKinds> groups_;
  /// By row and pass: the collective of the first group; -1: none.
  std::vector<std::int32_t> first_;
  ExecutionGraph graph_;
};

}  // namespace

Expected<ExecutionGraph> read_simai_graph(ByteInput& input, const std::string& name,
                                          RecordCounts* counts, std::int64_t ranks) {
  RecordCounts unused;
  return SimaiGraph(name, counts == nullptr ? unused : *counts, ranks).read(input);
}

}  // namespace tutti::core
