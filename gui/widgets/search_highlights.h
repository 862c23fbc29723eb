#pragma once

#include <optional>

#include "gui/trace/search.h"
#include "gui/widgets/overlay.h"

namespace tutti::gui {

/// Underlines the spans in view that match a search. If more than 100,000 spans are in view, only
/// the first 100,000 are visited, row by row from the top, so that painting stays fast.
class SearchHighlights : public Overlay {
 public:
  /// Sets the query; nullopt: nothing is highlighted. REQUIRES: the query was made for the trace
  /// that is painted.
  void show(std::optional<Query> query) { query_ = std::move(query); }
  void paint(QPainter& painter, const Placement& place) const override;
  /// Returns the number of rectangles that the last paint() drew.
  [[nodiscard]] int drawn() const { return drawn_; }

 private:
  std::optional<Query> query_;
  mutable int drawn_ = 0;
};

}  // namespace tutti::gui
