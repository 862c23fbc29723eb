#pragma once

#include <QList>
#include <QScrollArea>
#include <vector>

#include "gui/documents/examples.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace tutti::gui {

/// The page that is shown while no file is open. The page has buttons and links to open files. The
/// page also shows example scenarios, grouped by the question that they answer; a click runs an
/// example.
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
  QVBoxLayout* make_groups(const std::vector<Example>& examples);
  void place_cards(int columns);
  void show_recent();
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

  QLabel* recent_;
  /// The cards of the examples that answer one question.
  struct Group {
    QGridLayout* grid;
    QList<QPushButton*> cards;
  };
  std::vector<Group> groups_;
  int columns_ = 0;
};

}  // namespace tutti::gui
