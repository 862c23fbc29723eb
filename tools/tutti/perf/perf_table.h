#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  core::CollectiveKind collective = core::CollectiveKind::kAllReduce;
  std::string op{};          ///< as nccl-tests names it
  core::Rank root = 0;       ///< of a collective that has one
  bool out_of_place = true;  ///< the table has this half,
  bool in_place = true;      ///< and this one
  std::string backend{};     ///< sim, tcp, cuda, nccl
  std::string transport{};   ///< between workers; empty if simulated
  bool joined = false;       ///< workers came from elsewhere
};

/// One half of a row.
struct PerfTime {
  double us = 0;
  double algbw = 0;  ///< bytes / time, GB/s
  double busbw = 0;  ///< algbw times core::busbw_factor()
};

struct PerfRow {
  std::int64_t bytes = 0;  ///< of the whole: the larger of what a rank gives and gets
  std::int64_t count = 0;  ///< elements as the collective is told them: of a block, if it deals in blocks
  std::optional<PerfTime> out_of_place;
  std::optional<PerfTime> in_place;  ///< nothing if the collective cannot be, too
};

/// Elements of the whole that nccl-tests makes of a size of so many elements: what deals in blocks has blocks of whole 16 bytes.
/// SOURCE: NVIDIA/nccl-tests src/*.cu, GetCollByteCount.
std::int64_t rounded_elements(core::CollectiveKind kind, std::int64_t ranks, std::int64_t elements,
                              core::DataType type);

/// A number as nccl-tests prints it: as many decimals as fit.
std::string perf_number(double value);

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
