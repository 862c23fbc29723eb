#pragma once

// Chakra execution traces: one file for each rank, with the nodes of the rank's task graph. A file
// is a sequence of Protocol Buffers messages, each preceded by its length: GlobalMetadata, then
// Nodes. In the JSON form, a file is {"workload_graph": [{"Id": …, "NodeType": …}, …]}.
// SOURCE: mlcommons/chakra schema/protobuf/et_def.proto (0.0.4 and 1.0.0 have the same fields),
// src/feeder/et_feeder_node.cpp, src/feeder/json_node.cpp.

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

/// A node of a rank's task graph. read_chakra() passes the same object to `take` for all nodes.
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
  /// Tutti's attribute tutti_duration_ps: the duration without rounding; -1 if absent.
  std::int64_t duration_ps = -1;
  /// Tutti's attribute tutti_compute_bound_ppm: the share of a computation's time that
  /// multiprocessors limit, in millionths; -1 if absent.
  std::int64_t compute_bound_ppm = -1;
  bool on_cpu = true;  ///< is_cpu_op; true if absent
  std::int64_t stream = -1;
  std::int64_t collective = 0;  ///< comm_type; 0 (all-reduce) if absent
  std::int64_t bytes = -1;      ///< comm_size: bytes that one rank contributes; -1: absent
  std::int64_t source = -1, destination = -1, tag = 0;  ///< comm_src, comm_dst, comm_tag
  std::int64_t root = 0;                                ///< root_rank or comm_root
  std::string group;                                    ///< pg_name; empty: all ranks
  std::string type_name;       ///< Tutti's attribute tutti_type: "float32"; empty: absent
  std::int64_t elements = -1;  ///< Tutti's attribute tutti_elements; -1: absent
  /// Tutti's attribute tutti_collective: the sequence number of the collective on its communicator.
  /// -1: the attribute is absent, and the collectives of a communicator are numbered in the order
  /// of the file.
  std::int64_t key = -1;
  bool has_dimensions = false;  ///< true if involved_dim excludes at least one dimension of the
                                ///< network
};

struct ChakraMetadata {
  std::string version;  ///< version of the trace format, such as "0.0.4" or "1.0.0"; empty if the
                        ///< writer omitted it
  std::map<std::string, std::string> attributes;  ///< text attributes, truncated to 256 bytes
  /// True if control dependencies may connect an operator with an operator that it calls, as in
  /// traces of PyTorch. A binary trace is assumed to come from PyTorch if it has the attribute
  /// `pid`. A trace in the JSON form is assumed to come from PyTorch if one of its nodes has
  /// control dependencies.
  bool has_call_stack = false;
};

/// True if a file with these first bytes is likely to be a Chakra trace. A Chakra trace begins with
/// the length of its first message, which contains a version, a schema or an attribute.
bool is_chakra(std::string_view first_bytes);

/// Reads the trace of one rank. Calls `take` for each node, in the order of the file. Stops if
/// `take` returns an error. Only one node is in memory at a time. ERRORS: the input cannot be read;
/// a message is damaged (with its offset in the inflated file).
Expected<ChakraMetadata> read_chakra(ByteInput& input, const std::string& name,
                                     const std::function<Expected<void>(const ChakraNode&)>& take,
                                     RecordCounts& counts);

/// True if a file with these first bytes is a Chakra trace in the JSON form.
bool is_chakra_json(std::string_view first_bytes);

/// Reads the trace of one rank in the JSON form, like read_chakra(). Errors have line and column.
Expected<ChakraMetadata> read_chakra_json(
    ByteInput& input, const std::string& name,
    const std::function<Expected<void>(const ChakraNode&)>& take, RecordCounts& counts);

/// Returns the name of a type of nodes: "COMP_NODE".
std::string_view to_string(ChakraNode::Type type);

/// Writes the trace of one rank in Chakra's version 1.0.0.
class ChakraWriter {
 public:
  /// REQUIRES: `out` outlives the writer.
  ChakraWriter(std::ostream& out, const ChakraMetadata& metadata);
  void add(const ChakraNode& node);

 private:
  std::ostream& out_;
};

}  // namespace tutti::core
