#pragma once

#include <QImage>
#include <QSize>

#include "gui/paint/theme.h"
#include "gui/trace/miniature.h"

namespace tutti::gui {

/// Paints the rows of a miniature, without names and texts. `size` is in logical pixels; the
/// picture has `scale` times as many pixels in both directions.
QImage paint_miniature(const Miniature& miniature, const Theme& theme, const QSize& size,
                       qreal scale);

}  // namespace tutti::gui
