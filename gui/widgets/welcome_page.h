#pragma once

#include <QList>
#include <QScrollArea>
#include <vector>

#include "gui/documents/examples.h"

class QGridLayout;
class QPushButton;

namespace tutti::gui {

/// The page that is shown while nothing is open: example scenarios to open with a click, and how to
/// open other files.
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
