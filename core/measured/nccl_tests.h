#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/data_type.h"
#include "core/base/error.h"
#include "core/nccl/driving.h"
#include "core/schedule/contract.h"

namespace tutti::core {

/// The result of nccl-tests for one size, out of place or in place.
struct NcclTestsTiming {
  double us = 0;
  double algbw_gb_per_s = 0;  ///< as printed; small values have few digits
  double busbw_gb_per_s = 0;
  std::int64_t wrong = 0;  ///< number of wrong elements; also 0 if nothing was checked
};

/// One row of a table: the results for one size.
struct NcclTestsRow {
  Location where;
  std::int64_t bytes = 0;
  /// The number of elements passed to the collective; if it works on blocks, the elements of one
  /// block.
  std::int64_t elements = 0;
  std::string type;  ///< name in nccl-tests: "float", "half", …
  /// "sum", …; empty if the table does not state it or the collective does not reduce.
  std::string redop;
  std::int64_t root = 0;  ///< 0 if the collective has no root
  std::optional<NcclTestsTiming> out_of_place;
  std::optional<NcclTestsTiming> in_place;
};

/// The description of a run from the head of its log. All fields are optional, because old releases
/// and abbreviated logs lack some of them.
struct NcclTestsRun {
  std::optional<std::int64_t> threads;         ///< threads per process: "nThread"
  std::optional<std::int64_t> gpus_of_thread;  ///< GPUs per thread: "nGpus"
  std::int64_t hosts = 0;          ///< number of hosts of the listed ranks; 0: no rank is listed
  std::int64_t ranks_of_host = 0;  ///< ranks per host; 0: unknown, or not the same on all hosts
  std::int64_t processes = 0;      ///< number of processes of the listed ranks, over all hosts
  std::string device;              ///< name of the first rank's GPU
  std::string nccl_version;        ///< "2.18.3+cuda12.2", or NCCL's version number, 21803
  /// NCCL's environment variables, as reported by NCCL_DEBUG=INFO and in the JSON.
  std::vector<std::pair<std::string, std::string>> environment;

  /// Returns the way in which processes and threads call NCCL for the GPUs of a host. Returns
  /// nullopt if the head does not state it, or if each host has one GPU.
  [[nodiscard]] std::optional<nccl::Driving> driving() const;
};

/// One run of an nccl-tests program, or of `tutti perf`. A file may contain several.
struct NcclTestsTable {
  Location where;                     ///< location of the column titles
  std::string collective;             ///< "all_reduce", …; empty if the log does not state it
  std::optional<std::int64_t> ranks;  ///< number of ranks, if the log lists them
  std::vector<NcclTestsRow> rows;     ///< sizes of 0 bytes are left out
  NcclTestsRun run = {};
};

/// Parses the tables of a log: either the text that nccl-tests 2.0 to 2.19 and `tutti perf` print,
/// or the JSON that they write. The text may contain other output between its lines, such as NCCL's
/// own messages and the prefixes of mpirun and srun. ERRORS: the log has no table; a row is
/// truncated or has invalid numbers; a bandwidth differs from bytes divided by time. Cost:
/// proportional to the text.
Expected<std::vector<NcclTestsTable>> parse_nccl_tests(std::string_view text,
                                                       const std::string& file);
/// Parses the tables of a file of at most 64 MiB.
Expected<std::vector<NcclTestsTable>> load_nccl_tests(const std::string& path);

/// Returns the collective that the table names, or the all-reduce if it names none. Checks that the
/// table's ranks, operation, bytes per element, and ratio of busbw to algbw (if enough digits are
/// printed) match this collective over `ranks` ranks. ERRORS: a mismatch, with its location.
Expected<CollectiveKind> check_collective(const NcclTestsTable& table, std::int64_t ranks);

/// Returns busbw divided by algbw. busbw is the rate of the links if the collective moves its data
/// at the rate algbw with the minimum number of transfers. SOURCE: NVIDIA/nccl-tests
/// doc/PERFORMANCE.md; for gather and scatter src/gather.cu and src/scatter.cu.
double busbw_factor(CollectiveKind kind, std::int64_t ranks);

/// Returns the type with this name in nccl-tests. nullopt for types that Tutti does not reduce
/// (int8, fp8, …).
std::optional<DataType> data_type_of_nccl_name(std::string_view name);
/// Returns the name of a type in nccl-tests.
std::string_view nccl_name(DataType type);

}  // namespace tutti::core
