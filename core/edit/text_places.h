#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/text/document.h"

namespace tutti::core {

/// Converts between byte offsets in a text and the lines and columns that parsers report. Columns
/// count bytes; a tab advances to the next multiple of 8, except in JSON, where it counts as one
/// byte (as in core/text).
class TextPlaces {
 public:
  /// REQUIRES: `text` outlives the object.
  explicit TextPlaces(std::string_view text);

  /// Returns the byte offset of a position; the end of the text or line for positions beyond it.
  [[nodiscard]] std::size_t offset(Position at) const;
  [[nodiscard]] Position position(std::size_t offset) const;
  /// True if the text is JSON, by the rule of parse_document().
  [[nodiscard]] bool json() const { return json_; }

 private:
  [[nodiscard]] int next_column(int column, char passed) const;

  std::string_view text_;
  std::vector<std::size_t> lines_;  ///< offset of the beginning of each line
  bool json_ = false;
};

}  // namespace tutti::core
