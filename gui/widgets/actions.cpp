#include "gui/widgets/actions.h"

#include <QWidget>
#include <algorithm>

namespace tutti::gui {

QAction* Actions::add(const QString& group, const char* id, const QString& text,
                      const QString& shortcuts, const std::function<void()>& what) {
  auto* const action = new QAction(text, owner_);
  QObject::connect(action, &QAction::triggered, owner_, [what] { what(); });
  include(group, id, action, shortcuts);
  return action;
}

QAction* Actions::add_switch(const QString& group, const char* id, const QString& text,
                             const QString& shortcuts, const std::function<void()>& flip,
                             const std::function<bool()>& is_on) {
  QAction* const action = add(group, id, text, shortcuts, [this, flip] {
    flip();
    refresh();
  });
  action->setCheckable(true);
  action->setChecked(is_on());
  switches_.emplace_back(action, is_on);
  return action;
}

void Actions::refresh() const {
  for (const auto& [action, is_on] : switches_) action->setChecked(is_on());
}

void Actions::include(const QString& group, const char* id, QAction* action,
                      const QString& shortcuts) {
  action->setObjectName(QString::fromLatin1(id));
  QList<QKeySequence> keys;
  for (const QString& key : shortcuts.split(QStringLiteral("; "), Qt::SkipEmptyParts))
    keys.append(QKeySequence(key));
  action->setShortcuts(keys);
  action->setShortcutContext(Qt::WindowShortcut);
  owner_->addAction(action);
  const auto there =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.name == group; });
  if (there == groups_.end()) {
    groups_.push_back({group, {action}, {}});
  } else {
    if (new_section_ == group) there->first_of_sections.push_back(action);
    there->actions.push_back(action);
  }
  if (new_section_ == group) new_section_.clear();
}

QAction* Actions::find(const QString& id) const {
  for (const Group& group : groups_) {
    for (QAction* const action : group.actions) {
      if (action->objectName() == id) return action;
    }
  }
  return nullptr;
}

void Actions::sort_groups(const QStringList& menus) {
  const auto place = [&](const Group& group) {
    return menus.indexOf(group.name.section(submenu_separator(), 0, 0));
  };
  std::stable_sort(groups_.begin(), groups_.end(),
                   [&](const Group& a, const Group& b) { return place(a) < place(b); });
}

}  // namespace tutti::gui
