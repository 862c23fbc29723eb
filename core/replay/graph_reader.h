#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/formats/byte_input.h"
#include "core/replay/execution_graph.h"

namespace tutti::core {

struct GraphFiles {
  /// A GOAL schedule (text or binary); or the files of a Chakra trace, one for each rank: their
  /// path without the ending ".<rank>.et", or the path of one of them.
  std::string path;
  /// For Chakra: a JSON file with the ranks of the communicators that nodes name (pg_name):
  /// {"<name>": [ranks…]}. Empty: there is none.
  std::string groups;
};

/// Reads a trace as a task graph for each rank, and checks that it can be executed.
/// ERRORS: missing, unreadable and damaged files, and everything that problems_of(ExecutionGraph)
/// finds, each with its place in the file.
/// Memory: about 100 bytes for each task, and one rank's records.
Expected<std::shared_ptr<const ExecutionGraph>> read_graph(const GraphFiles& files);

/// The two formats by themselves, from any bytes and unchecked across ranks.
Expected<ExecutionGraph> read_goal_graph(ByteInput& input, const std::string& name);

/// The files of a Chakra trace.
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
