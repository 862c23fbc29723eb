// A pull parser that reads its input through one buffer. If a token continues after the end of the
// buffer, it is assembled in `scratch_`. Nothing else is stored.

#include "core/formats/json_stream.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tutti::core {
namespace {

constexpr std::size_t kLongestString = std::size_t{1} << 20;
constexpr std::size_t kDeepest = 512;

bool is_space(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool in_word(int c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

void put_utf8(std::string& to, unsigned code) {
  const auto put = [&to](unsigned byte) { to += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)),
        put(0x80 | (code & 0x3F));
  }
}

}  // namespace

JsonStream::JsonStream(ByteInput& input, std::string name, std::size_t buffer)
    : input_(input), name_(std::move(name)), buffer_(std::max<std::size_t>(buffer, 64), '\0') {
  // Skip a byte order mark, which some editors write first.
  while (end_ < 3 && more()) {
  }
  if (end_ >= 3 && std::string_view(buffer_.data(), 3) == "\xEF\xBB\xBF") at_ = 3;
}

bool JsonStream::more() {
  if (ended_ || error_) return false;
  if (at_ == end_) {
    lines_before_ += static_cast<int>(std::count(buffer_.data(), buffer_.data() + end_, '\n'));
    const std::size_t newline = std::string_view(buffer_.data(), end_).rfind('\n');
    line_before_ = newline == std::string_view::npos ? line_before_ + end_ : end_ - newline - 1;
    before_buffer_ += end_;
    at_ = end_ = 0;
  }
  if (end_ == buffer_.size()) return false;
  const auto got = input_.read(buffer_.data() + end_, buffer_.size() - end_);
  if (!got) {
    error_ = got.error();
    return false;
  }
  if (*got == 0) ended_ = true;
  end_ += *got;
  return *got > 0;
}

int JsonStream::next_byte() {
  return at_ < end_ || more() ? static_cast<unsigned char>(buffer_[at_]) : -1;
}

int JsonStream::line() const {
  return 1 + lines_before_ +
         static_cast<int>(std::count(buffer_.data(), buffer_.data() + at_, '\n'));
}

int JsonStream::column() const {
  const std::size_t newline = std::string_view(buffer_.data(), at_).rfind('\n');
  const std::uint64_t before =
      newline == std::string_view::npos ? line_before_ + at_ : at_ - newline - 1;
  return static_cast<int>(std::min<std::uint64_t>(before + 1, std::numeric_limits<int>::max()));
}

void JsonStream::fail(ProblemKind kind, const std::string& text) {
  if (error_) return;
  error_ = Error::request(std::move(kind), fmt::format("byte {}: {}", offset(), text),
                          {name_, line(), column()});
}

void JsonStream::fail_at_end() {
  if (error_) return;
  cut_off_ = true;
  fail({ProblemCode::kSyntax},
       "the file ends in the middle of a value; it is truncated, or still being written");
}

void JsonStream::skip_space() {
  while (true) {
    while (at_ < end_ && is_space(buffer_[at_])) ++at_;
    if (at_ < end_ || !more()) return;
  }
}

bool JsonStream::expect(char c) {
  skip_space();
  const int found = next_byte();
  if (found == c) {
    ++at_;
    return true;
  }
  if (found < 0) {
    fail_at_end();
  } else {
    fail({ProblemCode::kSyntax}, fmt::format("expected '{}' here", c));
  }
  return false;
}

JsonStream::Kind JsonStream::peek() {
  if (error_) return Kind::kEnd;
  skip_space();
  const int c = next_byte();
  if (c < 0) return Kind::kEnd;
  if (c == '{') return Kind::kObject;
  if (c == '[') return Kind::kArray;
  if (c == '"') return Kind::kString;
  if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') return Kind::kNumber;
  if (in_word(c)) return Kind::kWord;
  fail({ProblemCode::kSyntax}, "this is no JSON");
  return Kind::kEnd;
}

bool JsonStream::begin_value() {
  if (peek() != Kind::kEnd) return true;
  fail_at_end();
  return false;
}

bool JsonStream::enter(char bracket) {
  if (!begin_value()) return false;
  if (next_byte() != bracket) {
    skip();
    return false;
  }
  if (open_.size() >= kDeepest) {
    fail({ProblemCode::kTooLarge}, "values are nested too deeply here");
    return false;
  }
  ++at_;
  open_.push_back(bracket);
  after_value_ = false;
  return true;
}

bool JsonStream::enter_object() { return enter('{'); }

bool JsonStream::enter_array() { return enter('['); }

/// Moves to the next member or item of the innermost object or array, and skips the comma before
/// it. If there is no next member or item, skips the closing bracket `close` and returns false.
/// Also returns false after an error.
bool JsonStream::next_of(char close) {
  if (error_ || open_.empty()) return false;
  skip_space();
  int c = next_byte();
  if (c == ',' && after_value_) {
    ++at_;
    after_value_ = false;
    skip_space();
    c = next_byte();
  } else if (c >= 0 && c != close && after_value_) {
    fail({ProblemCode::kSyntax}, fmt::format("expected ',' or '{}' here", close));
    return false;
  }
  if (c < 0) {
    fail_at_end();
    return false;
  }
  if (c != close) return true;
  ++at_;
  open_.pop_back();
  end_value();
  return false;
}

std::optional<std::string_view> JsonStream::next_key() {
  if (!next_of('}')) return std::nullopt;
  if (next_byte() != '"') {
    fail({ProblemCode::kSyntax}, "expected a quoted key");
    return std::nullopt;
  }
  // Copy the key if necessary, because the buffer may be refilled when the colon is read.
  const std::string_view key = read_string();
  if (error_) return std::nullopt;
  if (at_ < end_ && buffer_[at_] == ':') {
    ++at_;
    return key;
  }
  if (key.data() != scratch_.data()) scratch_.assign(key);
  if (!expect(':')) return std::nullopt;
  return scratch_;
}

bool JsonStream::next_item() { return next_of(']'); }

std::string_view JsonStream::scalar() {
  if (!begin_value()) return {};
  const int c = next_byte();
  if (c == '{' || c == '[') {
    skip();
    return {};
  }
  if (c == '"') {
    const std::string_view text = read_string();
    end_value();
    return text;
  }
  std::size_t from = at_;
  while (at_ < end_ && in_word(static_cast<unsigned char>(buffer_[at_]))) ++at_;
  if (at_ < end_) {
    end_value();
    return {buffer_.data() + from, at_ - from};
  }
  scratch_.assign(buffer_, from, at_ - from);
  while (next_byte() >= 0 && in_word(next_byte()) && scratch_.size() < 4096)
    scratch_ += buffer_[at_++];
  if (scratch_.size() >= 4096) fail({ProblemCode::kTooLarge}, "this number is too long");
  end_value();
  return error_ ? std::string_view() : std::string_view(scratch_);
}

std::string_view JsonStream::read_string() {
  ++at_;  // the opening quote
  const std::size_t from = at_;
  while (at_ < end_ && buffer_[at_] != '"' && buffer_[at_] != '\\') ++at_;
  if (at_ < end_ && buffer_[at_] == '"') return {buffer_.data() + from, at_++ - from};
  scratch_.assign(buffer_, from, at_ - from);
  while (true) {
    if (next_byte() < 0) {
      fail_at_end();
      return {};
    }
    const std::size_t run = at_;
    while (at_ < end_ && buffer_[at_] != '"' && buffer_[at_] != '\\') ++at_;
    scratch_.append(buffer_, run, at_ - run);
    if (scratch_.size() > kLongestString) {
      fail({ProblemCode::kTooLarge}, "this string is longer than 1 MiB");
      return {};
    }
    if (at_ == end_) continue;
    if (buffer_[at_++] == '"') return scratch_;
    if (!escape(scratch_)) return {};
  }
}

std::optional<unsigned> JsonStream::hex4() {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = next_byte();
    if (c < 0) {
      fail_at_end();
      return std::nullopt;
    }
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) {
      fail({ProblemCode::kSyntax}, "expected four hexadecimal digits");
      return std::nullopt;
    }
    value = value << 4 | static_cast<unsigned>(digit);
    ++at_;
  }
  return value;
}

bool JsonStream::escape(std::string& to) {
  const int c = next_byte();
  if (c < 0) {
    fail_at_end();
    return false;
  }
  ++at_;
  switch (c) {
    case 'n': to += '\n'; return true;
    case 't': to += '\t'; return true;
    case 'r': to += '\r'; return true;
    case 'b': to += '\b'; return true;
    case 'f': to += '\f'; return true;
    case 'u': {
      const auto first = hex4();
      if (!first) return false;
      // Surrogate pairs are not decoded but replaced by U+FFFD, because they do not occur in the
      // texts that the readers search for.
      if (*first >= 0xD800 && *first < 0xE000) {
        to += "\xEF\xBF\xBD";
      } else {
        put_utf8(to, *first);
      }
      return true;
    }
    default: to += static_cast<char>(c); return true;
  }
}

void JsonStream::skip_string() {
  ++at_;
  while (true) {
    while (at_ < end_ && buffer_[at_] != '"' && buffer_[at_] != '\\') ++at_;
    if (at_ == end_) {
      if (!more()) return fail_at_end();
      continue;
    }
    if (buffer_[at_++] == '"') return;
    if (next_byte() < 0) return fail_at_end();
    ++at_;
  }
}

void JsonStream::skip_container() {
  const std::size_t outside = open_.size();
  do {
    const int c = next_byte();
    if (c < 0) return fail_at_end();
    if (c == '"') {
      skip_string();
      if (error_) return;
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') {
      if (open_.size() >= kDeepest)
        return fail({ProblemCode::kTooLarge}, "values are nested too deeply here");
      open_.push_back(static_cast<char>(c));
    } else if (c == '}' || c == ']') {
      if (open_.back() != (c == '}' ? '{' : '[')) {
        --at_;
        return fail({ProblemCode::kSyntax}, "this bracket does not match the opening one");
      }
      open_.pop_back();
    }
  } while (open_.size() > outside);
}

void JsonStream::skip() {
  switch (peek()) {
    case Kind::kEnd: fail_at_end(); return;
    case Kind::kString: skip_string(); break;
    case Kind::kObject:
    case Kind::kArray: skip_container(); break;
    case Kind::kNumber:
    case Kind::kWord:
      while (next_byte() >= 0 && in_word(next_byte())) ++at_;
      break;
  }
  end_value();
}

bool JsonStream::at_end() {
  skip_space();
  return error_.has_value() || next_byte() < 0;
}

}  // namespace tutti::core
