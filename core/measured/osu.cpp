// Reads the output of the OSU micro-benchmarks: a title such as "# OSU MPI Allreduce Latency Test
// v7.5", the titles of the columns, and rows of a size and its average latency in microseconds. The
// output states neither the number of ranks nor, before version 7.4, the type of the elements.

#include <array>
#include <charconv>
#include <optional>

#include "core/base/number.h"
#include "core/measured/nccl_tests_reader.h"

namespace tutti::core {
namespace {

struct OsuCollective {
  std::string_view title;  ///< first word of the title after the name of the library
  std::string_view name;   ///< name in nccl-tests
  NcclTestsTable::Sizes sizes;
  bool reduces, has_root;
};
using Sizes = NcclTestsTable::Sizes;
constexpr std::array kCollectives{
    OsuCollective{"Allreduce", "all_reduce", Sizes::kKnown, true, false},
    OsuCollective{"Reduce_scatter", "reduce_scatter", Sizes::kWhole, true, false},
    OsuCollective{"Reduce", "reduce", Sizes::kKnown, true, true},
    OsuCollective{"Allgather", "all_gather", Sizes::kBlock, false, false},
    OsuCollective{"All-to-All", "alltoall", Sizes::kBlock, false, false},
    OsuCollective{"Alltoall", "alltoall", Sizes::kBlock, false, false},
    OsuCollective{"Broadcast", "broadcast", Sizes::kKnown, false, true},
    OsuCollective{"Bcast", "broadcast", Sizes::kKnown, false, true},
    OsuCollective{"Gather", "gather", Sizes::kBlock, false, true},
    OsuCollective{"Scatter", "scatter", Sizes::kBlock, false, true},
};

/// Returns nccl-tests' name of an MPI type: "# Datatype: MPI_FLOAT.".
std::string_view type_of(std::string_view name) {
  while (name.ends_with('.')) name.remove_suffix(1);
  if (name == "MPI_FLOAT") return "float";
  if (name == "MPI_INT") return "int32";
  if (name == "MPI_DOUBLE") return "double";
  return "int8";
}

class OsuReader {
 public:
  OsuReader(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}

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
                    "{}; expected a table of a collective, such as that of osu_allreduce",
                    other_.empty()
                        ? std::string("this output of the OSU micro-benchmarks has no row")
                        : "Tutti does not use the test \"" + other_ + "\"");
    return std::move(tables_);
  }

 private:
  void read_line(const std::vector<LogWord>& words) {
    if (words.empty()) return;
    if (words[0].text == "#") return read_remark(words);
    if (collective_ != nullptr) read_row(words);
  }

  void read_remark(const std::vector<LogWord>& words) {
    if (words.size() > 2 && words[1].text == "OSU") return read_title(words);
    if (words.size() > 2 && words[1].text == "Datatype:" && collective_ != nullptr)
      type_ = type_of(words[2].text);
    if (words.size() > 2 && words[1].text == "Size") read_columns(words);
  }

  /// Finds the column of the time. The time of non-blocking and persistent collectives is that of
  /// the communication alone. "# Size  Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)"
  void read_columns(const std::vector<LogWord>& words) {
    time_ = 1;
    std::size_t column = 1;
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i].text == "Comm.(us)") time_ = column;
      if (words[i].text.find('(') != std::string_view::npos) ++column;
    }
  }

  /// Reads "# OSU MPI Allreduce Latency Test v7.5".
  void read_title(const std::vector<LogWord>& words) {
    collective_ = nullptr;
    type_ = "";
    bool is_bandwidth = false;
    std::string title;
    for (std::size_t i = 2; i < words.size(); ++i) {
      title += (i == 2 ? "" : " ") + std::string(words[i].text);
      is_bandwidth = is_bandwidth || words[i].text == "Bandwidth";
    }
    time_ = 1;
    std::size_t name = 3;
    while (name + 1 < words.size() &&
           (words[name].text == "Non-blocking" || words[name].text == "Persistent"))
      ++name;
    if (words.size() > name && !is_bandwidth) {
      for (const OsuCollective& known : kCollectives) {
        if (words[name].text == known.title) collective_ = &known;
      }
    }
    if (collective_ == nullptr) {
      other_ = title.substr(0, 80);
      other_line_ = line_;
      return;
    }
    NcclTestsTable table;
    table.where = {file_, line_, words[0].column};
    table.collective = collective_->name;
    table.sizes = collective_->sizes;
    table.is_osu = true;
    table.is_mpi = !words[2].text.starts_with("NCCL") && !words[2].text.starts_with("RCCL");
    tables_.push_back(std::move(table));
  }

  void read_row(const std::vector<LogWord>& words) {
    std::int64_t bytes = 0;
    const std::string_view size = words[0].text;
    const auto [end, status] = std::from_chars(size.data(), size.data() + size.size(), bytes);
    if (status == std::errc::invalid_argument || end != size.data() + size.size()) return;
    const Location where{file_, line_, words[0].column};
    if (status != std::errc() || bytes < 0 || bytes > kMaxLogBytes)
      return problems_.add({ProblemCode::kTooLarge, "size"}, where,
                           "size: {} exceeds the longest possible message", size);
    if (words.size() <= time_)
      return problems_.add(
          {ProblemCode::kMissing, "latency"}, where,
          "the row ends before its latency; if the log is truncated, use a complete "
          "one");
    NcclTestsRow row;
    row.where = where;
    const auto us =
        read_number(decimal_text(words[time_].text), {file_, line_, words[time_].column}, "latency",
                    0, kMaxLogUs, problems_);
    if (!us) return;
    // A column of the validation has Pass or Fail.
    const bool failed = words.back().text == "Fail";
    row.out_of_place = NcclTestsTiming{*us, 0, 0, failed ? 1 : 0};
    row.bytes = bytes;
    if (!set_elements(row)) return;
    if (collective_->reduces) row.redop = "sum";
    add_row(tables_.back(), std::move(row), problems_);
  }

  /// Sets the type and the number of elements. Returns false for a size that no type of Tutti has.
  bool set_elements(NcclTestsRow& row) {
    if (collective_->reduces && type_ == "int8") tables_.back().has_chars = true;
    row.type = type_;
    // If nothing is reduced, only the number of bytes matters. Tutti has no type of one byte, so
    // reductions of characters, the default from 7.1 on, are read as reductions of floats with the
    // same number of bytes. Older releases reduce floats.
    if (!collective_->reduces || type_.empty() || !data_type_of_nccl_name(type_))
      row.type = row.bytes % 4 == 0 ? "float" : row.bytes % 2 == 0 ? "half" : "";
    const auto type = data_type_of_nccl_name(row.type);
    const std::int64_t item = type ? size_of(*type).count() : 1;
    row.elements = row.bytes / item;
    return !row.type.empty() && row.bytes % item == 0;
  }

  const std::string& file_;
  Problems& problems_;
  int line_ = 0;
  const OsuCollective* collective_ = nullptr;  ///< the collective of the current table; null: none
  std::size_t time_ = 1;                       ///< column of the time
  std::string type_;                           ///< stated type; empty: the output states none
  std::string other_;                          ///< title of the last test that is not used
  int other_line_ = 0;
  std::vector<NcclTestsTable> tables_;
};

}  // namespace

bool is_osu(std::string_view text) {
  const std::size_t title = text.find("# OSU ");
  return title != std::string_view::npos && text.find("Test", title) != std::string_view::npos;
}

std::vector<NcclTestsTable> parse_osu(std::string_view text, const std::string& file,
                                      Problems& problems) {
  return OsuReader(file, problems).read(text);
}

NcclTestsTable with_ranks(NcclTestsTable table, std::int64_t ranks) {
  using SizesOf = NcclTestsTable::Sizes;
  if (table.sizes == SizesOf::kKnown || ranks < 1) return table;
  const bool is_block = table.sizes == SizesOf::kBlock;
  std::erase_if(table.rows, [&](NcclTestsRow& row) {
    // A block that is not whole, or a size beyond the limit of logs, cannot be predicted.
    if (is_block ? row.bytes > kMaxLogBytes / ranks : row.elements % ranks != 0) return true;
    (is_block ? row.bytes : row.elements) = is_block ? row.bytes * ranks : row.elements / ranks;
    return row.bytes == 0 || row.elements == 0;
  });
  table.sizes = SizesOf::kKnown;
  return table;
}

}  // namespace tutti::core
