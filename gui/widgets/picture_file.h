#pragma once

#include <QString>

namespace tutti::gui {

class TimelineView;

/// Writes what the timeline shows: SVG if the file's name ends so, else PNG at twice the size. Empty, or what is wrong, in words.
QString write_picture(const TimelineView& view, const QString& path);

/// Draws an SVG file as a PNG, twice as large. Empty, or what is wrong, in words.
QString draw_svg(const QString& from, const QString& to);

}  // namespace tutti::gui
