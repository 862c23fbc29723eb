// Reads the text output of nccl-tests. The columns have changed over the years: redop, root or the
// second half of the table may be missing, "#wrong" was called "error", and some versions print a
// CPU time or per-run statistics. Therefore columns are identified by their titles and not by their
// positions.

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/base/number.h"
#include "core/measured/nccl_tests_reader.h"

namespace tutti::core {
namespace {

using Word = LogWord;

/// The positions of the columns of one half of a table in a row.
struct Half {
  bool in_place = false;
  std::size_t time = 0;
  std::optional<std::size_t> algbw, busbw, wrong;
  std::optional<std::size_t> checked;  ///< the column that has N/A if results were not checked
};

struct Columns {
  std::size_t size = 0, count = 0, type = 0;
  std::optional<std::size_t> redop;
  std::optional<std::size_t> root;
  std::vector<Half> halves;
};

/// Returns the title of a column without its unit: some tools write "size(B)" and "algbw(GB/s)".
std::string_view without_unit(std::string_view title) { return title.substr(0, title.find('(')); }

/// Returns the columns that a line of titles announces; nullopt if the words are not titles.
std::optional<Columns> read_titles(const std::vector<Word>& words,
                                   const std::vector<bool>& halves_in_place) {
  Columns columns;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view title = without_unit(words[i].text);
    seen.insert(title);
    if (title == "size") columns.size = i;
    if (title == "count") columns.count = i;
    if (title == "type") columns.type = i;
    if (title == "redop") columns.redop = i;
    if (title == "root") columns.root = i;
    if (title == "time" || title == "cputime") {
      const std::size_t half = columns.halves.size();
      if (half >= 2) return std::nullopt;
      Half& added = columns.halves.emplace_back();
      added.in_place = half < halves_in_place.size() ? halves_in_place[half] : half == 1;
      added.time = i;
    }
    if (columns.halves.empty()) continue;
    Half& half = columns.halves.back();
    if (title == "algbw") half.algbw = i;
    if (title == "busbw") half.busbw = i;
    if (title == "#wrong" || title == "error") half.checked = i;
    if (title == "#wrong") half.wrong = i;
  }
  if (!seen.contains("size") || !seen.contains("count") || !seen.contains("type") ||
      columns.halves.empty())
    return std::nullopt;
  return columns;
}

/// True if a program or a thread wrote a message into the middle of a row.
bool has_message(const std::vector<Word>& words) {
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i].text != "NCCL") continue;
    const std::string_view level = words[i + 1].text;
    if (level == "INFO" || level == "WARN" || level == "TRACE") return true;
  }
  return false;
}

/// True if the words are a line of nccl-tests' header that has lost its "#", as in text that was
/// copied from a rendered Markdown page.
bool is_bare_remark(const std::vector<Word>& words) {
  const std::string_view first = words[0].text;
  if (first == "nThread" || first == "out-of-place" || first == "in-place") return true;
  if (first == "Rank") return words.size() > 4 && all_digits(words[1].text);
  return without_unit(first) == "size" && words.size() > 2 &&
         without_unit(words[1].text) == "count";
}

class TextReader {
 public:
  TextReader(std::string_view text, const std::string& file, Problems& problems)
      : text_(text), file_(file), problems_(&problems) {}

  std::vector<NcclTestsTable> read() {
    for (std::size_t at = 0; at < text_.size() && !problems_->full();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      if (end == text_.size())
        read_last_line(log_words(text_.substr(at)));
      else
        read_line(log_words(text_.substr(at, end - at)));
      at = end + 1;
    }
    return std::move(tables_);
  }

 private:
  [[nodiscard]] Location at(const Word& word) const { return {file_, line_, word.column}; }

  /// Reads a line that does not end with a line break. If the job was killed, this line may be a
  /// part of a row, which is then omitted, unless it is the only row of its table.
  void read_last_line(const std::vector<Word>& words) {
    if (!columns_ || tables_.back().rows.empty()) return read_line(words);
    Problems mistakes;
    Problems* const all = std::exchange(problems_, &mistakes);
    read_line(words);
    problems_ = all;
    if (!mistakes.empty()) add_damaged(words[0]);
  }

  void add_damaged(const Word& word) {
    NcclTestsTable& table = tables_.back();
    if (table.damaged_rows++ == 0) table.first_damaged = at(word);
  }

  void read_line(std::vector<Word> words) {
    if (words.empty()) return;
    if (words.front().text.starts_with('#')) {
      cut_front(words, 1);
      if (!words.empty()) read_remark(words);
      return;
    }
    if (is_bare_remark(words)) return read_remark(words);
    if (columns_) read_row(words);
    read_message(words);
  }

  /// Reads a message from NCCL itself: "host:1:1 [0] NCCL INFO NCCL_ALGO set by environment to
  /// Ring", "NCCL version 2.18.3+cuda12.2".
  ///
  /// Also reads the command that started the program, which launchers and shells print before the
  /// output of the program: "$ mpirun -np 16 ./build/all_gather_perf -b 8".
  void read_message(const std::vector<Word>& words) {
    for (const Word& word : words) {
      if (word.text.find("_perf") == std::string_view::npos) continue;
      const std::string program = collective_of_program(word.text);
      if (parse_collective(program)) collective_ = program;
    }
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
      if (words[i].text == "NCCL" && words[i + 1].text == "version") set_version(words[i + 2].text);
      if (words[i].text.starts_with("NCCL_") && i + 5 < words.size() &&
          words[i + 1].text == "set" && words[i + 3].text == "environment" &&
          words[i + 4].text == "to") {
        std::string_view value = words[i + 5].text;
        if (value.ends_with('.')) value.remove_suffix(1);
        add_variable(run_, words[i].text, value);
        update_table();
      }
    }
  }

  void set_version(std::string_view version) {
    run_.nccl_version = version;
    update_table();
  }

  /// Copies the properties of the run to the current table again. NCCL's startup messages, which
  /// contain such properties, may come after the titles of the table.
  void update_table() {
    if (columns_) tables_.back().run = run_;
  }

  void read_remark(const std::vector<Word>& words) {
    const std::string_view first = words[0].text;
    if (first == "nccl-tests") begin_head();
    if (first == "nThread") {
      if (run_.threads || head_used_) begin_head();
      begin_run();
      read_threads(words);
    }
    if (first == "Using") begin_run();
    if (first == "Rank" && words.size() > 1) {
      if (all_digits(words[1].text) && ranks_.insert(std::string(words[1].text)).second) {
        constexpr std::int64_t kMaxRanks = 1 << 24;
        const auto rank = whole_number<std::int64_t>(words[1].text);
        if (rank && *rank < kMaxRanks) last_rank_ = std::max(last_rank_, *rank);
        read_rank(words);
      }
    }
    for (const Word& word : words) {
      constexpr std::string_view kLibrary = "nccl-library=";
      if (word.text.starts_with(kLibrary)) set_version(word.text.substr(kLibrary.size()));
    }
    if (first == "Collective" && words.size() >= 4 && words[2].text == "starting:")
      collective_ = collective_of_program(words[3].text);
    if (words.size() > 1 && words[1].text == "by") read_perf_remark(words);
    std::vector<bool> halves;
    for (const Word& word : words) {
      if (word.text == "out-of-place") halves.push_back(false);
      if (word.text == "in-place") halves.push_back(true);
    }
    if (!halves.empty()) halves_in_place_ = halves;
    if (const auto columns = read_titles(words, halves_in_place_)) {
      columns_ = columns;
      second_half_ = false;
      rank_list_.put(run_, ranks().value_or(0));
      head_used_ = true;
      tables_.push_back({at(words[0]), collective_, ranks(), {}, run_});
      halves_in_place_.clear();
    }
  }

  /// Begins a new header. Forgets everything that belonged to the previous run.
  void begin_head() {
    begin_run();
    run_ = NcclTestsRun();
    head_used_ = false;
  }

  /// Forgets the columns and ranks of the previous run.
  void begin_run() {
    columns_.reset();
    ranks_.clear();
    last_rank_ = -1;
    rank_list_ = RankList();
    perf_ranks_.reset();
  }

  /// Reads the parameters of a run: "# nThread 1 nGpus 8 minBytes …"
  void read_threads(const std::vector<Word>& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i].text == "nThread") run_.threads = whole_number<std::int64_t>(words[i + 1].text);
      if (words[i].text == "nGpus")
        run_.gpus_of_thread = whole_number<std::int64_t>(words[i + 1].text);
    }
  }

  /// Reads the line of a rank:
  /// "#  Rank  0 Group  0 Pid 4242 on node0 device  0 [0x07] NVIDIA A100-SXM4-80GB"
  void read_rank(const std::vector<Word>& words) {
    std::string_view pid, host;
    std::string device;
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i].text == "Pid") pid = words[i + 1].text;
      if (words[i].text == "on" && host.empty()) host = words[i + 1].text;
      if (!words[i].text.ends_with(']')) continue;
      for (std::size_t w = i + 1; w < words.size(); ++w)
        device += (device.empty() ? "" : " ") + std::string(words[w].text);
      break;
    }
    rank_list_.add(host, pid, device);
  }

  /// Reads the first line of tutti perf:
  /// "# all-reduce by ring, 2 × cpu-host, 2 CPUs, run over tcp …".
  void read_perf_remark(const std::vector<Word>& words) {
    begin_run();
    collective_ = words[0].text;
    std::replace(collective_.begin(), collective_.end(), '-', '_');
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (!words[i].text.starts_with("CPU") && !words[i].text.starts_with("GPU")) continue;
      const std::string_view number = words[i - 1].text;
      std::int64_t ranks = 0;
      if (all_digits(number) &&
          std::from_chars(number.data(), number.data() + number.size(), ranks).ec == std::errc())
        perf_ranks_ = ranks;
    }
  }

  [[nodiscard]] std::optional<std::int64_t> ranks() const {
    if (ranks_.empty()) return perf_ranks_;
    // A log that was shortened may list only some of the ranks. A process has at least the GPUs of
    // its threads.
    constexpr std::int64_t kMaxGpus = 1 << 10;
    const std::int64_t threads = run_.threads.value_or(1), gpus = run_.gpus_of_thread.value_or(1);
    const bool valid = threads > 0 && threads < kMaxGpus && gpus > 0 && gpus < kMaxGpus;
    return std::max({std::ssize(ranks_), last_rank_ + 1, valid ? threads * gpus : 1});
  }

  /// Reads a row of results. A row begins with two whole numbers and the name of a type. Other
  /// lines between rows are ignored.
  void read_row(std::vector<Word> words) {
    const Columns& c = *columns_;
    // Old releases leave the column redop empty for collectives that do not reduce.
    if (c.redop && words.size() > *c.redop && is_number(words[*c.redop].text))
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(*c.redop),
                   {"", words[*c.redop].column});
    const std::size_t begins = std::max({c.size, c.count, c.type});
    if (words.size() <= begins || !all_digits(words[c.size].text) ||
        !all_digits(words[c.count].text) || !is_type(words[c.type].text)) {
      return;
    }
    if (has_message(words)) return add_damaged(words[c.size]);
    NcclTestsRow row;
    row.where = at(words[c.size]);
    const auto bytes = whole(words[c.size], "size");
    const auto elements = whole(words[c.count], "count");
    if (!bytes || !elements) return;
    row.bytes = *bytes;
    row.elements = *elements;
    row.type = words[c.type].text;
    if (c.redop && words.size() > *c.redop && words[*c.redop].text != "none")
      row.redop = words[*c.redop].text;
    if (c.root && words.size() > *c.root) set_root(row, words[*c.root].text);
    const std::size_t before = problems_->size();
    for (std::size_t h = 0; h < c.halves.size(); ++h) {
      const Half& half = c.halves[h];
      // In some tables, the titles announce a second half, but no row has it.
      if (h > 0 && half.time >= words.size() && !second_half_) break;
      second_half_ = second_half_ || h > 0;
      (half.in_place ? row.in_place : row.out_of_place) = timing(words, half);
    }
    if (problems_->size() == before) add_row(tables_.back(), std::move(row), *problems_);
  }

  static bool is_number(std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789.,") == std::string_view::npos;
  }

  static bool is_type(std::string_view word) {
    static constexpr std::array kOthers{"int8",   "uint8",  "char",   "int",
                                        "uint32", "uint64", "f8e4m3", "f8e5m2"};
    return data_type_of_nccl_name(word) ||
           std::find(kOthers.begin(), kOthers.end(), word) != kOthers.end();
  }

  std::optional<NcclTestsTiming> timing(const std::vector<Word>& words, const Half& half) {
    const std::size_t last = std::max({half.time, half.algbw.value_or(0), half.busbw.value_or(0)});
    if (last >= words.size()) {
      problems_->add({ProblemCode::kMissing, half.in_place ? "in-place time" : "out-of-place time"},
                     {file_, line_, words.back().column},
                     "the row ends before its {}; if the log is truncated, use a complete log",
                     half_name(half));
      return std::nullopt;
    }
    if (words[half.time].text == "N/A") return std::nullopt;
    NcclTestsTiming timing;
    const auto number = [&](std::optional<std::size_t> column, const char* what, double most) {
      if (!column || words[*column].text == "N/A") return 0.0;
      return read_number(decimal_text(words[*column].text), at(words[*column]), what, 0, most,
                         *problems_)
          .value_or(0);
    };
    timing.us = number(half.time, "time", kMaxLogUs);
    timing.algbw_gb_per_s = number(half.algbw, "algbw", kMaxLogGbPerS);
    timing.busbw_gb_per_s = number(half.busbw, "busbw", kMaxLogGbPerS);
    if (half.wrong && *half.wrong < words.size())
      timing.wrong = static_cast<std::int64_t>(number(half.wrong, "#wrong", 1e15));
    timing.is_checked =
        !half.checked || *half.checked >= words.size() || words[*half.checked].text != "N/A";
    return timing;
  }

  static const char* half_name(const Half& half) {
    return half.in_place ? "in-place time" : "out-of-place time";
  }

  std::optional<std::int64_t> whole(const Word& word, const char* what) {
    std::int64_t value = 0;
    const auto status =
        std::from_chars(word.text.data(), word.text.data() + word.text.size(), value).ec;
    if (status == std::errc() && value <= kMaxLogBytes) return value;
    problems_->add({ProblemCode::kTooLarge, what}, at(word), "{}: {} exceeds the limit of 2^50",
                   what, word.text);
    return std::nullopt;
  }

  std::string_view text_;
  const std::string& file_;
  Problems* problems_;
  int line_ = 0;
  std::set<std::string> ranks_;
  std::int64_t last_rank_ = -1;  ///< the highest rank that the log lists
  RankList rank_list_;
  NcclTestsRun run_;
  bool head_used_ = false;  ///< true if the current header already belongs to a table
  std::optional<std::int64_t> perf_ranks_;
  std::string collective_;
  std::vector<bool> halves_in_place_;
  std::optional<Columns> columns_;
  bool second_half_ = false;  ///< true if a row of this table had a second half
  std::vector<NcclTestsTable> tables_;
};

}  // namespace

std::vector<NcclTestsTable> parse_nccl_tests_text(std::string_view text, const std::string& file,
                                                  Problems& problems) {
  return TextReader(text, file, problems).read();
}

}  // namespace tutti::core
