// The text form has one statement per line; a rank's statements are in braces. Comments (//, and /*
// */ over several lines) are removed before a line is read. Labels are local to a rank, so the
// table of labels contains only the labels of the current rank. The binary form begins with a table
// of the offsets of all ranks. The operations of each rank follow. Each operation contains the
// indices of the operations that wait for it.

#include "core/formats/goal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <ostream>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/line_stream.h"

namespace tutti::core {
namespace {

constexpr std::uint64_t kMagic = 4223;
constexpr std::uint32_t kAnyInBinary = 0xFFFFFFFF;
constexpr std::int64_t kMaxRanks = std::int64_t{1} << 24;
constexpr std::size_t kMaxOperations = std::size_t{1} << 30;  ///< operations per rank
/// The limit on sizes and times. The sum of two such values fits into 64 bits, even in picoseconds.
constexpr std::int64_t kMaxSize = std::int64_t{1} << 52;
/// The size of the header, which precedes the table of ranks. The header has the magic number, the
/// number of ranks, and the largest CPU and port numbers.
constexpr std::size_t kHeaderBytes = 14;
/// Offsets of the binary form count from the end of the magic number.
constexpr std::uint64_t kOffsetsFrom = 8;
constexpr std::size_t kNodeBytes = 39;

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
      std::string_view text = *line;
      if (lines_.number() == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
      Words words(without_comments(text));
      for (bool again = true; again && !words.ended();) {
        auto more = statement(words);
        if (!more) return tl::make_unexpected(more.error());
        again = *more;
      }
    }
    if (lines_.error()) return tl::make_unexpected(*lines_.error());
    if (ranks_ < 0)
      return fail(ProblemCode::kMissing, 0, "num_ranks is missing; is this a GOAL file?");
    if (in_rank_)
      return fail(ProblemCode::kSyntax, 0,
                  "the file ends within rank {}: its closing }} is missing", rank_.rank);
    if (in_comment_) return fail(ProblemCode::kSyntax, 0, "the file ends within a comment");
    const auto missing = std::find(seen_.begin(), seen_.end(), false);
    if (missing != seen_.end())
      return fail(ProblemCode::kMissing, 0, "rank {} of {} is missing", missing - seen_.begin(),
                  ranks_);
    return {};
  }

 private:
  template <class... Args>
  tl::unexpected<Error> fail(ProblemCode code, int column, fmt::format_string<Args...> format,
                             Args&&... args) const {
    return tl::make_unexpected(Error::request({code, "GOAL"},
                                              fmt::format(format, std::forward<Args>(args)...),
                                              {lines_.name(), lines_.number(), column}));
  }
  tl::unexpected<Error> expected(const Words& words, std::string_view what) const {
    if (words.ended())
      return fail(ProblemCode::kSyntax, words.column(), "unexpected end of the line; expected {}",
                  what);
    return fail(ProblemCode::kSyntax, words.column(), "\"{}\": expected {}",
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
      return fail(ProblemCode::kDuplicate, words.column(), "num_ranks is given twice");
    words.next();
    const auto ranks = whole(words.word());
    if (!ranks || *ranks < 1 || *ranks > kMaxRanks)
      return expected(words, fmt::format("the number of ranks, 1 to {}", kMaxRanks));
    ranks_ = *ranks;
    seen_.assign(static_cast<std::size_t>(ranks_), false);
    begin_(ranks_);
    words.next();
    return true;
  }

  Expected<bool> open_rank(Words& words) {
    if (in_rank_)
      return fail(ProblemCode::kSyntax, words.column(),
                  "the closing }} of rank {} is missing before this line", rank_.rank);
    if (ranks_ < 0) return expected(words, "num_ranks");
    words.next();
    const auto rank = whole(words.word());
    if (!rank || *rank < 0 || *rank >= ranks_)
      return expected(words, fmt::format("a rank, 0 to {}", ranks_ - 1));
    if (seen_[*rank])
      return fail(ProblemCode::kDuplicate, words.column(), "rank {} is listed twice", *rank);
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
      return fail(ProblemCode::kDuplicate, column,
                  "the label \"{}\" is given to two operations of rank {}", label, rank_.rank);
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
    if (rank_.operations.size() >= kMaxOperations)
      return fail(ProblemCode::kTooLarge, 0, "rank {} has more than {} operations", rank_.rank,
                  kMaxOperations);
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
    if (!value || *value < 0 || *value > kMaxSize)
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
        return fail(ProblemCode::kConflict, words.column(), "rank {} {} itself", rank_.rank,
                    sends ? "sends to" : "receives from");
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
      const std::int64_t most = tag ? kAnyInBinary - 1 : 255;
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

// --- the binary form ---

template <class Number>
Number number_at(const char* from) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value |=
        static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(from[i])) << (8 * i));
  return value;
}

class BinaryReader {
 public:
  BinaryReader(ByteInput& input, const std::string& name,
               const std::function<Expected<void>(GoalRank&&)>& take)
      : input_(input), name_(name), take_(take) {}

  Expected<void> read(std::string start, const std::function<void(std::int64_t)>& begin) {
    ahead_ = std::move(start);
    std::string header;
    if (auto got = bytes(kHeaderBytes, header); !got) return got;
    ranks_ = number_at<std::uint32_t>(header.data() + 8);
    if (ranks_ < 1 || ranks_ > kMaxRanks)
      return fail("{} ranks: expected 1 to {}", ranks_, kMaxRanks);
    std::string table;
    if (auto got = bytes(static_cast<std::size_t>(ranks_) * 16, table); !got) return got;
    begin(ranks_);
    for (std::int64_t rank = 0; rank < ranks_; ++rank) {
      const auto* const place = table.data() + rank * 16;
      const auto from = number_at<std::uint64_t>(place), to = number_at<std::uint64_t>(place + 8);
      if (from > to || from + kOffsetsFrom < at_ || to > std::numeric_limits<std::int64_t>::max())
        return fail("rank {} is at bytes {} to {} of the file, but must follow the previous rank",
                    rank, from, to);
      if (auto got = skip(from + kOffsetsFrom - at_); !got) return got;
      std::string data;
      if (auto got = bytes(static_cast<std::size_t>(to - from), data); !got) return got;
      if (auto got = take_rank(rank, data); !got) return got;
    }
    return {};
  }

 private:
  template <class... Args>
  tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) const {
    return tl::make_unexpected(Error::request(
        {ProblemCode::kInvalid, "GOAL"},
        fmt::format("{} (at byte {})", fmt::format(format, std::forward<Args>(args)...), at_),
        {name_, 0, 0}));
  }

  /// Reads `count` bytes. Memory is allocated step by step as bytes are read, because `count` comes
  /// from the file and may be wrong.
  Expected<void> bytes(std::size_t count, std::string& to) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    while (to.size() < count) {
      const std::size_t most = std::min(kPiece, count - to.size());
      if (!ahead_.empty()) {
        const std::size_t some = std::min(most, ahead_.size());
        to.append(ahead_, 0, some);
        ahead_.erase(0, some);
        continue;
      }
      const std::size_t had = to.size();
      to.resize(had + most);
      const auto got = input_.read(to.data() + had, most);
      if (!got) return tl::make_unexpected(got.error());
      to.resize(had + *got);
      if (*got == 0) {
        at_ += to.size();
        return fail("the file ends early");
      }
    }
    at_ += count;
    return {};
  }
  Expected<void> skip(std::uint64_t count) {
    while (count > 0) {
      std::string some;
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(count, 1U << 20));
      if (auto got = bytes(piece, some); !got) return got;
      count -= piece;
    }
    return {};
  }

  Expected<void> take_rank(std::int64_t rank, const std::string& data) {
    if (data.size() < 8) return fail("rank {} has {} bytes", rank, data.size());
    const std::uint64_t nodes = number_at<std::uint32_t>(data.data());
    const std::uint64_t roots = number_at<std::uint32_t>(data.data() + 4);
    const std::uint64_t first = 8 + 4 * roots, appendix = first + kNodeBytes * nodes;
    if (roots > nodes || nodes > kMaxOperations || appendix > data.size())
      return fail("rank {} has {} bytes, which is too few for its {} operations", rank, data.size(),
                  nodes);
    GoalRank one;
    one.rank = rank;
    one.operations.resize(nodes);
    std::vector<std::uint32_t> dependencies(nodes, 0);
    for (std::uint64_t n = 0; n < nodes; ++n) {
      const char* const node = data.data() + first + kNodeBytes * n;
      if (auto got = take_operation(rank, n, node, one.operations[n]); !got) return got;
      for (const bool at_start : {false, true}) {
        const std::uint64_t count = number_at<std::uint32_t>(node + (at_start ? 31 : 23));
        const std::uint64_t index = number_at<std::uint32_t>(node + (at_start ? 35 : 27));
        if (count > 0 && appendix + 4 * (index + count) > data.size())
          return fail(
              "operation {} of rank {}: the list of successors extends past the data of the rank",
              n, rank);
        for (std::uint64_t i = 0; i < count; ++i) {
          const auto after = number_at<std::uint32_t>(data.data() + appendix + 4 * (index + i));
          if (after >= nodes)
            return fail("operation {} of rank {}: the successor {} does not exist", n, rank, after);
          ++dependencies[after];
          one.dependencies.push_back(
              {static_cast<std::int32_t>(after), static_cast<std::int32_t>(n), at_start});
          if (one.dependencies.size() > data.size())
            return fail("rank {} lists more dependencies than it has bytes", rank);
        }
      }
    }
    for (std::uint64_t n = 0; n < nodes; ++n) {
      const auto stated = number_at<std::uint32_t>(data.data() + first + kNodeBytes * n);
      if (stated != dependencies[n])
        return fail(
            "operation {} of rank {} has {} dependencies, but is a successor of {} operations", n,
            rank, stated, dependencies[n]);
    }
    return take_(std::move(one));
  }

  Expected<void> take_operation(std::int64_t rank, std::uint64_t n, const char* node,
                                GoalOperation& to) {
    const auto type = static_cast<unsigned char>(node[4]);
    const auto peer = number_at<std::uint32_t>(node + 5);
    const auto size = number_at<std::uint64_t>(node + 9);
    const auto tag = number_at<std::uint32_t>(node + 17);
    if (type < 1 || type > 3)
      return fail(
          "operation {} of rank {} is of type {}: expected 1 (send), 2 (receive) or 3 "
          "(compute)",
          n, rank, type);
    if (size > static_cast<std::uint64_t>(kMaxSize))
      return fail("operation {} of rank {} has size {}; the largest is {}", n, rank, size,
                  kMaxSize);
    to.kind = static_cast<GoalOperation::Kind>(type);
    to.size = static_cast<std::int64_t>(size);
    to.cpu = static_cast<std::uint8_t>(node[21]);
    to.nic = static_cast<std::uint8_t>(node[22]);
    if (to.kind == GoalOperation::Kind::kCompute) return {};
    const bool receives = to.kind == GoalOperation::Kind::kReceive;
    to.peer = receives && peer == kAnyInBinary ? GoalOperation::kAny : std::int64_t{peer};
    to.tag = tag == kAnyInBinary ? GoalOperation::kAny : std::int64_t{tag};
    if (to.tag == GoalOperation::kAny && !receives)
      return fail(
          "operation {} of rank {} is a send without a tag; only receives may accept any tag", n,
          rank);
    if (to.peer >= ranks_ || to.peer == rank)
      return fail("operation {} of rank {} has an invalid peer: rank {}", n, rank, to.peer);
    return {};
  }

  ByteInput& input_;
  const std::string& name_;
  const std::function<Expected<void>(GoalRank&&)>& take_;
  std::string ahead_;  ///< bytes that were read from the input but not used yet
  std::uint64_t at_ = 0;
  std::int64_t ranks_ = 0;
};

/// An input that first returns bytes which were already read from another input, and then the rest
/// of that input.
class PrefixedInput : public ByteInput {
 public:
  PrefixedInput(std::string first, ByteInput& rest) : first_(std::move(first)), rest_(rest) {}
  Expected<std::size_t> read(char* to, std::size_t most) override {
    if (at_ == first_.size()) return rest_.read(to, most);
    const std::size_t some = std::min(most, first_.size() - at_);
    std::memcpy(to, first_.data() + at_, some);
    at_ += some;
    return some;
  }
  [[nodiscard]] double share() const override { return rest_.share(); }

 private:
  std::string first_;
  std::size_t at_ = 0;
  ByteInput& rest_;
};

}  // namespace

bool is_goal_binary(std::string_view first_bytes) {
  return first_bytes.size() >= 8 && number_at<std::uint64_t>(first_bytes.data()) == kMagic;
}

bool is_goal_text(std::string_view first_bytes) {
  std::string_view rest = first_bytes;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const std::size_t first = rest.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    rest.remove_prefix(first);
    if (rest.starts_with("num_ranks")) return true;
    const bool block = rest.starts_with("/*");
    if (!block && !rest.starts_with("//")) return false;
    const std::size_t end = rest.find(block ? "*/" : "\n");
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + (block ? 2 : 1));
  }
  return false;
}

Expected<void> read_goal(ByteInput& input, const std::string& name,
                         const std::function<void(std::int64_t ranks)>& begin,
                         const std::function<Expected<void>(GoalRank&&)>& take) {
  std::string start(8, '\0');
  std::size_t have = 0;
  while (have < start.size()) {
    const auto got = input.read(start.data() + have, start.size() - have);
    if (!got) return tl::make_unexpected(got.error());
    if (*got == 0) break;
    have += *got;
  }
  start.resize(have);
  if (is_goal_binary(start)) return BinaryReader(input, name, take).read(std::move(start), begin);
  PrefixedInput whole_input(std::move(start), input);
  LineStream lines(whole_input, name);
  return TextReader(lines, begin, take).read();
}

// --- writing ---

GoalTextWriter::GoalTextWriter(std::ostream& out, std::int64_t ranks, const std::string& comment)
    : out_(out) {
  if (!comment.empty()) out_ << "// " << comment << "\n";
  out_ << "num_ranks " << ranks << "\n";
}

void GoalTextWriter::add(const GoalRank& rank) {
  out_ << "\nrank " << rank.rank << " {\n";
  for (std::size_t i = 0; i < rank.operations.size(); ++i) {
    const GoalOperation& one = rank.operations[i];
    out_ << 'l' << i + 1 << ": ";
    if (one.kind == GoalOperation::Kind::kCompute) {
      out_ << "calc " << one.size;
    } else {
      const bool sends = one.kind == GoalOperation::Kind::kSend;
      out_ << (sends ? "send " : "recv ") << one.size << (sends ? "b to " : "b from ") << one.peer
           << " tag " << one.tag;
    }
    // txt2bin reads the attributes in this order.
    if (one.cpu != 0) out_ << " cpu " << int{one.cpu};
    if (one.nic != 0 && one.kind != GoalOperation::Kind::kCompute) out_ << " nic " << int{one.nic};
    out_ << '\n';
  }
  for (const GoalDependency& one : rank.dependencies)
    out_ << 'l' << one.operation + 1 << (one.at_start ? " irequires l" : " requires l")
         << one.on + 1 << '\n';
  out_ << "}\n";
}

namespace {

template <class Number>
void put(std::string& to, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    to += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFF);
}

}  // namespace

std::string goal_binary(const GoalRank& rank) {
  const std::size_t nodes = rank.operations.size();
  // after[0] lists, for each operation, the operations that wait for its end; after[1] lists those
  // that wait for its start.
  std::array<std::vector<std::vector<std::uint32_t>>, 2> after{
      std::vector<std::vector<std::uint32_t>>(nodes),
      std::vector<std::vector<std::uint32_t>>(nodes)};
  std::vector<std::uint32_t> dependencies(nodes, 0);
  for (const GoalDependency& one : rank.dependencies) {
    after[one.at_start ? 1 : 0][one.on].push_back(static_cast<std::uint32_t>(one.operation));
    ++dependencies[one.operation];
  }
  std::string data, appendix;
  put(data, static_cast<std::uint32_t>(nodes));
  put(data, static_cast<std::uint32_t>(std::count(dependencies.begin(), dependencies.end(), 0U)));
  for (std::size_t n = 0; n < nodes; ++n) {
    if (dependencies[n] == 0) put(data, static_cast<std::uint32_t>(n));
  }
  std::uint32_t listed = 0;
  for (std::size_t n = 0; n < nodes; ++n) {
    const GoalOperation& one = rank.operations[n];
    put(data, dependencies[n]);
    put(data, static_cast<std::uint8_t>(one.kind));
    put(data, static_cast<std::uint32_t>(one.peer));
    put(data, static_cast<std::uint64_t>(one.size));
    put(data, static_cast<std::uint32_t>(one.tag));
    put(data, one.cpu);
    put(data, one.nic);
    for (const auto& lists : after) {
      put(data, static_cast<std::uint32_t>(lists[n].size()));
      put(data, listed);
      for (const std::uint32_t successor : lists[n]) put(appendix, successor);
      listed += static_cast<std::uint32_t>(lists[n].size());
    }
  }
  return data + appendix;
}

void GoalBinaryHeader::add(const GoalRank& rank, std::size_t bytes) {
  sizes_.push_back(bytes);
  for (const GoalOperation& one : rank.operations) {
    max_cpu_ = std::max(max_cpu_, one.cpu);
    max_nic_ = std::max(max_nic_, one.nic);
  }
}

std::string GoalBinaryHeader::bytes() const {
  std::string header;
  put(header, kMagic);
  put(header, static_cast<std::uint32_t>(sizes_.size()));
  put(header, max_cpu_);
  put(header, max_nic_);
  std::uint64_t at = kHeaderBytes + sizes_.size() * 16 - kOffsetsFrom;
  for (const std::uint64_t size : sizes_) {
    put(header, at);
    at += size;
    put(header, at);
  }
  return header;
}

}  // namespace tutti::core
