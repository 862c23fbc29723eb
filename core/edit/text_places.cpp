#include "core/edit/text_places.h"

#include <algorithm>

namespace tutti::core {

constexpr int kTab = 8;

TextPlaces::TextPlaces(std::string_view text) : text_(text) {
  lines_.push_back(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  for (std::size_t i = text.find('\n'); i != std::string_view::npos; i = text.find('\n', i + 1))
    lines_.push_back(i + 1);
  const std::size_t first = text.find_first_not_of(" \t\r\n", lines_.front());
  json_ = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

int TextPlaces::next_column(int column, char passed) const {
  return passed == '\t' && !json_ ? ((column - 1) / kTab + 1) * kTab + 1 : column + 1;
}

std::size_t TextPlaces::offset(Position at) const {
  if (at.line < 1) return 0;
  if (static_cast<std::size_t>(at.line) > lines_.size()) return text_.size();
  std::size_t offset = lines_[at.line - 1];
  for (int column = 1; column < at.column && offset < text_.size() && text_[offset] != '\n';
       ++offset)
    column = next_column(column, text_[offset]);
  return offset;
}

Position TextPlaces::position(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto behind = std::upper_bound(lines_.begin() + 1, lines_.end(), offset);
  Position at{static_cast<int>(behind - lines_.begin()), 1};
  for (std::size_t i = *(behind - 1); i < offset; ++i) at.column = next_column(at.column, text_[i]);
  return at;
}

}  // namespace tutti::core
