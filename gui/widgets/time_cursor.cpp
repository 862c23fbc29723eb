#include "gui/widgets/time_cursor.h"

#include <QPainter>
#include <algorithm>

#include "core/base/format.h"
#include "gui/traffic/topology_moment.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/overview_strip.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr int kFrameMs = 16;
/// The maximum real time in ms by which playback advances in one frame. If the window has not been
/// painted for longer than this, the cursor does not jump.
constexpr qint64 kLongestFrameMs = 200;

}  // namespace

TimeCursor::TimeCursor(TimelineView& view, OverviewStrip& overview) : view_(view) {
  view.add_overlay(*this);
  frames_.setInterval(kFrameMs);
  connect(&frames_, &QTimer::timeout, this,
          [this] { advance(std::min(kLongestFrameMs, since_frame_.restart())); });
  connect(&view, &TimelineView::trace_changed, this, &TimeCursor::begin);
  connect(&view, &TimelineView::moment_wanted, this, &TimeCursor::set_moment);
  connect(&overview, &OverviewStrip::moment_wanted, this, &TimeCursor::set_moment);
  connect(&view, &TimelineView::view_changed, this, &TimeCursor::playing_changed);
}

void TimeCursor::add_actions(Actions& actions) {
  const QString play = tr("&Play");
  actions.add(play, "play", tr("&Play through the visible range, or pause"), QStringLiteral("K"),
              [this] { play_or_pause(); });
  actions.add(play, "moment-next", tr("Cursor to the &next event"), QStringLiteral("L"),
              [this] { next(); });
  actions.add(play, "moment-previous", tr("Cursor &back to the previous event"),
              QStringLiteral("J"), [this] { previous(); });
  actions.add(play, "moment-start", tr("Cursor to the &start of the visible range"),
              QStringLiteral("Shift+K"), [this] { to_start(); });
  actions.add(play, "faster", tr("Play &faster"), QStringLiteral("Shift+L"),
              [this] { set_speed(playback_.speed() + 1); });
  actions.add(play, "slower", tr("Play s&lower"), QStringLiteral("Shift+J"),
              [this] { set_speed(playback_.speed() - 1); });
}

void TimeCursor::begin() {
  playback_.pause();
  frames_.stop();
  playback_.set_moment(view_.trace() ? initial_time(*view_.trace()) : Time());
  emit moment_changed();
  emit playing_changed();
}

Time TimeCursor::per_second() const { return playback_.per_second(view_.view().range()); }

void TimeCursor::set_moment(Time t) {
  if (!view_.trace()) return;
  playback_.set_moment(std::clamp(t, Time(), view_.view().run_length()));
  view_.update();
  emit moment_changed();
}

void TimeCursor::play_or_pause() {
  if (!view_.trace()) return;
  if (playback_.playing()) {
    playback_.pause();
    frames_.stop();
  } else {
    playback_.play(view_.view().range());
    since_frame_.start();
    frames_.start();
    emit moment_changed();
  }
  emit playing_changed();
}

void TimeCursor::set_speed(int power) {
  playback_.set_speed(power);
  emit playing_changed();
}

void TimeCursor::to_start() { set_moment(view_.view().range().from); }

void TimeCursor::next() {
  if (!view_.trace()) return;
  const Time t = next_event(*view_.trace(), view_.visible_rows(), moment());
  if (t < core::kNever) set_moment(t);
}

void TimeCursor::previous() {
  if (!view_.trace()) return;
  const Time t = previous_event(*view_.trace(), view_.visible_rows(), moment());
  if (t < core::kNever) set_moment(t);
}

void TimeCursor::advance(qint64 milliseconds) {
  if (!playback_.playing()) return;
  playback_.advance(milliseconds, view_.view().range());
  view_.update();
  emit moment_changed();
  if (playback_.playing()) return;
  frames_.stop();
  emit playing_changed();
}

QRect TimeCursor::flag(const Placement& place, const QFontMetrics& metrics,
                       const QString& text) const {
  const TimeRange& range = place.scene.range;
  if (moment() < range.from || moment() >= range.to) return {};
  const int width = metrics.horizontalAdvance(text) + 12;
  const int rightmost = std::max(place.lines.left(), place.lines.right() - width);
  const int left = std::clamp(place.x_of(moment()) - width / 2, place.lines.left(), rightmost);
  return {left, place.lines.top() - Scene::kAxis + 2, width, Scene::kAxis - 4};
}

QRegion TimeCursor::on_axis(const Placement& place, const QFontMetrics& metrics) const {
  return flag(place, metrics,
              QString::fromStdString(moment_text(place.scene.trace, moment(), place.scene.range)));
}

void TimeCursor::paint(QPainter& painter, const Placement& place) const {
  const QString text =
      QString::fromStdString(moment_text(place.scene.trace, moment(), place.scene.range));
  const QRect box = flag(place, painter.fontMetrics(), text);
  if (box.isEmpty()) return;
  const int x = place.x_of(moment());
  const QColor colour = QColor::fromRgb(place.scene.theme.cursor);
  painter.setPen(QPen(colour, 2));
  painter.drawLine(x, place.lines.top(), x, place.lines.bottom());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawRoundedRect(box, 3, 3);
  painter.setPen(QColor::fromRgb(text_on(place.scene.theme.cursor)));
  painter.drawText(box, Qt::AlignCenter, text);
}

}  // namespace tutti::gui
