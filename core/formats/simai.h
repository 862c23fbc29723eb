#pragma once

// Workload files of SimAI and AICB, which have the text format of ASTRA-sim 1.0: one file for all
// GPUs, with a row of 12 columns for each layer. Compute times are in nanoseconds. Sizes are in
// bytes.
// SOURCE: aliyun/SimAI astra-sim-alibabacloud/astra-sim/workload/Workload.cc; aliyun/aicb
// workload_generator/SimAI_training_workload_generator.py.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/byte_input.h"
#include "core/formats/record_counts.h"

namespace tutti::core {

struct SimaiCollective {
  enum class Kind : std::uint8_t { kNone, kAllReduce, kAllGather, kReduceScatter, kAllToAll };
  /// The group of ranks that the suffix of a collective's name selects. Without a suffix,
  /// collectives of the forward pass and of input gradients are in the tensor-parallel group, and
  /// those of weight gradients in the data-parallel group.
  enum class Group : std::uint8_t { kOfPass, kExpert, kDataOfExperts };

  Kind kind = Kind::kNone;
  Group group = Group::kOfPass;
  std::int64_t bytes = 0;  ///< the larger of a rank's input and output
};

struct SimaiPass {
  std::int64_t compute_ns = 0;
  SimaiCollective collective;
};

/// A row of the file.
struct SimaiLayer {
  int line = 0;
  std::string name;
  SimaiPass forward, input_gradient, weight_gradient;
  std::int64_t update_ns = 0;  ///< delay after each collective of the layer
};

struct SimaiHeader {
  /// "HYBRID_TRANSFORMER_FWD_IN_BCKWD", or "MICRO" for a list of single collectives of all GPUs.
  std::string parallelism;
  std::int64_t tensor_parallel = 1;    ///< model_parallel_NPU_group
  std::int64_t expert_parallel = 1;    ///< ep
  std::int64_t pipeline_parallel = 1;  ///< pp
  std::int64_t gpus = 0;               ///< all_gpus; 0: not stated
  std::int64_t layers = 0;             ///< number of rows
  int line = 0;
};

/// True if a file with these first bytes is a workload of SimAI or of ASTRA-sim 1.0.
bool is_simai(std::string_view first_bytes);

/// Reads a workload. Calls `begin` once with the header, then `take` for each row, in the order of
/// the file. Only one row is in memory at a time. ERRORS (with line and column): the input cannot
/// be read; a row has a wrong number of columns, an unknown collective or an invalid number; the
/// number of rows differs from the number in the header; the parallelism is one that depends on
/// ASTRA-sim's network dimensions; activations are recomputed.
Expected<void> read_simai(ByteInput& input, const std::string& name,
                          const std::function<Expected<void>(const SimaiHeader&)>& begin,
                          const std::function<Expected<void>(const SimaiLayer&)>& take,
                          RecordCounts& counts);

}  // namespace tutti::core
