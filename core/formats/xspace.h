#pragma once

// Profiles of TensorFlow and JAX (tf.profiler, jax.profiler): for each host, a file
// <host>.xplane.pb with one binary Protocol Buffers message XSpace. An XSpace has a plane for each
// GPU and one for the CPU. SOURCE: tensorflow/tensorflow
// tensorflow/core/profiler/protobuf/xplane.proto; openxla/xla xla/service/hlo.proto,
// xla/xla_data.proto (field numbers).

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// An event of a plane. Texts are empty and numbers are -1 if the profile lacks them. The texts are
/// valid only during the call of the callback that receives the event.
struct XspaceEvent {
  std::string_view plane;  ///< "/device:GPU:0", "/host:CPU"
  std::string_view line;   ///< "Stream #17(Kernel)", "Steps", …
  std::string_view name;   ///< name of the kernel
  std::string_view hlo_op, hlo_module, tf_op, op_name;
  std::int64_t start_ns = 0;  ///< ns on the host's clock, which may have any origin
  std::int64_t duration_ns = 0;
  std::int64_t correlation = -1;
  std::int64_t step = -1;   ///< step_num of a step on the host
  std::int64_t group = -1;  ///< group_id, which is the same for all events of a step
  std::int64_t grid = -1;   ///< first dimension of the kernel's grid
};

/// A collective instruction of XLA.
struct XspaceCollective {
  std::string_view module, name;  ///< as in hlo_module and hlo_op
  std::string_view opcode;        ///< "all-reduce", "all-gather-start", …
  std::int64_t bytes = 0;         ///< size of the result; 0 if it is unknown
  std::int64_t group_size = -1;   ///< number of ranks in a group
  std::int64_t groups = 0;
  std::string_view type;  ///< "f32", "bf16", …
};

struct TakeXspace {
  std::function<void(const XspaceEvent&)> event;
  std::function<void(const XspaceCollective&)> collective;
};

struct XspaceHeader {
  std::string host;
  std::int64_t gpus = 0;            ///< number of planes of GPUs; each GPU has a plane
  std::string gpu;                  ///< name of the GPUs; empty: the profile does not state it
  std::vector<std::string> errors;  ///< errors and warnings of the profiler
};

/// True if a file with these first bytes is likely to be an XSpace.
bool is_xspace(std::string_view first_bytes);

/// Reads a profile to its end. Events are reported only after their whole plane was read, because
/// names follow events in the file. Host events without an XStat, such as Python calls, are counted
/// but not reported. Memory is proportional to the events of one plane, with about 64 bytes for
/// each.
/// ERRORS: the input cannot be read; a message is damaged (with its offset).
Expected<XspaceHeader> read_xspace(ByteInput& input, const std::string& name,
                                   const TakeXspace& take, RecordCounts& counts,
                                   const std::function<void(double)>& progress = {});

}  // namespace tutti::core
