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

/// Path of a scenario that is shipped, by its name.
std::string shipped(const std::string& name);
std::string file_text(const std::string& path);
core::FieldPath path(std::initializer_list<core::PathStep> steps);
/// Everything that runs scenarios here, and three more: one that runs until it is stopped
/// ("endless"), one that fails ("failing"), one that is not there ("none").
Executors executors();

/// A window that edits and runs scenarios.
class Editor : public testing::Test {
 protected:
  Editor();

  /// A window in place of the one before, which goes as it does at a crash or a signal: nobody is
  /// asked.
  void make_window();
  [[nodiscard]] QString recovery_folder() const {
    return QString::fromStdString(folder_.file("recovery"));
  }

  EditorSession& session() { return window_->session(); }
  ScenarioEditor& editor() { return session().editor(); }
  FormModel& form() { return editor().form_model(); }
  std::string text() { return editor().text(); }
  /// … and what follows from it.
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
  /// Waits until the run that was begun, or stopped, has ended; true if its timeline was opened.
  bool ran() {
    for (int i = 0; i < 6000 && opened_ == 0 && failed_ == 0; ++i) QTest::qWait(10);
    return opened_ > 0;
  }
  /// Answers the next question that a modal box asks.
  void answer(QMessageBox::StandardButton button);
  /// What is opened is read in a thread: waits until the window has come to what is expected then.
  template <class What>
  bool until(What what) {
    for (int i = 0; i < 1000 && !what(); ++i) QTest::qWait(10);
    return what();
  }
  /// Where windows keep timelines of runs.
  static std::vector<std::string> run_folders();

  test::TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
  std::string said_;
  std::string examples_;  ///< folder of scenarios that windows made from now on take for Tutti's;
                          ///< empty: Tutti's own
  bool asked_ = false;
  int opened_ = 0, failed_ = 0;  ///< since the last key or action
};

}  // namespace tutti::gui
