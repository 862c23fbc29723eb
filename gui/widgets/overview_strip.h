#pragma once

#include <QImage>
#include <QWidget>
#include <memory>

#include "gui/paint/theme.h"
#include "gui/trace/time_range.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// A strip that shows the whole run, with the visible range marked. Dragging the marked range moves
/// the visible range. A click moves the visible range to the time under the mouse.
class OverviewStrip : public QWidget {
  Q_OBJECT

 public:
  explicit OverviewStrip(QWidget* parent = nullptr);

  void show_trace(std::shared_ptr<const Trace> trace);
  void set_theme(const Theme& theme);
  void set_range(const TimeRange& range);

  [[nodiscard]] QSize sizeHint() const override { return {400, 40}; }

 signals:
  void range_wanted(const tutti::gui::TimeRange& range);
  /// Emitted when the user clicks, that is, presses and releases the mouse button at the same
  /// position.
  void moment_wanted(tutti::core::Time t);
  void settled();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QRect strip() const;
  [[nodiscard]] TimeRange whole() const;
  void centre_at(int x);
  [[nodiscard]] core::Time time_under(int x) const;
  void paint_load();
  void paint_band(core::TrackKind kind, std::size_t side, const QRect& band);
  void paint_names(QPainter& painter) const;

  std::shared_ptr<const Trace> trace_;
  const Theme* theme_;
  TimeRange range_;
  QImage load_;
  bool load_is_old_ = true;
  int pressed_ = 0;
};

}  // namespace tutti::gui
