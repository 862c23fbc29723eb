#include "gui/topology/topology_legend.h"

#include <QImage>
#include <QPainter>

#include "core/timeline/timeline.h"
#include "gui/paint/colour.h"
#include "gui/topology/topology_painter.h"

namespace tutti::gui {

namespace {

constexpr int kFirstLine = 11, kLine = 21;  // the middle of the first line, and the line height

/// Draws the symbols and texts of the legend from left to right. An entry that does not fit into
/// the rest of a line begins the next line.
class Writer {
 public:
  Writer(QPainter& painter, const Theme& theme, int width)
      : painter_(painter), theme_(theme), width_(width) {}

  /// Begins an entry: a symbol of some width (0: none), and then a text.
  void entry(int symbol, const QString& text) {
    const bool fits = x_ + symbol + painter_.fontMetrics().horizontalAdvance(text) <= width_;
    if (!fits && x_ > kLeft) next_line();
  }
  void next_line() {
    x_ = kLeft;
    y_ += kLine;
  }
  /// Returns the height of all lines so far.
  [[nodiscard]] int height() const { return static_cast<int>(y_) + kFirstLine; }

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
  static constexpr double kLeft = 6;
  const Theme& theme_;
  int width_;
  double x_ = kLeft;
  double y_ = kFirstLine;
};

}  // namespace

TopologyLegend::TopologyLegend(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  setAccessibleName(tr("Legend of the topology"));
  setAccessibleDescription(
      tr("The width of a link shows its capacity, and its colour shows its load; a fully loaded "
         "link is drawn as a broken line. Dots are chunks in flight; hollow dots are waiting. The "
         "columns in a device are the parts of the selected pack, from its first element to its "
         "last. The height of a column is the share of ranks whose contributions these elements "
         "already include."));
  setToolTip(accessibleDescription());
}

void TopologyLegend::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

void TopologyLegend::set_links_known(bool known) {
  links_known_ = known;
  fit_height();
  update();
}

void TopologyLegend::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit_height();
}

/// Sets the widget's height to the total height of the lines that the legend needs at this width.
void TopologyLegend::fit_height() {
  QImage nowhere(1, 1, QImage::Format_RGB32);
  QPainter painter(&nowhere);
  setFixedHeight(draw(painter));
}

void TopologyLegend::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), colour(theme_->group));
  painter.setRenderHint(QPainter::Antialiasing);
  draw(painter);
}

int TopologyLegend::draw(QPainter& painter) const {
  QFont small = font();
  small.setPixelSize(11);
  painter.setFont(small);
  Writer writer(painter, *theme_, width());
  constexpr int kLink = 27, kDot = 15, kSmallDot = 11, kColumn = 14;
  const auto link = [&](Pixel filled, const QString& text, bool broken = false) {
    writer.entry(kLink, text);
    writer.line(filled, 6, broken);
    writer.word(text);
  };
  if (links_known_) {
    link(load_colour(*theme_, 0), tr("idle"));
    link(load_colour(*theme_, 0.6), tr("loaded"));
    link(load_colour(*theme_, 1), tr("full"), true);
    writer.entry(0, tr("wide: fast"));
    writer.word(tr("wide: fast"));
    writer.entry(kSmallDot, tr("other packs"));
    writer.small_dot();
    writer.word(tr("other packs"));
  } else {
    link(theme_->load, tr("messages"));
    writer.entry(0, tr("wide: more bytes"));
    writer.word(tr("wide: more bytes"));
  }
  const auto dot = [&](bool waits, const QString& text) {
    writer.entry(kDot, text);
    writer.dot(waits);
    writer.word(text);
  };
  dot(false, tr("chunk"));
  dot(true, tr("waits"));
  const auto column = [&](double share, std::int32_t contributions, const QString& text) {
    writer.entry(kColumn, text);
    writer.column(share, contributions, 4);
    writer.word(text);
  };
  column(0.25, 1, tr("own part"));
  column(0.6, 2, tr("partly summed"));
  column(1, 4, tr("all ranks"));
  return writer.height();
}

}  // namespace tutti::gui
