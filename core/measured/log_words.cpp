// Splits a line of a log into words, and removes what is not part of the program's output: colors
// of terminals, and the prefixes of launchers and of tools that collect logs. A line may have
// several prefixes:
//   2025-03-04T12:00:00.123456789Z [1,0]<stdout>:# nThread 1 …   (kubectl --timestamps, mpirun)
//   (head, rank=0, pid=3808) [1,0]<stdout>:     1048576  …       (SkyPilot, mpirun)
//   gpu-0017: 0:     1048576  …                                  (pdsh, srun --label)
// Rows begin with a number and remarks with "#", so what remains of any other line is not a row.

#include <algorithm>
#include <array>

#include "core/measured/nccl_tests_reader.h"

namespace tutti::core {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the number of bytes of white space at the beginning of the text, where white space
/// includes the sequences that set a terminal's color, and UTF-8's no-break space.
std::size_t blanks_at(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  if (text.empty()) return 0;
  if (kBlanks.find(text.front()) != std::string_view::npos) return 1;
  if (text.starts_with("\xC2\xA0")) return 2;
  if (!text.starts_with("\x1b[")) return 0;
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (text[i] >= '@' && text[i] <= '~') return i + 1;
  }
  return text.size();
}

/// True if the text has the shape: '0' stands for any digit, other letters for themselves. The text
/// may continue after the shape.
bool has_shape(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == '0' ? !is_digit(text[i]) : text[i] != shape[i]) return false;
  }
  return true;
}

bool is_time(std::string_view word) {
  return has_shape(word, "00:00:00") &&
         word.find_first_not_of("0123456789:.,") == std::string_view::npos;
}

bool is_month(std::string_view word) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return std::find(kMonths.begin(), kMonths.end(), word) != kMonths.end();
}

class Prefixes {
 public:
  explicit Prefixes(std::vector<LogWord>& words) : words_(words) {}

  void remove() {
    constexpr int kMost = 6;
    for (int i = 0; i < kMost && words_.size() > 1; ++i) {
      if (!remove_one()) return;
    }
    // The text after the prefix of mpirun may be empty or have no space before it.
    remove_stream();
  }

 private:
  void drop(std::size_t words) {
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(words));
  }
  [[nodiscard]] std::string_view word(std::size_t i) const {
    return i < words_.size() ? words_[i].text : std::string_view();
  }

  bool remove_one() {
    if (remove_stream()) return true;
    const std::string_view first = word(0);
    if (first.front() == '#') return false;
    if (has_shape(first, "0000-00-00")) return drop(is_time(word(1)) ? 2 : 1), true;
    if (is_time(first) || first == ">") return drop(1), true;
    if (is_month(first) && all_digits(word(1)) && is_time(word(2))) return drop(3), true;
    if (word(1) == "|") return drop(2), true;
    if (first.front() == '(') return remove_group(')');
    if (first.front() == '[') return remove_group(']');
    if (first.size() > 1 && first.back() == ':') return drop(1), true;
    return false;
  }

  /// Removes everything before the end of "<stdout>:" or "<stderr>:".
  bool remove_stream() {
    constexpr std::size_t kMostWords = 6;
    for (std::size_t i = 0; i < std::min(kMostWords, words_.size()); ++i) {
      const std::string_view text = words_[i].text;
      if (text.front() == '#') return false;
      const std::size_t at = text.find("<std");
      if (at == std::string_view::npos) continue;
      const std::size_t end = text.find(">:", at);
      if (end == std::string_view::npos) continue;
      drop(i);
      cut_front(words_, end + 2);
      return true;
    }
    return false;
  }

  /// Removes a group of words in brackets, and a colon after it: "[rank0]:", "(head, rank=0)".
  bool remove_group(char close) {
    constexpr std::size_t kMostWords = 8;
    for (std::size_t i = 0; i < std::min(kMostWords, words_.size()); ++i) {
      const std::size_t at = words_[i].text.find(close);
      if (at == std::string_view::npos) continue;
      const bool colon = words_[i].text.substr(at + 1).starts_with(':');
      if (i + 1 == words_.size() && at + 1 + (colon ? 1 : 0) == words_[i].text.size())
        return false;  // a whole line in brackets is not a prefix
      drop(i);
      cut_front(words_, at + 1 + (colon ? 1 : 0));
      return true;
    }
    return false;
  }

  std::vector<LogWord>& words_;
};

}  // namespace

std::string decimal_text(std::string_view text) {
  std::string number(text);
  if (std::count(number.begin(), number.end(), ',') == 1 && number.find('.') == std::string::npos)
    std::replace(number.begin(), number.end(), ',', '.');
  return number;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

void cut_front(std::vector<LogWord>& words, std::size_t letters) {
  words.front().text.remove_prefix(letters);
  words.front().column += static_cast<int>(letters);
  if (words.front().text.empty()) words.erase(words.begin());
}

std::vector<LogWord> log_words(std::string_view line) {
  std::vector<LogWord> words;
  std::size_t at = 0;
  while (at < line.size()) {
    if (const std::size_t blanks = blanks_at(line.substr(at)); blanks > 0) {
      at += blanks;
      continue;
    }
    std::size_t end = at + 1;
    while (end < line.size() && blanks_at(line.substr(end)) == 0) ++end;
    words.push_back({line.substr(at, end - at), static_cast<int>(at) + 1});
    at = end;
  }
  if (!words.empty()) Prefixes(words).remove();
  return words;
}

}  // namespace tutti::core
