#pragma once

#include <QPalette>

#include "gui/paint/theme.h"

namespace tutti::gui {

/// Returns the colours of widgets that match a theme. The colours apply to the whole program,
/// including dialogs, menus and floating panels.
QPalette palette_of(const Theme& theme, bool dark);

}  // namespace tutti::gui
