#pragma once

#include <QList>
#include <QScrollArea>
#include <vector>

#include "gui/model/examples.h"

class QGridLayout;
class QPushButton;

namespace tutti::gui {

/// What is to be seen while nothing is open: scenarios to try, each a click away, and how to open something else.
class WelcomePage : public QScrollArea {
  Q_OBJECT

 public:
  explicit WelcomePage(const std::vector<Example>& examples, QWidget* parent = nullptr);

 signals:
  void open_wanted();
  void new_wanted();
  void example_wanted(const QString& path);

 private:
  QPushButton* make_card(const Example& example);
  void place_cards(int columns);
  void resizeEvent(QResizeEvent* event) override;

  QGridLayout* grid_;
  QList<QPushButton*> cards_;
  int columns_ = 0;
};

}  // namespace tutti::gui
