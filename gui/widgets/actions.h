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
    QString name;  ///< of the menu
    std::vector<QAction*> actions;
  };

  /// Actions belong to `owner`, whose shortcuts they are.
  explicit Actions(QWidget* owner) : owner_(owner) {}

  /// `id` names it to tests and settings; it never changes. Several shortcuts are separated by "; ".
  QAction* add(const QString& group, const char* id, const QString& text, const QString& shortcuts,
               const std::function<void()>& what);

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Null if there is none.
  [[nodiscard]] QAction* find(const QString& id) const;

 private:
  QWidget* owner_;
  std::vector<Group> groups_;
};

}  // namespace tutti::gui
