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
  double algbw_gb_per_s = 0;  ///< as printed, with few digits if it is small
  double busbw_gb_per_s = 0;
  std::int64_t wrong = 0;  ///< number of wrong elements; also 0 if nothing was checked
};

/// One row of a table: one size.
struct NcclTestsRow {
  Location where;
  std::int64_t bytes = 0;
  /// Elements passed to the collective; of one block, if it works on blocks.
  std::int64_t elements = 0;
  std::string type;   ///< name in nccl-tests: "float", "half", …
  std::string redop;  ///< "sum", …; empty if the table does not state it, or nothing is reduced
  std::int64_t root = 0;  ///< 0 if there is none
  std::optional<NcclTestsTiming> out_of_place;
  std::optional<NcclTestsTiming> in_place;
};

/// The head of a log, which describes its run. All fields are optional: old releases and
/// abbreviated logs lack some.
struct NcclTestsRun {
  std::optional<std::int64_t> threads;         ///< threads per process: "nThread"
  std::optional<std::int64_t> gpus_of_thread;  ///< GPUs per thread: "nGpus"
  std::int64_t hosts = 0;          ///< number of hosts of the listed ranks; 0: none is listed
  std::int64_t ranks_of_host = 0;  ///< ranks per host; 0: unknown, or not the same on all hosts
  std::int64_t processes = 0;      ///< number of processes of the listed ranks, host by host
  std::string device;              ///< name of the first rank's GPU
  std::string nccl_version;        ///< "2.18.3+cuda12.2" or NCCL's number, 21803
  /// NCCL's variables, as reported by NCCL_DEBUG=INFO and in the JSON.
  std::vector<std::pair<std::string, std::string>> environment;

  /// Returns which processes and threads call NCCL for the GPUs of a host. Returns nullopt if the
  /// head does not state it, or if each host has one GPU.
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

/// Parses the tables of a log: the text that nccl-tests 2.0 to 2.19 and `tutti perf` print, with
/// other output between their lines (NCCL's own messages, prefixes of mpirun and srun), or the JSON
/// that they write. ERRORS: the log has no table; a row is truncated, has invalid numbers, or a
/// bandwidth that is not bytes divided by time. Cost: proportional to the text.
Expected<std::vector<NcclTestsTable>> parse_nccl_tests(std::string_view text,
                                                       const std::string& file);
/// Reads a file of at most 64 MiB.
Expected<std::vector<NcclTestsTable>> load_nccl_tests(const std::string& path);

/// Returns the collective of the table, over `ranks` ranks: the one that it names, otherwise
/// all-reduce. The table's ranks, operation, bytes per element, and ratio of busbw to algbw (where
/// enough digits are printed) must match it. ERRORS: a mismatch, with its location.
Expected<CollectiveKind> check_collective(const NcclTestsTable& table, std::int64_t ranks);

/// Returns busbw divided by algbw: busbw is the rate of a link if every rank moves `algbw` with the
/// minimum of transfers. SOURCE: NVIDIA/nccl-tests doc/PERFORMANCE.md; for gather and scatter
/// src/gather.cu and src/scatter.cu.
double busbw_factor(CollectiveKind kind, std::int64_t ranks);

/// Returns the type with this name in nccl-tests. nullopt for types that Tutti does not reduce
/// (int8, fp8, …).
std::optional<DataType> data_type_of_nccl_name(std::string_view name);
/// Returns the name of a type in nccl-tests.
std::string_view nccl_name(DataType type);

}  // namespace tutti::core
