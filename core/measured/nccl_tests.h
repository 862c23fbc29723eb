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
  double algbw_gb_per_s =
      0;  ///< the value in the log, which has few digits if the bandwidth is low
  double busbw_gb_per_s = 0;
  std::int64_t wrong = 0;  ///< number of wrong elements; 0 if the run did not check results
  bool is_checked = true;  ///< false if the log states that these results were not checked
};

/// One row of a table: the results for one size.
struct NcclTestsRow {
  Location where;
  std::int64_t bytes = 0;
  /// The number of elements that the collective was called with. For a collective that works on
  /// blocks, this is the number of elements of one block.
  std::int64_t elements = 0;
  std::string type;  ///< name in nccl-tests: "float", "half", …
  /// The reduction, such as "sum"; empty if the table does not state it or the collective does not
  /// reduce.
  std::string redop;
  std::int64_t root = 0;  ///< 0 if the collective has no root
  bool has_root = false;  ///< true if the row states a root
  std::optional<NcclTestsTiming> out_of_place;
  std::optional<NcclTestsTiming> in_place;
};

/// The properties of a run, which are listed at the beginning of its log. The log of an old
/// release, or an abbreviated log, may lack any of these properties.
struct NcclTestsRun {
  std::optional<std::int64_t> threads;         ///< threads per process: "nThread"
  std::optional<std::int64_t> gpus_of_thread;  ///< GPUs per thread: "nGpus"
  std::int64_t hosts = 0;          ///< number of hosts; 0 if the log does not list the ranks
  std::int64_t ranks_of_host = 0;  ///< ranks per host; 0 if this number is unknown or differs
                                   ///< between hosts
  std::int64_t processes = 0;  ///< number of different processes among the ranks that the log lists
  std::string device;          ///< name of the first rank's GPU
  std::string nccl_version;    ///< "2.18.3+cuda12.2", or NCCL's version number, 21803
  /// NCCL's environment variables. The variables are read from NCCL's messages (NCCL_DEBUG=INFO) or
  /// from the JSON output.
  std::vector<std::pair<std::string, std::string>> environment;

  /// Returns how the processes and threads of a host divide its GPUs among themselves to call NCCL.
  /// Returns nullopt if the log does not state the numbers of processes and threads, or if each
  /// host has only one GPU.
  [[nodiscard]] std::optional<nccl::Driving> driving() const;
};

/// One run of an nccl-tests program, or of `tutti perf`. A file may contain several runs.
struct NcclTestsTable {
  Location where;          ///< location of the column titles
  std::string collective;  ///< name of the collective, such as "all_reduce"; empty if the log does
                           ///< not state the collective
  std::optional<std::int64_t> ranks;  ///< number of ranks, if the log lists them
  std::vector<NcclTestsRow> rows;     ///< rows of the table, except rows of 0 bytes
  NcclTestsRun run = {};
  /// The meaning of the sizes in the rows. Logs of the OSU micro-benchmarks do not state the number
  /// of ranks, so the sizes of collectives on blocks are known only after a call of with_ranks().
  enum class Sizes : std::uint8_t {
    kKnown,
    kBlock,  ///< `bytes` counts the block of one rank
    kWhole,  ///< `elements` counts the elements of all blocks
  };
  Sizes sizes = Sizes::kKnown;
  bool is_osu = false;     ///< true if the log comes from the OSU micro-benchmarks
  bool is_imb = false;     ///< true if the log comes from the Intel MPI Benchmarks
  bool is_mpi = false;     ///< true if the log states that MPI, and not NCCL, was measured
  bool has_chars = false;  ///< true if reductions of characters were read as reductions of floats
  /// The number of rows that `rows` lacks because the log is truncated in the row, or because
  /// another thread wrote a message into the row.
  std::int64_t damaged_rows = 0;
  Location first_damaged = {};
};

/// Returns a note on the damaged rows of tables; "" if there are none.
std::string damaged_rows_note(const std::vector<NcclTestsTable>& tables);

/// Returns the collectives that a table without the name of its program may measure, according to
/// its columns, the ratio of busbw to algbw, and the name of the file. Returns several if these do
/// not determine the collective, and none if they contradict each other.
std::vector<CollectiveKind> possible_collectives(const NcclTestsTable& table, std::int64_t ranks);

/// Returns the table with Sizes::kKnown: computes the sizes from the number of ranks. Rows whose
/// size is not a whole number of blocks, or is too large, are omitted.
NcclTestsTable with_ranks(NcclTestsTable table, std::int64_t ranks);

/// Parses the tables of a log. The log is the text that nccl-tests 2.0 to 2.19 and `tutti perf`
/// print, the JSON that they write, or the text of the OSU micro-benchmarks or of the Intel MPI
/// Benchmarks. The text may contain other output between its lines, such as NCCL's own messages,
/// and the prefixes of launchers.
/// ERRORS: the log has no table; a row other than the last line is truncated; a row has invalid
/// numbers; a bandwidth differs from bytes divided by time. Cost: proportional to the text.
Expected<std::vector<NcclTestsTable>> parse_nccl_tests(std::string_view text,
                                                       const std::string& file);
/// Parses the tables of a file of at most 64 MiB, which may be compressed with gzip.
Expected<std::vector<NcclTestsTable>> load_nccl_tests(const std::string& path);

/// Returns the collective that the table names. If the table names none, returns the only
/// collective that the table may measure (possible_collectives()) or, if there are several, the
/// collective `expected`, which the user has stated. Checks that the content of the table fits this
/// collective on `ranks` ranks: the number of ranks, the reduction, the root, and the ratio of
/// busbw to algbw (if enough digits are printed). ERRORS: the table does not fit, or may be of
/// several collectives; the error contains the location.
Expected<CollectiveKind> check_collective(const NcclTestsTable& table, std::int64_t ranks,
                                          std::optional<CollectiveKind> expected = {});

/// Returns the ratio of bus bandwidth to algorithm bandwidth. If an optimal algorithm executes the
/// collective at the rate algbw, each link carries data at the rate busbw. SOURCE:
/// NVIDIA/nccl-tests doc/PERFORMANCE.md; src/gather.cu and src/scatter.cu for gather and scatter.
double busbw_factor(CollectiveKind kind, std::int64_t ranks);

/// Returns the data type of a row. If Tutti does not model the type, and the collective reduces
/// nothing, only the number of bytes matters. A row with a type of one byte, such as int8, is then
/// changed to the same number of bytes of a type that Tutti models. Otherwise, returns nullopt for
/// a type that Tutti does not model.
std::optional<DataType> modelled_type(NcclTestsRow& row, CollectiveKind kind);

/// Returns the type with this name in nccl-tests. Returns nullopt for types that Tutti does not
/// reduce (int8, fp8, …).
std::optional<DataType> data_type_of_nccl_name(std::string_view name);
/// Returns the name of a type in nccl-tests.
std::string_view nccl_name(DataType type);

}  // namespace tutti::core
