#pragma once

#include <QTimer>
#include <QToolBar>

#include "core/base/units.h"
#include "gui/widgets/search_highlights.h"

class QLabel;
class QLineEdit;

namespace tutti::gui {

class Actions;
class FoundPanel;
class TimelineView;

/// The tool bar that searches for spans and filters rows. The bar underlines the matching spans in
/// view, and shows the number of matches.
class SearchBar : public QToolBar {
  Q_OBJECT

 public:
  /// `found`: the panel that shows the durations of matching spans. REQUIRES: view and panel
  /// outlive the bar.
  SearchBar(TimelineView& view, FoundPanel& found);

  void add_actions(Actions& actions);
  /// Shows only rows that match a text, as if the user had typed the text.
  void filter(const QString& text);
  /// Returns the text that filters rows.
  [[nodiscard]] QString filter_text() const;
  [[nodiscard]] const SearchHighlights& highlights() const { return highlights_; }
  /// Goes to the next match if `forward` is true, otherwise to the previous match. Returns false if
  /// there is no match.
  bool find(bool forward);
  /// Goes to the first span that matches `words`. Returns false if no span matches.
  bool find(const QString& words);

 signals:
  void searched();
  /// Emitted when the text that filters rows has changed.
  void filter_changed(const QString& text);
  /// Emitted with a text for the status bar that describes the result of a search.
  void status_message(const QString& text);

 private:
  void narrow(core::Time at_least, core::Time less_than);
  void count_matches();
  void forget_matches();
  /// Returns a message for a search without matches.
  [[nodiscard]] QString why_no_match(const Query& query) const;

  TimelineView& view_;
  FoundPanel& found_;
  SearchHighlights highlights_;
  QLineEdit* search_;
  QLabel* count_;  ///< the number of matches, such as "3 of 8"
  QLineEdit* filter_;
  QTimer typed_;  ///< timer that starts counting the matches when the user has stopped typing
};

}  // namespace tutti::gui
