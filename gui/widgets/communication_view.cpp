// Paints a communication matrix. The cells share the space between the names and the colour scale;
// with more cells than pixels, the matrix is painted as an image that Qt scales down. Names and
// values are painted where they fit. The scale is logarithmic if the largest value is more than 50
// times the smallest one, because otherwise most cells would have the same colour.

#include "gui/widgets/communication_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/base/format.h"
#include "gui/paint/focus.h"
#include "gui/paint/text_of.h"

namespace tutti::gui {

namespace {

constexpr int kEdge = 6, kScaleBar = 14, kScaleWidth = 96, kMaxName = 90;
constexpr double kLinearUpTo = 50;

}  // namespace

CommunicationView::CommunicationView(QWidget* parent)
    : QWidget(parent), theme_(&light_theme()), words_(tr("no messages")) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Communication between ranks"));
}

void CommunicationView::show_matrix(CommunicationMatrix matrix) {
  matrix_ = std::move(matrix);
  image_ = {};
  words_.clear();
  const std::size_t ranks = matrix_.ranks.size();
  if (chosen_ && (chosen_->first >= ranks || chosen_->second >= ranks)) chosen_.reset();
  find_ends();
  choose(chosen_);
}

void CommunicationView::show_words(const QString& words) {
  matrix_ = {};
  image_ = {};
  words_ = words;
  choose(std::nullopt);
}

void CommunicationView::set_quantity(MatrixQuantity quantity) {
  quantity_ = quantity;
  image_ = {};
  find_ends();
  update();
}

void CommunicationView::set_theme(const Theme& theme) {
  theme_ = &theme;
  image_ = {};
  update();
}

void CommunicationView::set_picked(const std::optional<Cell>& cell) {
  picked_ = cell;
  update();
}

double CommunicationView::value_of(const PairTraffic& traffic) const {
  switch (quantity_) {
    case MatrixQuantity::kBytes: return traffic.bytes;
    case MatrixQuantity::kTime: return static_cast<double>(traffic.time.count());
    case MatrixQuantity::kRate: return traffic.rate();
  }
  return 0;
}

QString CommunicationView::text_of_value(double value) const {
  switch (quantity_) {
    case MatrixQuantity::kBytes: return text_of(core::show(core::Bytes(std::llround(value))));
    case MatrixQuantity::kTime: return text_of(core::Time(std::llround(value)));
    case MatrixQuantity::kRate: return tr("%1 GB/s").arg(value / 1e9, 0, 'g', 3);
  }
  return {};
}

void CommunicationView::find_ends() {
  least_ = most_ = 0;
  for (const auto& [cell, traffic] : matrix_.pairs) {
    const double value = value_of(traffic);
    if (value > 0) least_ = least_ > 0 ? std::min(least_, value) : value;
    most_ = std::max(most_, value);
  }
  logarithmic_ = least_ > 0 && most_ / least_ > kLinearUpTo;
}

double CommunicationView::share_of(double value) const {
  if (value <= 0 || most_ <= 0) return 0;
  return logarithmic_ ? std::log(value / least_) / std::log(most_ / least_) : value / most_;
}

Pixel CommunicationView::colour_at(double share) const {
  // The colours range from a tint of the background through blue to the colour with the strongest
  // contrast to the background.
  const Pixel blue = theme_->load;
  constexpr double kFaintest = 0.15, kMiddle = 0.6;
  if (share <= kMiddle)
    return blend(theme_->background, blue, kFaintest + (1 - kFaintest) * share / kMiddle);
  return blend(blue, theme_->text, 0.7 * (share - kMiddle) / (1 - kMiddle));
}

Pixel CommunicationView::colour_of(const Cell& cell) const {
  const auto pair = matrix_.pairs.find(cell);
  return pair == matrix_.pairs.end() ? theme_->band : colour_at(share_of(value_of(pair->second)));
}

int CommunicationView::name_width() const {
  int widest = 0;
  for (const CommunicationMatrix::Rank& rank : matrix_.ranks)
    widest = std::max(widest, fontMetrics().horizontalAdvance(QString::fromStdString(rank.name)));
  return std::min(widest, kMaxName) + 2 * kEdge;
}

QRectF CommunicationView::cells() const {
  const double left = kEdge + fontMetrics().height() + name_width();
  const double top = kEdge + 2 * fontMetrics().height();
  return {left, top, std::max(1.0, width() - left - kScaleWidth),
          std::max(1.0, height() - top - kEdge)};
}

QRectF CommunicationView::box_of(const Cell& cell) const {
  const QRectF all = cells();
  const double n = static_cast<double>(std::max<std::size_t>(1, matrix_.ranks.size()));
  const double wide = all.width() / n, tall = all.height() / n;
  return {all.left() + wide * static_cast<double>(cell.second),
          all.top() + tall * static_cast<double>(cell.first), wide, tall};
}

std::optional<CommunicationView::Cell> CommunicationView::cell_under(const QPointF& point) const {
  const QRectF all = cells();
  const std::size_t ranks = matrix_.ranks.size();
  if (ranks == 0 || !all.contains(point)) return std::nullopt;
  const auto index = [&](double offset, double length) {
    return std::min(ranks - 1,
                    static_cast<std::size_t>(offset / length * static_cast<double>(ranks)));
  };
  return Cell{index(point.y() - all.top(), all.height()),
              index(point.x() - all.left(), all.width())};
}

QString CommunicationView::words_of(const Cell& cell) const {
  const auto name = [&](std::size_t rank) {
    return QString::fromStdString(matrix_.ranks[rank].name);
  };
  const QString pair = tr("%1 → %2").arg(name(cell.first), name(cell.second));
  const auto traffic = matrix_.pairs.find(cell);
  if (traffic == matrix_.pairs.end()) return tr("%1: no messages").arg(pair);
  const PairTraffic& t = traffic->second;
  return tr("%1: %2 in %3, moving for %4 (%5 GB/s)")
      .arg(pair, text_of(core::show(core::Bytes(std::llround(t.bytes)))),
           t.messages == 1 ? tr("1 message")
                           : tr("%1 messages").arg(text_of(core::show_count(t.messages))),
           text_of(t.time), QString::number(t.rate() / 1e9, 'g', 3));
}

void CommunicationView::choose(const std::optional<Cell>& cell) {
  chosen_ = cell;
  setAccessibleDescription(chosen_ ? words_of(*chosen_) : words_);
  update();
  emit cell_chosen();
}

void CommunicationView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), QColor::fromRgb(theme_->background));
  painter.setPen(QColor::fromRgb(theme_->text));
  if (matrix_.ranks.empty() || !words_.isEmpty()) {
    painter.drawText(rect().adjusted(kEdge, kEdge, -kEdge, -kEdge),
                     Qt::AlignCenter | Qt::TextWordWrap, words_);
    return paint_focus(painter, *this);
  }
  paint_cells(painter);
  paint_names(painter);
  paint_scale(painter);
  paint_focus(painter, *this);
}

void CommunicationView::paint_cells(QPainter& painter) const {
  const int ranks = static_cast<int>(matrix_.ranks.size());
  if (image_.isNull()) {
    image_ = QImage(ranks, ranks, QImage::Format_RGB32);
    image_.fill(theme_->band);
    for (const auto& [cell, traffic] : matrix_.pairs)
      image_.setPixel(static_cast<int>(cell.second), static_cast<int>(cell.first),
                      colour_at(share_of(value_of(traffic))));
  }
  const QRectF all = cells();
  painter.setRenderHint(QPainter::SmoothPixmapTransform,
                        ranks > all.width() || ranks > all.height());
  painter.drawImage(all, image_);
  const QRectF first = box_of({0, 0});
  constexpr double kSeparated = 6;  // smaller cells would be mostly lines
  if (first.width() >= kSeparated && first.height() >= kSeparated) {
    painter.setPen(QColor::fromRgb(theme_->background));
    for (std::size_t i = 0; i <= matrix_.ranks.size(); ++i) {
      const QPointF corner = box_of({i, i}).topLeft();
      painter.drawLine(QPointF(all.left(), corner.y()), QPointF(all.right(), corner.y()));
      painter.drawLine(QPointF(corner.x(), all.top()), QPointF(corner.x(), all.bottom()));
    }
  }
  if (first.height() >= fontMetrics().height()) {
    for (const auto& [cell, traffic] : matrix_.pairs) {
      const QString text = text_of_value(value_of(traffic));
      const QRectF box = box_of(cell);
      if (fontMetrics().horizontalAdvance(text) + kEdge > box.width()) continue;
      painter.setPen(QColor::fromRgb(text_on(colour_of(cell))));
      painter.drawText(box, Qt::AlignCenter, text);
    }
  }
  painter.setBrush(Qt::NoBrush);
  const auto frame = [&](const std::optional<Cell>& cell, const QPen& pen) {
    if (!cell) return;
    painter.setPen(pen);
    painter.drawRect(box_of(*cell).adjusted(0, 0, -1, -1));
  };
  frame(picked_, QPen(QColor::fromRgb(theme_->selection), 3));
  frame(chosen_, QPen(QColor::fromRgb(theme_->text), hasFocus() ? 2 : 1));
}

void CommunicationView::paint_names(QPainter& painter) const {
  const QRectF all = cells();
  const int line = fontMetrics().height();
  painter.setPen(QColor::fromRgb(theme_->faint_text));
  painter.drawText(QRectF(all.left(), kEdge, all.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("receiver →"));
  painter.save();
  painter.translate(kEdge, all.top());
  painter.rotate(90);
  painter.drawText(QRectF(0, -line, all.height(), line), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("sender →"));
  painter.restore();
  painter.setPen(QColor::fromRgb(theme_->text));
  const QRectF first = box_of({0, 0});
  const auto every = [](double needed, double each) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(needed / each)));
  };
  const int name = name_width();
  for (std::size_t i = 0; i < matrix_.ranks.size(); i += every(line, first.height())) {
    const QString text = fontMetrics().elidedText(QString::fromStdString(matrix_.ranks[i].name),
                                                  Qt::ElideMiddle, name);
    const double y = box_of({i, 0}).center().y();
    painter.drawText(QRectF(all.left() - name - kEdge, y - line / 2.0, name, line),
                     Qt::AlignRight | Qt::AlignVCenter, text);
  }
  for (std::size_t i = 0; i < matrix_.ranks.size(); i += every(name, first.width())) {
    const QString text = fontMetrics().elidedText(QString::fromStdString(matrix_.ranks[i].name),
                                                  Qt::ElideMiddle, name);
    const QRectF box = box_of({0, i});
    // A name that is wider than its column begins at the left edge of the column.
    const bool fits = fontMetrics().horizontalAdvance(text) <= box.width();
    painter.drawText(
        QRectF(box.left(), all.top() - line - 1, std::max<double>(box.width(), name), line),
        (fits ? Qt::AlignHCenter : Qt::AlignLeft) | Qt::AlignVCenter, text);
  }
}

void CommunicationView::paint_scale(QPainter& painter) const {
  const QRectF all = cells();
  const int line = fontMetrics().height();
  const QRectF bar(all.right() + 2 * kEdge, all.top(), kScaleBar, all.height());
  QLinearGradient colours(bar.bottomLeft(), bar.topLeft());
  constexpr int kStops = 10;
  for (int i = 0; i <= kStops; ++i) {
    const double share = static_cast<double>(i) / kStops;
    colours.setColorAt(share, QColor::fromRgb(colour_at(share)));
  }
  painter.setPen(QColor::fromRgb(theme_->line));
  painter.setBrush(colours);
  painter.drawRect(bar);
  painter.setPen(QColor::fromRgb(theme_->text));
  const QRectF texts(bar.right() + 4, bar.top(), width() - bar.right() - 4, bar.height());
  painter.drawText(texts, Qt::AlignLeft | Qt::AlignTop, text_of_value(most_));
  painter.drawText(texts, Qt::AlignLeft | Qt::AlignBottom,
                   logarithmic_ ? text_of_value(least_) : QStringLiteral("0"));
  if (logarithmic_ && texts.height() > 4 * line) {
    painter.setPen(QColor::fromRgb(theme_->faint_text));
    painter.drawText(texts, Qt::AlignLeft | Qt::AlignVCenter, tr("(log. scale)"));
  }
}

void CommunicationView::mouseMoveEvent(QMouseEvent* event) {
  const auto cell = cell_under(event->position());
  if (cell != chosen_) choose(cell);
}

void CommunicationView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  choose(cell_under(event->position()));
  if (chosen_) emit cell_picked(Cell(*chosen_));
}

void CommunicationView::leaveEvent(QEvent*) {
  if (!hasFocus()) choose(std::nullopt);
}

void CommunicationView::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  if (event->reason() != Qt::MouseFocusReason && !chosen_ && !matrix_.ranks.empty())
    choose(Cell{0, 0});
}

void CommunicationView::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(matrix_.ranks.size()) - 1;
  const auto move = [&](int down, int right) {
    if (last < 0) return;
    const Cell at = chosen_.value_or(Cell{0, 0});
    const auto moved = [&](std::size_t from, int by) {
      return static_cast<std::size_t>(std::clamp(static_cast<int>(from) + by, 0, last));
    };
    choose(Cell{moved(at.first, down), moved(at.second, right)});
  };
  switch (event->key()) {
    case Qt::Key_Left: return move(0, -1);
    case Qt::Key_Right: return move(0, 1);
    case Qt::Key_Up: return move(-1, 0);
    case Qt::Key_Down: return move(1, 0);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (chosen_) emit cell_picked(Cell(*chosen_));
      return;
    default: return QWidget::keyPressEvent(event);
  }
}

bool CommunicationView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    // The arrow keys move in the matrix, although the window has actions with these keys.
    const auto* const key = static_cast<QKeyEvent*>(event);
    const bool arrow = key->key() >= Qt::Key_Left && key->key() <= Qt::Key_Down;
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if ((arrow || enter) && (key->modifiers() & ~Qt::KeypadModifier) == 0) event->accept();
  }
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* const help = static_cast<QHelpEvent*>(event);
  const auto cell = cell_under(help->pos());
  cell ? QToolTip::showText(help->globalPos(), words_of(*cell), this) : QToolTip::hideText();
  return true;
}

}  // namespace tutti::gui
