#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "gui/paint/theme.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

/// A line below the timeline that shows the colour of each kind of span in the timeline, in the
/// order of their total times. A click on a kind searches for it.
class LegendStrip : public QWidget {
  Q_OBJECT

 public:
  explicit LegendStrip(QWidget* parent = nullptr);

  void show_trace(const std::shared_ptr<const Trace>& trace);
  void set_theme(const Theme& theme);
  /// Returns the kinds in the order of display.
  [[nodiscard]] const std::vector<int>& kinds() const { return kinds_; }
  /// Returns the rectangle of kinds()[i]; empty if there is no room for it.
  [[nodiscard]] QRect box_of(std::size_t i) const;

  [[nodiscard]] QSize sizeHint() const override;

 signals:
  /// Emitted with the name of a kind that was clicked.
  void kind_wanted(const QString& name);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] int width_of(const QString& text) const;

  const Theme* theme_;
  std::vector<int> kinds_;
  bool waits_ = false;  ///< true: some spans wait
};

}  // namespace tutti::gui
