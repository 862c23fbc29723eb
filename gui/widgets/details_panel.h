#pragma once

#include <QWidget>

class QTableWidget;

namespace tutti::gui {

class TimelineView;

/// A panel with the facts about the selected span, or about the run if no span is selected.
class DetailsPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit DetailsPanel(const TimelineView& view);

  [[nodiscard]] const QTableWidget& table() const { return *table_; }

 private:
  void update_facts();

  const TimelineView& view_;
  QTableWidget* table_;
};

}  // namespace tutti::gui
