#pragma once

#include <QWidget>
#include <vector>

#include "gui/paint/theme.h"
#include "gui/traffic/topology_moment.h"

namespace tutti::gui {

/// A bar that shows one device's copy of a pack, from the first element to the last. The height of
/// each piece of the copy shows how many ranks have contributed to the piece.
class HoldingBar : public QWidget {
  Q_OBJECT

 public:
  explicit HoldingBar(QWidget* parent = nullptr);

  /// Shows the pieces of a device's copy. If there are none, the bar is empty but keeps its space,
  /// so that the layout is the same for all devices.
  void show_held(std::vector<PackReplay::Piece> held, const TopologyMoment& moment);
  void set_theme(const Theme& theme);

  [[nodiscard]] QSize sizeHint() const override { return {300, 46}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {100, 46}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme* theme_;
  std::vector<PackReplay::Piece> held_;
  std::int32_t contributors_ = 0;
  std::int64_t elements_ = 0;
};

}  // namespace tutti::gui
