#include "core/formats/operation_log.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/number.h"
#include "core/formats/line_stream.h"

namespace tutti::core {
namespace {

constexpr std::array<std::string_view, 8> kColumns{"dp_rank", "stage",    "rank",     "step",
                                                   "optype",  "start_ts", "duration", "seq_id"};
enum Column { kDpRank, kStage, kRank, kStep, kName, kStart, kDuration, kSequence };

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.ends_with('\r')) line.remove_suffix(1);
  // Cells may have quotation marks, but neither commas nor further marks between them.
  const auto without_quotes = [](std::string_view cell) {
    return cell.size() > 1 && cell.front() == '"' && cell.back() == '"'
               ? cell.substr(1, cell.size() - 2)
               : cell;
  };
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(without_quotes(line.substr(0, comma)));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

/// Converts seconds to nanoseconds. Times of more than 100 years are invalid.
std::optional<std::int64_t> nanoseconds_of(std::string_view seconds) {
  double value = 0;
  const auto [end, status] =
      std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
  if (status != std::errc() || end != seconds.data() + seconds.size()) return std::nullopt;
  constexpr double kMost = 3e9;
  if (!(std::abs(value) < kMost)) return std::nullopt;
  return std::llround(value * 1e9);
}

class OperationLog {
 public:
  OperationLog(ByteInput& input, const std::string& name) : lines_(input, name) {}

  Expected<void> read(const std::function<void(const LoggedOperation&)>& take,
                      RecordCounts& counts) {
    const auto header = lines_.next();
    if (!header) return end();
    const std::vector<std::string_view> columns = cells_of(*header);
    width_ = columns.size();
    for (std::size_t c = 0; c < kColumns.size(); ++c) {
      std::size_t at = 0;
      while (at < columns.size() && columns[at] != kColumns[c]) ++at;
      if (at == columns.size())
        return error({ProblemCode::kMissing, std::string(kColumns[c])},
                     fmt::format("the column {} is missing; a log of operations has {}",
                                 kColumns[c], fmt::join(kColumns, ", ")));
      place_[c] = at;
    }
    LoggedOperation operation;
    while (const auto line = lines_.next()) {
      if (line->empty() || *line == "\r") continue;
      if (auto read = read_line(*line, operation); !read) return read;
      counts.use(operation.name);
      take(operation);
    }
    return end();
  }

 private:
  Expected<void> end() {
    if (lines_.error()) return tl::make_unexpected(*lines_.error());
    return {};
  }
  [[nodiscard]] tl::unexpected<Error> error(ProblemKind kind, const std::string& text) const {
    return tl::make_unexpected(Error::request(kind, text, {lines_.name(), lines_.number(), 0}));
  }

  Expected<void> read_line(std::string_view line, LoggedOperation& to) {
    const std::vector<std::string_view> cells = cells_of(line);
    if (cells.size() != width_)
      return error(
          {ProblemCode::kSyntax},
          fmt::format("this row has {} cells, but the header has {}", cells.size(), width_));
    const auto cell = [&](Column c) { return cells[place_[c]]; };
    constexpr std::int64_t kMost = 1 << 24;
    for (const auto& [column, number] :
         {std::pair(kDpRank, &to.dp_rank), std::pair(kStage, &to.stage), std::pair(kRank, &to.rank),
          std::pair(kStep, &to.step), std::pair(kSequence, &to.sequence)}) {
      const auto read = whole_number<std::int64_t>(cell(column));
      const std::int64_t limit = column == kStep ? std::int64_t{1} << 50 : kMost;
      if (!read || *read < 0 || *read >= limit)
        return error({ProblemCode::kInvalid, std::string(kColumns[column])},
                     fmt::format("{} is \"{}\"; expected a whole number from 0 to {}",
                                 kColumns[column], cell(column).substr(0, 40), limit - 1));
      *number = *read;
    }
    const auto start = nanoseconds_of(cell(kStart)), duration = nanoseconds_of(cell(kDuration));
    if (!start || !duration || *duration < 0)
      return error(
          {ProblemCode::kInvalid, std::string(kColumns[start ? kDuration : kStart])},
          fmt::format("{} is \"{}\"; expected seconds", kColumns[start ? kDuration : kStart],
                      cell(start ? kDuration : kStart).substr(0, 40)));
    to.start_ns = *start;
    to.end_ns = *start + *duration;
    to.name = std::string(cell(kName).substr(0, 80));
    return {};
  }

  LineStream lines_;
  std::array<std::size_t, kColumns.size()> place_{};
  std::size_t width_ = 0;
};

}  // namespace

bool is_operation_log(std::string_view first_bytes) {
  bool start = false, duration = false, type = false;
  for (const std::string_view cell : cells_of(first_bytes.substr(0, first_bytes.find('\n')))) {
    start = start || cell == kColumns[kStart];
    duration = duration || cell == kColumns[kDuration];
    type = type || cell == kColumns[kName];
  }
  return start && duration && type;
}

Expected<void> read_operation_log(ByteInput& input, const std::string& name,
                                  const std::function<void(const LoggedOperation&)>& take,
                                  RecordCounts& counts) {
  return OperationLog(input, name).read(take, counts);
}

}  // namespace tutti::core
