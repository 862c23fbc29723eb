#pragma once

#include <QWidget>

class QLabel;
class QToolButton;

namespace tutti::gui {

class Actions;
class TimeCursor;

/// The buttons of the time cursor (back to the start, events, play, speed), and how much of the run
/// plays per second.
class PlayBar : public QWidget {
  Q_OBJECT

 public:
  /// The buttons are the actions that `cursor` has added to `actions`. REQUIRES: both outlive the
  /// bar.
  PlayBar(const TimeCursor& cursor, const Actions& actions);

  [[nodiscard]] QString text() const;

 private:
  void tell();

  const TimeCursor& cursor_;
  QToolButton* play_;
  QLabel* speed_;
};

}  // namespace tutti::gui
