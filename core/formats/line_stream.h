#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

#include "core/base/error.h"
#include "core/formats/byte_input.h"

namespace tutti::core {

/// Reads a text line by line. Memory is proportional to one line. Lines are truncated to 1 MiB.
/// Lines of logs are shorter, but a file that is not a log may have longer lines.
class LineStream {
 public:
  LineStream(ByteInput& input, std::string name);

  /// Returns the next line without its line break, valid until the next call; nullopt at the end of
  /// the text, or after an error of the input.
  std::optional<std::string_view> next();
  /// The number of the line that next() last returned, counted from 1.
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] double share() const { return input_.share(); }

  /// Returns an error of the current line. `column` is counted from 1; 0: the whole line.
  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> fail(ProblemKind kind, int column,
                                           fmt::format_string<Args...> format,
                                           Args&&... args) const {
    return tl::make_unexpected(Error::request(std::move(kind),
                                              fmt::format(format, std::forward<Args>(args)...),
                                              {name_, number_, column}));
  }

 private:
  bool more();

  ByteInput& input_;
  std::string name_;
  std::string buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::string long_line_;
  int number_ = 0;
  std::optional<Error> error_;
};

}  // namespace tutti::core
