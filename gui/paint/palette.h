#pragma once

#include <QPalette>

#include "gui/paint/theme.h"

namespace tutti::gui {

/// Returns the colours of widgets that go with a theme. They are the colours of the whole program,
/// so that dialogs, menus and floating panels have them, too.
QPalette palette_of(const Theme& theme, bool dark);

}  // namespace tutti::gui
