#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/formats/byte_input.h"

namespace tutti::core {

/// Reads JSON of any length value by value, in memory for one string. For what programs write by
/// the gigabyte; scenarios are read by parse_json(), which keeps the places of all values.
///
/// The caller asks for what it expects and leaves out the rest with skip(), which costs about a
/// nanosecond a byte:
///
///     if (in.enter_object())
///       while (const auto key = in.next_key()) {
///         if (*key == "ts") ts = in.scalar(); else in.skip();
///       }
///
/// After the first mistake every call returns nothing, and error() says what was wrong where.
/// Accepted beyond JSON, because profilers write it: commas before a closing bracket, NaN and
/// Infinity, and bytes in strings that are not UTF-8.
class JsonStream {
 public:
  enum class Kind : std::uint8_t { kObject, kArray, kString, kNumber, kWord, kEnd };

  /// `buffer`: bytes that are read at once; small for small texts.
  JsonStream(ByteInput& input, std::string name, std::size_t buffer = std::size_t{1} << 18);

  /// The kind of the value that comes next; kEnd if the text ends here, or after a mistake.
  Kind peek();
  /// Enters the value that comes next if it is an object; otherwise skips it and returns false.
  bool enter_object();
  bool enter_array();
  /// The next key of the object that was entered last, valid until the next call; nothing behind
  /// its last one, which leaves it.
  std::optional<std::string_view> next_key();
  /// True if the array that was entered last has another item; otherwise leaves it.
  bool next_item();
  /// The text of a string (without its escapes), number or word, valid until the next call; of an
  /// object or array "", and it is skipped. Longer strings than 1 MiB are a mistake.
  std::string_view scalar();
  /// Skips the value that comes next.
  void skip();

  /// True if nothing but white space is left.
  bool at_end();
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  /// The text ended in the middle of a value; whatever was read before is whole.
  [[nodiscard]] bool cut_off() const { return cut_off_; }
  /// REQUIRES: failed().
  [[nodiscard]] const Error& error() const { return *error_; }
  /// The position of the next byte, from 0.
  [[nodiscard]] std::uint64_t offset() const { return before_buffer_ + at_; }
  /// The line of the next byte, from 1. Counts the lines of at most one buffer.
  [[nodiscard]] int line() const;
  /// The column of the next byte, in bytes, from 1.
  [[nodiscard]] int column() const;
  /// Ends reading with a mistake here, of whoever knows what the values mean.
  void fail(ProblemKind kind, const std::string& text);
  [[nodiscard]] double share() const { return input_.share(); }

 private:
  bool more();  ///< reads on; false at the end
  int next_byte();
  void skip_space();
  bool expect(char c);
  bool begin_value();
  /// Enters a value that begins with `bracket`; skips any other and returns false.
  bool enter(char bracket);
  bool next_of(char close);
  void end_value() { after_value_ = true; }
  std::string_view read_string();
  bool escape(std::string& to);
  std::optional<unsigned> hex4();
  void skip_string();
  void skip_container();
  void fail_at_end();

  ByteInput& input_;
  std::string name_;
  std::string buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t before_buffer_ = 0;
  int lines_before_ = 0;
  std::uint64_t line_before_ =
      0;  ///< bytes of the line in which the buffer begins that stand before it
  bool ended_ = false;
  std::string scratch_;
  /// Brackets that are open, innermost last; whether a value of the innermost has been read since
  /// its last comma.
  std::vector<char> open_;
  bool after_value_ = false;
  std::optional<Error> error_;
  bool cut_off_ = false;
};

}  // namespace tutti::core
