#include "core/measured/mpi_benchmark.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "core/base/number.h"

namespace tutti::core {
namespace {

using Sizes = NcclTestsTable::Sizes;

/// The collectives with their names in the titles of both suites.
constexpr std::array kMpiCollectives{
    MpiCollective{"Allreduce", "all_reduce", Sizes::kKnown, true},
    MpiCollective{"Reduce_scatter", "reduce_scatter", Sizes::kWhole, true},
    MpiCollective{"Reduce", "reduce", Sizes::kKnown, true},
    MpiCollective{"Allgather", "all_gather", Sizes::kBlock, false},
    MpiCollective{"All-to-All", "alltoall", Sizes::kBlock, false},
    MpiCollective{"Alltoall", "alltoall", Sizes::kBlock, false},
    MpiCollective{"Broadcast", "broadcast", Sizes::kKnown, false},
    MpiCollective{"Bcast", "broadcast", Sizes::kKnown, false},
    MpiCollective{"Gather", "gather", Sizes::kBlock, false},
    MpiCollective{"Scatter", "scatter", Sizes::kBlock, false},
};

}  // namespace

const MpiCollective* find_mpi_collective(std::string_view title) {
  const auto* const known =
      std::find_if(kMpiCollectives.begin(), kMpiCollectives.end(),
                   [&](const MpiCollective& one) { return one.title == title; });
  return known == kMpiCollectives.end() ? nullptr : known;
}

std::vector<NcclTestsTable> MpiBenchmarkReader::read(std::string_view text) {
  for (std::size_t at = 0; at < text.size() && !problems_.full();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++line_;
    const std::vector<LogWord> words = log_words(text.substr(at, end - at));
    if (!words.empty()) words[0].text.starts_with('#') ? read_remark(words) : read_row(words);
    at = end + 1;
  }
  std::erase_if(tables_, [](const NcclTestsTable& table) { return table.rows.empty(); });
  if (tables_.empty() && problems_.empty())
    problems_.add({ProblemCode::kUnsupported, "collective"}, {file_, other_line_, 1},
                  "{}; expected a table of a collective, such as that of {}",
                  other_.empty() ? fmt::format("this output of {} has no row", suite_)
                                 : "Tutti does not use " + other_,
                  example_);
  return std::move(tables_);
}

NcclTestsTable& MpiBenchmarkReader::begin_table(const LogWord& title) {
  NcclTestsTable& table = tables_.emplace_back();
  table.where = at(title);
  table.collective = collective_->name;
  table.sizes = collective_->sizes;
  return table;
}

void MpiBenchmarkReader::ignore_table(std::string what) {
  collective_ = nullptr;
  other_ = std::move(what);
  other_line_ = line_;
}

std::optional<std::int64_t> MpiBenchmarkReader::size_of_row(const LogWord& word) {
  std::int64_t bytes = 0;
  const std::string_view size = word.text;
  const auto [end, status] = std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (status == std::errc::invalid_argument || end != size.data() + size.size())
    return std::nullopt;
  if (status == std::errc() && bytes >= 0 && bytes <= kMaxLogBytes) return bytes;
  problems_.add({ProblemCode::kTooLarge, "size"}, at(word),
                "size: {} exceeds the limit of 2^50 bytes", size);
  return std::nullopt;
}

void MpiBenchmarkReader::add_time(const LogWord& size, std::int64_t bytes, const LogWord& time,
                                  bool is_wrong) {
  const auto us =
      read_number(decimal_text(time.text), at(time), "latency", 0, kMaxLogUs, problems_);
  if (!us) return;
  NcclTestsRow row;
  row.where = at(size);
  row.bytes = bytes;
  row.out_of_place = NcclTestsTiming{*us, 0, 0, is_wrong ? 1 : 0};
  if (collective_->reduces) row.redop = "sum";
  if (set_elements(row)) add_row(table(), std::move(row), problems_);
}

/// Sets the type and the number of elements. Returns false for a size that no type of Tutti has.
bool MpiBenchmarkReader::set_elements(NcclTestsRow& row) {
  if (collective_->reduces && type_ == "int8") table().has_chars = true;
  row.type = type_;
  // If nothing is reduced, only the number of bytes matters. Tutti has no type of one byte, so
  // reductions of characters, the default of OSU's tests from 7.1 on, are read as reductions of
  // floats with the same number of bytes. Older releases reduce floats.
  if (!collective_->reduces || type_.empty() || !data_type_of_nccl_name(type_))
    row.type = row.bytes % 4 == 0 ? "float" : row.bytes % 2 == 0 ? "half" : "";
  const auto type = data_type_of_nccl_name(row.type);
  const std::int64_t item = type ? size_of(*type).count() : 1;
  row.elements = row.bytes / item;
  return !row.type.empty() && row.bytes % item == 0;
}

std::string_view type_of_mpi_name(std::string_view name) {
  while (name.ends_with('.')) name.remove_suffix(1);
  if (name == "MPI_FLOAT") return "float";
  if (name == "MPI_INT") return "int32";
  if (name == "MPI_DOUBLE") return "double";
  return "int8";
}

NcclTestsTable with_ranks(NcclTestsTable table, std::int64_t ranks) {
  if (table.sizes == Sizes::kKnown || ranks < 1) return table;
  const bool is_block = table.sizes == Sizes::kBlock;
  std::erase_if(table.rows, [&](NcclTestsRow& row) {
    // A block that is not whole, or a size beyond the limit of logs, cannot be predicted.
    if (is_block ? row.bytes > kMaxLogBytes / ranks : row.elements % ranks != 0) return true;
    (is_block ? row.bytes : row.elements) = is_block ? row.bytes * ranks : row.elements / ranks;
    return row.bytes == 0 || row.elements == 0;
  });
  table.sizes = Sizes::kKnown;
  return table;
}

}  // namespace tutti::core
