#pragma once

#include <QString>

namespace tutti::gui {

class TimelineView;

/// Writes the visible part of the timeline: as SVG if the path ends in .svg, otherwise as PNG at
/// double resolution. Returns an error message; empty on success.
QString write_picture(const TimelineView& view, const QString& path);

/// Converts an SVG file to a PNG at double resolution. Returns an error message; empty on success.
QString draw_svg(const QString& from, const QString& to);

}  // namespace tutti::gui
