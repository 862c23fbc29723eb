// The files and the view of the last session, after a window was closed, was destroyed, or its
// process was killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QPushButton>
#include <QSettings>
#include <csignal>
#include <filesystem>

#include "gui/widgets/last_session.h"
#include "gui/widgets/notice_bar.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/time_cursor.h"
#include "gui/window/comparison_panel.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/process.h"

namespace tutti::gui {
namespace {

using testing::HasSubstr;

struct Session : Editor {
  /// Closes the window as a user does, and opens another one.
  void start_again() {
    ASSERT_TRUE(window_->close());
    make_window();
    opened_ = failed_ = 0;
  }
};

TEST_F(Session, ATimelineIsRestoredWithItsView) {
  const std::string path = folder_.write("small.tutti", small_timeline());
  open(path);
  window_->timeline().show_range({kMs * 20, kMs * 60});
  window_->findChild<SearchBar*>()->filter(QStringLiteral("gpu1"));
  window_->cursor().set_moment(kMs * 40);
  start_again();
  auto* const button = window_->findChild<QPushButton*>(QStringLiteral("continue"));
  ASSERT_TRUE(button && button->isVisible());
  EXPECT_THAT(button->text().toStdString(), HasSubstr("small.tutti"));
  EXPECT_FALSE(window_->timeline().trace()) << "nothing is opened without asking";
  press(Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(window_->timeline().view().range(), (TimeRange{kMs * 20, kMs * 60}));
  EXPECT_EQ(window_->findChild<SearchBar*>()->filter_text(), QStringLiteral("gpu1"));
  EXPECT_EQ(window_->cursor().moment(), kMs * 40);
}

TEST_F(Session, AComparisonAndItsScenarioAreRestored) {
  const std::string scenario =
      own("small.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  const std::string first = folder_.write("a.tutti", small_timeline()),
                    second = folder_.write("b.tutti", small_timeline());
  opened_ = failed_ = 0;
  window_->open_both(QString::fromStdString(first), QString::fromStdString(second));
  ASSERT_TRUE(ran()) << said_;
  start_again();
  window_->findChild<QPushButton*>(QStringLiteral("continue"))->click();
  ASSERT_TRUE(until([&] { return window_->comparison().comparison() != nullptr; })) << said_;
  EXPECT_EQ(window_->comparison().second_path().toStdString(), second);
  EXPECT_EQ(editor().path().toStdString(), scenario);
  EXPECT_TRUE(session().isVisible());
}

TEST_F(Session, FilesThatAreGoneAreNotOffered) {
  const std::string path = folder_.write("small.tutti", small_timeline());
  open(path);
  ASSERT_TRUE(window_->close());
  std::filesystem::remove(path);
  make_window();
  EXPECT_FALSE(
      window_->findChild<QPushButton*>(QStringLiteral("continue"))->isVisibleTo(window_.get()));
  act("restore-session");
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("no earlier session"));
}

TEST_F(Session, TheTimelineOfARunIsNotRestoredButItsScenario) {
  const std::string scenario =
      own("small.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  start_again();
  const LastSession last = LastSession::read();
  EXPECT_TRUE(last.timeline.isEmpty()) << last.timeline.toStdString();
  EXPECT_EQ(last.scenario.toStdString(), scenario);
}

TEST_F(Session, AnOpenWindowStoresItsFilesButDoesNotOfferThem) {
  const std::string path = folder_.write("small.tutti", small_timeline());
  open(path);
  window_->timeline().show_range({kMs * 20, kMs * 60});
  const TimeRange wanted{kMs * 20, kMs * 60};
  ASSERT_TRUE(until([&] { return LastSession::read().range == wanted; }));
  EXPECT_EQ(LastSession::read().timeline.toStdString(), path);
  make_window();  // the old one is not closed
  window_->offer_session();
  EXPECT_FALSE(window_->notice().offers()) << "its process still runs";
  act("restore-session");
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(window_->timeline().view().range(), wanted);
}

TEST_F(Session, AClosedWindowThatShowsNoFilesAnyMoreWasNotInterrupted) {
  const std::string path = folder_.write("small.tutti", small_timeline());
  open(path);
  ASSERT_TRUE(until([] { return LastSession::read().process > 0; }));
  act("new");
  act("run");
  ASSERT_TRUE(ran()) << said_;
  start_again();
  EXPECT_EQ(LastSession::read().process, 0);
  EXPECT_EQ(LastSession::read().timeline.toStdString(), path);
}

TEST_F(Session, TheFilesOfAKilledWindowAreOfferedOnce) {
  const std::string path = folder_.write("small.tutti", small_timeline());
  test::Process other = test::Process::of(
      {test::tutti_program() + "-view", path, "--from-us", "20000", "--to-us", "60000"},
      {{{"XDG_CONFIG_HOME", folder_.path()}}});
  const QString settings = QString::fromStdString(folder_.file("tutti/tutti-view.conf"));
  ASSERT_TRUE(until([&] {
    const QSettings stored(settings, QSettings::IniFormat);
    return stored.value(QStringLiteral("session/from")).toLongLong() == (kMs * 20).count();
  })) << other.err();
  other.signal(SIGKILL);  // the window cannot do anything
  other.wait();
  {
    const QSettings stored(settings, QSettings::IniFormat);
    QSettings own;
    for (const QString& key : stored.allKeys().filter(QStringLiteral("session/")))
      own.setValue(key, stored.value(key));
  }
  make_window();
  EXPECT_FALSE(window_->notice().offers());
  window_->offer_session();
  ASSERT_TRUE(window_->notice().offers());
  EXPECT_THAT(window_->notice().text().toStdString(), HasSubstr("small.tutti"));
  opened_ = failed_ = 0;
  window_->notice().button().click();
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(window_->timeline().view().range(), (TimeRange{kMs * 20, kMs * 60}));
  start_again();
  window_->offer_session();
  EXPECT_FALSE(window_->notice().offers()) << "the last window was closed";
}

}  // namespace
}  // namespace tutti::gui
