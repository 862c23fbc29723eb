#pragma once

#include <QWidget>

class QLabel;
class QToolButton;

namespace tutti::gui {

class Actions;
class TimeCursor;

/// A bar with the buttons of the time cursor (back to the start, previous event, next event, play,
/// speed). The bar also shows the playback speed: how much time of the run the cursor passes per
/// second.
class PlayBar : public QWidget {
  Q_OBJECT

 public:
  /// The buttons trigger the actions that `cursor` has added to `actions`. REQUIRES: both
  /// outlive the bar.
  PlayBar(const TimeCursor& cursor, const Actions& actions);

  [[nodiscard]] QString text() const;

 private:
  void tell();

  const TimeCursor& cursor_;
  QToolButton* play_;
  QLabel* speed_;
};

}  // namespace tutti::gui
