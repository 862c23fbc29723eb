#pragma once

// CSV files of AICB. There are two kinds with the same columns: workloads, which AICB writes before
// it executes them, and logs of measured runs. Each line is one operation that all ranks of a block
// execute.
// SOURCE: aliyun/aicb log_analyzer/log.py, LogItem, Workload.dump() and Log.dump();
// workload_applyer.py; workload/physical.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/byte_input.h"

namespace tutti::core {

/// The operations of one pipeline stage, or of all ranks.
struct AicbBlock {
  int line = 0;
  /// The consecutive ranks that execute the block's operations. If the file does not state which
  /// ranks execute the operations, it has one block, in which `ranks` is 0.
  std::int64_t first_rank = 0, ranks = 0;
};

struct AicbOperation {
  enum class Kind : std::uint8_t { kCollective, kSend, kReceive, kComputation, kIterationEnd };
  enum class Collective : std::uint8_t {
    kAllReduce,
    kAllGather,
    kReduceScatter,
    kAllToAll,
    kBroadcast,
    kReduce
  };
  /// The group of ranks in which a collective is executed.
  enum class Group : std::uint8_t {
    kData,
    kTensor,
    kPipeline,
    kExpert,
    kDataOfExperts,
    kTensorOfExperts,
    kEmbedding,
    kAll
  };

  int line = 0;
  Kind kind = Kind::kComputation;
  Collective collective = Collective::kAllReduce;
  Group group = Group::kAll;
  /// 0: unspecified. Older releases of AICB do not write the column comm_group_size.
  std::int64_t group_size = 0;
  std::int64_t bytes = 0;  ///< for collectives, the larger of a rank's input and output
  std::int64_t root = 0;   ///< rank in the group
  bool to_next = false;  ///< for a send or receive: true if the peer is in the next pipeline stage,
                         ///< false if it is in the previous one
  /// The duration: nanoseconds in a workload, milliseconds in the log of a run.
  std::optional<double> elapsed;
  std::string name;  ///< the column stage: "forward.MegatronRowLinear"
};

std::string_view to_string(AicbOperation::Group group);

/// True if a file with these first bytes is a CSV file of AICB.
bool is_aicb(std::string_view first_bytes);

/// Reads a file. Calls `begin` at the start of each block, then `take` for each operation of the
/// block, in the order of the file. Only one line is in memory at a time. ERRORS (with the line):
/// the input cannot be read; a column is missing; a row has a wrong number of cells, an unknown
/// operation or group, or an invalid number.
Expected<void> read_aicb(ByteInput& input, const std::string& name,
                         const std::function<Expected<void>(const AicbBlock&)>& begin,
                         const std::function<Expected<void>(const AicbOperation&)>& take);

}  // namespace tutti::core
