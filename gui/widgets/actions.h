#pragma once

#include <QAction>
#include <QString>
#include <QStringList>
#include <functional>
#include <utility>
#include <vector>

class QWidget;

namespace tutti::gui {

/// The list of all actions of the window. Menus, shortcuts, the command palette, the help and tests
/// are generated from this list of actions.
class Actions {
 public:
  struct Group {
    QString name;  ///< the name of the menu, or the names of menu and submenu
    std::vector<QAction*> actions;
    /// The actions that have a separator above them in menus.
    std::vector<QAction*> first_of_sections;
  };

  /// Returns the separator between a menu's name and its submenu's name in the name of a group:
  /// "View ▸ Panels".
  static QString submenu_separator() { return QStringLiteral(" ▸ "); }

  /// `owner`: the widget that owns the actions and receives their shortcuts.
  explicit Actions(QWidget* owner) : owner_(owner) {}

  /// Adds an action. `id` identifies the action in tests and settings, and must never change.
  /// Multiple shortcuts are separated by "; ".
  QAction* add(const QString& group, const char* id, const QString& text, const QString& shortcuts,
               const std::function<void()>& what);

  /// Adds an action that switches a feature on and off. Its check mark shows whether the feature is
  /// on. `flip` switches the feature, and `is_on` returns true if the feature is on. The function
  /// refresh() updates the check mark.
  QAction* add_switch(const QString& group, const char* id, const QString& text,
                      const QString& shortcuts, const std::function<void()>& flip,
                      const std::function<bool()>& is_on);

  /// Begins a new section of a group: menus show a separator before the action that is added next.
  void begin_section(const QString& group) { new_section_ = group; }

  /// Updates the check marks of all actions.
  void refresh() const;

  /// Adds an action that another widget owns and updates, such as the action that shows and hides a
  /// panel.
  void include(const QString& group, const char* id, QAction* action, const QString& shortcuts);

  /// Sorts the groups by the positions of their menus in `menus`. A submenu follows its menu.
  void sort_groups(const QStringList& menus);

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Returns the action with this id; null if there is none.
  [[nodiscard]] QAction* find(const QString& id) const;

 private:
  QWidget* owner_;
  std::vector<Group> groups_;
  QString new_section_;  ///< the group in which the next added action begins a section; empty: none
  std::vector<std::pair<QAction*, std::function<bool()>>> switches_;
};

}  // namespace tutti::gui
