#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "tools/tutti/command.h"

namespace tutti::tools {

/// What a table of nccl-tests is about.
struct PerfSubject {
  const core::Scenario& scenario;
  core::DataType type = core::DataType::kFloat32;
  std::string op;         ///< as nccl-tests names it
  std::string backend;    ///< sim, tcp, cuda, nccl
  std::string transport;  ///< between workers; empty if simulated
  bool joined = false;    ///< workers came from elsewhere
};

struct PerfRow {
  std::int64_t bytes = 0;
  std::int64_t elements = 0;
  double us = 0;
  double algbw = 0;  ///< bytes / time, GB/s
  double busbw = 0;  ///< algbw · 2(n - 1)/n: what a link would carry in a ring
};

/// Prints what is measured to standard output. What was added is not lost, whatever comes after.
class PerfTable {
 public:
  virtual ~PerfTable() = default;
  /// A size is done; `notes` came up with it. Answers the exit status: not kDone if standard output takes no more.
  virtual int add(const PerfRow& row, const std::vector<std::string>& notes) = 0;
  /// All sizes are done, or `error` is why there are no more. Answers likewise.
  virtual int end(const core::Error* error) = 0;
};

/// Text comes row by row, JSON at the end. REQUIRES: the subject's scenario outlives it.
std::unique_ptr<PerfTable> make_perf_table(Format format, const PerfSubject& subject);

}  // namespace tutti::tools
