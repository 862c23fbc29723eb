#pragma once

#include <QList>
#include <QScrollArea>
#include <vector>

#include "gui/documents/examples.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace tutti::gui {

/// The page that is shown while no file is open. The page has buttons and links that open files,
/// and example scenarios that a click runs.
class WelcomePage : public QScrollArea {
  Q_OBJECT

 public:
  explicit WelcomePage(const std::vector<Example>& examples, QWidget* parent = nullptr);

 signals:
  void open_wanted();
  void new_wanted();
  void example_wanted(const QString& path);
  void file_wanted(const QString& path);

 private:
  QPushButton* make_card(const Example& example);
  void place_cards(int columns);
  void show_recent();
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

  QLabel* recent_;
  QGridLayout* grid_;
  QList<QPushButton*> cards_;
  int columns_ = 0;
};

}  // namespace tutti::gui
