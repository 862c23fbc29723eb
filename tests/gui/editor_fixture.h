#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QMessageBox>
#include <QSignalSpy>
#include <QTest>
#include <memory>

#include "gui/editor/run_bar.h"
#include "gui/editor/scenario_editor.h"
#include "gui/window/main_window.h"
#include "tests/support/program.h"

namespace tutti::gui {

/// Returns the path of the shipped scenario with this name.
std::string shipped(const std::string& name);
std::string file_text(const std::string& path);
core::FieldPath path(std::initializer_list<core::PathStep> steps);
/// Returns the program's executors, and three more: one that runs until it is stopped ("endless"),
/// one that fails ("failing"), and one that is not available ("none").
Executors executors();

/// A fixture with a window that edits and runs scenarios.
class Editor : public testing::Test {
 protected:
  Editor();

  /// Replaces the window by a new one. The old window is destroyed as by a crash or a signal,
  /// without questions to the user.
  void make_window();
  [[nodiscard]] QString recovery_folder() const {
    return QString::fromStdString(folder_.file("recovery"));
  }

  EditorSession& session() { return window_->session(); }
  ScenarioEditor& editor() { return session().editor(); }
  FormModel& form() { return editor().form_model(); }
  std::string text() { return editor().text(); }
  /// Triggers the action with this id, and processes the events that follow.
  void act(const char* id) {
    opened_ = failed_ = 0;
    window_->actions_of().find(QString::fromLatin1(id))->trigger();
    QApplication::processEvents();
  }
  void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
    opened_ = failed_ = 0;
    QWidget* const there = QApplication::focusWidget();
    QTest::keyClick(there ? there : window_.get(), key, with);
    QApplication::processEvents();
  }

  void open(const std::string& file) {
    opened_ = failed_ = 0;
    said_.clear();
    window_->open(QString::fromStdString(file));
    ran();
  }
  std::string own(const std::string& name, const std::string& content) {
    const std::string file = folder_.write(name, content);
    open(file);
    EXPECT_EQ(said_, "");
    return file;
  }
  void wait_for_check() {
    QSignalSpy checked(&editor(), &ScenarioEditor::checked);
    ASSERT_TRUE(checked.wait(20'000));
  }
  void set(const core::FieldPath& field, const QString& value) {
    const QModelIndex at = form().index_of(field).siblingAtColumn(FormModel::kValue);
    ASSERT_TRUE(at.isValid());
    ASSERT_TRUE(form().setData(at, value, Qt::EditRole)) << to_string(field);
  }
  QString shown(const core::FieldPath& field) {
    return form().index_of(field).siblingAtColumn(FormModel::kValue).data(Qt::EditRole).toString();
  }
  /// Waits until the run that was started, or stopped, has ended. Returns true if its timeline was
  /// opened.
  bool ran() {
    // A busy machine may take long. If nothing happens at all, ctest stops the test.
    while (opened_ == 0 && failed_ == 0) QTest::qWait(10);
    return opened_ > 0;
  }
  /// Answers the question of the next modal message box.
  void answer(QMessageBox::StandardButton button);
  /// Waits until `what` returns true, since files are read in a thread. Returns false on a timeout.
  template <class What>
  bool until(What what) {
    for (int i = 0; i < 6000 && !what(); ++i) QTest::qWait(10);
    return what();
  }
  /// Returns the folders where windows keep the timelines of runs.
  static std::vector<std::string> run_folders();

  test::TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
  std::string said_;
  /// The folder that later windows use for Tutti's scenarios; empty: the folder in the repository.
  std::string examples_;
  bool draws_examples_ = false;  ///< true: later windows draw pictures of the examples
  bool requested_ = false;
  int opened_ = 0, failed_ = 0;  ///< since the last key or action
};

}  // namespace tutti::gui
