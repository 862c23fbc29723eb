// Reads the output of the Intel MPI Benchmarks. Each table has a title with its benchmark and its
// number of processes. By default, a benchmark has a table for 2, 4, 8, … and for all processes:
//   # Benchmarking Allreduce
//   # #processes = 4
//   # ( 4 additional processes waiting in MPI_Barrier)
//          #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]

#include <utility>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/measured/mpi_benchmark.h"

namespace tutti::core {
namespace {

class ImbReader : public MpiBenchmarkReader {
 public:
  ImbReader(const std::string& file, Problems& problems)
      : MpiBenchmarkReader(file, problems, "the Intel MPI Benchmarks", "Allreduce") {}

 private:
  void read_remark(const std::vector<LogWord>& words) override {
    if (words[0].text == "#bytes") return read_titles(words);
    if (words.size() >= 3 && words[1].text == "Benchmarking") {
      collective_ = find_mpi_collective(words[2].text);
      ranks_ = 0;
      time_.reset();
      if (collective_ == nullptr)
        ignore_table(fmt::format("the benchmark {}", words[2].text.substr(0, 80)));
    } else if (words.size() >= 4 && words[1].text == "#processes" && words[2].text == "=") {
      ranks_ = whole_number<std::int64_t>(words[3].text).value_or(0);
      time_.reset();
    } else if (words.size() >= 4 && words[1].text == "(" && words[3].text == "groups") {
      // Several groups execute the collective at the same time, and share the network.
      ignore_table("tables of several groups");
    } else if (words.size() >= 6 && words[1].text == "MPI_Datatype" &&
               words[3].text == "reductions") {
      type_ = type_of_mpi_name(words[5].text);
    }
  }

  void read_titles(const std::vector<LogWord>& words) {
    time_.reset();
    defects_.reset();
    if (collective_ == nullptr || ranks_ < 2) return;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].text == "t_avg[usec]") time_ = i;
      if (words[i].text == "defects") defects_ = i;
    }
    if (!time_) return;
    NcclTestsTable& table = begin_table(words[0]);
    table.ranks = ranks_;
    table.is_imb = table.is_mpi = true;
  }

  void read_row(const std::vector<LogWord>& words) override {
    if (!time_ || collective_ == nullptr) return;
    const auto bytes = size_of_row(words[0]);
    if (!bytes) return;
    if (words.size() <= *time_) {
      if (table().damaged_rows++ == 0) table().first_damaged = at(words[0]);
      return;
    }
    const auto number = [&](std::size_t column) {
      return number_of(decimal_text(words[column].text)).value_or(-1);
    };
    // Small collectives without data to move may take 0.00 µs.
    if (number(*time_) == 0) return;
    const bool is_wrong = defects_ && words.size() > *defects_ && number(*defects_) > 0;
    add_time(words[0], *bytes, words[*time_], is_wrong);
  }

  std::int64_t ranks_ = 0;                     ///< number of processes of the next table
  std::optional<std::size_t> time_, defects_;  ///< columns of the current table
};

}  // namespace

bool is_imb(std::string_view text) {
  return text.find("# Benchmarking ") != std::string_view::npos &&
         text.find("#processes = ") != std::string_view::npos;
}

std::vector<NcclTestsTable> parse_imb(std::string_view text, const std::string& file,
                                      Problems& problems) {
  std::vector<NcclTestsTable> tables = ImbReader(file, problems).read(text);
  for (NcclTestsTable& table : tables) table = with_ranks(std::move(table), *table.ranks);
  return tables;
}

}  // namespace tutti::core
