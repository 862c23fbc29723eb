// Reads the output of the Intel MPI Benchmarks. Each table has a title with its benchmark and its
// number of processes. By default, a benchmark has a table for 2, 4, 8, … and for all processes:
//   # Benchmarking Allreduce
//   # #processes = 4
//   # ( 4 additional processes waiting in MPI_Barrier)
//          #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]

#include <array>
#include <charconv>
#include <optional>

#include "core/base/number.h"
#include "core/measured/nccl_tests_reader.h"

namespace tutti::core {
namespace {

using Sizes = NcclTestsTable::Sizes;
struct ImbCollective {
  std::string_view title;
  std::string_view name;  ///< name in nccl-tests
  Sizes sizes;
  bool reduces;
};
constexpr std::array kImbCollectives{
    ImbCollective{"Allreduce", "all_reduce", Sizes::kKnown, true},
    ImbCollective{"Reduce", "reduce", Sizes::kKnown, true},
    ImbCollective{"Reduce_scatter", "reduce_scatter", Sizes::kWhole, true},
    ImbCollective{"Bcast", "broadcast", Sizes::kKnown, false},
    ImbCollective{"Allgather", "all_gather", Sizes::kBlock, false},
    ImbCollective{"Alltoall", "alltoall", Sizes::kBlock, false},
    ImbCollective{"Gather", "gather", Sizes::kBlock, false},
    ImbCollective{"Scatter", "scatter", Sizes::kBlock, false},
};

class ImbReader {
 public:
  ImbReader(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}

  std::vector<NcclTestsTable> read(std::string_view text) {
    for (std::size_t at = 0; at < text.size() && !problems_.full();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      ++line_;
      read_line(log_words(text.substr(at, end - at)));
      at = end + 1;
    }
    std::erase_if(tables_, [](const NcclTestsTable& table) { return table.rows.empty(); });
    if (tables_.empty() && problems_.empty())
      problems_.add({ProblemCode::kUnsupported, "collective"}, {file_, other_line_, 1},
                    "{}; expected a table of a blocking collective, such as that of Allreduce",
                    other_.empty()
                        ? std::string("this output of the Intel MPI Benchmarks has no row")
                        : "Tutti does not use the benchmark " + other_);
    return std::move(tables_);
  }

 private:
  void read_line(const std::vector<LogWord>& words) {
    if (words.empty()) return;
    if (words[0].text == "#") return read_remark(words);
    if (words[0].text == "#bytes") return read_titles(words);
    if (time_ && collective_ != nullptr && ranks_ > 1) read_row(words);
  }

  void read_remark(const std::vector<LogWord>& words) {
    if (words.size() >= 3 && words[1].text == "Benchmarking") {
      collective_ = nullptr;
      ranks_ = 0;
      time_.reset();
      for (const ImbCollective& known : kImbCollectives) {
        if (words[2].text == known.title) collective_ = &known;
      }
      if (collective_ == nullptr) other_ = words[2].text.substr(0, 80), other_line_ = line_;
    } else if (words.size() >= 4 && words[1].text == "#processes" && words[2].text == "=") {
      ranks_ = whole_number<std::int64_t>(words[3].text).value_or(0);
    } else if (words.size() >= 4 && words[1].text == "(" && words[3].text == "groups") {
      // Several groups execute the collective at the same time, and share the network.
      collective_ = nullptr;
      other_ = "of several groups", other_line_ = line_;
    } else if (words.size() >= 6 && words[1].text == "MPI_Datatype" &&
               words[3].text == "reductions")
      is_double_ = words[5].text == "MPI_DOUBLE";
  }

  void read_titles(const std::vector<LogWord>& words) {
    time_.reset();
    defects_.reset();
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].text == "t_avg[usec]") time_ = i;
      if (words[i].text == "defects") defects_ = i;
    }
    if (!time_ || collective_ == nullptr || ranks_ < 2) return;
    NcclTestsTable table;
    table.where = {file_, line_, words[0].column};
    table.collective = collective_->name;
    table.sizes = collective_->sizes;
    table.ranks = ranks_;
    table.is_imb = table.is_mpi = true;
    tables_.push_back(std::move(table));
  }

  void read_row(const std::vector<LogWord>& words) {
    if (words.size() <= *time_ || !all_digits(words[0].text)) return;
    NcclTestsRow row;
    row.where = {file_, line_, words[0].column};
    const auto bytes = whole_number<std::int64_t>(words[0].text);
    if (!bytes || *bytes > kMaxLogBytes)
      return problems_.add({ProblemCode::kTooLarge, "size"}, row.where,
                           "size: {} exceeds the longest possible message", words[0].text);
    const auto us =
        read_number(decimal_text(words[*time_].text), {file_, line_, words[*time_].column}, "t_avg",
                    0, kMaxLogUs, problems_);
    if (!us) return;
    // Small collectives without data to move may take 0.00 µs.
    if (*us == 0) return;
    std::int64_t wrong = 0;
    if (defects_ && words.size() > *defects_) {
      const auto defects = number_of(decimal_text(words[*defects_].text));
      wrong = defects && *defects > 0 ? 1 : 0;
    }
    row.bytes = *bytes;
    row.type = is_double_ ? "double" : row.bytes % 4 == 0 ? "float" : "half";
    const std::int64_t item = is_double_ ? 8 : row.bytes % 4 == 0 ? 4 : 2;
    if (row.bytes % item != 0) return;
    row.elements = row.bytes / item;
    row.out_of_place = NcclTestsTiming{*us, 0, 0, wrong};
    if (collective_->reduces) row.redop = "sum";
    add_row(tables_.back(), std::move(row), problems_);
  }

  const std::string& file_;
  Problems& problems_;
  int line_ = 0;
  const ImbCollective* collective_ = nullptr;  ///< that of the current table; null: not used
  std::int64_t ranks_ = 0;
  bool is_double_ = false;
  std::optional<std::size_t> time_, defects_;  ///< columns
  std::string other_;                          ///< the last benchmark that is not used
  int other_line_ = 0;
  std::vector<NcclTestsTable> tables_;
};

}  // namespace

bool is_imb(std::string_view text) {
  return text.find("# Benchmarking ") != std::string_view::npos &&
         text.find("#processes = ") != std::string_view::npos;
}

std::vector<NcclTestsTable> parse_imb(std::string_view text, const std::string& file,
                                      Problems& problems) {
  return ImbReader(file, problems).read(text);
}

}  // namespace tutti::core
