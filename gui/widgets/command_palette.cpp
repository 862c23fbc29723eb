#include "gui/widgets/command_palette.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/widgets/actions.h"

namespace tutti::gui {

namespace {

constexpr int kActionRole = Qt::UserRole, kKeysRole = Qt::UserRole + 1;

/// Draws a command at the left and its keys at the right. A long command ends with an ellipsis.
class CommandDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& item,
             const QModelIndex& index) const override {
    QStyleOptionViewItem option = item;
    initStyleOption(&option, index);
    const QString keys = index.data(kKeysRole).toString(), text = option.text;
    option.text.clear();
    const QStyle& style = *option.widget->style();
    style.drawControl(QStyle::CE_ItemViewItem, &option, painter, option.widget);
    constexpr int kInset = 6;
    const QRect box = option.rect.adjusted(kInset, 0, -kInset, 0);
    const int wide = option.fontMetrics.horizontalAdvance(keys);
    const bool chosen = option.state & QStyle::State_Selected;
    const QPalette& colours = option.palette;
    painter->setPen(colours.color(chosen ? QPalette::HighlightedText : QPalette::Text));
    painter->drawText(
        box, Qt::AlignLeft | Qt::AlignVCenter,
        option.fontMetrics.elidedText(text, Qt::ElideRight, box.width() - wide - 2 * kInset));
    painter->setPen(colours.color(chosen ? QPalette::HighlightedText : QPalette::PlaceholderText));
    painter->drawText(box, Qt::AlignRight | Qt::AlignVCenter, keys);
  }
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex&) const override {
    constexpr int kRowHeight = 22;
    return {0, std::max(kRowHeight, option.fontMetrics.height())};
  }
};

}  // namespace

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
      auto* const item = new QListWidgetItem(text, list_);
      item->setToolTip(text);
      item->setData(kActionRole, QVariant::fromValue(action));
      item->setData(kKeysRole, keys.join(QStringLiteral(", ")));
      item->setData(Qt::AccessibleTextRole,
                    text + QStringLiteral(", ") + item->data(kKeysRole).toString());
    }
  }
  list_->setItemDelegate(new CommandDelegate(list_));
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
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
      fits = fits && (item->text().contains(word, Qt::CaseInsensitive) ||
                      item->data(kKeysRole).toString().contains(word, Qt::CaseInsensitive));
    item->setHidden(!fits);
    if (fits && first < 0) first = row;
  }
  list_->setCurrentRow(first);
}

void CommandPalette::run() {
  QListWidgetItem* const item = list_->currentItem();
  if (!item || item->isHidden()) return;
  auto* const action = item->data(kActionRole).value<QAction*>();
  accept();
  if (action && action->isEnabled()) action->trigger();
}

}  // namespace tutti::gui
