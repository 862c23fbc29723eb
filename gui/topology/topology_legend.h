#pragma once

#include <QWidget>

#include "gui/paint/theme.h"

class QPainter;

namespace tutti::gui {

/// The legend of the topology. It explains the widths and colours of lines, and the dots.
class TopologyLegend : public QWidget {
  Q_OBJECT

 public:
  explicit TopologyLegend(QWidget* parent = nullptr);

  void set_theme(const Theme& theme);
  /// Sets whether lines represent links of the cluster. If false, lines connect devices that
  /// exchanged messages.
  void set_links_known(bool known);

  [[nodiscard]] QSize sizeHint() const override { return {360, 44}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {140, 44}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Draws all entries, in as many lines as the width requires. Returns the total height of these
  /// lines.
  int draw(QPainter& painter) const;
  void fit_height();

  const Theme* theme_;
  bool links_known_ = true;
};

}  // namespace tutti::gui
