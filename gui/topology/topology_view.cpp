// Shows the visible part of a layout, and finds the node or link under the mouse. A point of the
// layout is shown at origin_ + scale_ · point. Zooming keeps the point under the mouse in its
// place. Until the user zooms or drags, the picture is fitted again whenever the widget's size
// changes. The position of the mouse is compared with all boxes and lines, in units of the layout.
// This comparison is fast enough for thousands of nodes. The file topology_layout.cpp places the
// nodes, topology_painter.cpp paints the topology, and TopologyMoment has the state at a time.

#include "gui/topology/topology_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/format.h"
#include "gui/topology/topology_painter.h"

namespace tutti::gui {

namespace {

constexpr double kMargin = 10, kMaxScale = 6, kMinScale = 0.02, kZoomStep = 1.25, kLargestFit = 1.6;
constexpr double kNear = 4;  ///< maximum distance in pixels between the mouse and a link under it
constexpr int kClick = 4;

double distance_to(const Line2& line, const Point& p) {
  double best = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i < line.size(); ++i) {
    const double dx = line[i].x - line[i - 1].x, dy = line[i].y - line[i - 1].y;
    const double length = dx * dx + dy * dy;
    const double t =
        length > 0 ? std::clamp(((p.x - line[i - 1].x) * dx + (p.y - line[i - 1].y) * dy) / length,
                                0.0, 1.0)
                   : 0;
    best = std::min(best, std::hypot(p.x - line[i - 1].x - t * dx, p.y - line[i - 1].y - t * dy));
  }
  return best;
}

bool contains(const Box& box, const Point& p) {
  return p.x >= box.x && p.x < box.right() && p.y >= box.y && p.y < box.bottom();
}

}  // namespace

TopologyView::TopologyView(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Topology"));
  setAccessibleDescription(
      tr("Devices, switches and links. Arrow keys move between nodes, N and B between links"));
}

void TopologyView::show_topology(std::shared_ptr<const Topology> topology) {
  topology_ = std::move(topology);
  moment_ = {};
  if (topology_) moment_.held.resize(topology_->nodes().size());
  node_.reset();
  link_.reset();
  hovered_.reset();
  fitted_ = true;
  update_layout();
  emit current_node_changed();
}

void TopologyView::show_moment(TopologyMoment moment) {
  moment_ = std::move(moment);
  update();
}

void TopologyView::set_theme(const Theme& theme) {
  theme_ = &theme;
  update();
}

// --- what is in view ---

QPointF TopologyView::place_of(const Point& point) const {
  return {origin_.x() + point.x * scale_, origin_.y() + point.y * scale_};
}

Point TopologyView::point_at(const QPointF& position) const {
  return {(position.x() - origin_.x()) / scale_, (position.y() - origin_.y()) / scale_};
}

void TopologyView::update_layout() {
  layout_ = topology_ ? lay_out(*topology_,
                                static_cast<double>(std::max(1, width())) / std::max(1, height()))
                      : TopologyLayout();
  if (fitted_) fit();
  update();
}

void TopologyView::fit() {
  const Box& bounds = layout_.bounds;
  const double left = layout_.network.size() > 1 ? 16 : 0;  // space for the network's trunk
  const double width = std::max(1.0, bounds.width + left), height = std::max(1.0, bounds.height);
  scale_ = std::clamp(
      std::min((this->width() - 2 * kMargin) / width, (this->height() - 2 * kMargin) / height),
      kMinScale, kLargestFit);
  origin_ = {(this->width() - width * scale_) / 2 + left * scale_,
             (this->height() - height * scale_) / 2};
  fitted_ = true;
  update();
}

void TopologyView::zoom(double factor, const QPointF& at) {
  const double scale = std::clamp(scale_ * factor, kMinScale, kMaxScale);
  origin_ = at + (origin_ - at) * (scale / scale_);
  scale_ = scale;
  fitted_ = false;
  update();
}

void TopologyView::bring_into_view(const Point& point) {
  const QPointF place = place_of(point);
  if (rect().adjusted(20, 20, -20, -20).contains(place.toPoint())) return;
  origin_ += QPointF(width() / 2.0, height() / 2.0) - place;
  update();
}

// --- selection ---

void TopologyView::select_node(std::optional<std::size_t> node) {
  if (node_ == node) return;
  node_ = node;
  if (node) setAccessibleDescription(QString::fromStdString(topology_->nodes()[*node].full_name()));
  update();
  emit current_node_changed();
}

void TopologyView::select_link(std::optional<std::size_t> link) {
  link_ = link;
  update();
}

std::optional<std::size_t> TopologyView::node_under(const QPointF& position) const {
  const Point p = point_at(position);
  for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
    if (contains(layout_.nodes[n], p)) return n;
  }
  for (const Box& bar : layout_.network) {
    for (std::size_t n = 0; contains(bar, p) && n < topology_->nodes().size(); ++n) {
      if (topology_->nodes()[n].worker < 0) return n;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> TopologyView::link_under(const QPointF& position) const {
  const Point p = point_at(position);
  std::optional<std::size_t> best;
  double nearest = kNear / scale_;
  for (std::size_t l = 0; l < layout_.links.size(); ++l) {
    const double distance = std::max(0.0, distance_to(layout_.links[l], p) - layout_.widths[l] / 2);
    if (distance >= nearest) continue;
    nearest = distance;
    best = l;
  }
  return best;
}

/// Selects the nearest node in this direction; the first node if none is selected.
void TopologyView::walk(int dx, int dy) {
  if (!topology_ || topology_->nodes().empty()) return;
  std::optional<std::size_t> best;
  double least = std::numeric_limits<double>::max();
  for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
    if (!node_) {
      if (topology_->nodes()[n].is_device()) best = best.value_or(n);
      continue;
    }
    const Point here = layout_.nodes[*node_].centre(), there = layout_.nodes[n].centre();
    const double ahead = (there.x - here.x) * dx + (there.y - here.y) * dy;
    const double aside = std::abs((there.x - here.x) * dy) + std::abs((there.y - here.y) * dx);
    if (n == *node_ || ahead < 1) continue;
    // Prefer a node straight ahead to a nearer node that lies to the side.
    const double cost = ahead + 3 * aside;
    if (cost < least) least = cost, best = n;
  }
  if (!best) return;
  select_node(best);
  bring_into_view(layout_.nodes[*best].centre());
}

/// Selects the next link of the selected node, or of all nodes if none is selected.
void TopologyView::walk_links(int by) {
  if (!topology_) return;
  std::vector<std::size_t> links;
  for (std::size_t l = 0; l < topology_->links().size(); ++l) {
    if (!node_ || topology_->links()[l].from == *node_ || topology_->links()[l].to == *node_)
      links.push_back(l);
  }
  if (links.empty()) return;
  const auto here = link_ ? std::find(links.begin(), links.end(), *link_) : links.end();
  const auto count = static_cast<std::ptrdiff_t>(links.size());
  const std::ptrdiff_t next = here == links.end() ? (by > 0 ? 0 : count - 1)
                                                  : ((here - links.begin()) + by + count) % count;
  select_link(links[next]);
  bring_into_view(along(layout_.links[*link_], 0.5));
  emit link_chosen(*link_);
}

// --- events ---

void TopologyView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), QColor::fromRgb(theme_->background));
  if (!topology_) return;
  painter.translate(origin_);
  painter.scale(scale_, scale_);
  const Point from = point_at({0, 0}),
              to = point_at({static_cast<double>(width()), static_cast<double>(height())});
  const TopologyScene scene{*topology_, layout_, moment_, *theme_, current_node(), link_};
  paint_topology(painter, scene, QRectF(QPointF(from.x, from.y), QPointF(to.x, to.y)), scale_);
  if (!hasFocus()) return;
  painter.resetTransform();
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(QPen(QColor::fromRgb(theme_->cursor), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void TopologyView::resizeEvent(QResizeEvent*) { update_layout(); }

void TopologyView::wheelEvent(QWheelEvent* event) {
  zoom(std::pow(kZoomStep, event->angleDelta().y() / 120.0), event->position());
  event->accept();
}

void TopologyView::mousePressEvent(QMouseEvent* event) {
  pressed_ = event->position();
  pressed_origin_ = origin_;
  dragging_ = false;
  setFocus(Qt::MouseFocusReason);
}

void TopologyView::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & (Qt::LeftButton | Qt::MiddleButton)) {
    dragging_ = dragging_ || (event->position() - pressed_).manhattanLength() >= kClick;
    if (!dragging_) return;
    origin_ = pressed_origin_ + event->position() - pressed_;
    fitted_ = false;
    return update();
  }
  const auto under = topology_ ? node_under(event->position()) : std::nullopt;
  if (under == hovered_) return;
  hovered_ = under;
  update();
  emit current_node_changed();
}

void TopologyView::mouseReleaseEvent(QMouseEvent* event) {
  if (dragging_ || event->button() != Qt::LeftButton || !topology_) return;
  const auto node = node_under(event->position());
  select_node(node);
  const auto link = node ? std::nullopt : link_under(event->position());
  select_link(link);
  if (link) emit link_chosen(*link);
}

void TopologyView::mouseDoubleClickEvent(QMouseEvent*) { fit(); }

void TopologyView::leaveEvent(QEvent*) {
  if (!hovered_) return;
  hovered_.reset();
  update();
  emit current_node_changed();
}

void TopologyView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left: return walk(-1, 0);
    case Qt::Key_Right: return walk(1, 0);
    case Qt::Key_Up: return walk(0, -1);
    case Qt::Key_Down: return walk(0, 1);
    case Qt::Key_N: return walk_links(1);
    case Qt::Key_B: return walk_links(-1);
    case Qt::Key_Plus: return zoom(kZoomStep, rect().center());
    case Qt::Key_Minus: return zoom(1 / kZoomStep, rect().center());
    case Qt::Key_Home: return fit();
    default: QWidget::keyPressEvent(event);
  }
}

bool TopologyView::event(QEvent* event) {
  // While the topology has the focus, it handles these keys itself. Without the focus, the keys are
  // shortcuts of the window.
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* const key = static_cast<QKeyEvent*>(event);
    const QList<int> ours{Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,    Qt::Key_Down, Qt::Key_N,
                          Qt::Key_B,    Qt::Key_Plus,  Qt::Key_Minus, Qt::Key_Home};
    if ((key->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier)) == Qt::NoModifier &&
        ours.contains(key->key())) {
      event->accept();
      return true;
    }
  }
  if (event->type() != QEvent::ToolTip || !topology_) return QWidget::event(event);
  auto* const help = static_cast<QHelpEvent*>(event);
  const auto link = node_under(help->pos()) ? std::nullopt : link_under(help->pos());
  if (!link) {
    QToolTip::hideText();
    return true;
  }
  const Topology::Link& at = topology_->links()[*link];
  QString text = QString::fromStdString(at.name);
  if (at.capacity.count() > 0)
    text += QStringLiteral(", ") + QString::fromStdString(core::show(at.capacity));
  if (!moment_.loads.empty())
    text +=
        tr(", %1 in use now").arg(QString::fromStdString(core::show_share(moment_.loads[*link])));
  text += tr(", %1 over the run").arg(QString::fromStdString(core::show(at.bytes)));
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace tutti::gui
