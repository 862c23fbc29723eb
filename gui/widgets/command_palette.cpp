#include "gui/widgets/command_palette.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

#include "gui/widgets/actions.h"

namespace tutti::gui {

CommandPalette::CommandPalette(const Actions& actions, QWidget* parent)
    : QDialog(parent), line_(new QLineEdit(this)), list_(new QListWidget(this)) {
  setWindowTitle(tr("Commands"));
  setAccessibleName(tr("Commands"));
  resize(460, 420);
  line_->setPlaceholderText(tr("What would you like to do?"));
  line_->setAccessibleName(tr("Filter commands"));
  auto* const layout = new QVBoxLayout(this);
  layout->addWidget(line_);
  layout->addWidget(list_);
  for (const Actions::Group& group : actions.groups()) {
    for (QAction* const action : group.actions) {
      QStringList keys;
      for (const QKeySequence& key : action->shortcuts())
        keys.append(key.toString(QKeySequence::NativeText));
      QString text = group.name + Actions::submenu_separator() + action->text();
      text.remove(QLatin1Char('&'));
      if (!keys.isEmpty()) text += QStringLiteral("    ") + keys.join(QStringLiteral(", "));
      auto* const item = new QListWidgetItem(text, list_);
      item->setData(Qt::UserRole, QVariant::fromValue(action));
    }
  }
  list_->setCurrentRow(0);
  line_->installEventFilter(this);
  connect(line_, &QLineEdit::textChanged, this, &CommandPalette::narrow);
  connect(line_, &QLineEdit::returnPressed, this, &CommandPalette::run);
  connect(list_, &QListWidget::itemActivated, this, &CommandPalette::run);
}

/// Moves the selection in the list by keys that are pressed in the text field.
bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == line_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const int by = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
    for (int row = list_->currentRow() + by; by != 0 && row >= 0 && row < list_->count();
         row += by) {
      if (list_->item(row)->isHidden()) continue;
      list_->setCurrentRow(row);
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

void CommandPalette::narrow(const QString& text) {
  int first = -1;
  for (int row = 0; row < list_->count(); ++row) {
    QListWidgetItem* const item = list_->item(row);
    bool fits = true;
    for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts))
      fits = fits && item->text().contains(word, Qt::CaseInsensitive);
    item->setHidden(!fits);
    if (fits && first < 0) first = row;
  }
  list_->setCurrentRow(first);
}

void CommandPalette::run() {
  QListWidgetItem* const item = list_->currentItem();
  if (!item || item->isHidden()) return;
  auto* const action = item->data(Qt::UserRole).value<QAction*>();
  accept();
  if (action && action->isEnabled()) action->trigger();
}

}  // namespace tutti::gui
