#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/formats/byte_input.h"
#include "core/replay/execution_graph.h"

namespace tutti::core {

struct GraphFiles {
  /// The path of a GOAL schedule (text or binary), or of a Chakra trace, which has a file for each
  /// rank. For a Chakra trace, the path of any one of the trace's files, with or without the suffix
  /// ".<rank>.et".
  std::string path;
  /// For Chakra: the path of a JSON file with the ranks of the communicators that nodes name
  /// (pg_name): {"<name>": [ranks…]}. Empty: no such file is needed.
  std::string groups;
};

/// Reads a trace as a task graph for each rank, and checks that it can be executed. ERRORS: a file
/// is missing, unreadable or damaged; problems_of(ExecutionGraph) finds problems. Each problem has
/// a location in the file. Memory: about 100 bytes for each task, and one rank's records.
Expected<std::shared_ptr<const ExecutionGraph>> read_graph(const GraphFiles& files);

/// Reads a GOAL schedule from any input, without checking that it can be executed. Errors call it
/// `name`.
Expected<ExecutionGraph> read_goal_graph(ByteInput& input, const std::string& name);

/// The files of a Chakra trace, and a function that opens them.
struct ChakraFiles {
  using Open = std::function<Expected<std::unique_ptr<ByteInput>>(const std::string& file)>;

  std::string path;  ///< name of the trace in reports
  std::int64_t ranks = 0;
  std::function<std::string(std::int64_t rank)> file;
  std::string groups;  ///< GraphFiles::groups
  Open open;
};
Expected<ExecutionGraph> read_chakra_graph(const ChakraFiles& files);

}  // namespace tutti::core
