#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/formats/byte_input.h"
#include "core/replay/execution_graph.h"

namespace tutti::core {

struct GraphFiles {
  /// The path of a GOAL schedule (text or binary) or of a Chakra trace. A Chakra trace has one file
  /// for each rank, <path>.<rank>.et. The path of any of these files is accepted, with or without
  /// ".<rank>.et".
  std::string path;
  /// For Chakra: the path of a JSON file that lists the ranks of each communicator that nodes name
  /// (pg_name): {"<name>": [ranks…]}. Empty if nodes name no communicators.
  std::string groups;
};

/// Reads a trace as one task graph per rank, and checks that the trace can be executed. ERRORS: a
/// file is missing, unreadable or damaged; problems_of(ExecutionGraph) returns problems. Each
/// problem has its location in the file. Memory: about 100 bytes for each task, plus the records of
/// one rank.
Expected<std::shared_ptr<const ExecutionGraph>> read_graph(const GraphFiles& files);

/// Reads a GOAL schedule from any input. Does not check that the schedule can be executed. Errors
/// call it `name`.
Expected<ExecutionGraph> read_goal_graph(ByteInput& input, const std::string& name);

/// The files of a Chakra trace, and the function that opens a file.
struct ChakraFiles {
  using Open = std::function<Expected<std::unique_ptr<ByteInput>>(const std::string& file)>;

  std::string path;  ///< name of the trace for reports
  std::int64_t ranks = 0;
  std::function<std::string(std::int64_t rank)> file;
  std::string groups;  ///< GraphFiles::groups
  Open open;
};
Expected<ExecutionGraph> read_chakra_graph(const ChakraFiles& files);

}  // namespace tutti::core
