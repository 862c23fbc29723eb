#pragma once

class QWidget;

namespace tutti::gui {

class Actions;

/// Shows the help dialog until the user closes it. The dialog explains the colours and shapes in
/// the timeline, and lists the shortcuts of all actions.
void show_help(const Actions& actions, QWidget* parent);

/// Shows the version, the license, and links to further information.
void show_about(QWidget* parent);

}  // namespace tutti::gui
