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

/// The request behind a table of nccl-tests: the collective, the scenario with the cluster, and the
/// options.
struct PerfSubject {
  const core::Scenario& scenario;
  core::DataType type = core::DataType::kFloat32;
  core::CollectiveKind collective = core::CollectiveKind::kAllReduce;
  std::string op{};          ///< the operation, named as in nccl-tests
  core::Rank root = 0;       ///< for collectives with a root: the root rank
  bool out_of_place = true;  ///< true: the table has out-of-place results
  bool in_place = true;      ///< true: the table has in-place results
  std::string backend{};     ///< sim, tcp, cuda or nccl
  std::string transport{};   ///< the transport between workers; empty if simulated
  bool joined = false;       ///< true: the workers were started elsewhere and have joined the run
};

/// The out-of-place or the in-place half of a row.
struct PerfTime {
  double us = 0;
  double algbw = 0;  ///< bytes / time, in GB/s
  double busbw = 0;  ///< algbw times core::busbw_factor(), in GB/s
};

struct PerfRow {
  std::int64_t bytes = 0;  ///< the size of a rank's total input or output, whichever is larger
  /// The number of elements that is passed to the collective. For a collective on blocks, the
  /// number of elements of one block.
  std::int64_t count = 0;
  std::optional<PerfTime> out_of_place;
  std::optional<PerfTime> in_place;  ///< nullopt if the collective cannot be in place
};

/// Returns the number of elements that nccl-tests uses if `elements` elements are requested.
/// Collectives on blocks use blocks whose size is a multiple of 16 bytes.
/// SOURCE: NVIDIA/nccl-tests src/*.cu, GetCollByteCount.
std::int64_t rounded_elements(core::CollectiveKind kind, std::int64_t ranks, std::int64_t elements,
                              core::DataType type);

/// Formats a number in the same way as nccl-tests, with as many decimals as fit into the column.
std::string perf_number(double value);

/// Interface that prints measurements to standard output. Rows that were added are printed even if
/// the measurement of a later size fails.
class PerfTable {
 public:
  virtual ~PerfTable() = default;
  /// Adds a row. `notes` has the notes that no earlier row had. Returns kDone, or another exit
  /// status if standard output has failed.
  virtual int add(const PerfRow& row, const std::vector<std::string>& notes) = 0;
  /// Ends the table. If some sizes have no row, `error` is the reason; otherwise, `error` is null.
  /// The returned exit status is the same as for add().
  virtual int end(const core::Error* error) = 0;
};

/// Creates a table. Prints text row by row, and JSON at the end. REQUIRES: the subject's scenario
/// outlives the table.
std::unique_ptr<PerfTable> make_perf_table(Format format, const PerfSubject& subject);

}  // namespace tutti::tools
