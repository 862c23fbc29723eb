#pragma once

#include <QWidget>
#include <optional>

#include "gui/model/marks.h"
#include "gui/widgets/overlay.h"

class QTableWidget;

namespace tutti::gui {

class Actions;
class TimelineView;

/// Notes on the timeline: flags on its axis, and a list in which they are named, gone to and deleted. Each change is written at
/// once to the file beside the timeline's.
class MarksPanel : public QWidget, public Overlay {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit MarksPanel(TimelineView& view);

  void add_actions(Actions& actions);
  void paint(QPainter& painter, const Placement& place) const override;
  [[nodiscard]] QRegion on_axis(const Placement& place, const QFontMetrics& metrics) const override;

  /// Reads the marks of the timeline that was opened; a file that is wrong is told, and left alone from then on.
  /// An empty name: there are none, and new ones are not kept.
  void read_beside(const QString& timeline);
  [[nodiscard]] const Marks& marks() const { return marks_; }

 signals:
  /// What is to be known, for the status bar.
  void told(const QString& text);
  /// A mark was made, and waits for its name.
  void name_wanted();

 private:
  void mark_here();
  void go_to(std::size_t mark);
  void walk(bool forward);
  void rename(int row);
  void remove_selected();
  void changed(std::optional<std::size_t> selected);
  void fill();

  TimelineView& view_;
  QTableWidget* table_;
  Marks marks_;
  QString path_;  ///< empty: nowhere
  bool filling_ = false;
};

}  // namespace tutti::gui
