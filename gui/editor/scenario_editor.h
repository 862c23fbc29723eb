#pragma once

#include <QWidget>
#include <memory>

#include "core/scenario/library.h"
#include "gui/editor/checker.h"
#include "gui/editor/form_model.h"
#include "gui/editor/scenario_file.h"
#include "gui/widgets/actions.h"

class QLabel;
class QListWidget;
class QSplitter;
class QTimer;

namespace tutti::gui {

class FormView;
class TextEditor;

/// A scenario as a form and as a text, side by side and always the same; below, what is wrong with it; above, what is known
/// of it. The text is the scenario: a form edit changes it at the field's place, and its undo is that of both.
class ScenarioEditor : public QWidget {
  Q_OBJECT

 public:
  explicit ScenarioEditor(const core::Library& library, QWidget* parent = nullptr);

  /// Shows a file. What was shown is gone: ask may_close() first. ERRORS: as ScenarioFile::read(); all stays as it was.
  core::Expected<void> open(const ScenarioBytes& file);
  /// Shows a text that has no file yet.
  void start_new(const std::string& text);
  /// False if somebody would lose changes and does not want to.
  bool may_close();
  /// Writes it; where it has no file yet, asks for one. False if that was not done; why has been told.
  bool save();
  bool save_as();
  bool save_to(const QString& path);

  [[nodiscard]] std::string text() const;
  /// What errors call it.
  [[nodiscard]] QString path() const;
  [[nodiscard]] QString title() const;
  [[nodiscard]] bool changed() const;
  /// Problems that a run came back with.
  void show_error(const core::Error& error);

  void add_actions(Actions& actions);
  [[nodiscard]] FormView& form() { return *form_; }
  [[nodiscard]] FormModel& form_model() { return *model_; }
  [[nodiscard]] TextEditor& text_editor() { return *text_; }
  [[nodiscard]] QString card_text() const;
  [[nodiscard]] QStringList problem_texts() const;

 signals:
  void told(const QString& text);
  /// Its title, or whether it has changes.
  void title_changed();
  /// The newest text has been checked.
  void checked();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* make_form_side();
  QWidget* make_text_side();
  void set_text(const std::string& text);
  void text_changed();
  void follow_text();
  void show_checked(const CheckedScenario& result);
  void show_problems(std::vector<PlacedProblem> problems);
  void show_card(const std::optional<Card>& card);
  void show_field();
  void apply(const core::TextEdits& edits, const core::FieldPath& field);
  void go_to_problem(int number);
  void next_problem(int step);

  core::Schema schema_;
  core::Library library_;
  ScenarioFile file_;
  std::shared_ptr<const core::ScenarioText> read_;  ///< what the form shows
  std::vector<PlacedProblem> problems_;
  Checker checker_;
  FormModel* model_;
  FormView* form_;
  TextEditor* text_;
  QSplitter* sides_;
  QLabel* card_;
  QLabel* help_;
  QLabel* broken_;
  QListWidget* list_;
  QTimer* follow_;
  bool applying_ = false;  ///< the form changes the text
};

}  // namespace tutti::gui
