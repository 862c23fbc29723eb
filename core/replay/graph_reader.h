#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"
#include "core/replay/execution_graph.h"

namespace tutti::core {

/// The formats of execution traces.
enum class GraphFormat : std::uint8_t { kChakra, kChakraJson, kGoal, kSimai, kAicb, kPytorch };

/// Recognises the format of an execution trace by the first bytes of one of its files. Returns
/// nullopt if the format is unknown.
std::optional<GraphFormat> recognise_graph(std::string_view first_bytes);

struct GraphFiles {
  /// The path of the trace. A GOAL schedule (text or binary) or a workload of SimAI or AICB is one
  /// file. A Chakra trace or an execution trace of PyTorch has a file for each rank, and `path` is
  /// then the path of one of these files, or the part of this path before ".<rank>.et" or
  /// ".<rank>.json". Files may also be named "…_<rank>.json", "…-<rank>.json" or
  /// "…rank<rank>.json". A single file of PyTorch with another name is the trace of all ranks.
  std::string path;
  /// For Chakra: the path of a JSON file with the ranks of each communicator that the trace names
  /// (pg_name): {"<name>": [ranks…]}. Empty if the trace names no communicators.
  std::string groups;
  /// The number of ranks that execute the trace, for workloads of SimAI and AICB that do not state
  /// this number. 0: unknown.
  std::int64_t ranks = 0;
};

/// Reads a trace as a task graph for each rank, and checks that it can be executed. ERRORS: a file
/// is missing, unreadable or damaged; problems_of(ExecutionGraph) finds problems. Each problem has
/// a location in the file. Memory: about 100 bytes for each task, and one rank's records. If
/// `counts` is not null, the numbers of used and unused records of the files are added to it.
Expected<std::shared_ptr<const ExecutionGraph>> read_graph(const GraphFiles& files,
                                                           RecordCounts* counts = nullptr);

/// Returns the number of files of the trace with this path; 0 if there is no such trace.
std::int64_t number_of_graph_files(const std::string& path);

/// Reads a GOAL schedule from any input, without checking that it can be executed. Error messages
/// use `name` as the name of the input.
Expected<ExecutionGraph> read_goal_graph(ByteInput& input, const std::string& name,
                                         RecordCounts* counts = nullptr);

/// Reads a workload of SimAI from any input. Error messages use `name` as the name of the input. If
/// the workload does not state the number of GPUs, each pipeline stage has `ranks` GPUs.
Expected<ExecutionGraph> read_simai_graph(ByteInput& input, const std::string& name,
                                          RecordCounts* counts = nullptr, std::int64_t ranks = 0);

/// Reads a workload of AICB, or the log of a run of AICB, from any input. Error messages use `name`
/// as the name of the input. All ranks of a pipeline stage execute the same operations one after
/// the other. The graph contains the last iteration of the file. ERRORS: as for read_aicb(); the
/// sizes of groups contradict each other or the number of ranks. If the file states no sizes of
/// groups, all `ranks` are in the data-parallel group.
Expected<ExecutionGraph> read_aicb_graph(ByteInput& input, const std::string& name,
                                         RecordCounts* counts = nullptr, std::int64_t ranks = 0);

/// The files of a trace that has a file for each rank, and a function that opens them.
struct RankFiles {
  using Open = std::function<Expected<std::unique_ptr<ByteInput>>(const std::string& file)>;

  std::string path;  ///< name of the trace for reports
  std::int64_t ranks = 0;
  std::function<std::string(std::int64_t rank)> file;
  std::string groups;  ///< GraphFiles::groups
  Open open;
  bool is_json = false;  ///< for Chakra: true if the files have the JSON form
};
Expected<ExecutionGraph> read_chakra_graph(const RankFiles& files, RecordCounts* counts = nullptr);

/// Reads execution traces of PyTorch. Each rank executes its collectives and messages one after the
/// other, because the traces have no durations and no dependencies. If there is only one file, all
/// ranks of the largest group in it execute the operations of this file.
Expected<ExecutionGraph> read_pytorch_graph(const RankFiles& files, RecordCounts* counts = nullptr);

}  // namespace tutti::core
