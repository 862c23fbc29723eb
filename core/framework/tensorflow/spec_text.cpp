// A spec can be written in two syntaxes, and each has its own parser. Both parsers return a
// SpecText. In the form of tf_cnn_benchmarks, colons separate algorithms and limits, which
// alternate. A valid spec begins and ends with an algorithm. The Python form has a small recursive
// parser of literals, which supports only the kinds of values that occur in a spec. As in Python,
// parentheses around a single value without a comma do not make a tuple. An error has the index of
// the character at which it occurs. core/strategy/all_reduce_spec.cpp checks the order of limits
// and reports unknown names.

#include "core/framework/tensorflow/spec_text.h"

#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/base/number.h"

namespace tutti::core {
namespace {

using TextError = tl::unexpected<SpecTextProblem>;

template <class... Args>
TextError wrong(std::size_t at, fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(SpecTextProblem{at, fmt::format(format, std::forward<Args>(args)...)});
}

constexpr std::int64_t kMaxShards = 1 << 20;

// --- tf_cnn_benchmarks ---

/// Parses "64k", "1M" or "100"; nullopt if the text is not such a number, or if the number is above
/// 2^63 - 1.
std::optional<std::int64_t> limit_of(std::string_view text) {
  int shift = 0;
  switch (text.empty() ? '\0' : text.back()) {
    case 'k':
    case 'K': shift = 10; break;
    case 'M': shift = 20; break;
    case 'G': shift = 30; break;
    case 'T': shift = 40; break;
    default: break;
  }
  if (shift > 0) text.remove_suffix(1);
  if (text.empty() || text.front() == '-') return std::nullopt;
  const auto value = whole_number<std::int64_t>(text);
  if (!value || *value > std::numeric_limits<std::int64_t>::max() >> shift) return std::nullopt;
  return *value << shift;
}

struct SpecPart {
  std::string_view text;
  std::size_t at = 0;
};

std::vector<SpecPart> parts_of(std::string_view text) {
  std::vector<SpecPart> parts;
  for (std::size_t at = 0;;) {
    const std::size_t colon = text.find(':', at);
    parts.push_back({text.substr(at, colon == std::string_view::npos ? colon : colon - at), at});
    if (colon == std::string_view::npos) return parts;
    at = colon + 1;
  }
}

tl::expected<SpecEntry, SpecTextProblem> benchmarks_entry(const SpecPart& part) {
  SpecEntry entry;
  const std::size_t hash = part.text.find('#');
  entry.name = part.text.substr(0, hash);
  if (entry.name.empty())
    return wrong(part.at, "expected an algorithm, such as xring (got \"{}\")", part.text);
  if (hash == std::string_view::npos) return entry;
  const std::string_view written = part.text.substr(hash + 1);
  const auto shards = whole_number<std::int64_t>(written);
  if (!shards || *shards < 1 || *shards > kMaxShards) {
    return wrong(part.at + hash + 1, "expected a number of shards after \"{}#\" (got \"{}\")",
                 entry.name, written);
  }
  entry.shards = static_cast<int>(*shards);
  return entry;
}

tl::expected<SpecText, SpecTextProblem> parse_benchmarks(std::string_view text) {
  SpecText spec;
  spec.api = SpecApi::kTfCnnBenchmarks;
  const std::vector<SpecPart> parts = parts_of(text);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i % 2 == 0) {
      auto entry = benchmarks_entry(parts[i]);
      if (!entry) return tl::make_unexpected(std::move(entry.error()));
      spec.entries.push_back(std::move(*entry));
      spec.places.push_back(parts[i].at);
      continue;
    }
    const auto limit = limit_of(parts[i].text);
    if (!limit) {
      return wrong(parts[i].at, "expected a limit after \"{}:\", such as 2048 or 2k (got \"{}\")",
                   parts[i - 1].text, parts[i].text);
    }
    spec.entries.back().limit = *limit;
  }
  if (parts.size() % 2 == 0) {
    return wrong(
        text.size(),
        "expected \":\" and an algorithm for gradients above the limit {}, such as \":xring\"",
        parts.back().text);
  }
  return spec;
}

// --- Python ---

/// A Python value of a kind that can occur in a spec.
struct PythonValue {
  enum class Kind { kString, kNumber, kNone, kTuple, kList };
  Kind kind = Kind::kNone;
  std::size_t at = 0;
  std::string text;
  std::int64_t number = 0;
  std::vector<PythonValue> items;
};

/// Parses a text that contains exactly one value.
class PythonReader {
 public:
  explicit PythonReader(std::string_view text) : text_(text) {}

  tl::expected<PythonValue, SpecTextProblem> read() {
    auto read = value(0);
    if (!read) return read;
    skip_space();
    if (at_ < text_.size())
      return wrong(at_, "unexpected text \"{}\" at the end", text_.substr(at_));
    return read;
  }

 private:
  using Result = tl::expected<PythonValue, SpecTextProblem>;
  /// A limit of the recursion. A valid spec is nested three levels deep; redundant parentheses can
  /// add more levels.
  static constexpr int kMaxDepth = 8;

  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  [[nodiscard]] bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  Result value(int depth) {
    skip_space();
    if (depth > kMaxDepth)
      return wrong(at_, "brackets are nested too deeply; a spec is a list of tuples");
    if (next_is('\'') || next_is('"')) return string();
    if (next_is('(')) return sequence(PythonValue::Kind::kTuple, ')', depth);
    if (next_is('[')) return sequence(PythonValue::Kind::kList, ']', depth);
    PythonValue read;
    read.at = at_;
    if (text_.substr(at_).starts_with("None")) {
      at_ += 4;
      return read;
    }
    const std::size_t end = text_.find_first_of(" \t\r\n,)]", at_);
    const std::string_view word =
        text_.substr(at_, end == std::string_view::npos ? end : end - at_);
    const auto number = whole_number<std::int64_t>(word);
    if (!number)
      return wrong(at_, "expected a string, a whole number, a tuple or a list (got \"{}\")", word);
    read.kind = PythonValue::Kind::kNumber;
    read.number = *number;
    at_ += word.size();
    return read;
  }

  Result string() {
    PythonValue read;
    read.kind = PythonValue::Kind::kString;
    read.at = at_;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return wrong(at_, "this string is never closed");
    read.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return read;
  }

  /// Reads a tuple or a list. Parentheses around a single value without a comma do not make a
  /// tuple.
  Result sequence(PythonValue::Kind kind, char close, int depth) {
    PythonValue read;
    read.kind = kind;
    read.at = at_++;
    for (bool comma = true;;) {
      skip_space();
      if (at_ >= text_.size()) return wrong(read.at, "this bracket is never closed");
      if (next_is(close)) {
        ++at_;
        if (kind == PythonValue::Kind::kTuple && !comma && read.items.size() == 1)
          return read.items.front();
        return read;
      }
      if (!comma)
        return wrong(at_, "expected \",\" or \"{}\" (got \"{}\")", close, text_.substr(at_, 1));
      auto item = value(depth + 1);
      if (!item) return item;
      read.items.push_back(std::move(*item));
      skip_space();
      comma = next_is(',');
      if (comma) ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

tl::expected<SpecEntry, SpecTextProblem> entry_of(const PythonValue& tuple) {
  using Kind = PythonValue::Kind;
  const std::vector<PythonValue>& items = tuple.items;
  if (items.empty() || items.size() > 3) {
    return wrong(tuple.at,
                 "a tuple has an algorithm, and optionally shards and a limit: one to three "
                 "elements (got {})",
                 items.size());
  }
  SpecEntry entry;
  if (items[0].kind != Kind::kString)
    return wrong(items[0].at, "a tuple begins with the name of an algorithm, such as 'xring'");
  entry.name = items[0].text;
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (items[i].kind != Kind::kNumber)
      return wrong(items[i].at, "expected a whole number for {}", i == 1 ? "shards" : "the limit");
  }
  if (items.size() > 1 && (items[1].number < 1 || items[1].number > kMaxShards))
    return wrong(items[1].at, "shards must be from 1 to {} (got {})", kMaxShards, items[1].number);
  if (items.size() > 1) entry.shards = static_cast<int>(items[1].number);
  if (items.size() > 2) entry.limit = items[2].number < 0 ? -1 : items[2].number;
  return entry;
}

tl::expected<SpecText, SpecTextProblem> parse_python(std::string_view text) {
  using Kind = PythonValue::Kind;
  const auto value = PythonReader(text).read();
  if (!value) return tl::make_unexpected(value.error());
  SpecText spec;
  const auto add = [&spec](const PythonValue& tuple) -> tl::expected<void, SpecTextProblem> {
    auto entry = entry_of(tuple);
    if (!entry) return tl::make_unexpected(std::move(entry.error()));
    spec.entries.push_back(std::move(*entry));
    spec.places.push_back(tuple.at);
    return {};
  };
  switch (value->kind) {
    case Kind::kNone: break;
    case Kind::kString:
      spec.entries.push_back({value->text, std::nullopt, 1, -1});
      spec.places.push_back(value->at);
      break;
    case Kind::kTuple:
      if (auto added = add(*value); !added) return tl::make_unexpected(added.error());
      break;
    case Kind::kList:
      for (const PythonValue& item : value->items) {
        if (item.kind != Kind::kTuple)
          return wrong(item.at, "expected a list of tuples, such as ('xring', 2, -1)");
        if (auto added = add(item); !added) return tl::make_unexpected(added.error());
      }
      break;
    case Kind::kNumber: return wrong(value->at, "expected a string, a tuple or a list of tuples");
  }
  return spec;
}

}  // namespace

tl::expected<SpecText, SpecTextProblem> parse_spec(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool python = begin != std::string_view::npos &&
                      (std::string_view("'\"([").find(text[begin]) != std::string_view::npos ||
                       text.substr(begin).starts_with("None"));
  auto spec = python ? parse_python(text) : parse_benchmarks(text);
  if (!spec) return spec;
  for (SpecEntry& entry : spec->entries) entry.algorithm = parse_spec_algorithm(entry.name);
  return spec;
}

}  // namespace tutti::core
