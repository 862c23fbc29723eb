// Text that the user has typed is never lost. The tests paste from an empty clipboard, and end
// windows before their changes are saved.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QLineEdit>
#include <QMimeData>
#include <filesystem>
#include <fstream>

#include "gui/editor/form_view.h"
#include "gui/editor/recovery.h"
#include "gui/editor/text_editor.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/window_hands.h"

namespace tutti::gui {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// --- pasting ---

TEST_F(Editor, PastingFromAnEmptyClipboardChangesNothing) {
  own("own.textproto", "name: \"a\"\n");
  TextEditor& field = editor().text_editor();
  field.setFocus();
  QGuiApplication::clipboard()->clear();
  // The middle button pastes the text that was selected last in any field of the display.
  QGuiApplication::clipboard()->clear(QClipboard::Selection);
  QTest::keyClick(&field, Qt::Key_V, Qt::ControlModifier);
  QTest::keyClick(&field, Qt::Key_Insert, Qt::ShiftModifier);
  field.paste();
  QTest::mouseClick(field.viewport(), Qt::MiddleButton, {}, QPoint(10, 10));
  EXPECT_EQ(text(), "name: \"a\"\n");
  EXPECT_FALSE(editor().changed());
}

/// Makes protected functions accessible to the test.
class OpenTextEditor : public TextEditor {
 public:
  using TextEditor::canInsertFromMimeData;
  using TextEditor::insertFromMimeData;
};

TEST_F(Editor, NoDataAndDataWithoutTextAreNotInserted) {
  OpenTextEditor field;
  field.set_utf8("name: \"a\"\n");
  QMimeData nothing, picture, words;
  picture.setData(QStringLiteral("image/png"), "\x89PNG");
  words.setText(QStringLiteral("# "));
  for (const QMimeData* const data :
       {static_cast<const QMimeData*>(nullptr), static_cast<const QMimeData*>(&nothing),
        static_cast<const QMimeData*>(&picture)}) {
    EXPECT_FALSE(field.canInsertFromMimeData(data));
    field.insertFromMimeData(data);
    EXPECT_EQ(field.utf8(), "name: \"a\"\n");
  }
  EXPECT_TRUE(field.canInsertFromMimeData(&words));
  field.insertFromMimeData(&words);
  EXPECT_EQ(field.utf8(), "# name: \"a\"\n");
}

TEST_F(Editor, AnEmptyDropOnTheTextChangesNothing) {
  own("own.textproto", "name: \"a\"\n");
  drop(editor().text_editor().viewport(), {});
  EXPECT_EQ(text(), "name: \"a\"\n");
}

TEST_F(Editor, PastingFromAnEmptyClipboardIsSafeInAllFields) {
  open(shipped("01_two_ranks"));
  act("sweep");
  act("palette");
  editor().form().edit(form().index_of(path({{"name", 0}})).siblingAtColumn(FormModel::kValue));
  QGuiApplication::clipboard()->clear();
  int fields = 0;
  for (QWidget* const top : QApplication::topLevelWidgets()) {
    for (auto* const line : top->findChildren<QLineEdit*>()) {
      const QString before = line->text();
      line->deselect();  // pasting nothing over a selection removes the selection
      line->paste();
      QTest::keyClick(line, Qt::Key_V, Qt::ControlModifier);
      EXPECT_EQ(line->text(), before) << line->objectName().toStdString();
      ++fields;
    }
  }
  EXPECT_GE(fields, 5) << "search, filter, the palette's, the sweep's file, a field of the form";
  if (QWidget* const dialog = QApplication::activeModalWidget()) dialog->close();
}

// --- recovery files ---

QStringList files_in(const QString& folder) {
  return QDir(folder).entryList(QDir::Files, QDir::Name);
}

UnsavedText unsaved(const std::string& path, const std::string& text) {
  return {QString::fromStdString(path), {}, false, true, text};
}

TEST_F(Editor, ARecoveryFileIsOfferedOnlyAfterItsEditorHasEnded) {
  const QString folder = recovery_folder();
  const std::string one = folder_.write("one.textproto", ""),
                    two = folder_.write("two.textproto", "");
  {
    RecoveryFile first(folder), second(folder), other(folder);
    ASSERT_TRUE(first.keep(unsaved(one, "of the first")));
    ASSERT_TRUE(second.keep(unsaved(one, "of the second: \xC3\xA4 \xE2\x96\xB8")));
    ASSERT_TRUE(other.keep(unsaved(two, "of another")));
    EXPECT_TRUE(left_behind(folder).empty()) << "their editors are alive";
    ASSERT_TRUE(first.keep(unsaved(one, "of the first, changed")));
    second.remove();
    EXPECT_EQ(files_in(folder).filter(QStringLiteral(".json")).size(), 4)
        << "two files and their locks";
  }
  EXPECT_EQ(left_behind(folder).size(), 2u);
  auto found = left_behind(folder, QString::fromStdString(folder_.path() + "/./one.textproto"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].unsaved().text, "of the first, changed");
  EXPECT_TRUE(found[0].unsaved().crlf);
  EXPECT_EQ(left_behind(folder).size(), 1u) << "another window is not offered the same";
  found[0].discard();
  found.clear();
  EXPECT_EQ(left_behind(folder).size(), 1u);
}

TEST_F(Editor, RecoveryFilesOfAKilledProcessAreFound) {
  const pid_t child = ::fork();
  if (child == 0) {
    RecoveryFile file(recovery_folder());
    static_cast<void>(file.keep(unsaved(folder_.file("own.textproto"), "typed")));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto found = left_behind(recovery_folder());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].unsaved().text, "typed");
}

TEST_F(Editor, IgnoresBrokenRecoveryFiles) {
  fs::create_directory(recovery_folder().toStdString());
  for (const char* const broken : {"", "{", "[]", "{\"text\": 3}", "\xff\xfe"})
    static_cast<void>(
        folder_.write("recovery/a" + std::to_string(*broken) + ".recovery.json", broken));
  EXPECT_TRUE(left_behind(recovery_folder()).empty());
  RecoveryFile nowhere(QStringLiteral("/proc/no/such/folder"));
  EXPECT_THAT(nowhere.keep(unsaved("a", "b")).error().message(), HasSubstr("/proc/no/such/folder"));
  RecoveryFile none{QString()};
  EXPECT_TRUE(none.keep(unsaved("a", "b"))) << "if nothing is to be kept";
}

// --- the window ---

TEST_F(Editor, LostChangesAreOfferedWhenTheirFileIsOpened) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("b"));
  // The recovery file is written while the window exists and before any other action.
  EXPECT_TRUE(until([&] { return !files_in(recovery_folder()).isEmpty(); }));
  set(path({{"name", 0}}), QStringLiteral("c"));
  make_window();  // the last change was made a moment ago
  answer(QMessageBox::Yes);
  open(file);
  EXPECT_TRUE(requested_);
  EXPECT_EQ(text(), "name: \"c\"\n");
  EXPECT_TRUE(editor().changed());
  EXPECT_EQ(file_text(file), "name: \"a\"\n") << "recovered changes are still unsaved";
  act("undo");
  EXPECT_EQ(text(), "name: \"a\"\n");
  EXPECT_FALSE(editor().changed());
  act("redo");
  act("save");
  EXPECT_EQ(file_text(file), "name: \"c\"\n");
  EXPECT_TRUE(files_in(recovery_folder()).isEmpty());
}

TEST_F(Editor, DiscardedChangesAreDeletedAndPostponedOnesAreOfferedAgain) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("b"));
  make_window();
  answer(QMessageBox::Cancel);
  open(file);
  EXPECT_TRUE(requested_);
  EXPECT_EQ(text(), "name: \"a\"\n");
  answer(QMessageBox::Discard);
  open(file);
  EXPECT_TRUE(requested_);
  EXPECT_EQ(text(), "name: \"a\"\n");
  EXPECT_TRUE(left_behind(recovery_folder()).empty());
  EXPECT_TRUE(files_in(recovery_folder()).isEmpty());
}

TEST_F(Editor, SavedRevertedAndAbandonedTextsLeaveNoRecoveryFile) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  const auto is_kept = [&] { return !files_in(recovery_folder()).isEmpty(); };
  set(path({{"name", 0}}), QStringLiteral("b"));
  ASSERT_TRUE(until(is_kept));
  act("undo");
  EXPECT_TRUE(until([&] { return !is_kept(); }));
  set(path({{"name", 0}}), QStringLiteral("c"));
  ASSERT_TRUE(until(is_kept));
  act("save");
  EXPECT_FALSE(is_kept());
  set(path({{"name", 0}}), QStringLiteral("d"));
  ASSERT_TRUE(until(is_kept));
  answer(QMessageBox::Discard);
  EXPECT_TRUE(window_->close());
  EXPECT_TRUE(requested_);
  EXPECT_FALSE(is_kept());
  make_window();
  EXPECT_FALSE(is_kept());
  open(file);
  EXPECT_EQ(text(), "name: \"c\"\n");
}

TEST_F(Editor, AtTheStartChangesOfUntitledAndDeletedFilesAreOffered) {
  act("new");
  editor().text_editor().apply({{0, 0, "# mine\n"}});
  const std::string untitled = text();
  make_window();
  answer(QMessageBox::Yes);
  window_->offer_recovery();
  EXPECT_TRUE(requested_);
  EXPECT_EQ(text(), untitled);
  EXPECT_EQ(editor().title(), QStringLiteral("untitled.textproto"));
  EXPECT_TRUE(session().isVisible());
  answer(QMessageBox::Discard);
  const std::string file = own("own.textproto", "name: \"a\"\n");
  EXPECT_TRUE(requested_) << "whether the changes are to be saved";
  set(path({{"name", 0}}), QStringLiteral("b"));
  make_window();
  fs::remove(file);
  answer(QMessageBox::Yes);
  act("recover");
  EXPECT_TRUE(requested_);
  EXPECT_EQ(text(), "name: \"b\"\n");
  act("save");
  EXPECT_EQ(file_text(file), "name: \"b\"\n");
  act("recover");
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("no unsaved changes"));
}

TEST_F(Editor, RecoveryAsksBeforeOverwritingNewerChangesOfAnotherProgram) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("mine"));
  make_window();
  std::ofstream(file) << "name: \"theirs\"\n";
  fs::last_write_time(file, fs::last_write_time(file) + std::chrono::hours(1));
  answer(QMessageBox::Yes);
  open(file);
  EXPECT_EQ(text(), "name: \"mine\"\n");
  answer(QMessageBox::Cancel);
  act("save");
  EXPECT_TRUE(requested_);
  EXPECT_EQ(file_text(file), "name: \"theirs\"\n");
}

TEST_F(Editor, TwoWindowsOnOneFileKeepTheirOwnChanges) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("of the first"));
  ASSERT_TRUE(until([&] { return !files_in(recovery_folder()).isEmpty(); }));
  const std::unique_ptr<MainWindow> first = std::move(window_);
  make_window();
  open(file);
  EXPECT_EQ(text(), "name: \"a\"\n") << "changes of an open window are not offered";
  set(path({{"name", 0}}), QStringLiteral("of the second"));
  EXPECT_TRUE(until(
      [&] { return files_in(recovery_folder()).filter(QStringLiteral(".json")).size() == 4; }));
  act("save");
  EXPECT_EQ(file_text(file), "name: \"of the second\"\n");
  EXPECT_EQ(first->session().editor().text(), "name: \"of the first\"\n");
  EXPECT_EQ(files_in(recovery_folder()).size(), 2) << "the first one's, and its lock";
}

}  // namespace
}  // namespace tutti::gui
