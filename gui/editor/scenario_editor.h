#pragma once

#include <QWidget>
#include <memory>

#include "core/scenario/library.h"
#include "gui/editor/checker.h"
#include "gui/editor/form_model.h"
#include "gui/editor/recovery.h"
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
  /// `recovery_folder`: where unsaved changes are kept, see RecoveryFile. Empty: nowhere.
  explicit ScenarioEditor(const core::Library& library, QString recovery_folder = {}, QWidget* parent = nullptr);
  /// Unsaved changes that nobody gave up (forget_changes()) stay in the recovery file.
  ~ScenarioEditor() override;

  /// Shows a file; if somebody left unsaved changes of it behind, asks whether to recover them. What was shown is gone: ask
  /// may_close() first. ERRORS: as ScenarioFile::take(); all stays as it was.
  core::Expected<void> open(const ScenarioBytes& file);
  /// Offers unsaved changes of any scenario that somebody left behind, the newest first. True if some were recovered: what
  /// was shown is gone, after asking. `nothing_left`: whether there were none.
  bool recover(bool* nothing_left = nullptr);
  /// The changes of the text that is shown are not wanted any more.
  void forget_changes();
  /// Shows a text that has no file yet.
  void start_new(const std::string& text);
  /// False if somebody would lose changes and does not want to.
  bool may_close();
  /// Writes it; where it has no file yet, or is one of Tutti's examples, asks for a place. False if that was not done; why has been
  /// told.
  bool save();
  bool save_as();
  bool save_to(const QString& path);

  [[nodiscard]] std::string text() const;
  /// What errors call it.
  [[nodiscard]] QString path() const;
  [[nodiscard]] QString title() const;
  [[nodiscard]] bool changed() const;
  /// True if the text is that of one of Tutti's examples, which are never written: it is a copy.
  [[nodiscard]] bool is_example() const;
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
  enum class Answer { kRecover, kDiscard, kLater };

  void set_text(const std::string& text);
  Answer ask_about(const LeftBehind& left);
  void take_over(LeftBehind& left);
  void keep_changes();
  [[nodiscard]] UnsavedText unsaved() const;
  void text_changed();
  void follow_text();
  void show_checked(const CheckedScenario& result);
  void show_problems(std::vector<PlacedProblem> problems);
  void show_card(const std::optional<Card>& card);
  void show_field();
  /// Brings a text of an older form into today's.
  void convert();
  void apply(const core::TextEdits& edits, const core::FieldPath& field);
  void go_to_problem(int number);
  void next_problem(int step);

  core::Schema schema_;
  core::Library library_;
  ScenarioFile file_;
  QString recovery_folder_;
  RecoveryFile recovery_;
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
  QTimer* keep_;                 ///< active: the recovery file is behind the text
  bool keeping_failed_ = false;  ///< which has been told
  bool applying_ = false;        ///< the form changes the text
};

}  // namespace tutti::gui
