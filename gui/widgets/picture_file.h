#pragma once

#include <QPixmap>
#include <QString>

class QWidget;

namespace tutti::gui {

class TimelineView;

/// Writes the visible part of the timeline: as SVG if the path ends in .svg, otherwise as PNG at
/// double resolution. Returns an error message; empty on success.
QString write_picture(const TimelineView& view, const QString& path);

/// Returns a picture of a window, with the dialogs and menus that are open above the window.
QPixmap picture_of_window(QWidget& window);

/// Converts an SVG file to a PNG at double resolution. Returns an error message; empty on success.
QString draw_svg(const QString& from, const QString& to);

}  // namespace tutti::gui
