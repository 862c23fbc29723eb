#pragma once

#include <QWidget>

#include "gui/model/statistics.h"

class QTableWidget;

namespace tutti::gui {

class Actions;
class TimelineView;

/// What the spans of the selected range come to, kind by kind, or of each device apart; of what is in view while none is selected.
class NumbersPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit NumbersPanel(const TimelineView& view);

  void add_actions(Actions& actions);
  [[nodiscard]] const QTableWidget& table() const { return *table_; }
  /// The same as text. REQUIRES: the view has a trace.
  [[nodiscard]] QString csv() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void update_numbers();
  void show_numbers(int row, const KindStatistics& k);
  [[nodiscard]] QString name_of(const KindStatistics& k) const;
  [[nodiscard]] RangeStatistics numbers(bool bytes) const;

  const TimelineView& view_;
  QTableWidget* table_;
  bool by_device_ = false;
};

}  // namespace tutti::gui
