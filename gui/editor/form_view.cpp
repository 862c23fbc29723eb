#include "gui/editor/form_view.h"

#include <QComboBox>
#include <QCompleter>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <algorithm>

#include "gui/documents/scenario_check.h"
#include "gui/editor/form_model.h"

namespace tutti::gui {

using Kind = core::FieldType::Kind;

FormDelegate::FormDelegate(const FormModel& model, const core::Library& library, QObject* parent)
    : QStyledItemDelegate(parent), model_(model), library_(library) {}

QWidget* FormDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&,
                                    const QModelIndex& index) const {
  const core::FieldType& type = *model_.type(index);
  const QString name = QString::fromStdString(type.name);
  const QString otherwise = QString::fromStdString(type.otherwise);
  auto* const self = const_cast<FormDelegate*>(this);
  if (type.kind == Kind::kChoice || type.kind == Kind::kYesNo) {
    auto* const box = new QComboBox(parent);
    box->setAccessibleName(name);
    box->addItem(otherwise.isEmpty() ? tr("not written") : tr("not written: %1").arg(otherwise),
                 QString());
    auto choices = type.choices;
    if (type.kind == Kind::kYesNo) choices = {{"true", ""}, {"false", ""}};
    for (const core::FieldType::Choice& choice : choices) {
      box->addItem(QString::fromStdString(choice.name), QString::fromStdString(choice.name));
      box->setItemData(box->count() - 1, QString::fromStdString(choice.help), Qt::ToolTipRole);
    }
    connect(box, &QComboBox::activated, self, [self, box] {
      emit self->commitData(box);
      emit self->closeEditor(box);
    });
    return box;
  }
  auto* const line = new QLineEdit(parent);
  line->setAccessibleName(name);
  line->setPlaceholderText(otherwise);
  QStringList known;
  for (const std::string& word : suggestions(type.full_name, library_))
    known.append(QString::fromStdString(word));
  if (!known.isEmpty()) {
    auto* const completer = new QCompleter(known, line);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    line->setCompleter(completer);
    // While the completer's list is open, the completer handles the Enter key, and the view does
    // not see the key. A value that was typed or chosen from the list must not need a second Enter.
    const auto finish = [self, line] {
      emit self->commitData(line);
      emit self->closeEditor(line);
    };
    connect(line, &QLineEdit::returnPressed, line, finish, Qt::QueuedConnection);
    connect(completer, QOverload<const QString&>::of(&QCompleter::activated), line, finish,
            Qt::QueuedConnection);
  }
  return line;
}

void FormDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const {
  const QString value = index.data(Qt::EditRole).toString();
  auto* const box = qobject_cast<QComboBox*>(editor);
  if (!box) {
    // A check can end while the user is typing a value; this must not discard the typed text.
    auto* const line = qobject_cast<QLineEdit*>(editor);
    if (!line->isModified()) line->setText(value);
    return;
  }
  int at = box->findData(value);
  if (at < 0) {  // an invalid value in the text stays until the user chooses another one
    box->addItem(value, value);
    at = box->count() - 1;
  }
  box->setCurrentIndex(at);
}

void FormDelegate::setModelData(QWidget* editor, QAbstractItemModel* model,
                                const QModelIndex& index) const {
  const auto* const box = qobject_cast<QComboBox*>(editor);
  model->setData(index, box ? box->currentData() : qobject_cast<QLineEdit*>(editor)->text(),
                 Qt::EditRole);
}

/// Makes the rows as high as the rows of other tables.
QSize FormDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  constexpr int kRowHeight = 20;
  return QStyledItemDelegate::sizeHint(option, index).expandedTo({0, kRowHeight});
}

void FormDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  if (index.data(FormModel::kFaintRole).toBool())
    option->palette.setColor(QPalette::Text, option->palette.color(QPalette::PlaceholderText));
}

FormView::FormView(FormModel& model, const core::Library& library) : model_(model) {
  setModel(&model);
  setItemDelegate(new FormDelegate(model, library, this));
  setAccessibleName(tr("Scenario as a form"));
  setEditTriggers(EditKeyPressed | SelectedClicked);
  setUniformRowHeights(true);
  setAlternatingRowColors(true);
  setAllColumnsShowFocus(true);
  setExpandsOnDoubleClick(false);
  header()->setSectionResizeMode(FormModel::kName, QHeaderView::Interactive);
  header()->setStretchLastSection(true);
  setColumnWidth(FormModel::kName, 230);
}

int FormView::filter(const QString& text) {
  first_match_ = QModelIndex();
  const int matches = filter_below({}, text.split(QLatin1Char(' '), Qt::SkipEmptyParts), 0);
  if (currentIndex().isValid()) scrollTo(currentIndex());
  return matches;
}

void FormView::go_to_first_match() {
  if (first_match_.isValid()) setCurrentIndex(first_match_);
}

void FormView::finish_edit() {
  if (state() != EditingState) return;
  QWidget* const editor = indexWidget(currentIndex().siblingAtColumn(FormModel::kValue));
  if (!editor) return;
  commitData(editor);
  closeEditor(editor, QAbstractItemDelegate::NoHint);
}

/// Filters the rows below a row, whose own name does not match. Returns the number of matches.
int FormView::filter_below(const QModelIndex& parent, const QStringList& words, int depth) {
  // Messages can be nested without limit, but users know the fields near the root.
  constexpr int kDeepest = 4;
  int matches = 0;
  for (int row = 0; row < model_.rowCount(parent); ++row) {
    const QModelIndex at = model_.index(row, FormModel::kName, parent);
    const QString name = at.data().toString();
    const bool fits = std::all_of(words.begin(), words.end(), [&](const QString& word) {
      return name.contains(word, Qt::CaseInsensitive);
    });
    // All fields of a message that matches are shown.
    const int below =
        depth < kDeepest ? filter_below(at, fits ? QStringList() : words, depth + 1) : 0;
    const bool has_match = !fits && below > 0;
    setRowHidden(row, parent, !fits && !has_match);
    if (has_match) expand(at);
    if (fits && !words.isEmpty()) {
      ++matches;
      if (!first_match_.isValid()) first_match_ = at;
    }
    if (has_match) matches += below;
  }
  return matches;
}

bool FormView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* const key = static_cast<QKeyEvent*>(event);
    const bool function =
        key->key() >= Qt::Key_F1 && key->key() <= Qt::Key_F35 && key->key() != Qt::Key_F2;
    const bool plain =
        (key->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) == 0;
    if (plain && !function && key->key() != Qt::Key_Escape && key->key() != Qt::Key_Question) {
      event->accept();
      return true;
    }
  }
  return QTreeView::event(event);
}

/// Executes the action of Enter or of a double click.
void FormView::use(const QModelIndex& index) {
  const QModelIndex value = index.siblingAtColumn(FormModel::kValue);
  if (model_.line(index) == FormModel::Line::kAdd) {
    model_.add(index);
  } else if (model_.flags(value) & Qt::ItemIsEditable) {
    setCurrentIndex(value);
    edit(value);
  } else {
    setExpanded(index.siblingAtColumn(0), !isExpanded(index.siblingAtColumn(0)));
  }
}

void FormView::keyPressEvent(QKeyEvent* event) {
  const QModelIndex at = currentIndex();
  if (at.isValid() && state() != EditingState) {
    switch (event->key()) {
      case Qt::Key_Return:
      case Qt::Key_Enter:
      case Qt::Key_F2: return use(at);
      case Qt::Key_Insert: return model_.add(at);
      case Qt::Key_Delete:
      case Qt::Key_Backspace: return model_.remove(at);
      default: break;
    }
  }
  QTreeView::keyPressEvent(event);
}

void FormView::mouseDoubleClickEvent(QMouseEvent* event) {
  const QModelIndex at = indexAt(event->position().toPoint());
  if (at.isValid()) use(at);
}

void FormView::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  QTreeView::currentChanged(current, previous);
  emit current_changed(current);
}

}  // namespace tutti::gui
