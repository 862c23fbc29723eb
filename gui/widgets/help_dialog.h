#pragma once

class QWidget;

namespace tutti::gui {

class Actions;

/// Shows what pixels mean and every action with its keys, until it is closed.
void show_help(const Actions& actions, QWidget* parent);

}  // namespace tutti::gui
