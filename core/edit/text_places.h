#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/text/document.h"

namespace tutti::core {

/// Converts between byte offsets in a text and the lines and columns that parsers report. Columns
/// count bytes. As in the parsers of core/text, a tab advances to the next multiple of 8 columns in
/// text format, and is one column in JSON.
class TextPlaces {
 public:
  /// REQUIRES: `text` outlives the object.
  explicit TextPlaces(std::string_view text);

  /// Returns the byte offset of a position. If the position is beyond the end of its line, returns
  /// the offset of the end of the line. If the position is beyond the text, returns the length of
  /// the text.
  [[nodiscard]] std::size_t offset(Position at) const;
  [[nodiscard]] Position position(std::size_t offset) const;
  /// True if the text is JSON, by the same rule as in parse_document().
  [[nodiscard]] bool json() const { return json_; }

 private:
  [[nodiscard]] int next_column(int column, char passed) const;

  std::string_view text_;
  std::vector<std::size_t> lines_;  ///< offset of the beginning of each line
  bool json_ = false;
};

}  // namespace tutti::core
