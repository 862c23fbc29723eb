#pragma once

// The code that the readers of the OSU micro-benchmarks and of the Intel MPI Benchmarks share. No
// other code includes this header.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/measured/nccl_tests_reader.h"

namespace tutti::core {

/// A collective that an MPI benchmark measures.
struct MpiCollective {
  std::string_view title;  ///< name in the title of a table
  std::string_view name;   ///< name in nccl-tests
  NcclTestsTable::Sizes sizes;
  bool reduces;
};

/// Returns the collective whose name in titles is `title`; null: Tutti does not use it.
const MpiCollective* find_mpi_collective(std::string_view title);

/// Reads a log in which the titles of each table begin with "#", and each row begins with a size in
/// bytes.
class MpiBenchmarkReader {
 public:
  virtual ~MpiBenchmarkReader() = default;

  /// Returns the tables that have rows. Adds a problem if there is none.
  std::vector<NcclTestsTable> read(std::string_view text);

 protected:
  /// `suite` is the name of the benchmarks in messages. `example` is the name of a table that Tutti
  /// can read; the message about a log without such a table names it.
  MpiBenchmarkReader(const std::string& file, Problems& problems, std::string_view suite,
                     std::string_view example)
      : file_(file), problems_(problems), suite_(suite), example_(example) {}

  /// Reads a line that begins with "#".
  virtual void read_remark(const std::vector<LogWord>& words) = 0;
  /// Reads any other line that is not empty.
  virtual void read_row(const std::vector<LogWord>& words) = 0;

  [[nodiscard]] Location at(const LogWord& word) const { return {file_, line_, word.column}; }
  /// Begins a table of `collective_`, whose first title is `title`.
  NcclTestsTable& begin_table(const LogWord& title);
  /// Ends the current table. The rows that follow are not used. `what` names the test or table to
  /// which they belong.
  void ignore_table(std::string what);
  /// Returns the size with which a row begins. Returns nullopt if the line is not a row. If the
  /// size is too large, adds a problem and returns nullopt.
  std::optional<std::int64_t> size_of_row(const LogWord& word);
  /// Adds a row to the current table. `time`: the average time in microseconds.
  void add_time(const LogWord& size, std::int64_t bytes, const LogWord& time, bool is_wrong);
  NcclTestsTable& table() { return tables_.back(); }
  Problems& problems() { return problems_; }

  const MpiCollective* collective_ =
      nullptr;        ///< collective of the current table; null: the rows that follow are not used
  std::string type_;  ///< nccl-tests' name of the type; empty: the output states none

 private:
  bool set_elements(NcclTestsRow& row);

  const std::string& file_;
  Problems& problems_;
  std::string_view suite_, example_;
  int line_ = 0;
  std::string other_;  ///< name of the latest table that is not used
  int other_line_ = 0;
  std::vector<NcclTestsTable> tables_;
};

/// Returns nccl-tests' name of an MPI type: "float" for "MPI_FLOAT" and "MPI_FLOAT.".
std::string_view type_of_mpi_name(std::string_view name);

}  // namespace tutti::core
