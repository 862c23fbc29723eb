#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "gui/paint/theme.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// The lines below the timeline that show the colour of each kind of span in the timeline. The
/// kinds are in descending order of total time. The number of lines depends on the width. A click
/// on a kind starts a search for this kind.
class LegendStrip : public QWidget {
  Q_OBJECT

 public:
  explicit LegendStrip(QWidget* parent = nullptr);

  void show_trace(const std::shared_ptr<const Trace>& trace);
  void set_theme(const Theme& theme);
  /// Returns the kinds in the order of display.
  [[nodiscard]] const std::vector<int>& kinds() const { return kinds_; }
  /// Returns the rectangle of kinds()[i].
  [[nodiscard]] QRect box_of(std::size_t i) const { return boxes_of(width())[i]; }
  /// Returns the rectangle of the entry that explains waiting times; empty if no span waits.
  [[nodiscard]] QRect box_of_waits() const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  /// Emitted with the name of a kind that was clicked.
  void kind_wanted(const QString& name);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] int line_height() const;
  /// Returns the rectangles of all kinds, followed by the rectangle of the entry for waits, if
  /// there is one.
  [[nodiscard]] std::vector<QRect> boxes_of(int width) const;

  const Theme* theme_;
  std::vector<int> kinds_;
  bool waits_ = false;  ///< true: some spans wait
};

}  // namespace tutti::gui
