// Paints the state of a topology at one time, from back to front: boxes of workers, the network,
// links, devices, loads as numbers, and messages in flight. Coordinates are in units of the layout,
// which the painter scales to pixels. Sizes that are given in pixels are therefore divided by
// `scale_`. The amount of detail depends on the scale. Below 0.4 pixels per unit, there are no
// texts. Below 0.22 pixels per unit, there are no dashes, and the content of devices is not drawn.
// Parts outside the visible area are skipped. No information is shown by colour alone: full links
// are also dashed, and the height of a column shows the same number as its colour. The file
// topology_layout.h computes the positions of parts, and topology_moment.h computes their state.

#include "gui/topology/topology_painter.h"

#include <algorithm>
#include <cmath>

#include "core/base/format.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/timeline.h"
#include "gui/paint/colour.h"
#include "gui/traffic/link_load.h"

namespace tutti::gui {

namespace {

using Kind = Topology::Kind;

/// The scales below which details are not drawn because they would not be legible: first for texts,
/// then for the two directions of a link and the content of devices.
constexpr double kTextScale = 0.4, kFineScale = 0.22;
/// The heights of texts in pixels, used where there is enough space.
constexpr double kNamePixels = 10, kFigurePixels = 9;
/// The maximum number of messages that are drawn with names. If there are more, all are drawn as
/// small dots.
constexpr std::size_t kFewFlights = 60;
/// A load of at least this fraction is also shown as a number next to the link.
constexpr double kMinShownLoad = 0.5;
constexpr double kDot = 6.5, kBridge = 3;
constexpr double kStrip = 15;  ///< height of the strip in a device's box that shows its content

QRectF rect_of(const Box& box) { return {box.x, box.y, box.width, box.height}; }

class TopologyPainter {
 public:
  TopologyPainter(QPainter& painter, const TopologyScene& scene, const QRectF& seen, double scale)
      : painter_(painter), scene_(scene), seen_(seen), scale_(scale), font_(painter.font()) {
    font_.setPixelSize(static_cast<int>(std::lround(std::clamp(kNamePixels / scale_, 11.0, 17.0))));
    painter_.setFont(font_);
  }

  void paint() {
    for (const TopologyLayout::Worker& worker : scene_.layout.workers) paint_worker(worker);
    paint_network();
    painter_.setRenderHint(QPainter::Antialiasing, scale_ > kFineScale);
    for (std::size_t l = 0; l < scene_.topology.links().size(); ++l) paint_link(l);
    if (scene_.link) paint_chosen_link(*scene_.link);
    for (std::size_t n = 0; n < scene_.topology.nodes().size(); ++n) {
      if (scene_.topology.nodes()[n].kind != Kind::kNetwork) paint_node(n);
    }
    paint_figures();
    paint_flights();
  }

 private:
  [[nodiscard]] const Theme& theme() const { return scene_.theme; }
  [[nodiscard]] bool visible(const QRectF& box) const { return box.intersects(seen_); }

  void text(const QRectF& box, int flags, const QString& what, Pixel pen) {
    if (scale_ < kTextScale) return;
    painter_.setPen(colour(pen));
    painter_.drawText(box, flags | Qt::TextSingleLine | Qt::TextDontClip, what);
  }

  void paint_worker(const TopologyLayout::Worker& worker) {
    const QRectF box = rect_of(worker.box);
    if (!visible(box)) return;
    painter_.setRenderHint(QPainter::Antialiasing, scale_ > kFineScale);
    painter_.setPen(QPen(colour(theme().line), 1.2));
    painter_.setBrush(colour(theme().band));
    painter_.drawRoundedRect(box, 6, 6);
    // The text has to fit next to the link of the first network card. Where it would be too small
    // to read, or too long, only the number of the worker is drawn.
    constexpr double kUnits = 11, kReadable = 8;  // in units of the layout, and in pixels
    const bool readable = kUnits * scale_ >= kReadable;
    QFont small = font_;
    if (readable) small.setPixelSize(static_cast<int>(kUnits));
    painter_.setFont(small);
    const QString whole = QStringLiteral("worker %1").arg(worker.worker);
    const bool fits = 3 * painter_.fontMetrics().horizontalAdvance(whole) <= box.width();
    const QString shown = readable && fits ? whole : QStringLiteral("w%1").arg(worker.worker);
    const QRectF place = box.adjusted(6, 3, -8, 0);
    text(place, Qt::AlignLeft | Qt::AlignTop, shown, theme().faint_text);
    const QFontMetricsF metrics = painter_.fontMetrics();
    worker_names_.emplace_back(place.topLeft(),
                               QSizeF(metrics.horizontalAdvance(shown), metrics.height()));
    painter_.setFont(font_);
  }

  void paint_network() {
    const auto& bars = scene_.layout.network;
    if (bars.empty()) return;
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(colour(theme().line));
    if (bars.size() > 1) {
      const double x = scene_.layout.trunk, top = bars.front().centre().y,
                   bottom = bars.back().centre().y;
      painter_.drawRect(QRectF(x - 3, top - 3, 6, bottom - top + 6));
      for (const Box& bar : bars) painter_.drawRect(QRectF(x, bar.centre().y - 3, bar.x - x, 6));
    }
    for (const Box& bar : bars) {
      painter_.setPen(QPen(colour(theme().faint_text), 1));
      painter_.setBrush(colour(theme().group));
      painter_.drawRoundedRect(rect_of(bar), 4, 4);
      text(rect_of(bar), Qt::AlignCenter,
           &bar == &bars.front() ? QStringLiteral("network") : QStringLiteral("network (the same)"),
           theme().text);
    }
  }

  void paint_link(std::size_t l) {
    const Line2& line = scene_.layout.links[l];
    QRectF bounds(QPointF(line.front().x, line.front().y), QSizeF(0, 0));
    for (const Point& p : line) {
      bounds.setLeft(std::min(bounds.left(), p.x));
      bounds.setRight(std::max(bounds.right(), p.x));
      bounds.setTop(std::min(bounds.top(), p.y));
      bounds.setBottom(std::max(bounds.bottom(), p.y));
    }
    if (!visible(bounds.adjusted(-10, -10, 10, 10))) return;
    const bool known = !scene_.moment.loads.empty();
    const double load = known ? scene_.moment.loads[l] : 0;
    const QPolygonF polygon = polygon_of(line);
    const double width = scene_.layout.widths[l];
    painter_.setBrush(Qt::NoBrush);
    painter_.setPen(QPen(colour(known ? load_colour(theme(), load) : theme().load), width,
                         Qt::SolidLine, Qt::FlatCap));
    painter_.drawPolyline(polygon);
    if (!known) paint_arrow_head(polygon, width);
    if (load <= kFullLoad || scale_ < kFineScale) return;
    // Full links are dashed, so that readers do not need the colour.
    painter_.setPen(QPen(colour(theme().background), std::max(1.0, width * 0.4), Qt::CustomDashLine,
                         Qt::FlatCap));
    QPen dashes = painter_.pen();
    dashes.setDashPattern({3, 3});
    painter_.setPen(dashes);
    painter_.drawPolyline(polygon);
  }

  /// Draws an arrow head on a line that stands for messages between two devices. Links have no
  /// arrow heads, since both directions are drawn.
  void paint_arrow_head(const QPolygonF& line, double width) {
    const QPointF tip = line.back(), along = tip - line[line.size() - 2];
    const double length = std::max(1e-9, std::hypot(along.x(), along.y()));
    const QPointF ahead = along / length * (width + 5), aside(-ahead.y() * 0.7, ahead.x() * 0.7);
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(colour(theme().faint_text));
    painter_.drawPolygon(QPolygonF({tip, tip - ahead + aside, tip - ahead - aside}));
    painter_.setBrush(Qt::NoBrush);
  }

  void paint_chosen_link(std::size_t l) {
    painter_.setBrush(Qt::NoBrush);
    QPen pen(colour(theme().selection), 1.6 / std::min(1.0, scale_));
    const double by = scene_.layout.widths[l] / 2 + 1.5;
    painter_.setPen(pen);
    for (const double side : {-by, by}) {
      QPolygonF edge;
      const Line2& line = scene_.layout.links[l];
      for (std::size_t i = 0; i < line.size(); ++i) {
        const Point& a = line[i == 0 ? 0 : i - 1];
        const Point& b = line[i + 1 < line.size() ? i + 1 : i];
        const double dx = b.x - a.x, dy = b.y - a.y, length = std::max(1e-9, std::hypot(dx, dy));
        edge << QPointF(line[i].x - dy / length * side, line[i].y + dx / length * side);
      }
      painter_.drawPolyline(edge);
    }
  }

  void paint_node(std::size_t n) {
    const Topology::Node& node = scene_.topology.nodes()[n];
    const QRectF box = rect_of(scene_.layout.nodes[n]);
    if (!visible(box)) return;
    const bool chosen = scene_.node == n;
    painter_.setPen(QPen(colour(chosen ? theme().selection : theme().faint_text),
                         chosen ? 2.6 / std::min(1.0, scale_) : 1));
    painter_.setBrush(colour(node.is_device() ? theme().background : theme().group));
    painter_.drawRoundedRect(box, 3, 3);
    const QString name = QString::fromStdString(node.name);
    const auto& held = scene_.moment.held[n];
    if (held.empty() || scale_ < kFineScale) {
      text(box, Qt::AlignCenter, name, theme().text);
      return;
    }
    text(box.adjusted(0, 3, 0, -kStrip - 4), Qt::AlignCenter, name, theme().text);
    paint_held(painter_, QRectF(box.left() + 4, box.bottom() - kStrip - 3, box.width() - 8, kStrip),
               held, scene_.moment, theme(), false);
  }

  /// Paints the load as a number next to links with a high load.
  void paint_figures() {
    if (scale_ < kTextScale) return;
    const double unit = std::clamp(kFigurePixels / scale_, 8.0, 14.0);
    QFont small = font_;
    small.setPixelSize(static_cast<int>(std::lround(unit)));
    painter_.setFont(small);
    // Numbers must cover neither the names of workers and devices nor messages.
    std::vector<QRectF> taken = boxes_of_flights();
    for (std::size_t n = 0; n < scene_.topology.nodes().size(); ++n) {
      if (scene_.topology.nodes()[n].kind != Kind::kNetwork)
        taken.push_back(rect_of(scene_.layout.nodes[n]));
    }
    for (std::size_t l = 0; l < scene_.moment.loads.size(); ++l) {
      const double load = scene_.moment.loads[l];
      if (load < kMinShownLoad) continue;
      const auto box_at = [&](double place) {
        const Point middle = along(scene_.layout.links[l], place);
        return QRectF(middle.x - 1.5 * unit, middle.y - 0.7 * unit, 3 * unit, 1.4 * unit);
      };
      const auto meets = [](const std::vector<QRectF>& others, const QRectF& box) {
        return std::any_of(others.begin(), others.end(),
                           [&](const QRectF& other) { return other.intersects(box); });
      };
      constexpr double kMiddle = 0.5, kBelowName = 0.75;
      QRectF box = box_at(kMiddle);
      if (meets(worker_names_, box)) box = box_at(kBelowName);
      if (!visible(box) || meets(taken, box) || meets(worker_names_, box)) continue;
      taken.push_back(box);
      QColor under = colour(theme().background);
      under.setAlpha(225);
      painter_.setPen(Qt::NoPen);
      painter_.setBrush(under);
      painter_.drawRoundedRect(box, 3, 3);
      text(box, Qt::AlignCenter, QStringLiteral("%1 %").arg(std::lround(load * 100)), theme().text);
    }
    painter_.setFont(font_);
  }

  /// Returns the position of a message on its way. If `distance` is above 0, the message stays at
  /// this distance from the boxes of its sender and receiver, since a dot would cover their names.
  [[nodiscard]] QPointF place_of(const TopologyMoment::Flight& flight, double distance) const {
    Line2 way;
    const Point from = scene_.layout.nodes[flight.from].centre(),
                to = scene_.layout.nodes[flight.to].centre();
    if (flight.route.empty()) {
      way = {from, to};
    } else {
      way = path_along(scene_.layout, flight.route);
    }
    const auto is_in = [&](std::size_t node, const Point& point) {
      return rect_of(scene_.layout.nodes[node])
          .adjusted(-distance, -distance, distance, distance)
          .contains(point.x, point.y);
    };
    constexpr double kMiddle = 0.5, kStep = 0.02;
    double progress = flight.progress;
    while (distance > 0 && progress < kMiddle && is_in(flight.from, along(way, progress)))
      progress += kStep;
    while (distance > 0 && progress > kMiddle && is_in(flight.to, along(way, progress)))
      progress -= kStep;
    const Point at = along(way, progress);
    return {at.x, at.y};
  }

  [[nodiscard]] double flight_unit() const { return std::clamp(1 / scale_, 1.0, 1.8); }

  /// Returns the boxes of the messages that are drawn with names.
  [[nodiscard]] std::vector<QRectF> boxes_of_flights() const {
    std::vector<QRectF> boxes;
    if (scene_.moment.flights.size() > kFewFlights) return boxes;
    const double radius = kDot * flight_unit();
    for (const TopologyMoment::Flight& flight : scene_.moment.flights) {
      if (!flight.of_pack || flight.transfer.bytes.count() == 0) continue;
      const QPointF at = place_of(flight, 0.6 * radius);
      boxes.emplace_back(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius);
    }
    return boxes;
  }

  void paint_flights() {
    const bool few = scene_.moment.flights.size() <= kFewFlights;
    const double unit = flight_unit();
    QFont small = font_;
    small.setPixelSize(static_cast<int>(std::lround(8 * unit)));
    small.setBold(true);
    painter_.setFont(small);
    const Pixel strong = theme().spans[core::SpanKind::kPackInFlight].colour;
    // Draw the messages of the selected pack last, above all other messages.
    for (const bool of_pack : {false, true}) {
      for (const TopologyMoment::Flight& flight : scene_.moment.flights) {
        if (flight.of_pack != of_pack || flight.transfer.bytes.count() == 0) continue;
        const bool named = of_pack && few;
        const double radius = kDot * unit * (named ? 1 : 0.55);
        const QPointF at = place_of(flight, named ? 0.6 * radius : 0);
        const QRectF box(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius);
        if (!visible(box)) continue;
        const Pixel fill = of_pack ? strong : theme().faint_text;
        painter_.setPen(QPen(colour(flight.waits ? fill : theme().text), flight.waits ? 2 : 1));
        painter_.setBrush(colour(flight.waits ? theme().background : fill));
        painter_.drawEllipse(box);
        if (few && !flight.chunk.empty() && flight.chunk.size() <= 3)
          text(box, Qt::AlignCenter, QString::fromStdString(flight.chunk),
               flight.waits ? theme().text : text_on(fill));
      }
    }
    painter_.setFont(font_);
  }

  QPainter& painter_;
  const TopologyScene& scene_;
  QRectF seen_;
  double scale_;
  QFont font_;
  std::vector<QRectF> worker_names_;  ///< boxes of the names that were drawn
};

}  // namespace

QPolygonF polygon_of(const Line2& line) {
  QPolygonF polygon;
  for (const Point& p : line) polygon << QPointF(p.x, p.y);
  return polygon;
}

Pixel load_colour(const Theme& theme, double load) {
  if (load > kFullLoad) return theme.full_load;
  return load <= 0 ? theme.line : blend(theme.line, theme.load, 0.35 + 0.65 * load);
}

Pixel held_colour(const Theme& theme, std::int32_t contributions, std::int32_t contributors) {
  if (contributions >= contributors)
    return theme.spans[core::SpanKind::kFirstCompute + static_cast<int>(core::ComputeKind::kUpdate)]
        .colour;
  return contributions <= 1 ? blend(theme.background, theme.faint_text, 0.6) : theme.load;
}

void paint_held(QPainter& painter, const QRectF& box, const std::vector<PackReplay::Piece>& held,
                const TopologyMoment& moment, const Theme& theme, bool figures) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour(theme.background));
  painter.drawRect(box);
  const auto elements = static_cast<double>(std::max<std::int64_t>(1, moment.elements));
  for (const PackReplay::Piece& piece : held) {
    const double left = box.left() + box.width() * static_cast<double>(piece.offset) / elements;
    const double width = box.width() * static_cast<double>(piece.count) / elements;
    const double share =
        static_cast<double>(piece.contributions) / std::max(1, moment.contributors);
    // Give every column a minimum height, so that even a piece with few contributions is visible.
    const double height = piece.contributions > 0 ? std::max(2.0, box.height() * share) : 0;
    const QRectF column(left, box.bottom() - height, width, height);
    const Pixel filled = held_colour(theme, piece.contributions, moment.contributors);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour(filled));
    painter.drawRect(column);
    if (!figures) continue;
    painter.setPen(colour(theme.background));
    painter.drawLine(QPointF(left, box.top()), QPointF(left, box.bottom()));
    const QString count = QString::number(piece.contributions);
    if (painter.fontMetrics().horizontalAdvance(count) + 4 > width) continue;
    const bool tall = column.height() > painter.fontMetrics().height();
    painter.setPen(colour(tall ? text_on(filled) : theme.text));
    painter.drawText(
        tall ? column : QRectF(left, box.top(), width, box.height() - column.height()),
        (tall ? Qt::AlignCenter : Qt::AlignHCenter | Qt::AlignBottom) | Qt::TextSingleLine, count);
  }
  painter.setPen(QPen(colour(theme.faint_text), 0.8));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box);
}

void paint_topology(QPainter& painter, const TopologyScene& scene, const QRectF& seen,
                    double scale) {
  TopologyPainter(painter, scene, seen, scale).paint();
}

}  // namespace tutti::gui
