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

/// What of `tutti perf` is for NCCL's own choice and time.
struct NcclPerfOptions {
  std::string cluster;  ///< machine: name of a shipped one, or file
  std::int32_t nodes = 1;
  std::optional<std::int32_t> gpus;    ///< of each node; default all
  std::optional<std::string> network;  ///< default: what the machine's card states
  std::optional<std::string> version;  ///< default 2.28.9
  std::optional<std::string> driving;  ///< who calls NCCL; default process_per_gpu
  std::string calibration;             ///< file of measured times; empty: none
  bool explain = false;
  std::string against;  ///< log of nccl-tests

  /// The first of the options that make no sense without a cluster, if one was given.
  [[nodiscard]] const char* first_given() const;
};

/// What is to be timed.
struct NcclPerfRequest {
  NcclPerfOptions options;
  std::vector<std::string> set;  ///< "NCCL_ALGO=Ring"
  Format format = Format::kText;
  core::CollectiveKind collective = core::CollectiveKind::kAllReduce;
  core::Rank root = 0;  ///< where it has one
  core::DataType type = core::DataType::kFloat32;
  core::Reduction reduction = core::Reduction::kSum;
  std::string op = "sum";           ///< as nccl-tests names it
  std::vector<std::int64_t> sizes;  ///< elements of the whole, before any rounding
};

/// The table of nccl-tests as NCCL would make it on the cluster: what it chooses, and what that takes by Tutti's model. Answers the exit status.
int perf_nccl(const NcclPerfRequest& request, const Environment& environment);

}  // namespace tutti::tools
