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

/// The options of `tutti perf` for the prediction of NCCL's choice and time.
struct NcclPerfOptions {
  std::string cluster;  ///< the machine: a shipped machine, or a file
  std::int32_t nodes = 1;
  std::optional<std::int32_t> gpus;    ///< number of GPUs per node; default: all
  std::optional<std::string> network;  ///< the network; default: the network of the machine's card
  std::optional<std::string> cards_per_gpu;  ///< network cards for each GPU: 1/4, 1/2, 1, 2 or 4;
                                             ///< default: those of the machine
  std::optional<double> card_gbit_per_s;     ///< rate of such a card; default: as in the machine
  std::optional<std::string> ofi_plugin;     ///< the release of aws-ofi-nccl on EFA; default: the
                                             ///< release that is usual with `version`
  std::optional<std::string> version;        ///< the version of NCCL; default 2.28.9
  std::optional<std::string> driving;        ///< driving mode of NCCL; default process_per_gpu
  std::optional<std::string> tuner;  ///< the tuner: none (default), aws_ofi, or the file of a table
  std::optional<std::string> instance;  ///< the EC2 instance type of the machines, for aws_ofi
  std::optional<std::int32_t> threads;  ///< nccl-tests -t: GPUs per node, with a thread for each
  /// The kind of buffers: plain (default), registered or symmetric.
  std::optional<std::string> buffers;
  std::optional<std::int32_t> local_register;  ///< nccl-tests -R: 0 (plain), 1 (registered) or 2
                                               ///< (symmetric)
  std::string calibration;  ///< a calibration file with measured times; empty: none
  bool explain = false;
  std::string against;  ///< a log of nccl-tests to compare with; empty: none

  /// Returns the name of the first of these options that the user has given and that requires
  /// --cluster; null if there is none.
  [[nodiscard]] const char* first_given() const;
};

/// A request for a table of predictions.
struct NcclPerfRequest {
  NcclPerfOptions options;
  std::vector<std::string> set;  ///< variables, such as "NCCL_ALGO=Ring"
  Format format = Format::kText;
  core::CollectiveKind collective = core::CollectiveKind::kAllReduce;
  core::Rank root = 0;  ///< for collectives with a root: the root rank
  core::DataType type = core::DataType::kFloat32;
  core::Reduction reduction = core::Reduction::kSum;
  std::string op = "sum";           ///< the operation, named as in nccl-tests
  std::vector<std::int64_t> sizes;  ///< total numbers of elements, before rounding
  bool default_sizes = false;  ///< true: the sizes are the default ones; with a log, those of the
                               ///< log replace them
};

/// Prints the table that nccl-tests would print on the cluster, with NCCL's choices and the times
/// that Tutti's model predicts. Returns the exit status.
int perf_nccl(NcclPerfRequest request, const Environment& environment);

}  // namespace tutti::tools
