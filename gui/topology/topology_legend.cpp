#include "gui/topology/topology_legend.h"

#include <QPainter>

#include "core/timeline/timeline.h"
#include "gui/paint/colour.h"
#include "gui/topology/topology_painter.h"

namespace tutti::gui {

namespace {

/// Draws the symbols and texts of the legend from left to right.
class Writer {
 public:
  Writer(QPainter& painter, const Theme& theme, int line)
      : painter_(painter), theme_(theme), y_(11 + line * 21) {}

  void word(const QString& text) {
    painter_.setPen(colour(theme_.text));
    painter_.drawText(QPointF(x_, y_ + 4), text);
    x_ += painter_.fontMetrics().horizontalAdvance(text) + 12;
  }
  void line(Pixel filled, double width, bool broken = false) {
    painter_.setPen(QPen(colour(filled), width, Qt::SolidLine, Qt::FlatCap));
    painter_.drawLine(QPointF(x_, y_), QPointF(x_ + 22, y_));
    if (broken) {
      QPen dashes(colour(theme_.background), width * 0.4, Qt::CustomDashLine, Qt::FlatCap);
      dashes.setDashPattern({3, 3});
      painter_.setPen(dashes);
      painter_.drawLine(QPointF(x_, y_), QPointF(x_ + 22, y_));
    }
    x_ += 27;
  }
  void small_dot() {
    painter_.setPen(QPen(colour(theme_.text), 1));
    painter_.setBrush(colour(theme_.faint_text));
    painter_.drawEllipse(QRectF(x_, y_ - 3, 6, 6));
    x_ += 11;
  }
  void dot(bool waits) {
    const Pixel strong = theme_.spans[core::SpanKind::kPackInFlight].colour;
    painter_.setPen(QPen(colour(waits ? strong : theme_.text), waits ? 2 : 1));
    painter_.setBrush(colour(waits ? theme_.background : strong));
    painter_.drawEllipse(QRectF(x_, y_ - 5, 10, 10));
    x_ += 15;
  }
  void column(double share, std::int32_t contributions, std::int32_t contributors) {
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(colour(held_colour(theme_, contributions, contributors)));
    painter_.drawRect(QRectF(x_, y_ + 6 - 12 * share, 10, 12 * share));
    x_ += 14;
  }

 private:
  QPainter& painter_;
  const Theme& theme_;
  double x_ = 6;
  double y_;
};

}  // namespace

TopologyLegend::TopologyLegend(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setAccessibleName(tr("Legend of the topology"));
  setAccessibleDescription(
      tr("The width of a link shows its capacity, and its colour shows its load; a fully loaded "
         "link is a broken line. Dots are chunks in flight; hollow dots are waiting. The height of "
         "a column in a device is the share of ranks whose contribution the device holds."));
  setToolTip(accessibleDescription());
}

void TopologyLegend::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void TopologyLegend::set_links_known(bool known) {
  links_known_ = known;
  update();
}

void TopologyLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), colour(theme_->group));
  painter.setRenderHint(QPainter::Antialiasing);
  QFont font = painter.font();
  font.setPixelSize(11);
  painter.setFont(font);
  Writer links(painter, *theme_, 0);
  if (links_known_) {
    links.line(load_colour(*theme_, 0), 6);
    links.word(tr("idle"));
    links.line(load_colour(*theme_, 0.6), 6);
    links.word(tr("loaded"));
    links.line(load_colour(*theme_, 1), 6, true);
    links.word(tr("full"));
    links.word(tr("wide: fast"));
    links.small_dot();
    links.word(tr("other packs"));
  } else {
    links.line(theme_->load, 6);
    links.word(tr("a line connects a sender and a receiver; wider lines carried more bytes"));
  }
  Writer chunks(painter, *theme_, 1);
  chunks.dot(false);
  chunks.word(tr("chunk"));
  chunks.dot(true);
  chunks.word(tr("waits"));
  chunks.column(0.25, 1, 4);
  chunks.word(tr("own part"));
  chunks.column(0.6, 2, 4);
  chunks.word(tr("partly summed"));
  chunks.column(1, 4, 4);
  chunks.word(tr("all ranks"));
}

}  // namespace tutti::gui
