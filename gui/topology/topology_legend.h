#pragma once

#include <QWidget>

#include "gui/paint/theme.h"

namespace tutti::gui {

/// The legend of the topology, which explains widths, colours and dots.
class TopologyLegend : public QWidget {
  Q_OBJECT

 public:
  explicit TopologyLegend(QWidget* parent = nullptr);

  void set_theme(const Theme& theme);
  /// Sets whether lines represent links of the cluster. If false, lines connect devices that
  /// exchanged messages.
  void set_links_known(bool known);

  [[nodiscard]] QSize sizeHint() const override { return {360, 44}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {100, 44}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme* theme_;
  bool links_known_ = true;
};

}  // namespace tutti::gui
