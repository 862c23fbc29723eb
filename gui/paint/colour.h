#pragma once

#include <QColor>

#include "gui/paint/row_raster.h"

namespace tutti::gui {

inline QColor colour(Pixel pixel) { return QColor::fromRgb(pixel); }

}  // namespace tutti::gui
