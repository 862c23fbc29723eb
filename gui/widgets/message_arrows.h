#pragma once

#include <QObject>
#include <QTimer>
#include <vector>

#include "gui/trace/messages.h"
#include "gui/widgets/overlay.h"

namespace tutti::gui {

class Actions;
class TimelineView;

/// Draws messages as arrows, each from the schedule step that sent the message to the schedule step
/// that received it. Draws the messages of the selected span. If the user has switched on the
/// arrows of all messages, and only few messages are in view, also draws these.
class MessageArrows : public QObject, public Overlay {
  Q_OBJECT

 public:
  /// REQUIRES: the view outlives this object.
  explicit MessageArrows(TimelineView& view);

  void add_actions(Actions& actions);
  void paint(QPainter& painter, const Placement& place) const override;

  /// Returns the messages of the selected span: the received message, then the sent messages.
  [[nodiscard]] const std::vector<Message>& of_selection() const { return of_selection_; }
  /// Returns all messages in view; empty if there are too many to draw.
  [[nodiscard]] const std::vector<Message>& in_view() const { return in_view_; }
  /// Updates the messages in view immediately. Without this call, the messages are updated when the
  /// view stops moving.
  void update_visible();

 signals:
  /// Emitted with a text for the status bar when the user switches the arrows of all messages on or
  /// off, and when there is no message to follow.
  void status_message(const QString& text);

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
