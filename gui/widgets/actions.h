#pragma once

#include <QAction>
#include <QString>
#include <functional>
#include <vector>

class QWidget;

namespace tutti::gui {

/// The list of all actions of the window. Menus, shortcuts, the command palette, the help and tests
/// are generated from this list.
class Actions {
 public:
  struct Group {
    QString name;  ///< the name of the menu, or the names of menu and submenu
    std::vector<QAction*> actions;
  };

  /// Returns the separator between the names of a menu and of its submenu in a group's name: "View
  /// ▸ Panels".
  static QString submenu_separator() { return QStringLiteral(" ▸ "); }

  /// `owner`: the widget that owns the actions and receives their shortcuts.
  explicit Actions(QWidget* owner) : owner_(owner) {}

  /// Adds an action. `id` identifies the action in tests and settings, and must never change.
  /// Multiple shortcuts are separated by "; ".
  QAction* add(const QString& group, const char* id, const QString& text, const QString& shortcuts,
               const std::function<void()>& what);

  /// Adds an action that another widget owns and updates, such as the action that shows and hides a
  /// panel.
  void include(const QString& group, const char* id, QAction* action, const QString& shortcuts);

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Returns the action with this id; null if there is none.
  [[nodiscard]] QAction* find(const QString& id) const;

 private:
  QWidget* owner_;
  std::vector<Group> groups_;
};

}  // namespace tutti::gui
