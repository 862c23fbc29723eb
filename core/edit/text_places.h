#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/text/document.h"

namespace tutti::core {

/// Where in the bytes of a text the places are that parsers tell as lines and columns, and back. Columns count bytes; a tab
/// leads to the next multiple of 8, but in JSON, where it is a byte like all others (core/text says so).
class TextPlaces {
 public:
  /// `text` stays where it is.
  explicit TextPlaces(std::string_view text);

  /// The text's end for places behind it; the line's end for columns behind that.
  [[nodiscard]] std::size_t offset(Position at) const;
  [[nodiscard]] Position position(std::size_t offset) const;
  /// Written as JSON: told as parse_document does.
  [[nodiscard]] bool json() const { return json_; }

 private:
  [[nodiscard]] int next_column(int column, char passed) const;

  std::string_view text_;
  std::vector<std::size_t> lines_;  ///< where each begins
  bool json_ = false;
};

}  // namespace tutti::core
