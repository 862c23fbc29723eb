#pragma once

#include <QStyledItemDelegate>
#include <QTreeView>

#include "core/scenario/library.h"

namespace tutti::gui {

class FormModel;

/// The editors of the form's values: a list for choices, names with completion, and plain text for
/// everything else.
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
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

 private:
  const FormModel& model_;
  const core::Library& library_;
};

/// The form. Enter or F2 edits a value, opens a message or adds an element; Insert adds and Delete
/// removes; the arrow keys move and expand. The window's shortcuts do not take keys that have a
/// meaning here.
class FormView : public QTreeView {
  Q_OBJECT

 public:
  FormView(FormModel& model, const core::Library& library);

 signals:
  void current_changed(const QModelIndex& index);

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

 private:
  void use(const QModelIndex& index);

  FormModel& model_;
};

}  // namespace tutti::gui
