// The window on Qt's offscreen platform: opening valid, broken and missing files, keys and mouse in
// the timeline, and every action by its shortcut.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QDockWidget>
#include <QFile>
#include <QKeySequence>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <deque>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/timeline/writer.h"
#include "gui/paint/scene.h"
#include "gui/widgets/command_palette.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/clusters.h"

namespace tutti::gui {
namespace {

using core::Time;
using testing::HasSubstr;
using testing::Not;

TEST_F(Window, ShowsATimelineWithAllItsRows) {
  open_small();
  EXPECT_EQ(view().trace()->rows().size(), 16u);
  EXPECT_EQ(view().view().range(), (TimeRange{Time(), kMs * 200}));
  std::set<std::string> keys;
  for (const Line& line : view().layout_of_lines().lines()) keys.insert(line.key);
  for (const char* key :
       {"steps", "critical path", "worker 0", "worker 0/gpu0", "worker 0/gpu0/compute",
        "worker 1/gpu1/packs", "worker 0/gpu0/lanes", "links", "links/w0/nic0 out"})
    EXPECT_TRUE(keys.contains(key)) << key;
}

TEST_F(Window, BrokenEmptyAndMissingFilesCauseAMessageAndTheOpenFileRemains) {
  open_small();
  const std::string whole = small_timeline();
  EXPECT_FALSE(open(folder_.file("nothing.tutti")));
  EXPECT_THAT(said_, HasSubstr("nothing.tutti"));
  write("running.tutti.part", whole.substr(0, whole.size() / 2));
  EXPECT_FALSE(open(folder_.file("running.tutti")));
  EXPECT_THAT(said_, HasSubstr("open running.tutti.part"));
  EXPECT_FALSE(open(write("empty.tutti", "")));
  EXPECT_FALSE(said_.empty());
  EXPECT_FALSE(open(write("text.tutti", "a letter to a friend")));
  EXPECT_FALSE(said_.empty());
  EXPECT_FALSE(open(folder_.path()));
  EXPECT_FALSE(said_.empty());
  EXPECT_EQ(view().trace()->rows().size(), 16u);
  // A file that is truncated anywhere is shown as far as it is intact, or the message says why it
  // is not.
  for (std::size_t length = 8; length < whole.size(); length += 37) {
    if (open(write("cut.tutti", whole.substr(0, length)))) {
      EXPECT_FALSE(view().trace()->complete());
      EXPECT_THAT(window_.status_text().toStdString(),
                  AnyOf(HasSubstr("; the file ends before its index"),
                        HasSubstr("; the file is truncated within its index")));
    } else {
      EXPECT_FALSE(said_.empty());
    }
  }
  for (std::size_t at = 8; at < whole.size(); at += 29) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    open(write("damaged.tutti", damaged));
    window_.grab();
  }
}

TEST_F(Window, PipesAndDevicesCauseAMessageAtOnce) {
  // Reading a pipe without a writer would block forever, and block the window with it.
  const std::string pipe = folder_.file("pipe.tutti");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& name : {pipe, folder_.path(), std::string("/dev/zero")}) {
    EXPECT_FALSE(open(name));
    EXPECT_THAT(said_, HasSubstr(name));
  }
  ASSERT_EQ(::mkfifo(folder_.file("small.tutti.marks").c_str(), 0600), 0);
  open_small();
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("pipe"));
}

TEST_F(Window, DamageAndTruncationAreDistinguishedAndReportedOnce) {
  const std::string whole = small_timeline();
  std::string damaged = whole;
  damaged.replace(9, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  ASSERT_TRUE(open(write("damaged.tutti", damaged))) << said_;
  EXPECT_THAT(window_.status_text().toStdString(), testing::ContainsRegex("byte 8: 1 "));
  EXPECT_EQ(view().trace()->rows().size(), 16u);
  EXPECT_FALSE(open(write("nothing.tutti", whole.substr(0, 20))));
  EXPECT_THAT(said_, HasSubstr("no block of this timeline is intact"));
  // The file has only the header, and then only the header and tracks. In both cases there is
  // nothing to draw.
  EXPECT_FALSE(open(write("header.tutti", whole.substr(0, 120))));
  EXPECT_THAT(said_, HasSubstr("no drawable block of this timeline (small) is intact"));
}

TEST_F(Window, KeysZoomMoveAndUndoBoth) {
  open_small();
  const TimeRange all = view().view().range();
  press(Qt::Key_W);
  EXPECT_LT(view().view().range().length(), all.length());
  const TimeRange near = view().view().range();
  press(Qt::Key_D);
  EXPECT_GT(view().view().range().from, near.from);
  EXPECT_EQ(view().view().range().length(), near.length());
  press(Qt::Key_A);
  EXPECT_EQ(view().view().range(), near);
  press(Qt::Key_S);
  EXPECT_GT(view().view().range().length(), near.length());
  press(Qt::Key_Home);
  EXPECT_EQ(view().view().range(), all);
  view().show_range({kMs * 10, kMs * 20});
  view().show_range({kMs * 50, kMs * 60});
  press(Qt::Key_Left, Qt::AltModifier);
  EXPECT_EQ(view().view().range(), (TimeRange{kMs * 10, kMs * 20}));
  press(Qt::Key_Right, Qt::AltModifier);
  EXPECT_EQ(view().view().range(), (TimeRange{kMs * 50, kMs * 60}));
}

TEST_F(Window, ClicksSelectASpanAndKeysMoveTheSelection) {
  open_small();
  QTest::mouseClick(&view(), Qt::LeftButton, {}, point("worker 0/gpu1/compute", kMs * 10));
  ASSERT_TRUE(view().selected());
  const SpanId forward = *view().selected();
  EXPECT_EQ(view().trace()->rows()[forward.row].track.device, "gpu1");
  EXPECT_EQ(forward.index, 0u);
  press(Qt::Key_Period);
  EXPECT_EQ(view().selected(), (SpanId{forward.row, 1}));
  press(Qt::Key_Comma);
  EXPECT_EQ(view().selected(), forward);
  press(Qt::Key_F);
  EXPECT_LT(view().view().range().length(), kMs * 60);
  EXPECT_GE(view().view().range().length(), kMs * 30);
  press(Qt::Key_Escape);
  EXPECT_FALSE(view().selected());
}

TEST_F(Window, DraggingSelectsZoomsOrMovesByModifierAndButton) {
  open_small();
  const QPoint from = point("worker 0/gpu0/compute", kMs * 50),
               to = point("worker 0/gpu0/compute", kMs * 150);
  const auto drag = [&](Qt::MouseButton button, Qt::KeyboardModifiers with) {
    QTest::mousePress(&view(), button, with, from);
    QMouseEvent move(QEvent::MouseMove, to, view().mapToGlobal(to), Qt::NoButton, button, with);
    QApplication::sendEvent(&view(), &move);
    QTest::mouseRelease(&view(), button, with, to);
  };
  drag(Qt::LeftButton, Qt::NoModifier);
  ASSERT_TRUE(view().range());
  EXPECT_NEAR(core::to_ms(view().range()->from), 50, 1);
  EXPECT_NEAR(core::to_ms(view().range()->to), 150, 1);
  EXPECT_EQ(view().view().range(), (TimeRange{Time(), kMs * 200}));
  press(Qt::Key_Escape);
  drag(Qt::LeftButton, Qt::AltModifier);
  EXPECT_FALSE(view().range());
  EXPECT_NEAR(core::to_ms(view().view().range().from), 50, 1);
  EXPECT_NEAR(core::to_ms(view().view().range().to), 150, 1);
  drag(Qt::MiddleButton, Qt::NoModifier);
  EXPECT_LT(core::to_ms(view().view().range().from), 1);
}

TEST_F(Window, TheKeyboardReachesEveryRowAndGroup) {
  open_small();
  view().setFocus();
  press(Qt::Key_Plus, Qt::ControlModifier);
  std::set<std::size_t> rows;
  const std::size_t lines = view().layout_of_lines().lines().size();
  for (std::size_t i = 0; i < lines; ++i) {
    press(Qt::Key_Down);
    if (view().selected()) rows.insert(view().selected()->row);
  }
  EXPECT_EQ(rows.size(), view().trace()->rows().size());
  for (std::size_t i = 0; i < lines; ++i) press(Qt::Key_Up);
  for (int i = 0; i < 6; ++i)
    press(Qt::Key_Down);  // steps, path, counters, two of them, worker 0, its first device
  press(Qt::Key_O);
  EXPECT_LT(view().layout_of_lines().lines().size(), lines) << "worker 0/gpu0 is closed";
  press(Qt::Key_O);
  EXPECT_EQ(view().layout_of_lines().lines().size(), lines);
}

TEST_F(Window, EveryActionHasATextAndAUniqueShortcut) {
  std::set<QString> keys, ids;
  for (const Actions::Group& group : window_.actions_of().groups()) {
    for (QAction* const action : group.actions) {
      EXPECT_FALSE(action->text().isEmpty());
      EXPECT_FALSE(action->shortcuts().isEmpty()) << action->text().toStdString();
      EXPECT_TRUE(ids.insert(action->objectName()).second) << action->objectName().toStdString();
      for (const QKeySequence& key : action->shortcuts())
        EXPECT_TRUE(keys.insert(key.toString()).second) << key.toString().toStdString();
    }
  }
}

TEST_F(Window, NoTwoEntriesOfAMenuHaveTheSameMnemonic) {
  std::deque<QWidget*> menus{window_.menuBar()};
  for (; !menus.empty(); menus.pop_front()) {
    std::map<QKeySequence, std::string> entries;
    for (QAction* const action : menus.front()->actions()) {
      if (action->menu()) menus.push_back(action->menu());
      const QKeySequence mnemonic = QKeySequence::mnemonic(action->text());
      if (mnemonic.isEmpty()) continue;
      const auto [first, is_new] = entries.emplace(mnemonic, action->text().toStdString());
      EXPECT_TRUE(is_new) << first->second << ", " << action->text().toStdString();
    }
  }
}

TEST_F(Window, ThePaletteListsEveryAction) {
  const CommandPalette palette(window_.actions_of(), nullptr);
  const auto* const list = palette.findChild<QListWidget*>();
  ASSERT_TRUE(list);
  EXPECT_GT(list->count(), 50);
  for (int row = 0; row < list->count(); ++row)
    EXPECT_THAT(list->item(row)->text().toStdString(),
                testing::AllOf(HasSubstr(" ▸ "), Not(HasSubstr("&"))))
        << row;
}

TEST_F(Window, ActionsWithoutFileDialogsWorkWithAndWithoutATimeline) {
  for (const bool with : {false, true}) {
    if (with) open_small();
    for (const Actions::Group& group : window_.actions_of().groups()) {
      for (QAction* const action : group.actions) {
        const QString id = action->objectName();
        if (id == QLatin1String("quit") || id.startsWith(QLatin1String("open")) ||
            id.startsWith(QLatin1String("export")) || id.startsWith(QLatin1String("save")))
          continue;
        action->trigger();
        QApplication::processEvents();
        if (QWidget* const dialog = QApplication::activeModalWidget()) dialog->close();
      }
    }
    window_.grab();
  }
}

TEST_F(Window, ThemesDifferAndAreRemembered) {
  open_small();
  window_.set_dark(false);
  const QImage light = view().picture({800, 600}, 1);
  window_.set_dark(true);
  const QImage dark = view().picture({800, 600}, 1);
  EXPECT_GT(qGray(light.pixel(2, 590)), 200);
  EXPECT_LT(qGray(dark.pixel(2, 590)), 60);
  EXPECT_FALSE(QSettings().contains(QStringLiteral("dark"))) << "it is not selected";
  window_.actions_of().find(QStringLiteral("dark"))->trigger();
  EXPECT_FALSE(QSettings().value(QStringLiteral("dark"), true).toBool());
}

TEST_F(Window, ANewWindowDoesNotInheritTheThemeOfAnEarlierOne) {
  const QColor desktop = QApplication::palette().color(QPalette::Window);
  {
    MainWindow other;
    other.set_dark(true);
    EXPECT_NE(QApplication::palette().color(QPalette::Window), desktop);
  }
  EXPECT_EQ(QApplication::palette().color(QPalette::Window), desktop);
}

TEST_F(Window, ClosingTheWindowStopsOpeningAFile) {
  const std::string path = write("small.tutti", small_timeline());
  window_.show();
  window_.open(QString::fromStdString(path));
  window_.close();
  QTest::qWait(20);
}

// A search shows the panel of its results, which takes a part of the timeline's height.
TEST_F(Window, TheRowOfTheSelectedSpanStaysInViewWhenAPanelAppears) {
  ASSERT_TRUE(
      open(write("ring.tutti", test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 4)))))
      << said_;
  window_.resize(1000, 600);
  QApplication::processEvents();
  const auto selected_is_in_view = [&] {
    const auto& selected = view().selected();
    if (!selected) return false;
    const QRect box = view().box_of(*selected);
    return !box.isEmpty() && lines_rect(view().size()).contains(box.center());
  };
  int found = 0;
  for (const char* device : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    auto* const dock = window_.findChild<QDockWidget*>(QStringLiteral("found"));
    dock->hide();
    view().select(std::nullopt);
    QApplication::processEvents();
    const int before = view().height();
    ASSERT_TRUE(window_.find(QStringLiteral("receive ") + QString::fromLatin1(device)));
    QApplication::processEvents();
    EXPECT_TRUE(dock->isVisible());
    EXPECT_TRUE(selected_is_in_view()) << device << ", " << before << " to " << view().height();
    ++found;
  }
  EXPECT_EQ(found, 4);
  // The same holds for a window that the user makes smaller.
  window_.resize(1000, 540);
  QApplication::processEvents();
  EXPECT_TRUE(selected_is_in_view());
}

TEST_F(Window, TheTopologyIsHiddenForATimelineWithoutLinksAndMessages) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, core::TrackKind::kCompute, 0, "gpu0", 0, 0});
  core::Span span;
  span.duration = kMs;
  span.kind = core::SpanKind::kFirstCompute;
  writer.span(0, span);
  writer.end();
  const std::string trace = write("trace.tutti", out.str());
  ASSERT_TRUE(open(trace)) << said_;
  auto* const topology = window_.findChild<QDockWidget*>(QStringLiteral("topology"));
  EXPECT_FALSE(topology->isVisible());
  press(Qt::Key_T);
  EXPECT_TRUE(topology->isVisible()) << "it shows the devices on request";
  ASSERT_FALSE(why_not_opened(window_, [&] { window_.reload(); }));
  EXPECT_TRUE(topology->isVisible()) << "the user's choice outlasts a reload";
  topology->hide();
  press(Qt::Key_T);
  ASSERT_TRUE(open(trace)) << said_;
  EXPECT_FALSE(topology->isVisible());
  open_small();
  EXPECT_TRUE(topology->isVisible());
}

TEST_F(Window, ASearchWithoutMatchesNamesTheWordThatMeansNothing) {
  open_small();
  const auto said = [&](const char* words) {
    EXPECT_FALSE(window_.find(QString::fromLatin1(words)));
    return window_.status_text().toStdString();
  };
  EXPECT_THAT(said("receive gpu9"), HasSubstr("is called “gpu9”"));
  EXPECT_THAT(said("pack three"), HasSubstr("is called “three”"));
  EXPECT_THAT(said("receive >5"), HasSubstr("“>5” is not a duration"));
  EXPECT_THAT(said("pack 77"), Not(HasSubstr("is called")));
  EXPECT_THAT(said("receive >1s"), Not(HasSubstr("is called")));
}

TEST_F(Window, AFilterThatMatchesNoRowSaysSo) {
  open_small();
  const auto colours = [&] {
    const QImage image = view().grab(lines_rect(view().size())).toImage();
    std::set<QRgb> found;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) found.insert(image.pixel(x, y));
    }
    return found.size();
  };
  view().filter(QStringLiteral("gpu9"));
  ASSERT_TRUE(view().layout_of_lines().lines().empty());
  EXPECT_GT(colours(), 5u) << "a text, not only the background and the time cursor";
  view().filter({});
  EXPECT_FALSE(view().layout_of_lines().lines().empty());
}

TEST_F(Window, ASmallWindowLeavesItsWidthToTheTimeline) {
  window_.resize(640, 480);
  open_small();
  EXPECT_FALSE(window_.findChild<QDockWidget*>(QStringLiteral("topology"))->isVisible());
  EXPECT_GE(view().width(), window_.width() * 9 / 10);
  press(Qt::Key_T);
  EXPECT_TRUE(window_.findChild<QDockWidget*>(QStringLiteral("topology"))->isVisible());
}

}  // namespace
}  // namespace tutti::gui
