#pragma once

#include <QAbstractScrollArea>

namespace tutti::gui {

/// Frames `area` while it has the keyboard focus. Qt's style marks the focus of lists, trees and
/// texts only by the colour of the current item or by a cursor, which is easy to overlook.
void frame_while_focused(QAbstractScrollArea& area);

}  // namespace tutti::gui
