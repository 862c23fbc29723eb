#pragma once

// Chakra execution traces: the nodes of one rank's task graph, in a file for each rank. A file is a
// sequence of Protocol Buffers messages, each after its length: GlobalMetadata, then Nodes.
// SOURCE: mlcommons/chakra schema/protobuf/et_def.proto (0.0.4 and 1.0.0 have the same fields),
// src/feeder/et_feeder_node.cpp.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// A node of a trace, valid until the next one.
struct ChakraNode {
  enum class Type : std::uint8_t {
    kInvalid = 0,
    kMetadata = 1,
    kMemoryLoad = 2,
    kMemoryStore = 3,
    kCompute = 4,
    kSend = 5,
    kReceive = 6,
    kCollective = 7,
  };
  /// The values of the attribute comm_type.
  enum class Collective : std::uint8_t {
    kAllReduce = 0,
    kReduce = 1,
    kAllGather = 2,
    kGather = 3,
    kScatter = 4,
    kBroadcast = 5,
    kAllToAll = 6,
    kReduceScatter = 7,
    kReduceScatterBlock = 8,
    kBarrier = 9,
  };

  std::uint64_t id = 0;
  std::string name;
  Type type = Type::kInvalid;
  std::vector<std::uint64_t> control_dependencies, data_dependencies;
  std::int64_t duration_us = 0;
  /// Tutti's own attribute tutti_duration_ps, which is not rounded; -1: there is none.
  std::int64_t duration_ps = -1;
  /// Tutti's own attribute tutti_compute_bound_ppm: the share of a computation that multiprocessors
  /// limit, in millionths; -1: there is none.
  std::int64_t compute_bound_ppm = -1;
  bool on_cpu = true;  ///< is_cpu_op; writers omit it for nodes of hosts
  std::int64_t stream = -1;
  std::int64_t collective = 0;  ///< comm_type; absent in the file: 0, the all-reduce
  std::int64_t bytes = -1;      ///< comm_size: bytes that one rank contributes
  std::int64_t source = -1, destination = -1, tag = 0;  ///< comm_src, comm_dst, comm_tag
  std::int64_t root = 0;                                ///< the attribute root_rank or comm_root
  std::string group;                                    ///< pg_name; empty: all ranks
  std::string type_name;       ///< Tutti's own attribute tutti_type, such as "float32"; or empty
  std::int64_t elements = -1;  ///< Tutti's own attribute tutti_elements; -1: there is none
  /// Tutti's own attribute tutti_collective: which one it is on its communicator; -1: there is
  /// none, and it is the next one in the file.
  std::int64_t key = -1;
  bool has_dimensions = false;  ///< involved_dim has a dimension that takes no part
};

struct ChakraMetadata {
  std::string version;  ///< such as "0.0.4" or "1.0.0"; some writers have none
  std::map<std::string, std::string> attributes;  ///< text attributes, at most 256 bytes of each
};

/// True if a file that begins so is likely to be a Chakra trace: a message with a version, a schema
/// or an attribute, after its length.
bool is_chakra(std::string_view first_bytes);

/// Reads the trace of one rank. `take` is called for each node, in the order of the file; it may
/// return an error, which ends the reading. One node is in memory at a time.
/// ERRORS: unreadable input; damaged messages, with their offset in the (inflated) file.
Expected<ChakraMetadata> read_chakra(ByteInput& input, const std::string& name,
                                     const std::function<Expected<void>(const ChakraNode&)>& take,
                                     RecordCounts& counts);

/// Writes the trace of one rank, in the form of version 1.0.0.
class ChakraWriter {
 public:
  /// REQUIRES: `out` outlives the writer.
  ChakraWriter(std::ostream& out, const ChakraMetadata& metadata);
  void add(const ChakraNode& node);

 private:
  std::ostream& out_;
};

}  // namespace tutti::core
