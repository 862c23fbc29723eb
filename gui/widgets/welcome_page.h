#pragma once

#include <QList>
#include <QScrollArea>
#include <memory>
#include <vector>

#include "gui/documents/examples.h"
#include "gui/widgets/example_picture.h"

class QGridLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace tutti::gui {

/// The page that is shown while no file is open. The page has buttons and links to open files, and
/// to continue with the files of the last session. The page also shows example scenarios, grouped
/// by the question that they answer, with a picture of their timelines; a click runs an example.
class WelcomePage : public QScrollArea {
  Q_OBJECT

 public:
  /// `simulate` creates an executor for the pictures of the examples; null: there are no pictures.
  explicit WelcomePage(const std::vector<Example>& examples,
                       const ExampleSimulations::MakeExecutor& simulate = {},
                       const core::Library& library = core::Library(std::string()),
                       QWidget* parent = nullptr);

  void set_theme(const Theme& theme);
  /// Waits until the pictures of all examples are complete.
  void finish_pictures();

 signals:
  void restore_wanted();
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
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void start_pictures();

  QPushButton* restore_;
  QLabel* recent_;
  bool has_pictures_;
  std::vector<Example> shown_;       ///< the examples in the order of their cards
  QList<ExamplePicture*> pictures_;  ///< the pictures of shown_; empty if there are none
  std::unique_ptr<ExampleSimulations> simulations_;  ///< null if there are no pictures
  /// The cards of the examples that answer one question.
  struct Group {
    QGridLayout* grid;
    QList<QPushButton*> cards;
  };
  std::vector<Group> groups_;
  int columns_ = 0;
};

}  // namespace tutti::gui
