#pragma once

#include <QToolBar>

#include "core/base/units.h"

class QLineEdit;

namespace tutti::gui {

class Actions;
class FoundPanel;
class TimelineView;

/// Finds spans, and narrows the rows down.
class SearchBar : public QToolBar {
  Q_OBJECT

 public:
  /// Shows in `found` how long the spans are. REQUIRES: view and panel outlive the bar.
  SearchBar(TimelineView& view, FoundPanel& found);

  void add_actions(Actions& actions);
  /// False if there is none.
  bool find(bool forward);
  /// The first that fits `words`; false if none does.
  bool find(const QString& words);

 signals:
  void searched();
  /// What came of it, for the status bar.
  void told(const QString& text);

 private:
  void narrow(core::Time at_least, core::Time less_than);

  TimelineView& view_;
  FoundPanel& found_;
  QLineEdit* search_;
  QLineEdit* filter_;
};

}  // namespace tutti::gui
