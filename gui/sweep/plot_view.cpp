// The plot is painted into a pixmap, which is painted again only if the curves, the size or the
// theme change. A paint event copies the pixmap, and adds the selection, the point under the mouse
// and its card. The response time to the mouse therefore does not depend on the number of points.
// The points of a curve are sorted by x, so the search for the nearest point visits only points
// near the mouse. Curves may cross, so the up and down keys move to the next higher or lower point
// at the same x, not to the next curve in the list. The file sweep_curves.h computes the curves,
// and plot_painter.h paints them.

#include "gui/sweep/plot_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gui/sweep/plot_painter.h"

namespace tutti::gui {

namespace {

/// Maximum distance in pixels between the mouse and a point that it selects.
constexpr double kReach = 14;

bool walks(int key) {
  switch (key) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Home:
    case Qt::Key_End:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
    case Qt::Key_Return:
    case Qt::Key_Enter: return true;
    default: return false;
  }
}

}  // namespace

PlotView::PlotView(QWidget* parent) : QWidget(parent), theme_(&light_theme()) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(260, 180);
  setAccessibleName(tr("Plot of the sweep"));
}

void PlotView::show_curves(std::shared_ptr<const SweepData> sweep, SweepCurves curves) {
  const std::optional<std::int64_t> kept =
      selected_ ? std::optional(curves_.at(*selected_).point) : std::nullopt;
  data_ = std::move(sweep);
  curves_ = std::move(curves);
  hovered_.reset();
  selected_ = kept ? curves_.find(*kept) : std::nullopt;
  picture_ = {};
  describe();
  update();
}

void PlotView::show_words(const QString& words) {
  words_ = words;
  update();
}

void PlotView::set_theme(const Theme& theme) {
  theme_ = &theme;
  picture_ = {};
  update();
}

void PlotView::resizeEvent(QResizeEvent*) { picture_ = {}; }

// --- where things are ---

QPointF PlotView::pixel_of(const CurvePlace& place) const {
  return PlotGeometry(curves_, size(), fontMetrics()).at(curves_.at(place));
}

std::optional<CurvePlace> PlotView::near(const QPointF& pixel) const {
  const PlotGeometry geometry(curves_, size(), fontMetrics());
  const double reach = kReach / geometry.area().width();
  const double x = (pixel.x() - geometry.area().left()) / geometry.area().width();
  std::optional<CurvePlace> nearest;
  double least = kReach;
  for (std::size_t c = 0; c < curves_.curves.size(); ++c) {
    const std::vector<CurvePoint>& points = curves_.curves[c].points;
    const auto first =
        std::lower_bound(points.begin(), points.end(), x - reach,
                         [](const CurvePoint& point, double at) { return point.x < at; });
    for (auto point = first; point != points.end() && point->x <= x + reach; ++point) {
      const QPointF away = geometry.at(*point) - pixel;
      const double distance = std::hypot(away.x(), away.y());
      if (distance >= least) continue;
      least = distance;
      nearest = CurvePlace{c, static_cast<std::size_t>(point - points.begin())};
    }
  }
  return nearest;
}

// --- what is selected ---

void PlotView::select(const std::optional<CurvePlace>& place) {
  if (place == selected_) return;
  selected_ = place;
  describe();
  update();
  emit selection_changed();
}

void PlotView::describe() {
  setAccessibleDescription(data_ && selected_ ? QString::fromStdString(describe_point(
                                                    *data_, curves_.at(*selected_).point))
                                              : QString());
}

void PlotView::step_along(int by) {
  if (!selected_) return select(curves_.best);
  const auto last = std::ssize(curves_.curves[selected_->curve].points) - 1;
  const auto index =
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(selected_->index) + by, 0, last);
  select(CurvePlace{selected_->curve, static_cast<std::size_t>(index)});
}

/// Moves to the point above or below at the same value of the x axis. Because curves may cross,
/// this point need not be on the neighbouring curve in the list.
void PlotView::step_across(int up) {
  if (!selected_) return select(curves_.best);
  const CurvePoint from = curves_.at(*selected_);
  struct Candidate {
    double y = 0;
    CurvePlace place;
  };
  std::vector<Candidate> there;
  for (std::size_t c = 0; c < curves_.curves.size(); ++c) {
    const auto& points = curves_.curves[c].points;
    const auto point =
        std::lower_bound(points.begin(), points.end(), from.x,
                         [](const CurvePoint& one, double at) { return one.x < at; });
    if (points.empty()) continue;
    const auto nearest = point == points.end() ? points.end() - 1 : point;
    there.push_back({nearest->y, {c, static_cast<std::size_t>(nearest - points.begin())}});
  }
  std::stable_sort(there.begin(), there.end(),
                   [](const Candidate& a, const Candidate& b) { return a.y < b.y; });
  const auto own = std::find_if(there.begin(), there.end(), [&](const Candidate& one) {
    return one.place.curve == selected_->curve;
  });
  const auto next = (own - there.begin()) + up;
  if (next >= 0 && next < std::ssize(there)) select(there[next].place);
}

void PlotView::open_selected() {
  if (!selected_) return select(curves_.best);
  emit wanted(curves_.at(*selected_).point);
}

// --- mouse and keys ---

void PlotView::hover(const std::optional<CurvePlace>& place) {
  if (place == hovered_) return;
  hovered_ = place;
  setCursor(place ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
}

void PlotView::mouseMoveEvent(QMouseEvent* event) { hover(near(event->position())); }
void PlotView::leaveEvent(QEvent*) { hover(std::nullopt); }

void PlotView::mouseReleaseEvent(QMouseEvent* event) {
  const auto place = near(event->position());
  if (event->button() != Qt::LeftButton || !place) return;
  select(place);
  open_selected();
}

/// While the plot has the focus, arrow keys move the selection in the plot, not the timeline.
bool PlotView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* const key = static_cast<QKeyEvent*>(event);
    if (key->modifiers() == Qt::NoModifier && walks(key->key())) {
      event->accept();
      return true;
    }
  }
  return QWidget::event(event);
}

void PlotView::keyPressEvent(QKeyEvent* event) {
  constexpr int kPage = 10, kAll = std::numeric_limits<int>::max() / 2;
  if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier))
    return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left: return step_along(-1);
    case Qt::Key_Right: return step_along(1);
    case Qt::Key_PageUp: return step_along(-kPage);
    case Qt::Key_PageDown: return step_along(kPage);
    case Qt::Key_Home: return step_along(-kAll);
    case Qt::Key_End: return step_along(kAll);
    case Qt::Key_Up: return step_across(1);
    case Qt::Key_Down: return step_across(-1);
    case Qt::Key_Return:
    case Qt::Key_Enter: return open_selected();
    default: return QWidget::keyPressEvent(event);
  }
}

// --- painting ---

QString PlotView::card() const {
  const auto& place = hovered_ ? hovered_ : selected_;
  if (!place || !data_) return {};
  const CurvePoint& point = curves_.at(*place);
  QString text = QString::fromStdString(describe_point(*data_, point.point));
  if (point.others > 0)
    text += tr("\n%1 other points of this curve with the same x value are not drawn, because they "
               "are not better than this point")
                .arg(point.others);
  return text;
}

void PlotView::paint_card(QPainter& painter, const CurvePlace& place) {
  constexpr int kPad = 8, kWidest = 420;
  const QPointF at = pixel_of(place);
  const QString text = card();
  const QRect room(0, 0, std::min(kWidest, width() - 4 * kPad), 4000);
  QRect box = painter.fontMetrics()
                  .boundingRect(room, Qt::TextWordWrap, text)
                  .adjusted(0, 0, 2 * kPad, 2 * kPad);
  const bool left = at.x() + 16 + box.width() > width();
  const bool above = at.y() + 16 + box.height() > height();
  box.moveTopLeft(
      {static_cast<int>(left ? std::max(2.0, at.x() - 16 - box.width()) : at.x() + 16),
       static_cast<int>(above ? std::max(2.0, at.y() - 16 - box.height()) : at.y() + 16)});
  painter.setPen(QColor::fromRgb(theme_->faint_text));
  painter.setBrush(QColor::fromRgb(theme_->band));
  painter.drawRect(box);
  painter.setPen(QColor::fromRgb(theme_->text));
  painter.drawText(box.adjusted(kPad, kPad, -kPad, -kPad), Qt::TextWordWrap, text);
}

void PlotView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (!data_ || curves_.best == std::nullopt) {
    painter.fillRect(rect(), QColor::fromRgb(theme_->background));
    painter.setPen(QColor::fromRgb(theme_->faint_text));
    painter.drawText(rect().adjusted(20, 20, -20, -20), Qt::AlignCenter | Qt::TextWordWrap, words_);
    return;
  }
  if (picture_.isNull()) {
    picture_ = QPixmap(size() * devicePixelRatioF());
    picture_.setDevicePixelRatio(devicePixelRatioF());
    QPainter onto(&picture_);
    onto.setFont(font());
    paint_plot(onto, curves_, size(), *theme_);
  }
  painter.drawPixmap(0, 0, picture_);
  painter.setRenderHint(QPainter::Antialiasing);
  if (selected_) {
    painter.setPen(QPen(QColor::fromRgb(theme_->mark), 2.4));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(pixel_of(*selected_), 11, 11);
  }
  if (hovered_) {
    const QColor ink = curve_colour(hovered_->curve, *theme_);
    paint_dot(painter, pixel_of(*hovered_), hovered_->curve, ink, 5.5, false);
  }
  if (hasFocus()) {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(QPen(QColor::fromRgb(theme_->mark), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
  if (hovered_ || (selected_ && hasFocus())) paint_card(painter, hovered_ ? *hovered_ : *selected_);
}

}  // namespace tutti::gui
