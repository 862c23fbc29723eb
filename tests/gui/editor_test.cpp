// The scenario editor and its runs on Qt's offscreen platform: form and text are one, nothing is lost, a run never outlives
// the window.

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/random.h"
#include "core/proto/scenario.pb.h"
#include "core/text/bind.h"
#include "gui/editor/form_view.h"
#include "gui/editor/run_bar.h"
#include "gui/editor/scenario_editor.h"
#include "gui/editor/text_editor.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/welcome_page.h"
#include "gui/workshop.h"
#include "tests/support/clusters.h"
#include "tests/support/process.h"
#include "tests/support/program.h"

namespace tutti::gui {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

std::string shipped(const std::string& name) { return test::source_folder() + "/scenarios/" + name + ".textproto"; }

std::string file_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

FieldPath path(std::initializer_list<PathStep> steps) { return steps; }

/// Runs for as long as nobody stops it, a step at a time.
class Endless : public core::Executor {
 public:
  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions&, const core::RunControl& control,
                           core::TimelineSink& sink) override {
    core::RunInfo info;
    info.scenario = scenario.name;
    sink.begin(info);
    for (std::int32_t step = 0; !control.cancel->load(); ++step) {
      core::StepRecord record;
      record.step = step;
      record.start = core::milliseconds(step);
      record.end = core::milliseconds(step + 1);
      sink.step(record);
      control.progress(0.25);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    sink.end();
    return {};
  }
};

class Failing : public core::Executor {
 public:
  core::Expected<void> run(const core::Scenario&, const core::RecordOptions&, const core::RunControl&,
                           core::TimelineSink&) override {
    return tl::make_unexpected(core::Error::run("worker 1 was ended by signal 9 (Killed)"));
  }
};

Workshop workshop() {
  Workshop made = make_workshop(test::tutti_program());
  made.library = core::Library(test::source_folder() + "/scenarios");
  made.backends.push_back({"endless", "Endless", "waiting", {}, [] { return std::make_unique<Endless>(); }});
  made.backends.push_back({"failing", "Failing", "failing", {}, [] { return std::make_unique<Failing>(); }});
  made.backends.push_back({"none", "None", "", [] { return "it was never built"; }, {}});
  return made;
}

class Editor : public testing::Test {
 protected:
  Editor() {
    QSettings().clear();
    make_window();
  }

  void make_window() {
    window_ = std::make_unique<MainWindow>(workshop());
    QSignalSpy looked(&desk().bar(), &RunBar::looked);
    QObject::connect(window_.get(), &MainWindow::opened, window_.get(), [this] { ++opened_; });
    QObject::connect(window_.get(), &MainWindow::failed, window_.get(), [this](const QString& why) {
      ++failed_;
      said_ = why.toStdString();
    });
    window_->show();
    EXPECT_TRUE(looked.wait(60'000));
  }

  ScenarioDesk& desk() { return window_->desk(); }
  ScenarioEditor& editor() { return desk().editor(); }
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
  void set(const FieldPath& field, const QString& value) {
    const QModelIndex at = form().index_of(field).siblingAtColumn(FormModel::kValue);
    ASSERT_TRUE(at.isValid());
    ASSERT_TRUE(form().setData(at, value, Qt::EditRole)) << to_string(field);
  }
  QString shown(const FieldPath& field) {
    return form().index_of(field).siblingAtColumn(FormModel::kValue).data(Qt::EditRole).toString();
  }
  /// Waits until the run that was begun, or stopped, has ended; true if its timeline was opened.
  bool ran() {
    for (int i = 0; i < 6000 && opened_ == 0 && failed_ == 0; ++i) QTest::qWait(10);
    return opened_ > 0;
  }
  /// Answers the next question that a modal box asks.
  void answer(QMessageBox::StandardButton button) {
    asked_ = false;
    auto* const look = new QTimer(window_.get());
    QObject::connect(look, &QTimer::timeout, window_.get(), [this, button, look] {
      auto* const box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      if (!box) return;
      look->deleteLater();
      asked_ = true;
      box->button(button)->click();
    });
    look->start(1);
  }
  /// What is opened is read in a thread: waits until the window has come to what is expected then.
  template <class What>
  bool until(What what) {
    for (int i = 0; i < 1000 && !what(); ++i) QTest::qWait(10);
    return what();
  }
  static std::vector<std::string> run_folders() {
    std::vector<std::string> found;
    for (const QFileInfo& entry : QDir(QDir::tempPath()).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot)) {
      if (!QDir(entry.absoluteFilePath()).entryList({QStringLiteral("*.tutti")}).isEmpty() &&
          entry.fileName().startsWith(QStringLiteral("window-")))
        found.push_back(entry.absoluteFilePath().toStdString());
    }
    return found;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
  std::string said_;
  bool asked_ = false;
  int opened_ = 0, failed_ = 0;  ///< since the last key or action
};

std::string read(const std::string& text, proto::Scenario& message) {
  core::Problems problems;
  core::SourceMap sources("f");
  core::bind(core::parse_document(text, "f", problems).root, message, sources, problems);
  return problems.empty() ? "" : problems.take().value().message();
}

// --- form and text ---

TEST_F(Editor, AScenarioIsShownAsItIsAndSavedUnchanged) {
  for (const auto& entry : fs::directory_iterator(test::source_folder() + "/scenarios")) {
    if (entry.path().extension() != ".textproto") continue;
    open(entry.path().string());
    EXPECT_EQ(said_, "");
    EXPECT_EQ(text(), file_text(entry.path().string()));
    EXPECT_FALSE(editor().changed());
    EXPECT_THAT(editor().card_text().toStdString(), HasSubstr("what binds that"));
    EXPECT_TRUE(editor().problem_texts().isEmpty());
  }
  for (const std::string content :
       {"# a\r\nname: \"x\"\r\n", "\xEF\xBB\xBFname: \"\xC2\xA0é\"", "run{steps:1}\n\n\n", ""}) {
    const std::string file = own("own.textproto", content);
    set(path({{"run", 0}, {"seed", 0}}), QStringLiteral("5"));
    act("undo");
    act("save");
    EXPECT_EQ(file_text(file), content);
  }
}

TEST_F(Editor, FormEditsChangeTheTextAtTheirPlaceAndUndoIsOfBoth) {
  open(shipped("04_resnet50_ring"));
  const std::string before = text();
  set(path({{"workload", 0}, {"batch", 0}}), QStringLiteral("64"));
  std::string expected = before;
  expected.replace(expected.find("batch: 32"), 9, "batch: 64");
  EXPECT_EQ(text(), expected);
  EXPECT_TRUE(editor().changed());
  EXPECT_TRUE(window_->isWindowModified());
  set(path({{"strategy", 0}, {"reduction", 0}}), QString());
  EXPECT_EQ(text().find("reduction"), std::string::npos);
  act("undo");
  EXPECT_EQ(text(), expected);
  EXPECT_EQ(shown(path({{"strategy", 0}, {"reduction", 0}})), QStringLiteral("MEAN"));
  // … and of what was typed.
  act("text");
  press(Qt::Key_End, Qt::ControlModifier);
  QTest::keyClicks(&editor().text_editor(), QStringLiteral("run { steps: 7 }"));
  QTest::qWait(10);
  EXPECT_EQ(shown(path({{"run", 0}, {"steps", 0}})), QStringLiteral("7"));
  while (editor().changed()) act("undo");
  QTest::qWait(10);
  EXPECT_EQ(text(), before);
  EXPECT_EQ(shown(path({{"workload", 0}, {"batch", 0}})), QStringLiteral("32"));
  EXPECT_FALSE(form().written(form().index_of(path({{"run", 0}}))));
  act("redo");
  EXPECT_EQ(text(), expected);
}

TEST_F(Editor, TheKeyboardAloneFillsTheForm) {
  own("own.textproto", "# mine\n");
  act("form");
  FormView& view = editor().form();
  view.setCurrentIndex(form().index_of(path({{"run", 0}})));
  press(Qt::Key_Right);  // opens it; not the timeline's key here
  press(Qt::Key_Down);
  press(Qt::Key_Return);
  auto* const line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_TRUE(line);
  EXPECT_EQ(line->placeholderText(), QStringLiteral("3"));
  QTest::keyClicks(line, QStringLiteral("9"));
  press(Qt::Key_Return);
  EXPECT_EQ(text(), "# mine\nrun { steps: 9 }\n");
  view.setFocus();
  view.setCurrentIndex(form().index_of(path({{"run", 0}, {"network_model", 0}})));
  press(Qt::Key_Return);
  auto* const box = qobject_cast<QComboBox*>(QApplication::focusWidget());
  ASSERT_TRUE(box);
  QTest::keyClick(box, Qt::Key_Down);
  press(Qt::Key_Return);
  view.setFocus();
  view.setCurrentIndex(form().index_of(path({{"run", 0}, {"seed", 0}})));
  EXPECT_EQ(text(), "# mine\nrun { steps: 9 network_model: FIFO }\n");
  view.setCurrentIndex(form().index_of(path({{"run", 0}, {"steps", 0}})));
  press(Qt::Key_Delete);
  EXPECT_EQ(text(), "# mine\nrun { network_model: FIFO }\n");
  view.setCurrentIndex(form().index_of(path({{"cluster", 0}, {"workers", 0}})));
  press(Qt::Key_Insert);
  press(Qt::Key_Insert);
  EXPECT_THAT(text(), HasSubstr("cluster { workers {} workers {} }"));
  EXPECT_EQ(form().rowCount(form().index_of(path({{"cluster", 0}, {"workers", 0}})).parent()), 3)
      << "and what adds one";
}

TEST_F(Editor, RandomFormEditsAreWhatTheTextThenSays) {
  core::Random random(9);
  for (const char* name : {"01_two_ranks", "06_resnet50_nccl"}) {
    own("own.textproto", file_text(shipped(name)));
    const std::string before = text();
    for (int i = 0; i < 60; ++i) {
      // Down to a random line of the form.
      QModelIndex at;
      while (form().hasChildren(at) && (!at.isValid() || random.below(5) != 0))
        at = form().index(static_cast<int>(random.below(static_cast<std::uint64_t>(form().rowCount(at)))), 0, at);
      const QModelIndex value = at.siblingAtColumn(FormModel::kValue);
      if (form().can_add(at)) {
        form().add(at);
      } else if (random.below(3) == 0) {
        form().remove(at);
      } else if (form().flags(value) & Qt::ItemIsEditable) {
        const FieldType& type = *form().type(at);
        const QString typed = type.choices.empty() ? QString::number(random.below(100))
                                                   : QString::fromStdString(type.choices.back().name);
        const FieldPath field = form().path(at);
        form().setData(value, typed, Qt::EditRole);
        EXPECT_EQ(shown(field), typed) << text();
      }
      // The form is what the text says, line by line.
      const ScenarioText now(text(), Schema::scenario());
      ASSERT_FALSE(now.broken()) << text();
      ASSERT_EQ(form().rowCount(form().index_of(path({{"workload", 0}, {"variable", 0}})).parent()) > 0, true);
    }
    for (int i = 0; i < 200 && text() != before; ++i) act("undo");
    EXPECT_EQ(text(), before);
    proto::Scenario first, last;
    EXPECT_EQ(read(before, first), "");
    EXPECT_EQ(read(text(), last), "");
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(first, last));
    while (editor().changed()) act("undo");
  }
}

TEST_F(Editor, ProblemsAreMarkedAtTheFieldInTheTextAndInWords) {
  open(shipped("04_resnet50_ring"));
  const FieldPath batch = path({{"workload", 0}, {"batch", 0}});
  set(batch, QStringLiteral("thirty"));
  wait_for_check();
  EXPECT_EQ(editor().problem_texts(),
            QStringList{QStringLiteral("line 12: batch: expected a whole number, found \"thirty\"")});
  const QModelIndex at = form().index_of(batch);
  EXPECT_THAT(form().problem(at).toStdString(), HasSubstr("expected a whole number"));
  EXPECT_THAT(at.data(Qt::AccessibleTextRole).toString().toStdString(), HasSubstr("problem: batch: expected"));
  EXPECT_THAT(at.data(Qt::AccessibleDescriptionRole).toString().toStdString(), StartsWith("Samples per replica"));
  EXPECT_THAT(editor().card_text().toStdString(), HasSubstr("one problem"));
  bool underlined = false;
  for (const QTextEdit::ExtraSelection& mark : editor().text_editor().extraSelections())
    underlined |= mark.cursor.selectedText() == QStringLiteral("\"thirty\"") &&
                  mark.format.underlineStyle() == QTextCharFormat::WaveUnderline;
  EXPECT_TRUE(underlined);
  editor().text_editor().moveCursor(QTextCursor::Start);
  act("problem-next");
  EXPECT_EQ(editor().text_editor().textCursor().blockNumber(), 11);
  EXPECT_EQ(form().path(editor().form().currentIndex()), batch);
  // Running it says the same, at the same place, and nothing opens.
  act("run");
  EXPECT_FALSE(ran());
  EXPECT_THAT(said_, HasSubstr("04_resnet50_ring.textproto:12:"));
  EXPECT_EQ(editor().problem_texts().size(), 1);
  act("undo");
  wait_for_check();
  EXPECT_TRUE(editor().problem_texts().isEmpty());
  EXPECT_EQ(form().problem(at), QString());
}

TEST_F(Editor, WhileTheTextIsBrokenTheFormWaits) {
  own("own.textproto", "run { steps: 5 }\n");
  act("text");
  editor().text_editor().moveCursor(QTextCursor::End);
  QTest::keyClicks(&editor().text_editor(), QStringLiteral("strategy {"));
  QTest::qWait(10);
  const QModelIndex steps = form().index_of(path({{"run", 0}, {"steps", 0}})).siblingAtColumn(FormModel::kValue);
  EXPECT_EQ(shown(path({{"run", 0}, {"steps", 0}})), QStringLiteral("5"));
  EXPECT_FALSE(form().flags(steps) & Qt::ItemIsEditable);
  EXPECT_FALSE(form().setData(steps, 6, Qt::EditRole));
  QTest::keyClicks(&editor().text_editor(), QStringLiteral("}"));
  QTest::qWait(10);
  EXPECT_TRUE(form().flags(steps) & Qt::ItemIsEditable);
}

// --- files ---

TEST_F(Editor, FilesThatAreBrokenEmptyHugeOrNoTextAreAMessage) {
  own("kept.textproto", "name: \"kept\"");
  for (const std::string& file :
       {folder_.file("gone.textproto"), folder_.path(), folder_.write("bytes.textproto", "\xff\xfe"),
        folder_.write("nul.textproto", std::string("a\0b", 3)), folder_.write("mixed.textproto", "a: 1\r\nb: 2\n"),
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
  EXPECT_THAT(said_, HasSubstr("line 1 is 1048588 bytes long"));
  open(folder_.write("rather_long.json", "{\"name\": \"" + std::string(60'000, 'x') + "\"}"));
  EXPECT_EQ(said_, "");
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "workload { variable { name: \"v\" } }\n";
  open(folder_.write("many.textproto", many));
  EXPECT_EQ(said_, "");
  window_->grab();
}

TEST_F(Editor, ChangesAreNotLostWithoutAsking) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("b"));
  answer(QMessageBox::Cancel);
  window_->open(QString::fromStdString(shipped("01_two_ranks")));
  EXPECT_TRUE(until([&] { return asked_; }));
  EXPECT_EQ(text(), "name: \"b\"\n");
  answer(QMessageBox::Cancel);
  EXPECT_FALSE(window_->close());
  EXPECT_TRUE(asked_);
  EXPECT_TRUE(window_->isVisible());
  answer(QMessageBox::Save);
  EXPECT_TRUE(window_->close());
  EXPECT_TRUE(asked_);
  EXPECT_EQ(file_text(file), "name: \"b\"\n");
}

TEST_F(Editor, WhatAnotherProgramWroteIsNotOverwrittenWithoutAsking) {
  const std::string file = own("own.textproto", "name: \"a\"\n");
  std::ofstream(file) << "name: \"theirs\"\n";
  fs::last_write_time(file, fs::last_write_time(file) + std::chrono::hours(1));
  set(path({{"name", 0}}), QStringLiteral("mine"));
  answer(QMessageBox::Cancel);
  act("save");
  EXPECT_TRUE(asked_);
  EXPECT_EQ(file_text(file), "name: \"theirs\"\n");
  EXPECT_TRUE(editor().changed());
  answer(QMessageBox::Save);
  act("save");
  EXPECT_EQ(file_text(file), "name: \"mine\"\n");
  EXPECT_FALSE(editor().changed());
}

TEST_F(Editor, WhereItCannotBeWrittenIsSaidAndTheChangesStay) {
  own("own.textproto", "name: \"a\"\n");
  set(path({{"name", 0}}), QStringLiteral("b"));
  EXPECT_FALSE(editor().save_to(QString::fromStdString(folder_.file("no/such/folder.textproto"))));
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("folder.textproto"));
  EXPECT_TRUE(editor().changed());
  EXPECT_TRUE(editor().save_to(QString::fromStdString(folder_.file("new.textproto"))));
  EXPECT_EQ(folder_.read("new.textproto"), "name: \"b\"\n");
  EXPECT_EQ(editor().title(), QStringLiteral("new.textproto"));
}

TEST_F(Editor, DroppedFilesAndNewOnesOpen) {
  QMimeData mime;
  mime.setUrls({QUrl::fromLocalFile(QString::fromStdString(shipped("02_eight_hosts_ring")))});
  QDragEnterEvent enter({100, 100}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window_.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop({100, 100}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window_.get(), &drop);
  ASSERT_TRUE(until([&] { return editor().title() == QStringLiteral("02_eight_hosts_ring.textproto"); }));
  EXPECT_EQ(QSettings().value(QStringLiteral("recent")).toStringList().front().toStdString(),
            shipped("02_eight_hosts_ring"));
  act("new");
  EXPECT_EQ(editor().title(), QStringLiteral("untitled.textproto"));
  wait_for_check();
  EXPECT_TRUE(editor().problem_texts().isEmpty()) << "what one starts from can be run";
}

// --- runs ---

TEST_F(Editor, F5RunsAndTheTimelineOpensByItself) {
  open(shipped("01_two_ranks"));
  press(Qt::Key_F5);
  ASSERT_TRUE(ran()) << said_;
  EXPECT_FALSE(desk().running());
  ASSERT_TRUE(window_->timeline().trace());
  // The time that the file computes by hand.
  EXPECT_EQ(window_->timeline().view().range().to, core::microseconds(109));
  EXPECT_TRUE(desk().isVisible());
  EXPECT_TRUE(window_->timeline().isVisible());
  act("scenario");
  EXPECT_FALSE(desk().isVisible());
  // What is unsaved runs too.
  act("scenario");
  set(path({{"run", 0}, {"steps", 0}}), QStringLiteral("2"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(window_->timeline().view().range().to, core::microseconds(218));
  EXPECT_EQ(QSettings().value(QStringLiteral("recent")).toStringList().size(), 1)
      << "what a run wrote goes with the window";
}

TEST_F(Editor, MarksOfARunAreKeptWithItsTimeline) {
  open(shipped("01_two_ranks"));
  press(Qt::Key_F5);
  ASSERT_TRUE(ran()) << said_;
  window_->actions_of().find(QStringLiteral("mark"))->trigger();
  QApplication::processEvents();
  ASSERT_EQ(window_->marks().marks().all().size(), 1u);
  const std::string kept = folder_.write("kept.tutti", "what was there");
  EXPECT_TRUE(desk().save_timeline_to(QString::fromStdString(kept)));
  open(kept);
  EXPECT_EQ(window_->timeline().trace()->run().scenario, "01_two_ranks");
  EXPECT_EQ(window_->marks().marks().all().size(), 1u);
  EXPECT_FALSE(desk().save_timeline_to(QString::fromStdString(folder_.file("no/such/folder.tutti"))));
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("folder.tutti cannot be written"));
}

TEST_F(Editor, CardsAreNeverWiderThanTheWindow) {
  for (const QSize size : {QSize(800, 500), QSize(480, 400), QSize(1400, 800)}) {
    window_->resize(size);
    QApplication::processEvents();
    const auto* const page = window_->findChild<WelcomePage*>();
    ASSERT_TRUE(page);
    EXPECT_EQ(page->horizontalScrollBar()->maximum(), 0) << size.width();
  }
}

TEST_F(Editor, EveryExampleIsACardAndAKeyAway) {
  const auto cards = window_->findChildren<QPushButton*>(QRegularExpression(QStringLiteral("^example card ")));
  ASSERT_GE(cards.size(), 6);
  for (QPushButton* const card : cards) {
    EXPECT_NE(card->focusPolicy() & Qt::TabFocus, 0);
    EXPECT_FALSE(card->accessibleName().isEmpty());
    EXPECT_FALSE(card->accessibleDescription().isEmpty());
  }
  cards[0]->setFocus();
  press(Qt::Key_Space);
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(editor().title(), QStringLiteral("01_two_ranks.textproto"));
  for (QPushButton* const card : cards) {
    const int number = card->objectName().section(QLatin1Char(' '), -1).toInt();
    ASSERT_GT(number, 0) << card->objectName().toStdString();
    if (number == 1) continue;
    // There are no more keys than digits.
    opened_ = failed_ = 0;
    number < 10 ? press(static_cast<Qt::Key>(Qt::Key_0 + number), Qt::ControlModifier) : card->click();
    ASSERT_TRUE(ran()) << number << ": " << said_;
    EXPECT_TRUE(editor().title().startsWith(QStringLiteral("%1_").arg(number, 2, 10, QLatin1Char('0'))));
  }
}

TEST_F(Editor, ARunIsStoppedByKeysAndWhatRanIsShown) {
  open(shipped("01_two_ranks"));
  desk().bar().choose("endless");
  for (const bool escape : {false, true}) {
    act("run");
    QTest::qWait(50);
    ASSERT_TRUE(desk().running());
    EXPECT_THAT(desk().bar().words().toStdString(), HasSubstr("waiting 25 %"));
    EXPECT_TRUE(editor().text_editor().isEnabled()) << "the window goes on";
    act("run");
    EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("it is running"));
    escape ? press(Qt::Key_Escape) : press(Qt::Key_F5, Qt::ShiftModifier);
    ASSERT_TRUE(ran()) << said_;
    EXPECT_THAT(desk().bar().words().toStdString(), HasSubstr("stopped"));
    EXPECT_FALSE(desk().running());
  }
  act("stop");
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("nothing is running"));
}

TEST_F(Editor, WhatFailsSaysWhyAndWhatIsNotHereIsGrey) {
  open(shipped("01_two_ranks"));
  desk().bar().choose("failing");
  act("run");
  EXPECT_FALSE(ran());
  EXPECT_THAT(said_, HasSubstr("signal 9"));
  EXPECT_THAT(desk().bar().words().toStdString(), HasSubstr("signal 9"));
  EXPECT_EQ(editor().problem_texts().size(), 1);
  EXPECT_EQ(desk().bar().missing("none"), QStringLiteral("it was never built"));
  desk().bar().choose("none");
  EXPECT_EQ(desk().bar().backend()->id, "failing") << "it cannot be chosen";
  EXPECT_EQ(desk().bar().missing("simulate"), QString());
  EXPECT_EQ(desk().bar().missing("tcp"), QString());
}

/// Two workers with little to do.
std::string pair() {
  std::string text = file_text(shipped("02_eight_hosts_ring"));
  text.replace(text.find("count: 8"), 8, "count: 2");
  return text.replace(text.find("16777216"), 8, "65536");
}

/// Processes whose parent is this one.
std::vector<std::string> children() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const fs::path file = entry.path() / "stat";
    std::error_code gone;
    if (!fs::is_regular_file(file, gone)) continue;
    const std::string stat = file_text(file.string());
    const auto behind = stat.rfind(')');
    if (behind == std::string::npos || behind + 4 >= stat.size()) continue;
    if (std::stol(stat.substr(behind + 4)) == ::getpid()) found.push_back(stat.substr(0, behind + 3));
  }
  return found;
}

TEST_F(Editor, RealRunsHaveTheirTimelineAndLeaveNoProcess) {
  own("pair.textproto", pair());
  for (const char* backend : {"tcp", "shm"}) {
    desk().bar().choose(backend);
    act("run");
    ASSERT_TRUE(ran()) << backend << ": " << said_;
    EXPECT_THAT(window_->timeline().trace()->run().executor, StartsWith("run over ")) << backend;
    EXPECT_EQ(children(), std::vector<std::string>()) << backend;
  }
}

TEST_F(Editor, ClosingWhileItRunsLeavesNoThreadProcessOrFile) {
  for (const char* backend : {"endless", "tcp", "emulate"}) {
    make_window();
    const auto folders = run_folders();
    own("pair.textproto", pair());
    set(path({{"run", 0}, {"steps", 0}}), QStringLiteral("100000"));
    desk().bar().choose(backend);
    act("run");
    for (int i = 0; i < 100 && (backend != std::string("endless") && children().empty()); ++i) QTest::qWait(10);
    QTest::qWait(50);
    ASSERT_TRUE(desk().running()) << backend << ": " << desk().bar().words().toStdString();
    answer(QMessageBox::Discard);
    EXPECT_TRUE(window_->close());
    EXPECT_FALSE(desk().running());
    EXPECT_EQ(children(), std::vector<std::string>()) << backend;
    window_.reset();
    EXPECT_EQ(run_folders(), folders) << backend;
  }
}

}  // namespace
}  // namespace tutti::gui
