#include "gui/widgets/message_arrows.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/widgets/actions.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

namespace {

/// If more lane steps than this are visible, the arrows are not shown, because they would be too
/// dense.
constexpr std::size_t kFew = 250;
constexpr int kRestMs = 120;
constexpr double kHead = 7;

}  // namespace

MessageArrows::MessageArrows(TimelineView& view) : view_(view) {
  view.add_overlay(*this);
  at_rest_.setSingleShot(true);
  at_rest_.setInterval(kRestMs);
  connect(&at_rest_, &QTimer::timeout, this, &MessageArrows::update_visible);
  connect(&view, &TimelineView::selection_changed, this, &MessageArrows::look_at_selection);
  connect(&view, &TimelineView::view_changed, this, [this] {
    in_view_.clear();
    at_rest_.start();
  });
}

void MessageArrows::add_actions(Actions& actions) {
  const QString select = tr("&Select");
  actions.begin_section(select);
  actions.add(select, "message-back", tr("To the &sender of the message that this span received"),
              QStringLiteral("["), [this] { follow(false); });
  actions.add(select, "message-on", tr("To the &receiver of the message that this span sent"),
              QStringLiteral("]"), [this] { follow(true); });
  actions.add_switch(
      tr("&View"), "messages", tr("Draw &messages as arrows if few are visible"),
      QStringLiteral("G"), [this] { show_all(!show_all_); }, [this] { return show_all_; });
}

void MessageArrows::show_all(bool on) {
  show_all_ = on;
  update_visible();
  emit status_message(!on ? tr("arrows only for the selected span")
                      : in_view_.empty()
                          ? tr("arrows for all messages if few are visible; zoom in to see them")
                          : tr("%1 messages in view").arg(in_view_.size()));
}

void MessageArrows::look_at_selection() {
  of_selection_.clear();
  if (view_.trace() && view_.selected()) {
    const SpanId span = *view_.selected();
    if (const auto into = message_into(*view_.trace(), span); into && *into)
      of_selection_.push_back(**into);
    if (const auto out_of = messages_out_of(*view_.trace(), span))
      of_selection_.insert(of_selection_.end(), out_of->begin(), out_of->end());
  }
  view_.update();
}

void MessageArrows::update_visible() {
  in_view_.clear();
  at_rest_.stop();
  if (view_.trace() && show_all_) {
    auto found = messages_in(*view_.trace(), view_.visible_rows(), view_.view().range(), kFew);
    if (found && *found) in_view_ = std::move(**found);
  }
  view_.update();
}

void MessageArrows::follow(bool forward) {
  if (!view_.selected())
    return emit status_message(tr("select a schedule step first to follow its messages"));
  const SpanId here = *view_.selected();
  const auto next = std::find_if(of_selection_.begin(), of_selection_.end(), [&](const Message& m) {
    return (forward ? m.from : m.to) == here;
  });
  if (next == of_selection_.end())
    return emit status_message(
        forward ? tr("the timeline does not record which span received a message from this span")
                : tr("the timeline does not record which span sent a message to this span"));
  view_.go_to(forward ? next->to : next->from);
}

void MessageArrows::paint(QPainter& painter, const Placement& place) const {
  painter.setClipRect(place.lines);
  painter.setRenderHint(QPainter::Antialiasing);
  QColor faint = QColor::fromRgb(place.scene.theme.text);
  faint.setAlpha(110);
  painter.setPen(QPen(faint, 1));
  painter.setBrush(faint);
  for (const Message& message : in_view_) arrow(painter, place, message);
  painter.setPen(QPen(QColor::fromRgb(place.scene.theme.selection), 1.5));
  painter.setBrush(QColor::fromRgb(place.scene.theme.selection));
  for (const Message& message : of_selection_) arrow(painter, place, message);
}

/// Draws an arrow from the middle of the sender's row to the edge of the receiver's row. If there
/// is enough space, both ends of the arrow are steep.
void MessageArrows::arrow(QPainter& painter, const Placement& place, const Message& message) const {
  const QRect from_line = place.line_of(message.from.row), to_line = place.line_of(message.to.row);
  if (from_line.isEmpty() || to_line.isEmpty() || from_line == to_line) return;
  const bool down = to_line.top() > from_line.top();
  const QPointF from(place.x_of(message.sent), from_line.center().y());
  const QPointF to(place.x_of(message.arrived), down ? to_line.top() + 2 : to_line.bottom() - 2);
  const double bend = (to.y() - from.y()) * 0.4;
  const QPointF near_end(to.x(), to.y() - bend);
  QPainterPath path(from);
  path.cubicTo(QPointF(from.x(), from.y() + bend), near_end, to);
  painter.strokePath(path, painter.pen());
  const double back = down ? -kHead : kHead;
  painter.drawPolygon(
      QPolygonF({to, to + QPointF(-kHead / 2, back), to + QPointF(kHead / 2, back)}));
}

}  // namespace tutti::gui
