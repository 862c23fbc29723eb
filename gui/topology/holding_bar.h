#pragma once

#include <QWidget>
#include <vector>

#include "gui/model/topology_moment.h"
#include "gui/paint/theme.h"

namespace tutti::gui {

/// What one device holds of a pack, from its first element to its last: how many ranks' contributions are in each stretch.
class HoldingBar : public QWidget {
  Q_OBJECT

 public:
  explicit HoldingBar(QWidget* parent = nullptr);

  /// Nothing: it keeps its place, so that nothing moves while one looks from device to device.
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
