#pragma once

#include <QObject>
#include <QTimer>
#include <vector>

#include "gui/model/messages.h"
#include "gui/widgets/overlay.h"

namespace tutti::gui {

class Actions;
class TimelineView;

/// Arrows from the step of a lane that sent to the one that received: those of the selected span, and all that are to be seen
/// when they are few.
class MessageArrows : public QObject, public Overlay {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives it.
  explicit MessageArrows(TimelineView& view);

  void add_actions(Actions& actions);
  void paint(QPainter& painter, const Placement& place) const override;

  /// Of the selected span: into it, then out of it.
  [[nodiscard]] const std::vector<Message>& of_selection() const { return of_selection_; }
  /// All that are to be seen; none if they are many.
  [[nodiscard]] const std::vector<Message>& in_view() const { return in_view_; }
  /// Looks now, instead of when the view has come to rest.
  void look_around();

 signals:
  /// What came of following a message, for the status bar.
  void told(const QString& text);

 private:
  void look_at_selection();
  void follow(bool forward);
  void show_all(bool on);
  void arrow(QPainter& painter, const Placement& place, const Message& message) const;

  TimelineView& view_;
  QTimer at_rest_;
  std::vector<Message> of_selection_, in_view_;
  bool show_all_ = true;
};

}  // namespace tutti::gui
