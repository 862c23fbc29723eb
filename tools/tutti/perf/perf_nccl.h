#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/data_type.h"
#include "core/schedule/contract.h"
#include "core/strategy/strategy.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

/// The options of `tutti perf` for predicting NCCL's own choice and time.
struct NcclPerfOptions {
  std::string cluster;  ///< machine: a shipped one, or a file
  std::int32_t nodes = 1;
  std::optional<std::int32_t> gpus;     ///< number of GPUs per node; default: all
  std::optional<std::string> network;   ///< network; default: the one of the machine's card
  std::optional<std::string> version;   ///< version of NCCL; default 2.28.9
  std::optional<std::string> driving;   ///< how NCCL is called; default process_per_gpu
  std::optional<std::string> tuner;     ///< tuner: none (default), aws_ofi, or the file of a table
  std::optional<std::string> instance;  ///< EC2's type of the machines, used by aws_ofi
  /// Kind of buffers: plain (default), registered or symmetric.
  std::optional<std::string> buffers;
  std::string calibration;  ///< file of measured times to calibrate with; empty: none
  bool explain = false;
  std::string against;  ///< log of nccl-tests to compare with; empty: none

  /// Returns the first given option that requires a cluster; null if there is none.
  [[nodiscard]] const char* first_given() const;
};

/// A request for a table.
struct NcclPerfRequest {
  NcclPerfOptions options;
  std::vector<std::string> set;  ///< variables, such as "NCCL_ALGO=Ring"
  Format format = Format::kText;
  core::CollectiveKind collective = core::CollectiveKind::kAllReduce;
  core::Rank root = 0;  ///< root, if the collective has one
  core::DataType type = core::DataType::kFloat32;
  core::Reduction reduction = core::Reduction::kSum;
  std::string op = "sum";           ///< operation, named as in nccl-tests
  std::vector<std::int64_t> sizes;  ///< total number of elements, before any rounding
};

/// Prints the table of nccl-tests that NCCL would produce on the cluster: NCCL's choice, and its
/// time according to Tutti's model. Returns the exit status.
int perf_nccl(const NcclPerfRequest& request, const Environment& environment);

}  // namespace tutti::tools
