#pragma once

#include <QStyledItemDelegate>
#include <QTreeView>

#include "core/scenario/library.h"

namespace tutti::gui {

class FormModel;

/// Creates the editors of the form's values: a list for choices, a text field with completion for
/// names, and a plain text field for all other values.
class FormDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  FormDelegate(const FormModel& model, const core::Library& library, QObject* parent);
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const override;
  void setEditorData(QWidget* editor, const QModelIndex& index) const override;
  void setModelData(QWidget* editor, QAbstractItemModel* model,
                    const QModelIndex& index) const override;

 protected:
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override;
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  const FormModel& model_;
  const core::Library& library_;
};

/// The form. The keys Enter and F2 edit a value, open a message or add an element, depending on the
/// row. The Insert key adds an element, and the Delete key removes an element. The arrow keys move
/// the selection and expand rows. The keys of the form have priority over the window's shortcuts.
class FormView : public QTreeView {
  Q_OBJECT

 public:
  FormView(FormModel& model, const core::Library& library);

  /// Shows only the fields whose names contain all words of the text, the messages that contain
  /// these fields, and the fields inside these fields. An empty text shows all fields. Returns the
  /// number of fields whose own names match.
  int filter(const QString& text);
  /// Moves the keyboard cursor of the form to the first field whose name matches the filter.
  void go_to_first_match();
  /// If the user is typing a value into a field, completes this edit with the value typed so far.
  void finish_edit();

 signals:
  void current_changed(const QModelIndex& index);

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

 private:
  void use(const QModelIndex& index);
  int filter_below(const QModelIndex& parent, const QStringList& words, int depth);

  FormModel& model_;
  QPersistentModelIndex first_match_;  ///< first match of the last filter(); invalid: none
};

}  // namespace tutti::gui
