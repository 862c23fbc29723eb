#pragma once

#include <QWidget>
#include <vector>

#include "gui/paint/theme.h"
#include "gui/trace/path_flame.h"

namespace tutti::gui {

class TimelineView;

/// A flame view of the critical path: each box is a part of the path, and its width is proportional
/// to the part's time. The box at the top is the whole path; the boxes below it divide the path by
/// causes, down to single layers and packs. The mouse and the arrow keys choose a box, whose time
/// is described in a line at the top; a click or Enter shows the longest piece of the box in the
/// timeline.
class PathPanel : public QWidget {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives the panel.
  explicit PathPanel(TimelineView& view);

  void set_theme(const Theme& theme);
  [[nodiscard]] const std::vector<FlameBox>& boxes() const { return boxes_; }
  /// Returns the rectangle of a box; empty if it is narrower than a pixel.
  [[nodiscard]] QRect rect_of(const FlameBox& box) const;
  /// Describes a box in words.
  [[nodiscard]] QString words_of(const FlameBox& box) const;
  /// Returns the index of the chosen box; -1: none.
  [[nodiscard]] int chosen() const { return chosen_; }

  [[nodiscard]] QSize minimumSizeHint() const override { return {200, 110}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] int box_under(const QPoint& point) const;
  [[nodiscard]] Pixel colour_of(const FlameBox& box) const;
  void choose(int box);
  void choose_level(int by);
  void go_to(int box);

  TimelineView& view_;
  const Theme* theme_;
  std::vector<FlameBox> boxes_;
  core::Time length_;  ///< the time that the whole width shows
  int chosen_ = -1;
};

}  // namespace tutti::gui
