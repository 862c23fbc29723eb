#pragma once

#include <QPainter>
#include <QPen>
#include <QWidget>

namespace tutti::gui {

/// Frames a widget that has the keyboard focus, as the last thing that it paints. Widgets that Qt
/// paints have their own mark of the focus, in the same colour.
inline void paint_focus(QPainter& painter, const QWidget& widget) {
  if (!widget.hasFocus()) return;
  painter.setPen(QPen(widget.palette().color(QPalette::Highlight), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(widget.rect().adjusted(1, 1, -1, -1));
}

}  // namespace tutti::gui
