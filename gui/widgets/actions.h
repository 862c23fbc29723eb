#pragma once

#include <QAction>
#include <QString>
#include <functional>
#include <vector>

class QWidget;

namespace tutti::gui {

/// The list of everything that the window can do. Menus, shortcuts, the command palette, help and
/// tests are all generated from it.
class Actions {
 public:
  struct Group {
    QString name;  ///< name of the menu, or names of the menu and its submenu
    std::vector<QAction*> actions;
  };

  /// Separates the name of a menu from that of its submenu in a group's name: "View ▸ Panels".
  static QString submenu_separator() { return QStringLiteral(" ▸ "); }

  /// `owner`: the widget that owns the actions and receives their shortcuts.
  explicit Actions(QWidget* owner) : owner_(owner) {}

  /// Adds an action. `id` identifies it in tests and settings and never changes. Multiple shortcuts
  /// are separated by "; ".
  QAction* add(const QString& group, const char* id, const QString& text, const QString& shortcuts,
               const std::function<void()>& what);

  /// Adds an action that another widget owns and updates, such as one that shows and hides a panel.
  void include(const QString& group, const char* id, QAction* action, const QString& shortcuts);

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Returns the action with this id; null if there is none.
  [[nodiscard]] QAction* find(const QString& id) const;

 private:
  QWidget* owner_;
  std::vector<Group> groups_;
};

}  // namespace tutti::gui
