// Draws the plot of a sweep. The cost depends on the number of pixels, not on the number of points.
// In each column of pixels, only the first, lowest, highest and last point of a curve are drawn.
// The result looks as if all points were drawn. A long curve is drawn in pieces, because Qt needs
// seconds for an outline with thousands of turns. If the points of a curve are closer than seven
// pixels, their dots are not drawn.
//
// The legend is laid out before the axes, because the plot area begins below the legend. The legend
// has at most four rows, and at most a third of the height. PlotGeometry computes all positions.
// The view also uses PlotGeometry to find the point under the mouse. The curves are prepared in
// sweep_curves.cpp, and PlotView adds the selection.

#include "gui/sweep/plot_painter.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>
#include <cmath>

#include "gui/paint/colour.h"
#include "gui/paint/text_of.h"

namespace tutti::gui {

namespace {

constexpr int kPlotGap = 8;
constexpr int kSample = 26;  ///< width in pixels of a sample line in the legend
constexpr int kMaxLegendRows = 4;
constexpr std::size_t kForms = 5;
/// If the points of a curve are closer than this number of pixels, dots would cover the curve.
constexpr double kMinBetweenDots = 7;

QString tr(const char* text) { return QCoreApplication::translate("Plot", text); }

/// An entry of the legend: its text, and how it is drawn.
struct Entry {
  enum class What { kCurve, kBound, kMeasured, kGivenUp } what = What::kCurve;
  std::size_t curve = 0;
  QString text;
};

std::vector<Entry> legend_of(const SweepCurves& curves) {
  std::vector<Entry> entries;
  for (std::size_t c = 0; c < curves.curves.size(); ++c) {
    const SweepCurve& curve = curves.curves[c];
    const QString name = curve.name.empty() ? tr("simulated") : text_of(curve.name);
    entries.push_back({Entry::What::kCurve, c, name});
  }
  if (!curves.bound.points.empty())
    entries.push_back({Entry::What::kBound, 0, text_of(curves.bound.name)});
  if (!curves.measured.empty())
    entries.push_back({Entry::What::kMeasured, 0, tr("measured (real runs)")});
  if (curves.given_up) entries.push_back({Entry::What::kGivenUp, 0, tr("stopped early: too slow")});
  return entries;
}

/// Reduces a curve to at most four points per horizontal pixel: the first, the extremes, and the
/// last.
QPolygonF thinned(const std::vector<CurvePoint>& points, const PlotGeometry& geometry) {
  QPolygonF line;
  std::size_t i = 0;
  while (i < points.size()) {
    const int column = static_cast<int>(std::floor(geometry.at(points[i]).x()));
    std::size_t low = i, high = i, end = i;
    while (end < points.size() &&
           static_cast<int>(std::floor(geometry.at(points[end]).x())) == column) {
      if (points[end].y < points[low].y) low = end;
      if (points[end].y > points[high].y) high = end;
      ++end;
    }
    std::array<std::size_t, 4> kept{i, std::min(low, high), std::max(low, high), end - 1};
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (k == 0 || kept[k] != kept[k - 1]) line << geometry.at(points[kept[k]]);
    }
    i = end;
  }
  return line;
}

class Picture {
 public:
  Picture(QPainter& painter, const SweepCurves& curves, const QSize& size, const Theme& theme)
      : painter_(painter),
        curves_(curves),
        size_(size),
        theme_(theme),
        geometry_(curves, size, painter.fontMetrics()) {}

  void paint() {
    painter_.fillRect(QRect(QPoint(), size_), colour(theme_.background));
    painter_.setRenderHint(QPainter::Antialiasing, false);
    legend();
    grid();
    painter_.setRenderHint(QPainter::Antialiasing);
    painter_.save();
    painter_.setClipRect(geometry_.area().adjusted(-6, -6, 6, 6));
    bound();
    for (std::size_t c = 0; c < curves_.curves.size(); ++c) curve(c);
    measured();
    painter_.restore();
    best();
  }

 private:
  void grid() {
    const QRectF& area = geometry_.area();
    const QFontMetrics font = painter_.fontMetrics();
    for (const PlotAxis::Tick& tick : curves_.y_axis.ticks()) {
      const double y = std::round(geometry_.at(0, tick.at).y());
      painter_.setPen(colour(theme_.line));
      painter_.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
      painter_.setPen(colour(theme_.faint_text));
      painter_.drawText(QRectF(0, y - font.height() / 2.0, area.left() - 6, font.height()),
                        Qt::AlignRight | Qt::AlignVCenter, text_of(tick.text));
    }
    std::vector<PlotAxis::Tick> ticks = curves_.x_axis.ticks();
    std::sort(ticks.begin(), ticks.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    double last = -1e9;
    for (const PlotAxis::Tick& tick : ticks) {
      const double x = std::round(geometry_.at(tick.at, 0).x());
      painter_.setPen(colour(theme_.faint_text));
      painter_.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 4));
      const QString text = text_of(tick.text);
      const double width = font.horizontalAdvance(text);
      if (x - width / 2 < last + kPlotGap || x + width / 2 > size_.width()) continue;
      last = x + width / 2;
      painter_.drawText(QRectF(x - width / 2 - 1, area.bottom() + 5, width + 2, font.height()),
                        Qt::AlignCenter, text);
    }
    painter_.setPen(colour(theme_.faint_text));
    painter_.drawLine(area.bottomLeft(), area.bottomRight());
    painter_.drawLine(area.topLeft(), area.bottomLeft());
    painter_.setPen(colour(theme_.text));
    painter_.drawText(
        QRectF(area.left(), area.bottom() + 5 + font.height(), area.width(), font.height() + 4),
        Qt::AlignCenter, axis_title(curves_.x_title, curves_.x_axis, true));
    painter_.save();
    painter_.translate(font.height() / 2.0 + 4, area.center().y());
    painter_.rotate(-90);
    const QString title = axis_title(curves_.y_title, curves_.y_axis, false);
    const QRectF along(-area.height() / 2 - 20, -font.height() / 2.0, area.height() + 40,
                       font.height());
    painter_.drawText(along, Qt::AlignCenter,
                      font.elidedText(title, Qt::ElideRight, static_cast<int>(along.width())));
    painter_.restore();
  }

  static QString axis_title(const std::string& title, const PlotAxis& axis, bool of_x) {
    if (of_x && !axis.by_number()) return text_of(title);
    return axis.logarithmic() ? tr("%1, logarithmic").arg(text_of(title)) : text_of(title);
  }

  void bound() {
    if (curves_.bound.points.empty()) return;
    painter_.setPen(QPen(colour(theme_.faint_text), 1.4, Qt::DashLine));
    painter_.drawPolyline(thinned(curves_.bound.points, geometry_));
  }

  /// Draws a polyline in pieces. Qt would examine all edges of a single outline in every row of
  /// pixels, which takes seconds for a line with thousands of turns. Drawing pieces takes
  /// hundredths of a second.
  void draw(const QPolygonF& line) {
    constexpr qsizetype kLong = 500;
    if (line.size() < kLong) return painter_.drawPolyline(line);
    QList<QLineF> pieces;
    for (qsizetype i = 1; i < line.size(); ++i) pieces.emplaceBack(line[i - 1], line[i]);
    painter_.drawLines(pieces);
  }

  void curve(std::size_t c) {
    const std::vector<CurvePoint>& points = curves_.curves[c].points;
    const QColor ink = curve_colour(c, theme_);
    painter_.setPen(QPen(ink, 1.6));
    painter_.setBrush(Qt::NoBrush);
    std::vector<CurvePoint> known;
    std::copy_if(points.begin(), points.end(), std::back_inserter(known),
                 [](const CurvePoint& point) { return !point.given_up; });
    draw(thinned(known, geometry_));
    const double between =
        geometry_.area().width() / static_cast<double>(std::max<std::size_t>(1, points.size()));
    const double radius = between < kMinBetweenDots ? 0 : 3.2;
    // A point without neighbours has no line, so draw a dot.
    if (radius > 0 || known.size() == 1) {
      for (const CurvePoint& point : known)
        paint_dot(painter_, geometry_.at(point), c, ink, 3.2, false);
    }
    int last = -100;
    for (const CurvePoint& point : points) {
      const QPointF at = geometry_.at(point);
      if (!point.given_up || static_cast<int>(at.x()) < last + 3) continue;
      last = static_cast<int>(at.x());
      paint_dot(painter_, at, c, ink, 2.6, true);
    }
  }

  void measured() {
    for (const MeasuredDot& dot : curves_.measured) {
      const QPointF at = geometry_.at(dot.x, dot.y);
      const QColor ink = curve_colour(dot.curve, theme_);
      painter_.setPen(QPen(colour(theme_.text), 1.4));
      if (dot.runs > 1) {
        const QPointF low = geometry_.at(dot.x, dot.low), high = geometry_.at(dot.x, dot.high);
        painter_.drawLine(low, high);
        for (const QPointF& end : {low, high})
          painter_.drawLine(end - QPointF(4, 0), end + QPointF(4, 0));
      }
      painter_.setBrush(ink);
      painter_.drawEllipse(at, 5.5, 5.5);
    }
  }

  void best() {
    if (!curves_.best) return;
    const CurvePoint& point = curves_.at(*curves_.best);
    const QPointF at = geometry_.at(point);
    painter_.setPen(QPen(colour(theme_.selection), 1.8));
    painter_.setBrush(Qt::NoBrush);
    painter_.drawEllipse(at, 8, 8);
    const QString text = tr("best: %1").arg(text_of(shown_cost(*curves_.cost, point.value)));
    const QFontMetrics font = painter_.fontMetrics();
    const int width = font.horizontalAdvance(text) + 6;
    const QRectF& area = geometry_.area();
    const bool on_right = at.x() + 12 + width > area.right();
    const bool above = at.y() + 12 + font.height() > area.bottom();
    const QRectF box(on_right ? at.x() - 10 - width : at.x() + 10,
                     above ? at.y() - 10 - font.height() : at.y() + 8, width, font.height() + 2);
    QColor behind = colour(theme_.background);
    behind.setAlpha(210);
    painter_.fillRect(box, behind);
    painter_.setPen(colour(theme_.text));
    painter_.drawText(box, Qt::AlignCenter, text);
  }

  void legend() {
    const std::vector<Entry> entries = legend_of(curves_);
    painter_.setPen(colour(theme_.text));
    const QFontMetrics font = painter_.fontMetrics();
    QString head = curves_.by.empty() ? QString() : text_of(curves_.by);
    QFont bold = painter_.font();
    bold.setBold(true);
    painter_.save();
    painter_.setFont(bold);
    QString title = text_of(curves_.title);
    if (!head.isEmpty()) title += tr(": a line for each %1").arg(head);
    painter_.drawText(
        QRect(kPlotGap, 4, size_.width() - 2 * kPlotGap, font.height() + 4),
        Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(bold).elidedText(title, Qt::ElideRight, size_.width() - 2 * kPlotGap));
    painter_.restore();
    const auto& places = geometry_.entries();
    painter_.save();
    painter_.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < places.size(); ++i) entry(entries[i], places[i]);
    painter_.restore();
    const std::int64_t more = std::ssize(entries) - std::ssize(places) + curves_.lines_left_out;
    if (more <= 0) return;
    painter_.setPen(colour(theme_.faint_text));
    painter_.drawText(
        geometry_.legend().adjusted(0, 0, -2, 0), Qt::AlignRight | Qt::AlignBottom,
        curves_.lines_left_out > 0
            ? tr("the curves of %1 more values are not drawn").arg(curves_.lines_left_out)
            : tr("and %1 more").arg(more));
  }

  void entry(const Entry& entry, const QRect& box) {
    const QPointF middle(box.left() + kSample / 2.0, box.center().y() + 0.5);
    const QPointF half(kSample / 2.0 - 2, 0);
    switch (entry.what) {
      case Entry::What::kCurve: {
        const QColor ink = curve_colour(entry.curve, theme_);
        painter_.setPen(QPen(ink, 1.8));
        painter_.drawLine(middle - half, middle + half);
        paint_dot(painter_, middle, entry.curve, ink, 3.4, false);
        break;
      }
      case Entry::What::kBound:
        painter_.setPen(QPen(colour(theme_.faint_text), 1.4, Qt::DashLine));
        painter_.drawLine(middle - half, middle + half);
        break;
      case Entry::What::kMeasured:
        painter_.setPen(QPen(colour(theme_.text), 1.4));
        painter_.drawLine(middle - QPointF(0, 8), middle + QPointF(0, 8));
        painter_.setBrush(curve_colour(0, theme_));
        painter_.drawEllipse(middle, 5, 5);
        break;
      case Entry::What::kGivenUp:
        paint_dot(painter_, middle, 0, colour(theme_.faint_text), 3, true);
        break;
    }
    painter_.setPen(colour(theme_.text));
    painter_.drawText(box.adjusted(kSample + 4, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                      entry.text);
  }

  QPainter& painter_;
  const SweepCurves& curves_;
  QSize size_;
  const Theme& theme_;
  PlotGeometry geometry_;
};

}  // namespace

PlotGeometry::PlotGeometry(const SweepCurves& curves, const QSize& size, const QFontMetrics& font) {
  int widest = 0;
  for (const PlotAxis::Tick& tick : curves.y_axis.ticks())
    widest = std::max(widest, font.horizontalAdvance(QString::fromStdString(tick.text)));
  const int row = font.height() + 4, top = row + 8;
  // Lay the entries out in rows.
  int x = kPlotGap, line = 0;
  for (const Entry& entry : legend_of(curves)) {
    const int width = kSample + 4 + font.horizontalAdvance(entry.text) + 2 * kPlotGap;
    if (x > kPlotGap && x + width > size.width()) x = kPlotGap, ++line;
    if (line >= kMaxLegendRows || (line + 1) * row > size.height() / 3) break;
    entries_.emplace_back(x, top + line * row, width, row);
    x += width;
  }
  const int rows = entries_.empty() ? 0 : (entries_.back().top() - top) / row + 1;
  legend_ = QRect(0, top, size.width(), rows * row);
  const double left = font.height() + 14 + widest, bottom = 2 * font.height() + 14;
  area_ = QRectF(left, top + rows * row + 6, std::max(10.0, size.width() - left - 14),
                 std::max(10.0, size.height() - bottom - top - rows * row - 6));
}

QColor curve_colour(std::size_t curve, const Theme& theme) {
  // The colours of Okabe and Ito, in an order in which the first colours differ most. The last
  // colour is that of text, black or white.
  constexpr std::array<Pixel, 7> kColours{0xff0072b2, 0xffd55e00, 0xff009e73, 0xffcc79a7,
                                          0xffe69f00, 0xff56b4e9, 0};
  const Pixel chosen = kColours[curve % kColours.size()];
  // In the dark theme, the dark blue is too similar to the background.
  if (chosen == 0xff0072b2 && text_on(theme.background) == 0xffffffff)
    return QColor::fromRgb(0xff3d9bd6);
  return QColor::fromRgb(chosen == 0 ? theme.text : chosen);
}

void paint_dot(QPainter& painter, const QPointF& at, std::size_t curve, const QColor& colour,
               double radius, bool hollow) {
  painter.setPen(QPen(colour, 1.2));
  painter.setBrush(hollow ? QBrush(Qt::NoBrush) : QBrush(colour));
  const double r = radius;
  switch (curve % kForms) {
    case 1: painter.drawRect(QRectF(at - QPointF(r, r) * 0.9, QSizeF(1.8 * r, 1.8 * r))); break;
    case 2:
      painter.drawPolygon(QPolygonF(
          {at + QPointF(0, -1.2 * r), at + QPointF(1.15 * r, r), at + QPointF(-1.15 * r, r)}));
      break;
    case 3:
      painter.drawPolygon(QPolygonF({at + QPointF(0, -1.3 * r), at + QPointF(1.3 * r, 0),
                                     at + QPointF(0, 1.3 * r), at + QPointF(-1.3 * r, 0)}));
      break;
    case 4:
      painter.drawLine(at - QPointF(r, r), at + QPointF(r, r));
      painter.drawLine(at - QPointF(r, -r), at + QPointF(r, -r));
      break;
    default: painter.drawEllipse(at, r, r);
  }
}

void paint_plot(QPainter& painter, const SweepCurves& curves, const QSize& size,
                const Theme& theme) {
  Picture(painter, curves, size, theme).paint();
}

}  // namespace tutti::gui
