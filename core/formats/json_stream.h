#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/formats/byte_input.h"

namespace tutti::core {

/// A pull parser for JSON of any length. Memory is proportional to the longest string. JsonStream
/// is used for traces, which may be gigabytes long. Scenarios are read with parse_json() instead,
/// which stores all values and their locations.
///
/// The caller reads the values that it expects, and skips all other values with skip(), which takes
/// about a nanosecond per byte:
///
///     if (in.enter_object())
///       while (const auto key = in.next_key()) {
///         if (*key == "ts") ts = in.scalar(); else in.skip();
///       }
///
/// After the first error, all calls return no value, and error() returns the error with its
/// location. Extensions of JSON that profilers write are accepted: a comma before a closing
/// bracket, NaN and Infinity, and strings with bytes that are not UTF-8.
class JsonStream {
 public:
  enum class Kind : std::uint8_t { kObject, kArray, kString, kNumber, kWord, kEnd };

  /// `buffer` is the size of the read buffer in bytes. Use a small size for small texts.
  JsonStream(ByteInput& input, std::string name, std::size_t buffer = std::size_t{1} << 18);

  /// Returns the kind of the next value; kEnd at the end of the text, or after an error.
  Kind peek();
  /// Enters the next value if it is an object; otherwise skips it and returns false.
  bool enter_object();
  bool enter_array();
  /// Returns the next key of the innermost object, valid until the next call. After the last key,
  /// leaves the object and returns nullopt.
  std::optional<std::string_view> next_key();
  /// Moves to the next item of the innermost array and returns true. If there is no further item,
  /// leaves the array and returns false.
  bool next_item();
  /// Returns the text of a string (unescaped), number or word, valid until the next call. If the
  /// value is an object or array, skips it and returns "". A string longer than 1 MiB is an error.
  std::string_view scalar();
  /// Skips the next value.
  void skip();

  /// True if only white space remains.
  bool at_end();
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  /// True if the text ended in the middle of a value. The values that were returned before are
  /// complete.
  [[nodiscard]] bool cut_off() const { return cut_off_; }
  /// REQUIRES: failed().
  [[nodiscard]] const Error& error() const { return *error_; }
  /// The offset of the next byte, from 0.
  [[nodiscard]] std::uint64_t offset() const { return before_buffer_ + at_; }
  /// The line of the next byte, from 1. Cost: a scan of at most one buffer for line breaks.
  [[nodiscard]] int line() const;
  /// The column of the next byte, in bytes, from 1.
  [[nodiscard]] int column() const;
  /// Ends reading with an error at the current position. Callers use this function to report an
  /// invalid value.
  void fail(ProblemKind kind, const std::string& text);
  [[nodiscard]] double share() const { return input_.share(); }

 private:
  bool more();  ///< reads more input; returns false at the end
  int next_byte();
  void skip_space();
  bool expect(char c);
  bool begin_value();
  /// Enters a value that begins with `bracket`. Skips any other value and returns false.
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
  std::uint64_t line_before_ = 0;  ///< size of the part of the buffer's first line that is before
                                   ///< the buffer, in bytes
  bool ended_ = false;
  std::string scratch_;
  /// `open_` is the stack of open brackets, the innermost last. `after_value_` is true if the
  /// innermost object or array needs a comma before its next value.
  std::vector<char> open_;
  bool after_value_ = false;
  std::optional<Error> error_;
  bool cut_off_ = false;
};

}  // namespace tutti::core
