// Scenario files in the editor: no change is lost, and files that are no scenarios are not opened.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QTimer>
#include <filesystem>
#include <fstream>

#include "gui/editor/form_view.h"
#include "gui/editor/text_editor.h"
#include "gui/widgets/notice_bar.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/window_hands.h"

namespace tutti::gui {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Editor, BrokenEmptyHugeAndBinaryFilesCauseAMessage) {
  own("kept.textproto", "name: \"kept\"");
  for (const std::string& file : {folder_.file("gone.textproto"), folder_.path(),
                                  folder_.write("bytes.textproto", "\xff\xfe"),
                                  folder_.write("nul.textproto", std::string("a\0b", 3)),
                                  folder_.write("mixed.textproto", "a: 1\r\nb: 2\n"),
                                  folder_.write("huge.textproto", std::string(5 << 20, '#'))}) {
    open(file);
    EXPECT_THAT(said_, HasSubstr(file));
    EXPECT_EQ(text(), "name: \"kept\"");
  }
  const std::string whole = file_text(shipped("01_two_ranks"));
  for (std::size_t length = 0; length < whole.size(); length += 61) {
    open(folder_.write("cut.textproto", whole.substr(0, length)));
    EXPECT_EQ(said_, "");
    EXPECT_FALSE(editor().problem_texts().isEmpty()) << length;
    window_->grab();
  }
  open(folder_.write("deep.textproto", std::string(100'000, '{')));
  open(folder_.write("long.json", "{\"name\": \"" + std::string(1 << 20, 'x') + "\"}"));
  EXPECT_THAT(said_, HasSubstr("1048588"));
  open(folder_.write("rather_long.json", "{\"name\": \"" + std::string(60'000, 'x') + "\"}"));
  EXPECT_EQ(said_, "");
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "workload { variable { name: \"v\" } }\n";
  open(folder_.write("many.textproto", many));
  EXPECT_EQ(said_, "");
  window_->grab();
}

TEST_F(Editor, AsksBeforeChangesAreLost) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("b"));
  answer(QMessageBox::Cancel);
  window_->open(QString::fromStdString(shipped("01_two_ranks")));
  EXPECT_TRUE(until([&] { return requested_; }));
  EXPECT_EQ(text(), "name: \"b\"\n");
  answer(QMessageBox::Cancel);
  EXPECT_FALSE(window_->close());
  EXPECT_TRUE(requested_);
  EXPECT_TRUE(window_->isVisible());
  answer(QMessageBox::Save);
  EXPECT_TRUE(window_->close());
  EXPECT_TRUE(requested_);
  EXPECT_EQ(file_text(file), "name: \"b\"\n");
}

TEST_F(Editor, AsksBeforeOverwritingChangesOfAnotherProgram) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  std::ofstream(file) << "name: \"theirs\"\n";
  fs::last_write_time(file, fs::last_write_time(file) + std::chrono::hours(1));
  set(path({{"name", 0}}), QStringLiteral("mine"));
  answer(QMessageBox::Cancel);
  act("save");
  EXPECT_TRUE(requested_);
  EXPECT_EQ(file_text(file), "name: \"theirs\"\n");
  EXPECT_TRUE(editor().changed());
  answer(QMessageBox::Save);
  act("save");
  EXPECT_EQ(file_text(file), "name: \"mine\"\n");
  EXPECT_FALSE(editor().changed());
}

TEST_F(Editor, AFailedSaveIsReportedAndKeepsTheChanges) {
  own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("b"));
  EXPECT_FALSE(editor().save_to(QString::fromStdString(folder_.file("no/such/folder.textproto"))));
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("folder.textproto"));
  EXPECT_TRUE(editor().changed());
  EXPECT_TRUE(editor().save_to(QString::fromStdString(folder_.file("new.textproto"))));
  EXPECT_EQ(folder_.read("new.textproto"), "name: \"b\"\n");
  EXPECT_EQ(editor().title(), QStringLiteral("new.textproto"));
}

/// Answers the next file dialog with this name.
void name_file(const std::string& path) {
  auto* const look = new QTimer(qApp);
  QObject::connect(look, &QTimer::timeout, qApp, [look, path] {
    auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (!dialog) return;
    look->deleteLater();
    auto* const line = dialog->findChild<QLineEdit*>();
    line->setText(QString::fromStdString(path));
    QMetaObject::invokeMethod(dialog, "accept", Qt::DirectConnection);
  });
  look->start(1);
}

TEST_F(Editor, SavingAnExampleAsksForAFileName) {
  examples_ = folder_.file("shipped");
  fs::create_directory(examples_);
  const std::string example = folder_.write("shipped/01_first.textproto", "name: \"a\"\n");
  const std::string other = folder_.write("shipped/mine.textproto", "name: \"mine\"\n");
  make_window();
  open(example);
  EXPECT_THAT(window_->windowTitle().toStdString(),
              HasSubstr("01_first.textproto (copy of an example)"));
  set(path({{"name", 0}}), QStringLiteral("b"));
  const std::string copy = folder_.file("copy.textproto");
  name_file(copy);
  act("save");
  EXPECT_EQ(file_text(example), "name: \"a\"\n");
  EXPECT_EQ(file_text(copy), "name: \"b\"\n");
  EXPECT_THAT(window_->windowTitle().toStdString(), StartsWith("copy.textproto[*]"))
      << "from now on the copy is what is edited";
  set(path({{"name", 0}}), QStringLiteral("c"));
  act("save");
  EXPECT_EQ(file_text(copy), "name: \"c\"\n") << "without asking";
  // An example is never overwritten: not by its name, not by a different path, and not through a
  // link.
  fs::create_symlink(example, folder_.file("link.textproto"));
  for (const std::string& name :
       {example, folder_.path() + "/shipped/../shipped/01_first.textproto",
        folder_.file("link.textproto")}) {
    EXPECT_FALSE(editor().save_to(QString::fromStdString(name))) << name;
    EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("example"));
  }
  EXPECT_EQ(file_text(example), "name: \"a\"\n");
  open(other);
  set(path({{"name", 0}}), QStringLiteral("still mine"));
  act("save");
  EXPECT_EQ(file_text(other), "name: \"still mine\"\n") << "only numbered scenarios are examples";
}

TEST_F(Editor, ASweepOfAnExampleIsNotWrittenIntoTheFolderOfExamples) {
  open(shipped("01_two_ranks"));
  ASSERT_TRUE(editor().is_example());
  act("sweep");
  const auto* const file = window_->findChild<QLineEdit*>(QStringLiteral("sweep file"));
  ASSERT_TRUE(file);
  EXPECT_EQ(QFileInfo(file->text()).fileName(), QStringLiteral("01_two_ranks.sweep"));
  EXPECT_NE(QFileInfo(file->text()).absolutePath().toStdString(),
            fs::path(shipped("01_two_ranks")).parent_path());
}

TEST_F(Editor, OpensDroppedAndNewFiles) {
  EXPECT_TRUE(drop(window_.get(), {shipped("02_eight_hosts_ring")}));
  ASSERT_TRUE(
      until([&] { return editor().title() == QStringLiteral("02_eight_hosts_ring.textproto"); }));
  EXPECT_EQ(QSettings().value(QStringLiteral("recent")).toStringList().front().toStdString(),
            shipped("02_eight_hosts_ring"));
  act("new");
  EXPECT_EQ(editor().title(), QStringLiteral("untitled.textproto"));
  wait_for_check();
  EXPECT_TRUE(editor().problem_texts().isEmpty()) << "the initial text can be run";
}

TEST_F(Editor, AFileDroppedOnTheTextIsOpenedInsteadOfInserted) {
  const std::string before = file_text(own("a.textproto", "name: \"a\"\n"));
  // Qt offers the drop to the widget under the mouse, and then to its parents.
  drop(editor().text_editor().viewport(), {shipped("02_eight_hosts_ring")});
  EXPECT_EQ(text(), before);
  ASSERT_TRUE(
      until([&] { return editor().title() == QStringLiteral("02_eight_hosts_ring.textproto"); }));
}

TEST_F(Editor, AFileThatChangesOnDiskIsReloadedAndUndoRestoresTheText) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("mine"));
  std::ofstream(file) << "name: \"theirs\"\n";
  NoticeBar& notice = session().notice();
  ASSERT_TRUE(until([&] { return notice.isVisible(); }));
  EXPECT_THAT(notice.text().toStdString(), HasSubstr("Reloading replaces your changes"));
  notice.button().click();
  EXPECT_EQ(text(), "name: \"theirs\"\n");
  EXPECT_FALSE(editor().changed());
  EXPECT_FALSE(notice.isVisible());
  editor().text_editor().undo();
  EXPECT_EQ(text(), "name: \"mine\"\n") << "reloading is one step";
  EXPECT_TRUE(editor().changed());
  act("save");  // it asks nothing, since the text is based on the file as it is
  EXPECT_EQ(file_text(file), "name: \"mine\"\n");
  QTest::qWait(600);
  EXPECT_FALSE(notice.isVisible()) << "the window's own changes are not offered";
}

TEST_F(Editor, AKeyReloadsAScenarioThatHasChangedOnDisk) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  std::ofstream(file) << "name: \"theirs\"\n";
  ASSERT_TRUE(until([&] { return session().notice().isVisible(); }));
  press(Qt::Key_R, Qt::ControlModifier);
  EXPECT_EQ(text(), "name: \"theirs\"\n");
  EXPECT_FALSE(session().notice().isVisible());
  EXPECT_EQ(window_->status_text(), QString()) << "no timeline is missing";
}

TEST_F(Editor, TypingDoesNotHideThatTheFileHasChanged) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  std::ofstream(file) << "name: \"theirs\"\n";
  set(path({{"name", 0}}), QStringLiteral("mine"));
  NoticeBar& notice = session().notice();
  ASSERT_TRUE(until([&] { return notice.isVisible(); }));
  set(path({{"name", 0}}), QStringLiteral("again"));
  EXPECT_EQ(text(), "name: \"again\"\n");
  EXPECT_TRUE(notice.isVisible());
  answer(QMessageBox::Save);
  act("save");
  EXPECT_TRUE(requested_);
  EXPECT_FALSE(notice.isVisible()) << "the file is what the editor shows";
  EXPECT_EQ(file_text(file), "name: \"again\"\n");
}

TEST_F(Editor, DetectsAChangeThatKeepsTheModificationTime) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  const auto written = fs::last_write_time(file);
  std::ofstream(file) << "name: \"longer\"\n";
  fs::last_write_time(file, written);
  EXPECT_TRUE(editor().changed_on_disk());
}

}  // namespace
}  // namespace tutti::gui
