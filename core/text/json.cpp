// JSON is read through RapidJSON's event reader, because it can report its position at each event.

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "core/text/document.h"
#include "core/text/limits.h"
#include "core/text/text_limits.h"

namespace tutti::core {
namespace {

/// Converts offsets in a text to lines and columns. The offsets must be in ascending order.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// REQUIRES: `offset` is not before the previous call's offset.
  Position at(std::size_t offset) {
    for (; next_ < offset && next_ < text_.size(); ++next_) {
      if (text_[next_] == '\n') {
        ++position_.line;
        position_.column = 1;
      } else {
        ++position_.column;
      }
    }
    return position_;
  }

  /// Returns the position of the next value. Skips white space, colons, commas and closing
  /// brackets, because RapidJSON reports some brackets before it has read them and others
  /// afterwards.
  Position next_token() {
    std::size_t offset = next_;
    while (offset < text_.size() &&
           std::string_view(" \t\r\n:,}]").find(text_[offset]) != std::string_view::npos)
      ++offset;
    return at(offset);
  }

  /// Returns the position after the bracket that closes the current value.
  Position closing_bracket() {
    std::size_t offset = next_;
    while (offset < text_.size() && text_[offset] != '}' && text_[offset] != ']') ++offset;
    return at(offset + 1);
  }

  /// Moves the cursor past the opening bracket that next_token() found.
  void enter() { at(next_ + 1); }

 private:
  std::string_view text_;
  std::size_t next_ = 0;
  Position position_{1, 1};
};

class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  Builder(std::string_view text, rapidjson::MemoryStream& stream, const std::string& file,
          Problems& problems)
      : cursor_(text), stream_(stream), file_(file), problems_(problems) {}

  Value root;
  bool too_deep = false;
  bool too_many = false;  ///< true if the text has too many values
  Position stopped_at;

  bool Null() { return scalar(Value::Kind::kIdentifier, "null"); }
  bool Bool(bool b) { return scalar(Value::Kind::kIdentifier, b ? "true" : "false"); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    return scalar(Value::Kind::kNumber, {text, length});
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    return scalar(Value::Kind::kString, {text, length});
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    key_ = {std::string(text, length), cursor_.next_token(), {}};
    check_utf8(key_.name, {file_, key_.at.line, key_.at.column}, problems_);
    cursor_.at(stream_.Tell());
    return true;
  }
  bool StartObject() { return open(Value::Kind::kMessage); }
  bool StartArray() { return open(Value::Kind::kList); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }

 private:
  bool exceeds_limit(Position at) {
    if (++values_ <= kMaxValues) return false;
    too_many = true;
    stopped_at = at;
    return true;
  }

  bool scalar(Value::Kind kind, std::string text) {
    Value value;
    value.kind = kind;
    value.at = cursor_.next_token();
    if (exceeds_limit(value.at)) return false;
    value.text = std::move(text);
    value.from_json = true;
    // The check is necessary because RapidJSON 1.1.0 accepts a low surrogate without its high
    // surrogate.
    check_utf8(value.text, {file_, value.at.line, value.at.column}, problems_);
    value.end = cursor_.at(stream_.Tell());
    place(std::move(value));
    return true;
  }

  bool open(Value::Kind kind) {
    Value value;
    value.kind = kind;
    value.at = cursor_.next_token();
    if (exceeds_limit(value.at)) return false;
    cursor_.enter();
    if (std::ssize(open_) >= kDeepestNesting) {
      too_deep = true;
      stopped_at = value.at;
      return false;
    }
    open_.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    open_.back()->end = cursor_.closing_bracket();
    open_.pop_back();
    return true;
  }

  /// Adds a value to the innermost open object or list. No other container grows, so pointers to
  /// the open values remain valid.
  Value* place(Value value) {
    if (open_.empty()) {
      root = std::move(value);
      return &root;
    }
    Value& parent = *open_.back();
    if (parent.kind == Value::Kind::kList) {
      parent.items.push_back(std::move(value));
      return &parent.items.back();
    }
    key_.value = std::move(value);
    parent.fields.push_back(std::move(key_));
    return &parent.fields.back().value;
  }

  Cursor cursor_;
  rapidjson::MemoryStream& stream_;
  const std::string& file_;
  Problems& problems_;
  std::int64_t values_ = 0;  ///< number of values in the whole text
  Value::Field key_;
  std::vector<Value*> open_;
};

}  // namespace

Document parse_json(std::string_view text, const std::string& file, Problems& problems) {
  const std::optional<std::string_view> content = utf8_content(text, file, problems);
  if (!content) return {{}, true};
  text = *content;
  rapidjson::MemoryStream stream(text.data(), text.size());
  Builder builder(text, stream, file, problems);
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseIterativeFlag |
                              rapidjson::kParseValidateEncodingFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (builder.too_deep) {
    problems.add({ProblemCode::kSyntax}, {file, builder.stopped_at.line, builder.stopped_at.column},
                 "values are nested deeper than {} levels", kDeepestNesting);
  } else if (builder.too_many) {
    problems.add(
        {ProblemCode::kTooLarge}, {file, builder.stopped_at.line, builder.stopped_at.column},
        "this file has more than {} values, which is the limit; use a smaller file", kMaxValues);
  } else if (result.IsError()) {
    const Position at = Cursor(text).at(result.Offset());
    problems.add({ProblemCode::kSyntax}, {file, at.line, at.column}, "this is not JSON: {}",
                 rapidjson::GetParseError_En(result.Code()));
  }
  return {std::move(builder.root), builder.too_deep || result.IsError()};
}

}  // namespace tutti::core
