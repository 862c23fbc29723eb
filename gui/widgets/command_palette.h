#pragma once

#include <QDialog>

class QLineEdit;
class QListWidget;

namespace tutti::gui {

class Actions;

/// Lists all actions with their shortcuts; what is typed narrows them down, Enter does the first.
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
