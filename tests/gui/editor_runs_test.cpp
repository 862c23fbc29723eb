// Runs from the editor: their timeline is opened, they can be stopped, and no run outlives the
// window.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <QToolButton>
#include <filesystem>
#include <thread>

#include "gui/editor/text_editor.h"
#include "gui/widgets/headline_strip.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/welcome_page.h"
#include "gui/window/comparison_panel.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/simulated.h"
#include "tests/support/clusters.h"
#include "tests/support/process.h"

namespace tutti::gui {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Editor, F5StartsARunAndItsTimelineOpens) {
  open(shipped("01_two_ranks"));
  press(Qt::Key_F5);
  ASSERT_TRUE(ran()) << said_;
  EXPECT_FALSE(session().running());
  ASSERT_TRUE(window_->timeline().trace());
  // The time that the comment in the file computes by hand.
  EXPECT_EQ(window_->timeline().view().range().to, core::microseconds(109));
  EXPECT_TRUE(session().isVisible());
  EXPECT_TRUE(window_->timeline().isVisible());
  act("scenario");
  EXPECT_FALSE(session().isVisible());
  // Unsaved changes take part in a run.
  act("scenario");
  set(path({{"run", 0}, {"steps", 0}}), QStringLiteral("2"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(window_->timeline().view().range().to, core::microseconds(218));
  EXPECT_EQ(QSettings().value(QStringLiteral("recent")).toStringList().size(), 1)
      << "what a run wrote goes with the window";
}

TEST_F(Editor, ARunIsComparedWithTheLastOneByAKey) {
  own("small.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  act("compare-last-run");
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("run a scenario first"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  EXPECT_THAT(window_->headline().text().toStdString(), Not(HasSubstr("previous run")));
  press(Qt::Key_R);
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("only one run"));
  set(path({{"strategy", 0}, {"algorithm", 0}}), QStringLiteral("pscpu"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  // The headline has the difference, and R shows both runs: the earlier one first.
  EXPECT_THAT(window_->headline().text().toStdString(), HasSubstr("vs. previous run +"));
  EXPECT_THAT(window_->headline().text().toStdString(), HasSubstr(" %; exposed comm."))
      << "the figure is short, so that the lower bound also fits into a window of 1280 pixels";
  press(Qt::Key_R);
  ASSERT_TRUE(ran()) << said_;
  const Comparison* const both = window_->comparison().comparison();
  ASSERT_TRUE(both);
  const auto algorithm = [&](int side) { return both->sources[side]->run().scenario_text; };
  EXPECT_THAT(algorithm(0), HasSubstr("ring"));
  EXPECT_THAT(algorithm(1), HasSubstr("pscpu"));
  // R again shows the last run alone.
  press(Qt::Key_R);
  ASSERT_TRUE(ran()) << said_;
  EXPECT_FALSE(window_->comparison().comparison());
  EXPECT_THAT(window_->timeline().trace()->run().scenario_text, HasSubstr("pscpu"));
  // An equal run is described as equal.
  act("run");
  ASSERT_TRUE(ran()) << said_;
  EXPECT_THAT(window_->headline().text().toStdString(), HasSubstr("vs. previous run equal"));
}

TEST_F(Editor, MarksOfARunAreKeptWithItsTimeline) {
  open(shipped("01_two_ranks"));
  press(Qt::Key_F5);
  ASSERT_TRUE(ran()) << said_;
  window_->actions_of().find(QStringLiteral("mark"))->trigger();
  QApplication::processEvents();
  ASSERT_EQ(window_->marks().marks().all().size(), 1u);
  const std::string kept = folder_.write("kept.tutti", "what was there");
  EXPECT_TRUE(session().save_timeline_to(QString::fromStdString(kept)));
  open(kept);
  EXPECT_EQ(window_->timeline().trace()->run().scenario, "01_two_ranks");
  EXPECT_EQ(window_->marks().marks().all().size(), 1u);
  EXPECT_FALSE(
      session().save_timeline_to(QString::fromStdString(folder_.file("no/such/folder.tutti"))));
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("folder.tutti"));
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

TEST_F(Editor, EveryExampleHasACardThatKeysReach) {
  const auto cards =
      window_->findChildren<QPushButton*>(QRegularExpression(QStringLiteral("^example card ")));
  ASSERT_GE(cards.size(), 6);
  for (QPushButton* const card : cards) {
    EXPECT_NE(card->focusPolicy() & Qt::TabFocus, 0);
    EXPECT_FALSE(card->accessibleName().isEmpty());
    EXPECT_FALSE(card->accessibleDescription().isEmpty());
  }
  opened_ = failed_ = 0;
  QTest::keyClick(cards[0], Qt::Key_Space);
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(editor().title(), QStringLiteral("01_two_ranks.textproto"));
  for (QPushButton* const card : cards) {
    const int number = card->objectName().section(QLatin1Char(' '), -1).toInt();
    ASSERT_GT(number, 0) << card->objectName().toStdString();
    if (number == 1) continue;
    // Only the first nine examples have a key. The action of a key is triggered directly, because a
    // key needs a window that is active, and another window of a display may be active.
    opened_ = failed_ = 0;
    if (number < 10) {
      QAction* const action = window_->actions_of().find(QStringLiteral("example-%1").arg(number));
      ASSERT_TRUE(action) << number;
      EXPECT_EQ(action->shortcut(), QKeySequence(QStringLiteral("Ctrl+%1").arg(number)));
      action->trigger();
    } else {
      card->click();
    }
    ASSERT_TRUE(ran()) << number << ": " << said_;
    EXPECT_TRUE(
        editor().title().startsWith(QStringLiteral("%1_").arg(number, 2, 10, QLatin1Char('0'))))
        << number << ": " << editor().title().toStdString();
  }
}

TEST_F(Editor, KeysStopARunAndItsTimelineIsShown) {
  open(shipped("01_two_ranks"));
  session().bar().choose("endless");
  for (const bool escape : {false, true}) {
    act("run");
    QTest::qWait(50);
    ASSERT_TRUE(session().running());
    EXPECT_THAT(session().bar().words().toStdString(), HasSubstr("waiting 25 %"));
    EXPECT_TRUE(editor().text_editor().isEnabled()) << "the window goes on";
    act("run");
    EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("the scenario is running"));
    escape ? press(Qt::Key_Escape) : press(Qt::Key_F5, Qt::ShiftModifier);
    ASSERT_TRUE(ran()) << said_;
    EXPECT_THAT(session().bar().words().toStdString(), HasSubstr("stopped"));
    EXPECT_FALSE(session().running());
  }
  act("stop");
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("nothing is running"));
}

TEST_F(Editor, FailedRunsStateTheReasonAndUnavailableExecutorsAreDisabled) {
  open(shipped("01_two_ranks"));
  session().bar().choose("failing");
  act("run");
  EXPECT_FALSE(ran());
  EXPECT_THAT(said_, HasSubstr("signal 9"));
  EXPECT_THAT(session().bar().words().toStdString(), HasSubstr("signal 9"));
  EXPECT_EQ(editor().problem_texts().size(), 1);
  EXPECT_EQ(session().bar().missing("none"), QStringLiteral("it was never built"));
  session().bar().choose("none");
  EXPECT_EQ(session().bar().backend()->id, "failing") << "it cannot be chosen";
  EXPECT_EQ(session().bar().missing("simulate"), QString());
  EXPECT_EQ(session().bar().missing("tcp"), QString());
}

/// Returns a small scenario with two workers.
std::string pair() {
  std::string text = file_text(shipped("02_eight_hosts_ring"));
  text.replace(text.find("count: 8"), 8, "count: 2");
  return text.replace(text.find("16777216"), 8, "65536");
}

/// Returns the child processes of this process.
std::vector<std::string> children() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const fs::path file = entry.path() / "stat";
    std::error_code gone;
    if (!fs::is_regular_file(file, gone)) continue;
    const std::string stat = file_text(file.string());
    const auto behind = stat.rfind(')');
    if (behind == std::string::npos || behind + 4 >= stat.size()) continue;
    if (std::stol(stat.substr(behind + 4)) == ::getpid())
      found.push_back(stat.substr(0, behind + 3));
  }
  return found;
}

TEST_F(Editor, RealRunsWriteATimelineAndLeaveNoProcess) {
  own("pair.textproto", pair());
  for (const char* backend : {"tcp", "shm"}) {
    session().bar().choose(backend);
    act("run");
    ASSERT_TRUE(ran()) << backend << ": " << said_;
    EXPECT_THAT(window_->timeline().trace()->run().executor, StartsWith("run over ")) << backend;
    EXPECT_EQ(children(), std::vector<std::string>()) << backend;
  }
}

TEST_F(Editor, ClosingDuringARunLeavesNoThreadProcessOrFile) {
  for (const char* backend : {"endless", "tcp", "emulate"}) {
    make_window();
    const auto folders = run_folders();
    own("pair.textproto", pair());
    set(path({{"run", 0}, {"steps", 0}}), QStringLiteral("100000"));
    session().bar().choose(backend);
    act("run");
    for (int i = 0; i < 100 && (backend != std::string("endless") && children().empty()); ++i)
      QTest::qWait(10);
    QTest::qWait(50);
    ASSERT_TRUE(session().running()) << backend << ": " << session().bar().words().toStdString();
    answer(QMessageBox::Discard);
    EXPECT_TRUE(window_->close());
    EXPECT_FALSE(session().running());
    EXPECT_EQ(children(), std::vector<std::string>()) << backend;
    window_.reset();
    EXPECT_EQ(run_folders(), folders) << backend;
  }
}

}  // namespace
}  // namespace tutti::gui
