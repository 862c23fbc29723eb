#pragma once

#include <QWidget>
#include <optional>

#include "gui/trace/marks.h"
#include "gui/widgets/overlay.h"

class QTableWidget;

namespace tutti::gui {

class Actions;
class TimelineView;

/// A panel for the user's marks on a timeline. Shows the marks as flags on the time axis, and in a
/// list in which the user renames, visits and deletes marks. Each change is immediately written to
/// the file of marks, which is next to the timeline's file.
class MarksPanel : public QWidget, public Overlay {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit MarksPanel(TimelineView& view);

  void add_actions(Actions& actions);
  void paint(QPainter& painter, const Placement& place) const override;
  [[nodiscard]] QRegion on_axis(const Placement& place, const QFontMetrics& metrics) const override;

  /// Reads the marks of the timeline that was opened. If the file is invalid, shows an error, and
  /// never overwrites the file. If `timeline` is empty, the panel has no marks, and new marks are
  /// not saved.
  void open_marks_of(const QString& timeline);
  [[nodiscard]] const Marks& marks() const { return marks_; }

 signals:
  /// Emitted with a message for the status bar.
  void status_message(const QString& text);
  /// Emitted when a new mark needs a name.
  void name_wanted();

 private:
  void mark_here();
  void go_to(std::size_t mark);
  void walk(bool forward);
  void rename(int row);
  void remove_selected();
  void changed(std::optional<std::size_t> selected);
  [[nodiscard]] core::Expected<Marks> read_file() const;
  void fill();

  TimelineView& view_;
  QTableWidget* table_;
  Marks marks_;
  QString path_;  ///< the file of the marks; empty: marks are not saved
  Marks saved_;   ///< the marks in the file when this panel last read or wrote it
  bool filling_ = false;
};

}  // namespace tutti::gui
