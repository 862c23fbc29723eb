// Reads the text form of GOAL. It has one statement per line; a rank's statements are in braces.
// Comments (//, and /* */ over several lines) are removed before a line is read. Labels are local
// to a rank, so the table of labels contains only the labels of the current rank.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/goal_readers.h"

namespace tutti::core {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Splits a line into words with their columns. Braces and colons are separate words.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line) { next(); }

  [[nodiscard]] std::string_view word() const { return word_; }
  [[nodiscard]] int column() const { return static_cast<int>(at_ - word_.size()) + 1; }
  [[nodiscard]] bool ended() const { return word_.empty(); }
  void next() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    const std::size_t from = at_;
    const auto alone = [](char c) { return c == '{' || c == '}' || c == ':'; };
    if (at_ < line_.size() && alone(line_[at_])) {
      ++at_;
    } else {
      while (at_ < line_.size() && !is_blank(line_[at_]) && !alone(line_[at_])) ++at_;
    }
    word_ = line_.substr(from, at_ - from);
  }

 private:
  std::string_view line_, word_;
  std::size_t at_ = 0;
};

std::optional<std::int64_t> whole(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

class TextReader {
 public:
  TextReader(LineStream& lines, const std::function<void(std::int64_t)>& begin,
             const std::function<Expected<void>(GoalRank&&)>& take)
      : lines_(lines), begin_(begin), take_(take) {}

  Expected<void> read() {
    while (const auto line = lines_.next()) {
      Words words(without_comments(*line));
      for (bool again = true; again && !words.ended();) {
        auto more = statement(words);
        if (!more) return tl::make_unexpected(more.error());
        again = *more;
      }
    }
    if (lines_.error()) return tl::make_unexpected(*lines_.error());
    if (ranks_ < 0)
      return lines_.fail({ProblemCode::kMissing, "GOAL"}, 0,
                         "num_ranks is missing; is this a GOAL file?");
    if (in_rank_)
      return lines_.fail({ProblemCode::kSyntax, "GOAL"}, 0,
                         "the file ends within rank {}: its closing }} is missing", rank_.rank);
    if (in_comment_)
      return lines_.fail({ProblemCode::kSyntax, "GOAL"}, 0, "the file ends within a comment");
    const auto missing = std::find(seen_.begin(), seen_.end(), false);
    if (missing != seen_.end())
      return lines_.fail({ProblemCode::kMissing, "GOAL"}, 0, "rank {} of {} is missing",
                         missing - seen_.begin(), ranks_);
    return {};
  }

 private:
  tl::unexpected<Error> expected(const Words& words, std::string_view what) const {
    if (words.ended())
      return lines_.fail({ProblemCode::kSyntax, "GOAL"}, words.column(),
                         "unexpected end of the line; expected {}", what);
    return lines_.fail({ProblemCode::kSyntax, "GOAL"}, words.column(), "\"{}\": expected {}",
                       words.word().substr(0, 40), what);
  }

  /// Returns the line with comments replaced by blanks, so that all other text keeps its column.
  std::string_view without_comments(std::string_view line) {
    text_.assign(line);
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const std::string_view two = std::string_view(text_).substr(i, 2);
      if (in_comment_) {
        in_comment_ = two != "*/";
        text_[i] = ' ';
        if (!in_comment_) text_[++i] = ' ';
      } else if (two == "//") {
        text_.resize(i);
      } else if (two == "/*") {
        in_comment_ = true;
        text_[i] = text_[i + 1] = ' ';
        ++i;
      }
    }
    return text_;
  }

  /// Reads a statement. Returns true if another statement may follow in the same line.
  Expected<bool> statement(Words& words) {
    if (words.word() == "num_ranks") return number_of_ranks(words);
    if (words.word() == "rank") return open_rank(words);
    if (words.word() == "}") return close_rank(words);
    if (!in_rank_) return expected(words, ranks_ < 0 ? "num_ranks" : "\"rank\" and its number");
    auto read = in_rank(words);
    if (!read) return tl::make_unexpected(read.error());
    return words.word() == "}" ? Expected<bool>(true) : ended(words);
  }

  Expected<bool> ended(const Words& words) const {
    if (!words.ended()) return expected(words, "the end of the line");
    return false;
  }

  Expected<bool> number_of_ranks(Words& words) {
    if (ranks_ >= 0)
      return lines_.fail({ProblemCode::kDuplicate, "GOAL"}, words.column(),
                         "num_ranks is given twice");
    words.next();
    const auto ranks = whole(words.word());
    if (!ranks || *ranks < 1 || *ranks > kMaxGoalRanks)
      return expected(words, fmt::format("the number of ranks, 1 to {}", kMaxGoalRanks));
    ranks_ = *ranks;
    seen_.assign(static_cast<std::size_t>(ranks_), false);
    begin_(ranks_);
    words.next();
    return true;
  }

  Expected<bool> open_rank(Words& words) {
    if (in_rank_)
      return lines_.fail({ProblemCode::kSyntax, "GOAL"}, words.column(),
                         "the closing }} of rank {} is missing before this line", rank_.rank);
    if (ranks_ < 0) return expected(words, "num_ranks");
    words.next();
    const auto rank = whole(words.word());
    if (!rank || *rank < 0 || *rank >= ranks_)
      return expected(words, fmt::format("a rank, 0 to {}", ranks_ - 1));
    if (seen_[*rank])
      return lines_.fail({ProblemCode::kDuplicate, "GOAL"}, words.column(),
                         "rank {} is listed twice", *rank);
    words.next();
    if (words.word() != "{") return expected(words, "\"{\"");
    seen_[*rank] = in_rank_ = true;
    rank_ = {};
    rank_.rank = *rank;
    labels_.clear();
    later_.clear();
    words.next();
    return true;
  }

  Expected<bool> close_rank(Words& words) {
    if (!in_rank_) return expected(words, "\"rank\" and its number");
    for (const Later& one : later_) {
      const auto found = labels_.find(one.label);
      if (found == labels_.end())
        return tl::make_unexpected(
            Error::request({ProblemCode::kUnknownName, "GOAL"},
                           fmt::format("rank {} has no operation \"{}\"", rank_.rank, one.label),
                           {lines_.name(), one.line, one.column}));
      GoalDependency& dependency = rank_.dependencies[one.dependency];
      (one.is_operation ? dependency.operation : dependency.on) = found->second;
    }
    in_rank_ = false;
    if (auto taken = take_(std::move(rank_)); !taken) return tl::make_unexpected(taken.error());
    words.next();
    return true;
  }

  Expected<void> in_rank(Words& words) {
    if (is_operation(words.word())) return operation(words);
    const std::string label(words.word());
    const int column = words.column();
    if (!is_label(label)) return expected(words, "send, recv, calc, a label, or \"}\"");
    words.next();
    if (words.word() == "requires" || words.word() == "irequires")
      return dependency(words, label, column);
    if (words.word() != ":") return expected(words, "\":\", requires or irequires");
    if (!labels_.try_emplace(label, static_cast<std::int32_t>(rank_.operations.size())).second)
      return lines_.fail({ProblemCode::kDuplicate, "GOAL"}, column,
                         "the label \"{}\" is given to two operations of rank {}", label,
                         rank_.rank);
    words.next();
    if (!is_operation(words.word())) return expected(words, "send, recv or calc");
    return operation(words);
  }

  static bool is_operation(std::string_view word) {
    return word == "send" || word == "recv" || word == "calc";
  }
  static bool is_label(std::string_view word) {
    const auto letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
    return !word.empty() && letter(word.front()) &&
           std::all_of(word.begin(), word.end(),
                       [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
  }

  Expected<void> dependency(Words& words, const std::string& label, int column) {
    GoalDependency dependency;
    dependency.at_start = words.word() == "irequires";
    words.next();
    const std::string on(words.word());
    if (!is_label(on)) return expected(words, "a label");
    const std::size_t index = rank_.dependencies.size();
    resolve(label, index, true, column, dependency.operation);
    resolve(on, index, false, words.column(), dependency.on);
    rank_.dependencies.push_back(dependency);
    words.next();
    return {};
  }

  /// Sets one end of a dependency to the operation with this label. If the label is not defined
  /// yet, remembers the use of the label.
  void resolve(const std::string& label, std::size_t dependency, bool is_operation, int column,
               std::int32_t& to) {
    const auto found = labels_.find(label);
    if (found != labels_.end()) {
      to = found->second;
    } else {
      later_.push_back({label, dependency, is_operation, lines_.number(), column});
    }
  }

  Expected<void> operation(Words& words) {
    if (rank_.operations.size() >= kMaxGoalOperations)
      return lines_.fail({ProblemCode::kTooLarge, "GOAL"}, 0, "rank {} has more than {} operations",
                         rank_.rank, kMaxGoalOperations);
    GoalOperation one;
    one.line = lines_.number();
    const bool sends = words.word() == "send";
    const bool computes = words.word() == "calc";
    one.kind = computes ? GoalOperation::Kind::kCompute
               : sends  ? GoalOperation::Kind::kSend
                        : GoalOperation::Kind::kReceive;
    words.next();
    std::string_view size = words.word();
    if (!computes && size.ends_with('b')) {
      size.remove_suffix(1);
    } else if (!computes) {
      return expected(words, "a size, such as 1024b");
    }
    const auto value = whole(size);
    if (!value || *value < 0 || *value > kMaxGoalSize)
      return expected(words, computes ? "nanoseconds" : "a size, such as 1024b");
    one.size = *value;
    words.next();
    if (!computes) {
      if (words.word() != (sends ? "to" : "from")) return expected(words, sends ? "to" : "from");
      words.next();
      const auto peer = whole(words.word());
      const bool any = !sends && peer == GoalOperation::kAny;
      if (!any && (!peer || *peer < 0 || *peer >= ranks_))
        return expected(
            words, fmt::format("a rank, 0 to {}{}", ranks_ - 1, sends ? "" : ", or -1 for any"));
      if (*peer == rank_.rank)
        return lines_.fail({ProblemCode::kConflict, "GOAL"}, words.column(), "rank {} {} itself",
                           rank_.rank, sends ? "sends to" : "receives from");
      one.peer = *peer;
      words.next();
    }
    if (auto read = attributes(words, computes, sends, one); !read) return read;
    rank_.operations.push_back(one);
    return {};
  }

  /// Reads the attributes tag, cpu and nic, in any order.
  Expected<void> attributes(Words& words, bool computes, bool sends, GoalOperation& one) {
    while (!words.ended() && words.word() != "}") {
      const std::string_view name = words.word();
      const bool tag = name == "tag" && !computes;
      if (!tag && name != "cpu" && !(name == "nic" && !computes))
        return expected(words, computes ? "cpu or the end of the line"
                                        : "tag, cpu, nic or the end of the line");
      words.next();
      const auto value = whole(words.word());
      const std::int64_t most = tag ? kAnyInGoalBinary - 1 : 255;
      const std::int64_t least = tag && !sends ? GoalOperation::kAny : 0;
      if (!value || *value < least || *value > most)
        return expected(words, fmt::format("a number, {} to {}", least, most));
      if (tag) {
        one.tag = *value;
      } else {
        (name == "cpu" ? one.cpu : one.nic) = static_cast<std::uint8_t>(*value);
      }
      words.next();
    }
    return {};
  }

  /// A use of a label before the label's definition.
  struct Later {
    std::string label;
    std::size_t dependency = 0;
    bool is_operation = false;
    int line = 0, column = 0;
  };

  LineStream& lines_;
  const std::function<void(std::int64_t)>& begin_;
  const std::function<Expected<void>(GoalRank&&)>& take_;
  std::string text_;
  bool in_comment_ = false, in_rank_ = false;
  std::int64_t ranks_ = -1;
  std::vector<bool> seen_;
  GoalRank rank_;
  std::unordered_map<std::string, std::int32_t> labels_;
  std::vector<Later> later_;
};

}  // namespace

Expected<void> read_goal_text(LineStream& lines, const std::function<void(std::int64_t)>& begin,
                              const std::function<Expected<void>(GoalRank&&)>& take) {
  return TextReader(lines, begin, take).read();
}

}  // namespace tutti::core
