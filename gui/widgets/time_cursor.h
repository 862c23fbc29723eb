#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "gui/model/playback.h"
#include "gui/widgets/overlay.h"

namespace tutti::gui {

class Actions;
class OverviewStrip;
class TimelineView;

/// A moment of the run, apart from the mouse: a line through all rows, which plays through the range that is seen. A click
/// on the time axis or the overview sets it. Other parts follow it by moment_changed().
class TimeCursor : public QObject, public Overlay {
  Q_OBJECT

 public:
  /// REQUIRES: both outlive it.
  TimeCursor(TimelineView& view, OverviewStrip& overview);

  void add_actions(Actions& actions);
  void paint(QPainter& painter, const Placement& place) const override;
  [[nodiscard]] QRegion on_axis(const Placement& place, const QFontMetrics& metrics) const override;

  [[nodiscard]] core::Time moment() const { return playback_.moment(); }
  [[nodiscard]] const Playback& playback() const { return playback_; }
  /// Of the run, in a second of ours.
  [[nodiscard]] core::Time per_second() const;

 public slots:
  void set_moment(tutti::core::Time t);
  void play_or_pause();
  void set_speed(int power);
  void to_start();
  void next();
  void previous();
  /// A frame: so much later for who looks. What the timer calls, and tests.
  void advance(qint64 milliseconds);

 signals:
  void moment_changed();
  /// Playing, pausing, another speed.
  void playing_changed();

 private:
  void begin();
  /// Where the moment is written; empty while it is not in view.
  [[nodiscard]] QRect flag(const Placement& place, const QFontMetrics& metrics, const QString& text) const;

  TimelineView& view_;
  Playback playback_;
  QTimer frames_;
  QElapsedTimer since_frame_;
};

}  // namespace tutti::gui
