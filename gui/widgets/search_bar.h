#pragma once

#include <QToolBar>

#include "core/base/units.h"

class QLineEdit;

namespace tutti::gui {

class Actions;
class FoundPanel;
class TimelineView;

/// The tool bar that searches for spans and filters rows.
class SearchBar : public QToolBar {
  Q_OBJECT

 public:
  /// `found`: the panel that shows the durations of matching spans. REQUIRES: view and panel
  /// outlive the bar.
  SearchBar(TimelineView& view, FoundPanel& found);

  void add_actions(Actions& actions);
  /// Goes to the next (previous) match. Returns false if there is no match.
  bool find(bool forward);
  /// Goes to the first span that matches `words`. Returns false if no span matches.
  bool find(const QString& words);

 signals:
  void searched();
  /// Emitted with the result, for the status bar.
  void told(const QString& text);

 private:
  void narrow(core::Time at_least, core::Time less_than);

  TimelineView& view_;
  FoundPanel& found_;
  QLineEdit* search_;
  QLineEdit* filter_;
};

}  // namespace tutti::gui
