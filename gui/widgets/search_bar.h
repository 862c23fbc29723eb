#pragma once

#include <QToolBar>

class QLineEdit;

namespace tutti::gui {

class Actions;
class TimelineView;

/// Finds spans, and narrows the rows down.
class SearchBar : public QToolBar {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the bar.
  explicit SearchBar(TimelineView& view);

  void add_actions(Actions& actions);
  void find(bool forward);
  /// The first that fits `words`.
  void find(const QString& words);

 signals:
  /// What came of it, for the status bar.
  void told(const QString& text);

 private:
  TimelineView& view_;
  QLineEdit* search_;
  QLineEdit* filter_;
};

}  // namespace tutti::gui
