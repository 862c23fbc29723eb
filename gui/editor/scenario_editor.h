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
class QLineEdit;
class QListWidget;
class QScrollArea;
class QSplitter;
class QTimer;

namespace tutti::gui {

class FormView;
class TextEditor;

/// The editor of a scenario, in which a form and a text show the same content side by side. Below
/// them is a list of the scenario's problems, and above them is a summary. The form has no state of
/// its own: an edit in the form changes the text at the position of the field. Form and text
/// therefore share one undo history.
class ScenarioEditor : public QWidget {
  Q_OBJECT

 public:
  /// `recovery_folder`: the directory for unsaved changes, see RecoveryFile. If `recovery_folder`
  /// is empty, unsaved changes are not kept.
  explicit ScenarioEditor(const core::Library& library, QString recovery_folder = {},
                          QWidget* parent = nullptr);
  /// Unsaved changes remain in the recovery file unless forget_changes() was called.
  ~ScenarioEditor() override;

  /// Opens a file. If an earlier editor has left unsaved changes of the file, asks whether to
  /// recover them. The current text is discarded, so may_close() must be called first. ERRORS: as
  /// for ScenarioFile::take(). After an error, the editor is unchanged.
  core::Expected<void> open(const ScenarioBytes& file);
  /// Replaces the text by the content of its file, which another program has changed. Undo restores
  /// the previous text. ERRORS: as for ScenarioFile::take().
  core::Expected<void> reload(const ScenarioBytes& file);
  /// Returns true if another program has changed the file since it was read or written.
  [[nodiscard]] bool changed_on_disk() const { return file_.changed_meanwhile(); }
  /// Returns the stamp of the file when it was last read or written; nullopt if there is no file.
  [[nodiscard]] const std::optional<FileStamp>& file_stamp() const { return file_.stamp; }
  /// Offers to recover unsaved changes of any scenario that earlier editors left behind, newest
  /// first. If the user agrees, recovered changes replace the current text. Returns true if changes
  /// were recovered. Sets `nothing_left` to true if no unsaved changes were found.
  bool recover(bool* nothing_left = nullptr);
  /// Discards the unsaved changes of the current text.
  void forget_changes();
  /// Shows a new text that does not belong to a file yet.
  void start_new(const std::string& text);
  /// Asks the user about unsaved changes, if any. Returns false if the user wants to continue
  /// editing.
  bool may_close();
  /// Saves the text. Asks for a path if the text has no file yet, or is one of Tutti's examples.
  /// Returns false if the text was not saved; the user has already seen the reason.
  bool save();
  /// If the user is typing a value into a field of the form, completes this edit with the value
  /// typed so far.
  void finish_edit();
  bool save_as();
  bool save_to(const QString& path);

  [[nodiscard]] std::string text() const;
  /// Returns true if the text is from a file or was saved to one.
  [[nodiscard]] bool has_file() const;
  /// Returns the path that error messages name, even if there is no file.
  [[nodiscard]] QString path() const;
  [[nodiscard]] QString title() const;
  [[nodiscard]] bool changed() const;
  /// Returns true if the text is from one of Tutti's examples. The editor never overwrites an
  /// example, because it edits a copy.
  [[nodiscard]] bool is_example() const;
  /// Shows the problems that a run reported.
  void show_error(const core::Error& error);

  void add_actions(Actions& actions);
  [[nodiscard]] FormView& form() { return *form_; }
  [[nodiscard]] FormModel& form_model() { return *model_; }
  [[nodiscard]] TextEditor& text_editor() { return *text_; }
  [[nodiscard]] QString card_text() const;
  [[nodiscard]] QStringList problem_texts() const;

 signals:
  void status_message(const QString& text);
  /// Emitted when title() or changed() changes.
  void title_changed();
  /// Emitted when the text changes.
  void edited();
  /// Emitted when the newest text has been checked.
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
  void show_facts();
  void show_field();
  /// Shows only the fields of the form whose names contain the words of the text.
  void filter_form(const QString& text);
  /// Converts a text from an older format to the current format.
  void convert();
  void apply(const core::TextEdits& edits, const core::FieldPath& field);
  void go_to_problem(int number);
  void next_problem(int step);

  core::Schema schema_;
  core::Library library_;
  ScenarioFile file_;
  QString recovery_folder_;
  RecoveryFile recovery_;
  std::shared_ptr<const core::ScenarioText> read_;  ///< the text that the form shows
  std::vector<PlacedProblem> problems_;
  Checker checker_;
  FormModel* model_;
  QLineEdit* filter_;
  FormView* form_;
  TextEditor* text_;
  QSplitter* sides_;
  QLabel* card_;
  std::vector<std::pair<std::string, std::string>> facts_;  ///< the facts that card_ shows
  QScrollArea* about_;                                      ///< shows help_
  QLabel* help_;
  QLabel* broken_;
  QListWidget* list_;
  QTimer* follow_;
  QTimer* keep_;  ///< active while the recovery file is older than the text
  bool keeping_failed_ =
      false;  ///< true: the user has seen a message about the failure to write the recovery file
  bool applying_ = false;  ///< true: an edit in the form is changing the text
};

}  // namespace tutti::gui
