#pragma once

#include <QDialog>

class QLineEdit;
class QListWidget;

namespace tutti::gui {

class Actions;

/// A list of all actions with their shortcuts. Typed text filters the list. Enter triggers the
/// first action in the filtered list.
class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  CommandPalette(const Actions& actions, QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void narrow(const QString& text);
  void run();

  QLineEdit* line_;
  QListWidget* list_;
};

}  // namespace tutti::gui
