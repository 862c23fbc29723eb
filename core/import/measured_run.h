#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/data_type.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

/// MeasuredRun contains the data of profiles and logs in a common form. Every importer produces a
/// MeasuredRun, which is then converted to a timeline, a scenario or a table of measurements. Times
/// are in nanoseconds since an origin that all ranks of the run share. Unknown times, numbers and
/// sizes are -1.

enum class MeasuredKind : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kReduce,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kReceive,
  kBarrier,
  kOther
};
/// Returns the name that nccl-tests uses: "all_reduce"; "other" for kOther.
std::string_view to_string(MeasuredKind kind);
/// Returns the kind for a name that PyTorch, NCCL or Horovod uses: "allreduce", "_allgather_base",
/// "ReduceScatter", "ncclDevKernel_AllGather_RING_LL".
MeasuredKind measured_kind_of(std::string_view name);

/// The type of a tensor's elements. element_type_of() accepts the names of types in ATen
/// ("BFloat16"), C++ ("c10::BFloat16"), NCCL ("ncclFloat16"), NumPy and Python ("torch.float16").
struct ElementType {
  std::string name;        ///< "bfloat16"; empty: not known
  std::int64_t bytes = 0;  ///< 0: not known
};
ElementType element_type_of(std::string_view name);

struct MeasuredGroup {
  std::string name;         ///< name of the process group or communicator in the trace
  std::string description;  ///< for example "default_pg"
  std::int64_t size = -1;
  std::vector<std::int64_t> ranks;  ///< empty: not known
  std::int64_t nodes = 0;           ///< number of machines; 0: unknown
};

struct MeasuredCollective {
  MeasuredKind kind = MeasuredKind::kOther;
  std::int32_t group = -1;     ///< index into MeasuredRun::groups
  std::int64_t sequence = -1;  ///< sequence number among the collectives of its kind in its group;
                               ///< -1: unknown
  std::int32_t step = -1;      ///< index into MeasuredRank::steps
  /// The index among the gradient all-reduces of the step; -1 for other collectives.
  std::int32_t pack = -1;
  std::int64_t issued_ns = -1;
  std::int64_t start_ns = -1;
  std::int64_t end_ns = -1;
  std::int64_t duration_ns = -1;  ///< duration, if the log states it without a start and an end
  std::int64_t bytes = -1;  ///< size in bytes of a rank's input or output, whichever is larger, as
                            ///< in nccl-tests
  ElementType type;
  std::string algorithm;  ///< "ring", "tree", …: NCCL's choice, in lower case; empty: not known
  std::string protocol;   ///< "ll", "ll128", "simple"
  std::int32_t channels = -1;
};

enum class MeasuredPhase : std::uint8_t { kForward, kBackward, kUpdate };

/// A kernel on the device, or an interval of computation.
struct MeasuredCompute {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t step = -1;
  std::int32_t layer = -1;  ///< for kBackward, index into MeasuredStep::layers
  MeasuredPhase phase = MeasuredPhase::kForward;
};

/// A gradient of a step; gradients are listed in the order in which they became ready.
struct MeasuredGradient {
  std::string name;  ///< name of the gradient; empty: the trace does not contain the name
  std::int64_t ready_ns = -1;
  std::int64_t elements = -1;
  ElementType type;
  std::vector<std::int64_t> shape;
  std::int32_t layer = 0;
  std::int32_t pack = -1;
};

struct MeasuredStep {
  std::int64_t number = 0;  ///< step number in the trace
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t host_ns = 0;           ///< duration on the host, which may run ahead of the GPU
  std::int64_t backward_ns = -1;      ///< start of the backward pass on the device
  std::int64_t backward_end_ns = -1;  ///< end of the backward pass on the device
  std::vector<std::string> layers;    ///< names of the layers, in the order of the backward pass
  std::vector<MeasuredGradient> gradients;
};

struct MeasuredRank {
  std::int64_t rank = -1;
  std::string host;
  std::int64_t pid = -1;
  std::int32_t worker = 0;
  std::int32_t device = 0;
  std::vector<MeasuredStep> steps;
  std::vector<MeasuredCompute> compute;  ///< sorted by start
  std::vector<MeasuredCollective> collectives;
};

/// NCCL's choice for collectives of one kind and size, as NCCL's log states it.
struct MeasuredChoice {
  MeasuredKind kind = MeasuredKind::kOther;
  std::int64_t bytes = -1;  ///< size in bytes of a rank's input or output, whichever is larger, as
                            ///< in nccl-tests
  std::int64_t ranks = -1;
  std::string algorithm, protocol;
  std::int32_t channels = -1;
  std::int64_t times = 0;    ///< number of collectives with this choice
  double predicted_us = -1;  ///< time that NCCL's own model predicts; logged up to NCCL 2.23
};

struct MeasuredRun {
  std::string format;  ///< for example "PyTorch profiler"
  std::vector<std::string> files;
  std::vector<MeasuredRank> ranks;  ///< sorted by rank
  std::vector<MeasuredGroup> groups;
  std::int64_t world_size = -1;
  std::int64_t gpus_per_host = -1;
  std::string gpu;  ///< for example "Tesla V100-SXM2-32GB"
  bool is_rocm = false;
  std::string nccl_version;    ///< for example "2.17.1"
  std::string framework;       ///< "PyTorch", "Horovod"; empty: not known
  std::int64_t cycle_us = -1;  ///< Horovod's cycle time
  bool is_ddp = false;         ///< true if the trace mentions DistributedDataParallel
  std::vector<MeasuredChoice> choices;
  std::vector<std::string> networks;   ///< NCCL's lines about networks, such as "IB : Using
                                       ///< [0]mlx5_0:1/RoCE …", without duplicates
  std::vector<std::string> variables;  ///< environment variables, such as "NCCL_ALGO=Ring", without
                                       ///< duplicates
  std::map<std::string, std::int64_t> transports;  ///< number of connections by transport, such as
                                                   ///< "P2P/CUMEM"
  RecordCounts counts;
  std::vector<std::string> notes;
};

/// Returns the rank with this host, process and number. Adds the rank if the run does not have it.
MeasuredRank& rank_of(MeasuredRun& run, const std::string& host, std::int64_t pid,
                      std::int64_t rank);
/// Returns the size of a collective as Tutti and nccl-tests count it: the larger of a rank's input
/// and output. `argument_bytes` is the count argument of the NCCL call times the size of an
/// element. Returns -1 if `ranks` is needed but unknown.
std::int64_t size_of_argument(MeasuredKind kind, std::int64_t argument_bytes, std::int64_t ranks);

/// Returns the index of the group in MeasuredRun::groups. If no group has the same name, size and
/// ranks, adds the group; returns -1 if there are already 4096 groups.
std::int32_t group_index(MeasuredRun& run, const MeasuredGroup& group);
/// Parses "[0,1,2]". Returns an empty list if the text is abbreviated or invalid.
std::vector<std::int64_t> rank_list(std::string_view text);

}  // namespace tutti::core
