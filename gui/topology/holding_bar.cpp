#include "gui/topology/holding_bar.h"

#include <QPainter>

#include "gui/topology/topology_painter.h"

namespace tutti::gui {

HoldingBar::HoldingBar(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setAccessibleName(tr("Contents of the device, also described in the text below"));
}

void HoldingBar::show_held(std::vector<PackReplay::Piece> held, const TopologyMoment& moment) {
  held_ = std::move(held);
  contributors_ = moment.contributors;
  elements_ = moment.elements;
  update();
}

void HoldingBar::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void HoldingBar::paintEvent(QPaintEvent*) {
  if (held_.empty()) return;
  QPainter painter(this);
  TopologyMoment moment;
  moment.contributors = contributors_;
  moment.elements = elements_;
  paint_held(painter, QRectF(rect()).adjusted(6, 4, -6, -4), held_, moment, *theme_, true);
}

}  // namespace tutti::gui
