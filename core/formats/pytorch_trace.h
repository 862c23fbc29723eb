#pragma once

// Execution traces of PyTorch (ExecutionTraceObserver), which PARAM's et_replay and comm_replay
// execute: the operators of one rank, with their tensors, as JSON. The operators named
// record_param_comms are the calls of collectives. The traces have no durations. PARAM's own list
// of calls, [{"comms": …, "inMsgSize": …}, …], is read, too.
// SOURCE: pytorch/pytorch torch/csrc/profiler/standalone/execution_trace_observer.cpp (schemas
// 1.0.2 to 1.1.1); facebookresearch/param et_replay/comm/commsTraceParser.py.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

struct PytorchGroup {
  std::string name, description;
  std::int64_t size = -1;
  /// The ranks of the group. If this list is empty and `stride` is positive, the ranks follow from
  /// `first_rank` and `stride`. If this list is empty and `stride` is not positive, the ranks are 0
  /// to `size` - 1.
  std::vector<std::int64_t> ranks;
  /// If `stride` is positive, the group has the `size` ranks first_rank, first_rank + stride, ….
  std::int64_t first_rank = -1, stride = -1;

  [[nodiscard]] bool has_ranks() const { return !ranks.empty() || stride > 0; }
};

/// A call of a collective, send or receive. A reader reuses the object for the next call. Missing
/// numbers are -1.
struct PytorchCall {
  std::int64_t id = -1;
  std::string name;  ///< "allreduce", "_allgather_base", "send", …
  PytorchGroup group;
  std::string type;  ///< name of the element type: "Float"
  std::int64_t in_elements = -1, out_elements = -1;
  std::int64_t in_bytes = -1;  ///< size of the input tensors, which older schemas state
  std::int64_t root = -1;      ///< root of a rooted collective, or the peer of a message
  bool has_splits = false;     ///< true if an all-to-all states the size of each rank's block
};

/// True if a file with these first bytes is an execution trace of PyTorch.
bool is_pytorch_trace(std::string_view first_bytes);

struct PytorchTrace {
  std::string schema;
  std::vector<PytorchGroup> groups;  ///< groups that the trace defines
};

/// Reads the trace of one rank. Calls `take` for each call, in the order of the file. Only one node
/// is in memory at a time. Operators that are not calls of collectives are counted as ignored.
/// ERRORS (with line and column): the input cannot be read; it is not a trace; the JSON is damaged;
/// `take` returns an error.
Expected<PytorchTrace> read_pytorch_trace(
    ByteInput& input, const std::string& name,
    const std::function<Expected<void>(const PytorchCall&)>& take, RecordCounts& counts);

}  // namespace tutti::core
