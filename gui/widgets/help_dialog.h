#pragma once

class QWidget;

namespace tutti::gui {

class Actions;

/// Shows the help dialog, with the meaning of pixels and the keys of every action, until it is
/// closed.
void show_help(const Actions& actions, QWidget* parent);

}  // namespace tutti::gui
