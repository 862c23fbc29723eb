#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "gui/trace/playback.h"
#include "gui/widgets/overlay.h"

namespace tutti::gui {

class Actions;
class OverviewStrip;
class TimelineView;

/// The time cursor marks a time of the run, independently of the position of the mouse. The cursor
/// is drawn as a line through all rows. The cursor can play through the visible range. A click on
/// the time axis or on the overview sets the cursor. The signal moment_changed() notifies other
/// widgets that the cursor's time has changed.
class TimeCursor : public QObject, public Overlay {
  Q_OBJECT

 public:
  /// REQUIRES: both arguments outlive this object.
  TimeCursor(TimelineView& view, OverviewStrip& overview);

  void add_actions(Actions& actions);
  void paint(QPainter& painter, const Placement& place) const override;
  [[nodiscard]] QRegion on_axis(const Placement& place, const QFontMetrics& metrics) const override;

  [[nodiscard]] core::Time moment() const { return playback_.moment(); }
  [[nodiscard]] const Playback& playback() const { return playback_; }
  /// Returns how much time of the run the cursor passes per second of real time while it plays.
  [[nodiscard]] core::Time per_second() const;

 public slots:
  void set_moment(tutti::core::Time t);
  void play_or_pause();
  void set_speed(int power);
  void to_start();
  void next();
  void previous();
  /// Advances by one frame of this duration. The timer and tests call this function.
  void advance(qint64 milliseconds);

 signals:
  void moment_changed();
  /// Emitted when the cursor starts or stops playing, or when the speed changes.
  void playing_changed();

 private:
  void begin();
  /// Returns the rectangle of the label with the time; empty if the cursor is not visible.
  [[nodiscard]] QRect flag(const Placement& place, const QFontMetrics& metrics,
                           const QString& text) const;

  TimelineView& view_;
  Playback playback_;
  QTimer frames_;
  QElapsedTimer since_frame_;
};

}  // namespace tutti::gui
