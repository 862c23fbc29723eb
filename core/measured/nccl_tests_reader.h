#pragma once

// Declarations that all readers of logs share: the readers of the text and the JSON of nccl-tests,
// and the readers of MPI benchmarks. No other code includes this header.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/measured/nccl_tests.h"
#include "core/text/document.h"

namespace tutti::core {

/// The upper limits of numbers in a log, which are far above any measurement.
inline constexpr double kMaxLogUs = 1e12;
inline constexpr double kMaxLogGbPerS = 1e9;
inline constexpr std::int64_t kMaxLogBytes = std::int64_t{1} << 50;

/// A word of a line, and its column.
struct LogWord {
  std::string_view text;
  int column = 1;
};
/// Returns the words of a line without the prefixes that launchers add to lines, such as "0:" (srun
/// --label), "[1,0]<stdout>:" (mpirun --tag-output) and time stamps. Colors of terminals are
/// ignored. Columns are counted in the whole line, including prefixes.
std::vector<LogWord> log_words(std::string_view line);
/// Replaces a decimal comma by a point. Programs that run in the locale of the user may write
/// "28,15" instead of "28.15".
std::string decimal_text(std::string_view text);
/// True if the text consists of digits and is not empty.
bool all_digits(std::string_view text);
/// Removes the first `letters` characters of the first word. If nothing is left, removes the word.
void cut_front(std::vector<LogWord>& words, std::size_t letters);

/// Returns the collective that a program runs: "all_reduce" for
/// "/opt/nccl-tests/build/all_reduce_perf" and for "all_reduce_perf_mpi".
std::string collective_of_program(std::string_view program);

/// Sets the root of a row, unless the collective has none ("-1").
void set_root(NcclTestsRow& row, std::string_view written);

/// For a table without the name of its program: returns the collective that the columns of the
/// reduction and of the root alone suggest. If such a table fits no collective, its error messages
/// are about the suggested collective.
CollectiveKind collective_of_columns(const NcclTestsTable& table);

/// True if the ratio of busbw to algbw is `factor`, as far as the two decimals of bandwidths can
/// show. Bandwidths below 0.5 GB/s are too imprecise; for them, the result is always true.
bool has_busbw_factor(const NcclTestsTiming& timing, double factor);

/// Collects the ranks that a log lists, and derives properties of the run from them.
class RankList {
 public:
  void add(std::string_view host, std::string_view pid, std::string_view device);
  /// Copies the properties to `run`. `ranks` is the number of ranks of the run; a log that was
  /// shortened may list only some of them.
  void put(NcclTestsRun& run, std::int64_t ranks) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> ranks_of_host_;
  std::set<std::pair<std::string, std::string>> processes_;
  std::string device_;
};

/// Adds an NCCL variable to `run` unless `run` already has a variable of that name.
void add_variable(NcclTestsRun& run, std::string_view name, std::string_view value);

/// Adds `row` to `table` unless it has 0 bytes. If numbers in the row contradict each other, adds a
/// problem to `problems` instead.
void add_row(NcclTestsTable& table, NcclTestsRow row, Problems& problems);

std::vector<NcclTestsTable> parse_nccl_tests_text(std::string_view text, const std::string& file,
                                                  Problems& problems);
std::vector<NcclTestsTable> parse_nccl_tests_json(std::string_view text, const std::string& file,
                                                  Problems& problems);

/// True if the text is the output of the OSU micro-benchmarks.
bool is_osu(std::string_view text);
/// SOURCE: OSU micro-benchmarks 5 to 7.5, c/mpi/collective, c/xccl/collective.
std::vector<NcclTestsTable> parse_osu(std::string_view text, const std::string& file,
                                      Problems& problems);

/// True if the text is the output of the Intel MPI Benchmarks.
bool is_imb(std::string_view text);
/// SOURCE: intel/mpi-benchmarks, IMB-MPI1 of 2017 to 2021.
std::vector<NcclTestsTable> parse_imb(std::string_view text, const std::string& file,
                                      Problems& problems);

}  // namespace tutti::core
