// The nodes of a rank refer to each other by id and may be in any order, so the reader keeps them
// until it has read the whole file. Nodes name communicators (pg_name), but the trace does not
// define them; a separate file lists the ranks of each communicator. On all ranks of a
// communicator, the k-th collective on it is the same collective.

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/formats/chakra.h"
#include "core/formats/json_stream.h"
#include "core/plan/check_program.h"
#include "core/replay/graph_reader.h"
#include "core/replay/rank_builder.h"

namespace tutti::core {
namespace {

using Type = ChakraNode::Type;

std::optional<CollectiveKind> kind_of(std::int64_t comm_type) {
  switch (static_cast<ChakraNode::Collective>(comm_type)) {
    case ChakraNode::Collective::kAllReduce:
    case ChakraNode::Collective::kBarrier: return CollectiveKind::kAllReduce;
    case ChakraNode::Collective::kReduce: return CollectiveKind::kReduce;
    case ChakraNode::Collective::kAllGather: return CollectiveKind::kAllGather;
    case ChakraNode::Collective::kGather: return CollectiveKind::kGather;
    case ChakraNode::Collective::kScatter: return CollectiveKind::kScatter;
    case ChakraNode::Collective::kBroadcast: return CollectiveKind::kBroadcast;
    case ChakraNode::Collective::kAllToAll: return CollectiveKind::kAllToAll;
    case ChakraNode::Collective::kReduceScatter:
    case ChakraNode::Collective::kReduceScatterBlock: return CollectiveKind::kReduceScatter;
  }
  return std::nullopt;
}

class ChakraGraph {
 public:
  ChakraGraph(const RankFiles& files, RecordCounts& counts)
      : files_(files), ranks_(files.ranks), counts_(counts) {}

  Expected<ExecutionGraph> read() {
    graph_.file = files_.path;
    std::vector<std::int64_t> all(ranks_);
    for (std::int64_t r = 0; r < ranks_; ++r) all[r] = r;
    graph_.communicators.push_back({"", std::move(all)});
    if (!files_.groups.empty()) {
      if (auto read = read_groups(); !read) return tl::make_unexpected(read.error());
    }
    for (std::int64_t r = 0; r < ranks_; ++r) {
      if (auto read = read_rank(r); !read) return tl::make_unexpected(read.error());
    }
    round_blocks();
    write_notes();
    return std::move(graph_);
  }

 private:
  template <class... Args>
  static tl::unexpected<Error> fail(ProblemCode code, const std::string& file,
                                    fmt::format_string<Args...> format, Args&&... args) {
    return tl::make_unexpected(Error::request({code, "ExecutionTrace.path"},
                                              fmt::format(format, std::forward<Args>(args)...),
                                              {file, 0, 0}));
  }

  // --- communicators ---

  Expected<void> read_groups() {
    auto input = files_.open(files_.groups);
    if (!input) return tl::make_unexpected(input.error());
    JsonStream in(**input, files_.groups);
    const auto wrong = [&](ProblemCode code, const std::string& text) {
      in.fail({code, "ExecutionTrace.groups"}, text);
    };
    if (in.enter_object()) {
      while (const auto key = in.next_key()) {
        const std::string name(key->substr(0, 256));
        ExecutionGraph::Communicator one{name, {}};
        std::vector<bool> seen(ranks_, false);
        if (!in.enter_array()) {
          wrong(ProblemCode::kWrongType, fmt::format("\"{}\" must be a list of ranks", name));
          break;
        }
        while (in.next_item()) {
          const std::string_view text = in.scalar();
          std::int64_t rank = -1;
          const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
          if (error != std::errc() || stop != text.data() + text.size() || rank < 0 ||
              rank >= ranks_ || seen[rank]) {
            wrong(ProblemCode::kInvalid,
                  fmt::format("\"{}\": expected distinct ranks, 0 to {}", name, ranks_ - 1));
            break;
          }
          seen[rank] = true;
          one.ranks.push_back(rank);
        }
        if (in.failed()) break;
        if (one.ranks.empty()) wrong(ProblemCode::kMissing, fmt::format("\"{}\" is empty", name));
        if (!communicator_of_.try_emplace(name, std::ssize(graph_.communicators)).second)
          wrong(ProblemCode::kDuplicate, fmt::format("\"{}\" is listed twice", name));
        graph_.communicators.push_back(std::move(one));
      }
    } else if (!in.failed()) {
      wrong(ProblemCode::kWrongType,
            "expected a JSON object of the form {\"<name>\": [ranks…], …}");
    }
    if (in.failed()) return tl::make_unexpected(in.error());
    return {};
  }

  Expected<std::int32_t> communicator(const ChakraNode& node) {
    if (node.group.empty()) return 0;
    const auto known = communicator_of_.find(node.group);
    if (known != communicator_of_.end()) return static_cast<std::int32_t>(known->second);
    // PyTorch's default process group contains all ranks.
    if (node.group == "0" || node.group == "default_pg") return 0;
    if (files_.groups.empty())
      return fail(ProblemCode::kMissing, file_,
                  "node {} \"{}\" uses the communicator \"{}\", whose ranks are unknown; hint: "
                  "list them in a file, execution_trace {{ groups: \"…\" }}",
                  node.id, node.name, node.group);
    return fail(ProblemCode::kUnknownName, file_,
                "node {} \"{}\" uses the communicator \"{}\", which {} does not list", node.id,
                node.name, node.group, files_.groups);
  }

  // --- ranks ---

  struct Node {
    std::uint64_t id = 0;
    TaskId task = kNoTask;
    std::vector<std::uint64_t> after;
  };

  Expected<void> read_rank(std::int64_t rank) {
    rank_ = rank;
    file_ = files_.file(rank);
    builder_ = {};
    nodes_.clear();
    index_.clear();
    streams_.clear();
    sequence_.clear();
    used_.clear();
    call_stack_.clear();
    auto input = files_.open(file_);
    if (!input) return tl::make_unexpected(input.error());
    const auto take = [this](const ChakraNode& node) { return add(node); };
    // Streams are numbered at the end, because the streams of devices come first.
    const auto metadata = files_.is_json ? read_chakra_json(**input, file_, take, counts_)
                                         : read_chakra(**input, file_, take, counts_);
    if (!metadata) return tl::make_unexpected(metadata.error());
    if (rank == 0)
      graph_.source = "Chakra" + (metadata->version.empty() ? "" : " " + metadata->version);
    // In PyTorch's traces, a control dependency leads from an operator to an operator that it
    // calls.
    is_tuttis_ = metadata->attributes.contains("tutti_version");
    const bool calls = metadata->has_call_stack;
    if (!calls) {
      for (auto& [node, after] : call_stack_)
        nodes_[node].after.insert(nodes_[node].after.end(), after.begin(), after.end());
    } else if (!call_stack_.empty()) {
      has_calls_ = true;
    }
    for (const Node& node : nodes_) {
      for (const std::uint64_t id : node.after) {
        const auto before = index_.find(id);
        if (before == index_.end()) {
          ++lost_dependencies_;
        } else {
          builder_.edge(nodes_[before->second].task, node.task);
        }
      }
    }
    ExecutionGraph::Rank built = std::move(builder_).build();
    number_streams(built);
    if (const auto problems = problems_of(built.program); !problems.empty())
      return wrong_graph(problems.front());
    graph_.ranks.push_back(std::move(built));
    return {};
  }

  tl::unexpected<Error> wrong_graph(const PlanProblem& problem) const {
    std::uint64_t id = 0;
    for (const Node& node : nodes_) {
      if (node.task == problem.task) id = node.id;
    }
    return fail(ProblemCode::kConflict, file_,
                "nodes depend on each other in a cycle, which includes node {}", id);
  }

  Expected<void> add(const ChakraNode& node) {
    if (++tasks_ > kMaxGraphTasks)
      return fail(ProblemCode::kTooLarge, file_,
                  "the trace has more than {} nodes in total; larger traces are refused, because "
                  "they need too much memory",
                  kMaxGraphTasks);
    if (!index_.try_emplace(node.id, nodes_.size()).second)
      return fail(ProblemCode::kDuplicate, file_, "two nodes have the id {}", node.id);
    const auto task = task_of(node);
    if (!task) return tl::make_unexpected(task.error());
    if (!node.control_dependencies.empty())
      call_stack_.emplace_back(nodes_.size(), node.control_dependencies);
    nodes_.push_back({node.id, *task, node.data_dependencies});
    return {};
  }

  Expected<TaskId> task_of(const ChakraNode& node) {
    switch (node.type) {
      case Type::kCollective:
        if (node.bytes >= 0 || node.collective == 9) return collective(node);
        // A collective has one node without a size for the host, and one node with a size for the
        // GPU.
        ++host_sides_;
        return compute(node);
      case Type::kSend:
      case Type::kReceive: return message(node);
      case Type::kCompute:
      case Type::kMemoryLoad:
      case Type::kMemoryStore: return compute(node);
      case Type::kInvalid:
      case Type::kMetadata: break;
    }
    return builder_.mark();
  }

  Expected<TaskId> compute(const ChakraNode& node) {
    const Time duration =
        node.duration_ps >= 0 ? Time(node.duration_ps) : Time(node.duration_us * 1'000'000);
    if (duration == Time() && node.duration_ps < 0) {
      ++without_duration_;
      return builder_.mark();
    }
    const auto [known, fresh] =
        streams_.try_emplace({node.on_cpu, node.stream}, static_cast<int>(streams_.size()));
    if (known->second > 255)
      return fail(ProblemCode::kTooLarge, file_, "rank {} has more than 256 streams", rank_);
    const bool bound = node.compute_bound_ppm >= 0 && node.compute_bound_ppm <= 1'000'000;
    return builder_.compute(duration, static_cast<std::uint8_t>(known->second),
                            bound ? static_cast<std::int32_t>(node.compute_bound_ppm) : 1'000'000);
  }

  /// Numbers streams in the order of (host, number), so that streams of devices come first.
  void number_streams(ExecutionGraph::Rank& rank) const {
    std::vector<std::uint8_t> number(256, 0);
    std::uint8_t next = 0;
    for (const auto& [key, first] : streams_) number[first] = next++;
    for (std::size_t t = 0; t < rank.program.tasks.size(); ++t) {
      if (rank.program.tasks[t].kind == Task::Kind::kCompute)
        rank.streams[t] = number[rank.streams[t]];
    }
  }

  Expected<TaskId> message(const ChakraNode& node) {
    const bool sends = node.type == Type::kSend;
    const std::int64_t peer = sends ? node.destination : node.source;
    if (peer < 0 || peer >= ranks_ || peer == rank_)
      return fail(
          ProblemCode::kInvalid, file_,
          "node {} \"{}\" of rank {} has {} {}: expected the number of another rank, from 0 to {}",
          node.id, node.name, rank_, sends ? "comm_dst" : "comm_src", peer, ranks_ - 1);
    if (node.bytes < 0 || node.bytes > (std::int64_t{1} << 46))
      return fail(ProblemCode::kInvalid, file_, "node {} \"{}\" has comm_size {}", node.id,
                  node.name, node.bytes);
    return builder_.message(
        {sends, peer, node.tag, node.bytes, static_cast<std::int64_t>(node.id)});
  }

  Expected<TaskId> collective(const ChakraNode& node) {
    const auto kind = kind_of(node.collective);
    if (!kind || node.bytes > (std::int64_t{1} << 46))
      return fail(ProblemCode::kInvalid, file_, "node {} \"{}\" has comm_type {} and comm_size {}",
                  node.id, node.name, node.collective, node.bytes);
    if (node.has_dimensions)
      return fail(
          ProblemCode::kUnsupported, file_,
          "node {} \"{}\" uses only some dimensions of ASTRA-sim's network (involved_dim), which "
          "Tutti does not support; hint: give the node a pg_name, and list its ranks in groups",
          node.id, node.name);
    const auto which = communicator(node);
    if (!which) return tl::make_unexpected(which.error());
    const auto& ranks = graph_.communicators[*which].ranks;
    if (std::find(ranks.begin(), ranks.end(), rank_) == ranks.end())
      return fail(ProblemCode::kConflict, file_,
                  "node {} \"{}\": rank {} is not a member of the communicator \"{}\"", node.id,
                  node.name, rank_, node.group);
    if (ranks.size() == 1) return builder_.mark();  // a single rank moves no data
    if (node.root < 0 || node.root >= std::ssize(ranks))
      return fail(ProblemCode::kInvalid, file_,
                  "node {} \"{}\" has root {}, but the communicator has {} ranks", node.id,
                  node.name, node.root, ranks.size());
    return numbered(node, *which, *kind, std::ssize(ranks));
  }

  Expected<TaskId> numbered(const ChakraNode& node, std::int32_t which, CollectiveKind kind,
                            std::int64_t ranks) {
    ExecutionGraph::Collective one;
    one.communicator = which;
    one.kind = kind;
    one.root = static_cast<std::int32_t>(has_root(kind) ? node.root : 0);
    one.name = node.name;
    if (const auto type = parse_data_type(node.type_name)) one.type = *type;
    // In the trace, comm_size is the size of one rank's input. The output of a gather is as large
    // as the inputs of all ranks together.
    const bool gathers = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kGather;
    const std::int64_t bytes = std::max<std::int64_t>(node.bytes, 1) * (gathers ? ranks : 1);
    const std::int64_t item = size_of(one.type).count();
    one.elements = node.elements > 0 ? node.elements : (bytes + item - 1) / item;
    const std::int64_t turn = node.key >= 0 ? node.key : sequence_[which]++;
    const auto [place, fresh] =
        numbers_.try_emplace({which, turn}, static_cast<std::int32_t>(graph_.collectives.size()));
    if (fresh) graph_.collectives.push_back(one);
    const std::int32_t number = place->second;
    if (!used_.insert(number).second)
      return fail(ProblemCode::kDuplicate, file_,
                  "node {} \"{}\" is the second node of this rank for the collective with number "
                  "{} on communicator \"{}\"",
                  node.id, node.name, turn, node.group);
    ExecutionGraph::Collective& known = graph_.collectives[number];
    if (known.kind != one.kind || known.root != one.root)
      return fail(
          ProblemCode::kConflict, file_,
          "collective {} on communicator \"{}\" differs between ranks: node {} \"{}\" of rank {} "
          "executes {} with root {}, but \"{}\" of rank {} executes {} with root {}",
          turn, node.group, node.id, node.name, rank_, to_string(one.kind), one.root, known.name,
          graph_.communicators[which].ranks.front(), to_string(known.kind), known.root);
    if (known.elements != one.elements) ++uneven_;
    known.elements = std::max(known.elements, one.elements);
    return builder_.collective(number);
  }

  // --- the whole graph ---

  /// The trace may have rounded the sizes of blocks differently, so all blocks of a collective get
  /// the same size.
  void round_blocks() {
    for (ExecutionGraph::Collective& one : graph_.collectives) {
      const std::int64_t ranks = std::ssize(graph_.communicators[one.communicator].ranks);
      if (has_blocks(one.kind)) one.elements = (one.elements + ranks - 1) / ranks * ranks;
    }
  }

  void write_notes() {
    const auto note = [this](std::int64_t count, const std::string& text) {
      if (count > 0) graph_.notes.push_back(fmt::format(fmt::runtime(text), count));
    };
    note(is_tuttis_ ? 0 : without_duration_,
         "{} nodes of the trace have no duration, so they take no time; Tutti does not derive "
         "times from operations and tensor sizes");
    note(host_sides_,
         "{} collectives of the trace have no comm_size, as is usual for calls on the host; these "
         "collectives take their recorded duration and send nothing");
    note(lost_dependencies_,
         "{} dependencies on nodes that the trace does not contain are ignored");
    note(uneven_,
         "for {} nodes, other ranks state a different size of the same collective; the largest "
         "size is used");
    if (has_calls_)
      graph_.notes.emplace_back(
          "control dependencies are ignored, because in a trace of PyTorch they only record which "
          "operator calls which");
    const auto invalid = counts_.unknown().find("INVALID_NODE");
    if (invalid != counts_.unknown().end())
      note(invalid->second, "{} nodes of the trace are invalid, and take no time");
  }

  const RankFiles& files_;
  std::int64_t ranks_;
  RecordCounts& counts_;
  std::map<std::string, std::int64_t, std::less<>> communicator_of_;
  /// The number of a collective; the key is the communicator, and the index of the collective on
  /// this communicator.
  std::map<std::pair<std::int32_t, std::int64_t>, std::int32_t> numbers_;
  std::int64_t tasks_ = 0, without_duration_ = 0, host_sides_ = 0, lost_dependencies_ = 0,
               uneven_ = 0;
  bool has_calls_ = false;
  bool is_tuttis_ = false;  ///< true if Tutti exported the trace; a node without a duration is then
                            ///< only a join of dependencies
  ExecutionGraph graph_;

  // The following variables belong to the rank that is being read.
  std::int64_t rank_ = 0;
  std::string file_;
  RankBuilder builder_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::map<std::pair<bool, std::int64_t>, int> streams_;
  std::map<std::int32_t, std::int64_t> sequence_;  ///< for each communicator: number of collectives
                                                   ///< read so far
  std::unordered_set<std::int32_t> used_;          ///< collectives in which the rank participates
  std::vector<std::pair<std::size_t, std::vector<std::uint64_t>>> call_stack_;
};

}  // namespace

Expected<ExecutionGraph> read_chakra_graph(const RankFiles& files, RecordCounts* counts) {
  RecordCounts unused;
  return ChakraGraph(files, counts == nullptr ? unused : *counts).read();
}

}  // namespace tutti::core
