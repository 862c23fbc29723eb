#pragma once

#include <QWidget>

#include "gui/paint/theme.h"
#include "gui/trace/search.h"

namespace tutti::gui {

/// A histogram of the durations of the spans that a search found, with logarithmic axes. A click on
/// a bar, or the arrow keys and Enter, restricts the search to the durations of the bar.
class FoundPanel : public QWidget {
  Q_OBJECT

 public:
  explicit FoundPanel(QWidget* parent = nullptr);

  void show_durations(const Durations& durations);
  void set_theme(const Theme& theme);
  [[nodiscard]] const Durations& durations() const { return durations_; }
  /// Returns the rectangle of the bar of durations().bins[i].
  [[nodiscard]] QRect bar(std::size_t i) const;

  [[nodiscard]] QSize sizeHint() const override { return {280, 160}; }

 signals:
  void narrowed(tutti::core::Time at_least, tutti::core::Time less_than);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] int bin_under(const QPoint& point) const;
  void choose(int bin);
  void narrow();

  Durations durations_;
  const Theme* theme_;
  int chosen_ = -1;
};

}  // namespace tutti::gui
