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
    groups_.push_back({group, {action}});
  } else {
    there->actions.push_back(action);
  }
}

QAction* Actions::find(const QString& id) const {
  for (const Group& group : groups_) {
    for (QAction* const action : group.actions) {
      if (action->objectName() == id) return action;
    }
  }
  return nullptr;
}

}  // namespace tutti::gui
