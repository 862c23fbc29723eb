// The calls of a rank are kept until its file is read, because groups may be defined anywhere. The
// k-th collective of a group is the same collective on all ranks. Calls have no durations, so the
// graph has only communication, like a replay by PARAM's comm_replay.

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/formats/pytorch_trace.h"
#include "core/replay/graph_reader.h"
#include "core/replay/rank_builder.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMaxCallBytes = std::int64_t{1} << 46;

/// Returns the collective of a call; nullopt if the name is unknown.
std::optional<CollectiveKind> kind_of_call(std::string_view name) {
  const auto holds = [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (holds("reduce_scatter") || holds("reduceScatter")) return CollectiveKind::kReduceScatter;
  if (holds("allreduce") || holds("all_reduce") || name == "barrier")
    return CollectiveKind::kAllReduce;
  if (holds("allgather") || holds("all_gather")) return CollectiveKind::kAllGather;
  if (holds("all_to_all") || holds("alltoall")) return CollectiveKind::kAllToAll;
  if (holds("broadcast")) return CollectiveKind::kBroadcast;
  if (holds("reduce")) return CollectiveKind::kReduce;
  if (holds("gather")) return CollectiveKind::kGather;
  if (holds("scatter")) return CollectiveKind::kScatter;
  return std::nullopt;
}

/// Returns the number of bytes of ATen's and C++'s types; 0 if the type is unknown.
std::int64_t bytes_of_type(std::string_view name) {
  for (const auto& [known, bytes] : std::initializer_list<std::pair<std::string_view, int>>{
           {"Float", 4},         {"Double", 8},      {"Half", 2},  {"BFloat16", 2}, {"Int", 4},
           {"Long", 8},          {"Short", 2},       {"Char", 1},  {"Byte", 1},     {"Bool", 1},
           {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}, {"float", 4}, {"float32", 4},  {"float64", 8},
           {"double", 8},        {"float16", 2},     {"half", 2},  {"bfloat16", 2}, {"int32", 4},
           {"int", 4},           {"int64", 8},       {"long", 8},  {"int8", 1},     {"uint8", 1},
           {"char", 1},          {"byte", 1},        {"bool", 1}}) {
    if (name == known) return bytes;
  }
  return 0;
}

class PytorchGraph {
 public:
  PytorchGraph(const RankFiles& files, RecordCounts& counts) : files_(files), counts_(counts) {}

  Expected<ExecutionGraph> read() {
    graph_.file = files_.path;
    std::vector<PytorchCall> calls;
    auto first = read_file(0, calls);
    if (!first) return tl::make_unexpected(first.error());
    graph_.source = "PyTorch " + first->schema;
    ranks_ = files_.ranks;
    std::int64_t largest = 1;
    for (const auto& [name, group] : defined_) largest = std::max(largest, group.size);
    for (const PytorchCall& call : calls) largest = std::max(largest, call.group.size);
    const bool is_copied = ranks_ == 1 && largest > 1;
    if (is_copied) {
      ranks_ = largest;
      // A rank without calls needs the memory of about four tasks.
      constexpr std::int64_t kTasksOfRank = 4;
      if (ranks_ > kMaxGraphTasks / (std::ssize(calls) + kTasksOfRank))
        return fail(ProblemCode::kTooLarge,
                    "{} calls on each of {} ranks are more than the limit of {} tasks",
                    calls.size(), ranks_, kMaxGraphTasks);
      graph_.notes.push_back(
          fmt::format("only the trace of one rank was given; all {} ranks execute the collectives "
                      "of this trace",
                      ranks_));
    }
    std::vector<std::int64_t> all(ranks_);
    for (std::int64_t r = 0; r < ranks_; ++r) all[r] = r;
    graph_.communicators.push_back({"", std::move(all)});
    for (rank_ = 0; rank_ < ranks_; ++rank_) {
      if (rank_ > 0 && !is_copied) {
        calls.clear();
        first = read_file(rank_, calls);
        if (!first) return tl::make_unexpected(first.error());
      }
      if (auto added = add_rank(calls); !added) return tl::make_unexpected(added.error());
    }
    for (ExecutionGraph::Collective& one : graph_.collectives) {
      const std::int64_t ranks = std::ssize(graph_.communicators[one.communicator].ranks);
      if (has_blocks(one.kind)) one.elements = (one.elements + ranks - 1) / ranks * ranks;
    }
    graph_.notes.emplace_back(
        "the trace has no durations, so only its collectives and messages are simulated, one after "
        "the other on each rank");
    if (unsized_ > 0)
      graph_.notes.push_back(
          fmt::format("{} calls have no size, and are simulated with one element", unsized_));
    if (split_ > 0)
      graph_.notes.push_back(fmt::format(
          "{} calls of all-to-all state the size of each block; all blocks are simulated with the "
          "same size",
          split_));
    return std::move(graph_);
  }

 private:
  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> fail(ProblemCode code, fmt::format_string<Args...> format,
                                           Args&&... args) const {
    return tl::make_unexpected(Error::request({code, "ExecutionTrace.path"},
                                              fmt::format(format, std::forward<Args>(args)...),
                                              {file_, 0, 0}));
  }

  Expected<PytorchTrace> read_file(std::int64_t rank, std::vector<PytorchCall>& calls) {
    file_ = files_.file(rank);
    auto input = files_.open(file_);
    if (!input) return tl::make_unexpected(input.error());
    const auto take = [&](const PytorchCall& call) -> Expected<void> {
      if (++tasks_ > kMaxGraphTasks)
        return fail(ProblemCode::kTooLarge, "the trace has more than {} calls", kMaxGraphTasks);
      const bool has_size = call.in_bytes >= 0 || call.in_elements >= 0 || call.name == "barrier";
      if (has_size)
        counts_.use(fmt::format("call of {}", call.name));
      else
        counts_.incomplete("call without a size");
      calls.push_back(call);
      return {};
    };
    auto trace = read_pytorch_trace(**input, file_, take, counts_);
    if (trace) define_groups(*trace);
    return trace;
  }

  /// Stores the groups that a trace defines, by name. The first definition that states the ranks
  /// or the size determines them.
  void define_groups(PytorchTrace& trace) {
    defined_.clear();
    communicator_of_definition_.clear();
    for (PytorchGroup& group : trace.groups) {
      PytorchGroup& known = defined_.try_emplace(group.name).first->second;
      if (known.ranks.empty()) known.ranks = std::move(group.ranks);
      if (known.size < 0) known.size = group.size;
    }
  }

  Expected<void> add_rank(const std::vector<PytorchCall>& calls) {
    RankBuilder builder;
    sequence_.clear();
    TaskId last = kNoTask;
    for (const PytorchCall& call : calls) {
      const auto task = task_of(call, builder);
      if (!task) return tl::make_unexpected(task.error());
      if (last != kNoTask) builder.edge(last, *task);
      last = *task;
    }
    if (calls.empty())
      return fail(ProblemCode::kMissing,
                  "the trace has no call of a collective (record_param_comms)");
    graph_.ranks.push_back(std::move(builder).build());
    return {};
  }

  /// Returns the communicator of a call, whose ranks the call or the trace states. All ranks may
  /// execute the same calls, so the cost is logarithmic unless the call is the first of its
  /// communicator or lists the ranks.
  Expected<std::int32_t> communicator(const PytorchCall& call) {
    const PytorchGroup& group = call.group;
    const auto defined = defined_.find(group.name);
    const bool is_defined = defined != defined_.end();
    const bool uses_definition = !group.has_ranks() && is_defined;
    const std::vector<std::int64_t>& ranks = uses_definition ? defined->second.ranks : group.ranks;
    const bool is_range = ranks.empty() && group.stride > 0;
    const std::int64_t size = !ranks.empty()                 ? std::ssize(ranks)
                              : group.size < 0 && is_defined ? defined->second.size
                                                             : group.size;
    if (size == ranks_ || (ranks.empty() && size < 0)) return 0;
    if (ranks.empty() && !is_range)
      return fail(ProblemCode::kMissing,
                  "call {} \"{}\" uses the group \"{}\" of {} ranks, but the trace does not list "
                  "these ranks, and there are {} traces; hint: give the traces of all ranks",
                  call.id, call.name, group.name, size, ranks_);
    const auto cached = uses_definition ? communicator_of_definition_.find(group.name)
                                        : communicator_of_definition_.end();
    Expected<std::int32_t> found = cached != communicator_of_definition_.end() ? cached->second
                                   : is_range ? communicator_of_range(call)
                                              : communicator_of_ranks(call, ranks);
    if (!found) return found;
    if (uses_definition) communicator_of_definition_[group.name] = *found;
    const std::vector<std::int64_t>& members = members_[*found];
    if (!std::binary_search(members.begin(), members.end(), rank_))
      return fail(ProblemCode::kConflict,
                  "call {} \"{}\": rank {} is not a member of the group \"{}\"; hint: give the "
                  "traces of all ranks",
                  call.id, call.name, rank_, group.name);
    return found;
  }

  tl::unexpected<Error> wrong_rank(const PytorchCall& call, std::int64_t rank) const {
    return fail(ProblemCode::kConflict,
                "call {} \"{}\" uses the group \"{}\" with rank {}: expected distinct ranks "
                "below {}; hint: give the traces of all ranks",
                call.id, call.name, call.group.name, rank, ranks_);
  }

  Expected<std::int32_t> communicator_of_range(const PytorchCall& call) {
    const PytorchGroup& group = call.group;
    const auto known =
        ranges_.find(std::tuple(group.name, group.first_rank, group.stride, group.size));
    if (known != ranges_.end()) return known->second;
    const std::int64_t last = group.first_rank + (group.size - 1) * group.stride;
    if (last >= ranks_) return wrong_rank(call, last);
    std::vector<std::int64_t> ranks(group.size);
    for (std::int64_t r = 0; r < group.size; ++r) ranks[r] = group.first_rank + r * group.stride;
    const auto found = communicator_of_ranks(call, ranks);
    if (found)
      ranges_.emplace(std::tuple(group.name, group.first_rank, group.stride, group.size), *found);
    return found;
  }

  Expected<std::int32_t> communicator_of_ranks(const PytorchCall& call,
                                               const std::vector<std::int64_t>& ranks) {
    // Calls of all ranks often list the same ranks as the call before.
    if (last_ >= 0 && graph_.communicators[last_].name == call.group.name &&
        graph_.communicators[last_].ranks == ranks)
      return last_;
    const auto index = static_cast<std::int32_t>(graph_.communicators.size());
    const auto [known, fresh] =
        communicators_.try_emplace(std::pair(call.group.name, ranks), index);
    if (!fresh) return last_ = known->second;
    std::vector<std::int64_t> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end() || sorted.back() >= ranks_)
      return wrong_rank(call, twice != sorted.end() ? *twice : sorted.back());
    members_.emplace(index, std::move(sorted));
    graph_.communicators.push_back({call.group.name, ranks});
    return last_ = index;
  }

  /// Returns the size of a call: the larger of a rank's input and output.
  std::int64_t bytes_of(const PytorchCall& call, CollectiveKind kind, std::int64_t ranks) {
    const std::int64_t type = bytes_of_type(call.type);
    const std::int64_t elements = std::max(call.in_elements, call.out_elements);
    std::int64_t bytes = -1;
    if (elements >= 0 && type > 0) {
      bytes = elements * type;
    } else if (call.in_bytes >= 0) {
      const bool gathers = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kGather;
      const std::int64_t blocks = gathers ? ranks : 1;
      bytes = call.in_bytes > kMaxCallBytes / blocks ? kMaxCallBytes : call.in_bytes * blocks;
    }
    if (bytes < 0 && call.name != "barrier") ++unsized_;
    return std::clamp<std::int64_t>(bytes, 1, kMaxCallBytes);
  }

  Expected<TaskId> task_of(const PytorchCall& call, RankBuilder& builder) {
    const bool sends = call.name.starts_with("send"), receives = call.name.starts_with("recv");
    const auto which = communicator(call);
    if (!which) return tl::make_unexpected(which.error());
    const auto& ranks = graph_.communicators[*which].ranks;
    if (sends || receives) {
      if (call.root < 0 || call.root >= std::ssize(ranks) || ranks[call.root] == rank_)
        return fail(
            ProblemCode::kInvalid,
            "call {} \"{}\" of rank {} has the peer {}: expected another rank of its group, "
            "which has {} ranks",
            call.id, call.name, rank_, call.root, ranks.size());
      return builder.message({sends, ranks[call.root], *which,
                              bytes_of(call, CollectiveKind::kBroadcast, 2), call.id});
    }
    const auto kind = kind_of_call(call.name);
    if (!kind)
      return fail(ProblemCode::kUnsupported,
                  "call {} is the collective \"{}\", which Tutti does not support", call.id,
                  call.name);
    if (ranks.size() == 1) return builder.mark();
    ExecutionGraph::Collective one;
    one.communicator = *which;
    one.kind = *kind;
    one.name = fmt::format("{} ({})", call.name, call.id);
    const std::int64_t bytes = bytes_of(call, *kind, std::ssize(ranks));
    const std::int64_t type = bytes_of_type(call.type);
    one.type = type == 8 ? DataType::kFloat64 : type == 2 ? DataType::kFloat16 : DataType::kFloat32;
    const std::int64_t item = size_of(one.type).count();
    one.elements = (bytes + item - 1) / item;
    if (has_root(*kind)) {
      if (call.root < 0 || call.root >= std::ssize(ranks))
        return fail(ProblemCode::kInvalid, "call {} \"{}\" has root {}, but its group has {} ranks",
                    call.id, call.name, call.root, ranks.size());
      one.root = static_cast<std::int32_t>(call.root);
    }
    if (*kind == CollectiveKind::kAllToAll && call.has_splits) ++split_;
    const std::int64_t turn = sequence_[*which]++;
    const auto [known, fresh] =
        numbers_.try_emplace({*which, turn}, static_cast<std::int32_t>(graph_.collectives.size()));
    if (fresh) graph_.collectives.push_back(one);
    ExecutionGraph::Collective& there = graph_.collectives[known->second];
    if (there.kind != one.kind)
      return fail(
          ProblemCode::kConflict,
          "the ranks of a group disagree about collective {} of the group (counted from 0): "
          "it is call {} \"{}\" on rank {}, but \"{}\" on another rank",
          turn, call.id, call.name, rank_, there.name);
    if (there.root != one.root)
      return fail(
          ProblemCode::kConflict,
          "the ranks of a group disagree about the root of collective {} of the group "
          "(counted from 0): the root is {} in call {} \"{}\" of rank {}, but {} on another "
          "rank",
          turn, one.root, call.id, call.name, rank_, there.root);
    there.elements = std::max(there.elements, one.elements);
    return builder.collective(known->second);
  }

  const RankFiles& files_;
  RecordCounts& counts_;
  std::int64_t ranks_ = 0, rank_ = 0;
  std::string file_;
  std::int32_t last_ = -1;  ///< the communicator of the last call that lists its ranks
  std::int64_t tasks_ = 0, unsized_ = 0, split_ = 0;
  std::map<std::string, PytorchGroup> defined_;  ///< groups that the current trace defines, by name
  std::map<std::string, std::int32_t> communicator_of_definition_;  ///< of groups in `defined_`
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::int32_t> communicators_;
  /// The communicators of ranges of ranks, by name, first rank, stride and size.
  std::map<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>, std::int32_t> ranges_;
  std::map<std::int32_t, std::vector<std::int64_t>> members_;  ///< sorted ranks, by communicator
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> numbers_;
  std::map<std::int32_t, std::int64_t> sequence_;
  ExecutionGraph graph_;
};

}  // namespace

Expected<ExecutionGraph> read_pytorch_graph(const RankFiles& files, RecordCounts* counts) {
  RecordCounts unused;
  return PytorchGraph(files, counts == nullptr ? unused : *counts).read();
}

}  // namespace tutti::core
