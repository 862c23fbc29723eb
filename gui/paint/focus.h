#pragma once

#include <QPainter>
#include <QPen>
#include <QWidget>

namespace tutti::gui {

/// Paints a frame around `widget` if it has the keyboard focus. Must be called at the end of the
/// widget's paintEvent(). Qt's own widgets mark the focus in another way, but in the same colour.
inline void paint_focus(QPainter& painter, const QWidget& widget) {
  if (!widget.hasFocus()) return;
  painter.setPen(QPen(widget.palette().color(QPalette::Highlight), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(widget.rect().adjusted(1, 1, -1, -1));
}

}  // namespace tutti::gui
