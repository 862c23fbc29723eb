#pragma once

// Between the readers of the two notations and what they share; nobody else includes it.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/measured/nccl_tests.h"
#include "core/text/document.h"

namespace tutti::core {

/// What a number in a log may be; far beyond any measurement.
inline constexpr double kMaxLogUs = 1e12;
inline constexpr double kMaxLogGbPerS = 1e9;
inline constexpr std::int64_t kMaxLogBytes = std::int64_t{1} << 50;

/// "/opt/nccl-tests/build/all_reduce_perf" → "all_reduce".
std::string collective_of_program(std::string_view program);

/// The rank that is written there; 0 where none is ("-1").
std::int64_t root_of(std::string_view written);

/// Collects the ranks that a log lists into what they say about the run.
class RankList {
 public:
  void add(std::string_view host, std::string_view pid, std::string_view device);
  void put(NcclTestsRun& run) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> ranks_of_host_;
  std::set<std::pair<std::string, std::string>> processes_;
  std::string device_;
};

/// Adds the variable if it is one of NCCL's, once.
void add_variable(NcclTestsRun& run, std::string_view name, std::string_view value);

/// Adds `row` to `table` unless it is of 0 bytes; problems where its numbers contradict each other.
void add_row(NcclTestsTable& table, NcclTestsRow row, Problems& problems);

std::vector<NcclTestsTable> parse_nccl_tests_json(std::string_view text, const std::string& file,
                                                  Problems& problems);

}  // namespace tutti::core
