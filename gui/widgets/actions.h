#pragma once

#include <QAction>
#include <QString>
#include <functional>
#include <vector>

class QWidget;

namespace tutti::gui {

/// Everything that the window can do, each thing once: menus, shortcuts, the command palette, help and tests are all made
/// from this list.
class Actions {
 public:
  struct Group {
    QString name;  ///< of the menu, or of the menu and its submenu
    std::vector<QAction*> actions;
  };

  /// Stands between the name of a menu and that of its submenu in a group's name: "View ▸ Panels".
  static QString submenu_separator() { return QStringLiteral(" ▸ "); }

  /// Actions belong to `owner`, whose shortcuts they are.
  explicit Actions(QWidget* owner) : owner_(owner) {}

  /// `id` names it to tests and settings; it never changes. Several shortcuts are separated by "; ".
  QAction* add(const QString& group, const char* id, const QString& text, const QString& shortcuts,
               const std::function<void()>& what);

  /// Lists an action that another widget made and keeps in step, such as the one that shows and hides a panel.
  void include(const QString& group, const char* id, QAction* action, const QString& shortcuts);

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Null if there is none.
  [[nodiscard]] QAction* find(const QString& id) const;

 private:
  QWidget* owner_;
  std::vector<Group> groups_;
};

}  // namespace tutti::gui
