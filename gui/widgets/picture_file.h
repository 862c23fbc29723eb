#pragma once

#include <QString>

namespace tutti::gui {

class TimelineView;

/// Writes what the timeline shows: SVG if the file's name ends so, else PNG at twice the size. Empty, or what is wrong, in words.
QString write_picture(const TimelineView& view, const QString& path);

}  // namespace tutti::gui
