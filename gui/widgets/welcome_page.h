#pragma once

#include <QWidget>

namespace tutti::gui {

/// What is to be seen while nothing is open.
class WelcomePage : public QWidget {
  Q_OBJECT

 public:
  explicit WelcomePage(QWidget* parent = nullptr);

 signals:
  void open_wanted();
};

}  // namespace tutti::gui
