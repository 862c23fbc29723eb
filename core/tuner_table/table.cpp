// Tutti's plugin and NVIDIA's example plugin read the same format, but interpret some lines
// differently: if the number of channels is -1, NCCL chooses it with Tutti's plugin, but NVIDIA's
// plugin uses one channel. A header in the first line marks a table for Tutti's plugin. A header
// that is misspelled or in another line is an error. If it were taken as a comment, the table would
// be read as one for NVIDIA's plugin, without a message.
//
// The reader stops at the first mistake and reports its line, its column and a hint. The code uses
// only the standard library, even for messages, because the plugin is loaded into other programs.
// If several rows match a call, the caller chooses one of them, because the choice depends on the
// algorithms that NCCL offers.

#include "core/tuner_table/table.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace tutti::core::tuner_table {
namespace {

constexpr std::size_t kCells = 8;      // cells of a line without the optional ones
constexpr std::size_t kMaxCells = 11;  // cells of a line with pipe_ops, registered and chunk_bytes
// Maximum length of a line that NVIDIA's example does not split.
constexpr std::size_t kLongest = 254;
constexpr std::size_t kMaxRows = 1'000'000;
constexpr std::size_t kMaxShownLetters =
    40;  // maximum number of characters of a cell that a message shows

constexpr std::array<std::string_view, kMaxCells> kColumns = {
    "collective", "min_bytes", "max_bytes", "algorithm",  "protocol",   "channels",
    "nodes",      "ranks",     "pipe_ops",  "registered", "chunk_bytes"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The text of a cell, without the blanks around it, and the column at which the text begins.
struct Cell {
  std::string_view text;
  int column = 1;
};

Cell trimmed(std::string_view line, std::size_t from, std::size_t to) {
  while (from < to && is_blank(line[from])) ++from;
  while (to > from && is_blank(line[to - 1])) --to;
  return {line.substr(from, to - from), static_cast<int>(from) + 1};
}

std::vector<Cell> cells_of(std::string_view line) {
  std::vector<Cell> cells;
  std::size_t from = 0;
  for (;;) {
    const std::size_t to = std::min(line.find(',', from), line.size());
    cells.push_back(trimmed(line, from, to));
    if (to == line.size() || cells.size() > kMaxCells) return cells;
    from = to + 1;
  }
}

/// Returns the text in quotes, shortened and printable.
std::string shown(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, kMaxShownLetters)) result += c >= ' ' && c < '\x7f' ? c : '?';
  return result + (text.size() > kMaxShownLetters ? "…\"" : "\"");
}

std::string list(const auto& names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

class RowReader {
 public:
  RowReader(std::vector<Cell> cells, int line, Reader reader)
      : cells_(std::move(cells)), line_(line), reader_(reader) {}

  tl::expected<Row, Refusal> read() {
    row_.line = line_;
    name(0, kCollectives, row_.collective);
    number(1, row_.min_bytes);
    number(2, row_.max_bytes);
    name(3, kAlgorithms, row_.algorithm);
    name(4, kProtocols, row_.protocol);
    limited(5, row_.channels, kAny, kMaxChannels);
    limited(6, row_.nodes, kAny, std::numeric_limits<int>::max());
    limited(7, row_.ranks, kAny, std::numeric_limits<int>::max());
    if (cells_.size() > 8) limited(8, row_.pipe_ops, kAny, std::numeric_limits<int>::max());
    if (cells_.size() > 9) limited(9, row_.registered, kAny, 1);
    if (cells_.size() > 10) chunk();
    for (const auto& [cell, value] :
         {std::pair(6, row_.nodes), {7, row_.ranks}, {8, row_.pipe_ops}})
      if (value == 0)
        refuse(static_cast<std::size_t>(cell), "must be -1 (which matches any value) or at least 1",
               "");
    if (row_.min_bytes > row_.max_bytes)
      refuse(2, "is less than min_bytes, so the line matches no collective", "");
    // With -1, NVIDIA's plugin uses one channel, although its README says otherwise.
    if (row_.channels == kAny) row_.channels = reader_ == Reader::kTutti ? 0 : 1;
    if (refusal_) return tl::make_unexpected(std::move(*refusal_));
    return row_;
  }

 private:
  void refuse(std::size_t cell, const std::string& what, std::string hint) {
    if (refusal_) return;  // only the first problem is reported
    refusal_ = Refusal{line_, cells_[cell].column,
                       std::string(kColumns[cell]) + ": " + shown(cells_[cell].text) + ' ' + what,
                       std::move(hint)};
  }

  void name(std::size_t cell, const auto& names, int& to) {
    const auto found = std::find(names.begin(), names.end(), cells_[cell].text);
    if (found == names.end()) return refuse(cell, "is not known", "use one of " + list(names));
    to = static_cast<int>(found - names.begin());
  }

  template <class T>
  bool number(std::size_t cell, T& to) {
    const std::string_view text = cells_[cell].text;
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return to = value, true;
    const bool large = error == std::errc::result_out_of_range;
    refuse(cell, large ? "does not fit" : "is not a whole number", "");
    return false;
  }

  void limited(std::size_t cell, int& to, int least, int most) {
    int value = 0;
    if (!number(cell, value)) return;
    if (value < least || value > most)
      return refuse(cell, "must be from " + std::to_string(least) + " to " + std::to_string(most),
                    "");
    to = value;
  }

  /// Reads the cell chunk_bytes. A row with this cell must not restrict pipe_ops or registration,
  /// because NCCL does not pass these values when it asks the tuner for the size of chunks. The row
  /// must also state the number of channels, because NCCL asks with the number of bytes of one
  /// channel.
  void chunk() {
    int value = 0;
    limited(10, value, kAny, std::numeric_limits<int>::max());
    row_.chunk_bytes = value > 0 ? static_cast<std::uint64_t>(value) : 0;
    if (value <= 0 || refusal_) return;
    if (row_.pipe_ops != kAny || row_.registered != kAny)
      return refuse(10, "needs pipe_ops and registered to be -1",
                    "NCCL does not pass these values when it asks for the size of chunks");
    if (row_.channels < 1)
      refuse(10, "needs a number of channels",
             "NCCL passes the bytes of one channel when it asks for the size of chunks");
  }

  std::vector<Cell> cells_;
  int line_;
  Reader reader_;
  Row row_;
  std::optional<Refusal> refusal_;
};

/// Iterates over the lines of a text, without line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  std::optional<std::string_view> next() {
    if (text_.empty()) return std::nullopt;
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return line;
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  std::string_view text_;
  int number_ = 0;
};

std::string_view without_blanks_behind(std::string_view line) {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

/// Returns a comment as the words after its #, in lower case, with one space between them. Control
/// characters separate words, because write_table() writes them as spaces.
std::string comment_words(std::string_view line) {
  std::string words;
  for (const char c : line.substr(1)) {
    const bool separates = c >= 0 && c <= ' ';
    if (!separates) words += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (separates && !words.empty() && words.back() != ' ') words += ' ';
  }
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

/// True if the line differs from the header at most in case and blanks.
bool resembles_header(std::string_view line) {
  return line.starts_with('#') && comment_words(line) == kHeader.substr(2);
}

/// Returns an error if the first line names another version of the format.
std::optional<Refusal> refuse_header(std::string_view line) {
  constexpr std::string_view kOurs = "# tutti nccl-tuner table ";
  if (!line.starts_with(kOurs)) return std::nullopt;
  return Refusal{1, static_cast<int>(kOurs.size()) + 1,
                 "this is a table of format " + shown(line.substr(kOurs.size())) +
                     ", but this release of Tutti reads only format 1",
                 "use the release of Tutti (or of its plugin) that wrote the table"};
}

/// Returns the text as one line for a comment. Truncates it, because NVIDIA's example plugin splits
/// long lines.
std::string as_remark(std::string_view text) {
  std::string line(text.substr(0, kLongest - 54));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return line;
}

}  // namespace

tl::expected<Table, Refusal> read_table(std::string_view text) {
  Table table;
  table.reader = Reader::kNvidiaExample;
  const std::string columns = list(kColumns);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark))
    return tl::make_unexpected(Refusal{1, 1, "the file begins with a byte-order mark",
                                       "save the file as UTF-8 without a byte-order mark"});
  Lines lines(text);
  while (const auto line = lines.next()) {
    const bool first = lines.number() == 1;
    // The header is not in the first line, or not exact. Report an error, because the file would be
    // read as a table for NVIDIA's example plugin, which interprets -1 and missing lines
    // differently.
    if (resembles_header(*line) && (!first || without_blanks_behind(*line) != kHeader))
      return tl::make_unexpected(Refusal{
          lines.number(), 1, "the header of a Tutti table must be the first line, without changes",
          "make this the first line: " + std::string(kHeader)});
    if (first && without_blanks_behind(*line) == kHeader) {
      table.reader = Reader::kTutti;
      continue;
    }
    if (first) {
      if (auto refusal = refuse_header(*line)) return tl::make_unexpected(std::move(*refusal));
    }
    if (line->starts_with('#')) {
      const std::string_view remark = trimmed(*line, 1, line->size()).text;
      if (table.rows.empty() && remark != columns) table.remarks.emplace_back(remark);
      continue;
    }
    if (without_blanks_behind(*line).empty()) continue;
    const int number = lines.number();
    if (line->size() > kLongest)
      return tl::make_unexpected(Refusal{number, static_cast<int>(kLongest) + 1,
                                         "the line is longer than 254 characters", ""});
    std::vector<Cell> cells = cells_of(*line);
    if (cells.size() < kCells || cells.size() > kMaxCells)
      return tl::make_unexpected(Refusal{
          number, 1,
          cells.size() < kCells ? "expected 8 to 11 cells, found " + std::to_string(cells.size())
                                : "expected 8 to 11 cells, found more",
          "a line is " + list(kColumns) + ", where the last three are optional"});
    if (table.rows.size() == kMaxRows)
      return tl::make_unexpected(Refusal{number, 1, "more than 1000000 lines", ""});
    auto row = RowReader(std::move(cells), number, table.reader).read();
    if (!row) return tl::make_unexpected(std::move(row.error()));
    table.rows.push_back(*row);
  }
  if (table.rows.empty())
    return tl::make_unexpected(
        Refusal{0, 0, "the table has no lines",
                "create a table with tutti tune SCENARIO --emit nccl-tuner -o FILE"});
  return table;
}

std::string write_table(const Table& table) {
  std::string text;
  if (table.reader == Reader::kTutti) text += std::string(kHeader) + '\n';
  text += "# " + list(kColumns) + '\n';
  for (const std::string& remark : table.remarks) text += "# " + as_remark(remark) + '\n';
  for (const Row& row : table.rows) {
    const auto cell = [&text](const std::string& value) { text += ',' + value; };
    text += kCollectives[row.collective];
    cell(std::to_string(row.min_bytes));
    cell(std::to_string(row.max_bytes));
    cell(std::string(kAlgorithms[row.algorithm]));
    cell(std::string(kProtocols[row.protocol]));
    cell(std::to_string(row.channels));
    cell(std::to_string(row.nodes));
    cell(std::to_string(row.ranks));
    // Write the optional columns, which have a fixed order, only as far as they are needed.
    const int more = row.chunk_bytes > 0 ? 3 : row.registered != kAny ? 2 : row.pipe_ops != kAny;
    if (more > 0) cell(std::to_string(row.pipe_ops));
    if (more > 1) cell(std::to_string(row.registered));
    if (more > 2) cell(std::to_string(row.chunk_bytes));
    text += '\n';
  }
  return text;
}

bool is_for(const Row& row, std::uint64_t nodes, std::uint64_t ranks) {
  const auto fits = [](int requested, std::uint64_t is) {
    return requested == kAny || static_cast<std::uint64_t>(requested) == is;
  };
  return fits(row.nodes, nodes) && fits(row.ranks, ranks);
}

bool matches(const Row& row, const Call& call) {
  if (row.collective != call.collective) return false;
  if (call.bytes < row.min_bytes || call.bytes > row.max_bytes) return false;
  if (row.pipe_ops != kAny && row.pipe_ops != call.pipe_ops) return false;
  if (row.registered == kAny) return true;
  return call.registered && *call.registered == (row.registered == 1);
}

}  // namespace tutti::core::tuner_table
