// The panels of the window that show a timeline's numbers, groups, search results, messages, marks,
// pictures and critical path.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QDockWidget>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QScrollBar>
#include <QTableWidget>
#include <fstream>
#include <set>
#include <sstream>

#include "core/timeline/writer.h"
#include "gui/widgets/found_panel.h"
#include "gui/widgets/marks_panel.h"
#include "gui/widgets/message_arrows.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/picture_file.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/table.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_fixture.h"

namespace tutti::gui {
namespace {

using core::SpanKind;
using core::Time;
using testing::HasSubstr;

TEST_F(Window, NumbersAreForAllDevicesOrForEach) {
  open_small();
  view().select_range(TimeRange{Time(), kMs * 100});
  auto* const numbers = window_.findChild<NumbersPanel*>();
  ASSERT_TRUE(numbers);
  const auto row = [&](const QString& name) {
    for (int r = 0; r < numbers->table().rowCount(); ++r) {
      if (numbers->table().item(r, 0)->text() != name) continue;
      QStringList texts;
      for (int c = 1; c < numbers->table().columnCount(); ++c)
        texts.append(numbers->table().item(r, c)->text());
      return texts.join(QLatin1Char('|')).toStdString();
    }
    return std::string("no such row");
  };
  // Lanes of closed groups count, too: 8 lanes receive 500 bytes in 20 of 100 ms each.
  EXPECT_EQ(row(QStringLiteral("receive")),
            "8|160 ms|20.0 %|4.00 KB|20.0 ms|20.0 ms|20.0 ms|20.0 ms");
  press(Qt::Key_B, Qt::ControlModifier);
  EXPECT_EQ(row(QStringLiteral("w1/gpu0, receive")),
            "2|40.0 ms|20.0 %|1.00 KB|20.0 ms|20.0 ms|20.0 ms|20.0 ms");
  EXPECT_THAT(numbers->csv().toStdString(),
              HasSubstr("\"w1/gpu0\",receive,2,40000.000000,20000.000000,20000.000000,"
                        "20000.000000,20000.000000,0.200000,1000\n"));
}

TEST_F(Window, NumbersFitWithoutHorizontalScrolling) {
  ASSERT_TRUE(
      open(write("ring.tutti", test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2)))))
      << said_;
  ASSERT_EQ(window_.size(), QSize(1280, 800)) << "as it is at first";
  const QTableWidget& table = window_.findChild<NumbersPanel*>()->table();
  QApplication::processEvents();
  const auto is_whole = [&] {
    ASSERT_GT(table.rowCount(), 5);
    EXPECT_EQ(table.horizontalScrollBar()->maximum(), 0);
    for (int c = 1; c < table.columnCount(); ++c)
      EXPECT_GE(table.columnWidth(c),
                static_cast<const QAbstractItemView&>(table).sizeHintForColumn(c))
          << c;
  };
  is_whole();
  press(Qt::Key_B, Qt::ControlModifier);
  QApplication::processEvents();
  is_whole();
  EXPECT_EQ(table.item(0, 0)->toolTip(), table.item(0, 0)->text())
      << "elided names are complete in their tooltip";
}

TEST_F(Window, NumbersForVeryManySpansNeedASelectedRange) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, core::TrackKind::kLane, 0, "gpu0", 0, 0});
  constexpr int kMany = 2'100'000;
  for (int i = 0; i < kMany; ++i) {
    core::Span span;
    span.start = Time(10 * i);
    span.duration = Time(10);
    span.kind = 1;
    writer.span(0, span);
  }
  writer.end();
  ASSERT_TRUE(open(write("many.tutti", out.str()))) << said_;
  const QTableWidget& table = window_.findChild<NumbersPanel*>()->table();
  ASSERT_EQ(table.rowCount(), 1);
  EXPECT_THAT(table.item(0, 0)->text().toStdString(), HasSubstr("select"));
  view().select_range(TimeRange{Time(), Time(1000)});
  ASSERT_EQ(table.rowCount(), 1);
  EXPECT_EQ(table.item(0, 1)->text(), QStringLiteral("100"));
  view().select_range(std::nullopt);
  view().show_range({Time(), Time(100'000)});
  ASSERT_EQ(table.rowCount(), 1);
  EXPECT_EQ(table.item(0, 1)->text(), QStringLiteral("10000")) << "of few in view at once";
}

TEST_F(Window, NumbersFollowTheFilterOfRows) {
  open_small();
  const QTableWidget& table = window_.numbers().table();
  const auto count = [&](const QString& kind) {
    for (int r = 0; r < table.rowCount(); ++r) {
      if (table.item(r, 0)->text() == kind) return table.item(r, 1)->text().toInt();
    }
    return 0;
  };
  EXPECT_EQ(count(QStringLiteral("receive")), 16);
  view().filter(QStringLiteral("gpu1"));
  EXPECT_EQ(count(QStringLiteral("receive")), 8) << "of what is shown";
  view().filter(QStringLiteral("gpu1/packs"));
  EXPECT_EQ(count(QStringLiteral("receive")), 0);
  EXPECT_EQ(count(QStringLiteral("pack in flight")), 4);
  view().filter({});
  EXPECT_EQ(count(QStringLiteral("receive")), 16);
  view().close_all();
  EXPECT_EQ(count(QStringLiteral("receive")), 16) << "collapsed groups include all their rows";
}

TEST_F(Window, NumbersAreComputedOnceAndOnlyWhileVisible) {
  open_small();
  auto* const dock = qobject_cast<QDockWidget*>(window_.numbers().parentWidget());
  ASSERT_TRUE(dock && dock->isVisible());
  int before = window_.numbers().begun();
  view().show_range({kMs * 10, kMs * 50});
  EXPECT_EQ(window_.numbers().begun(), before + 1);
  view().close_all();
  view().open_all();
  EXPECT_EQ(window_.numbers().begun(), before + 1) << "the same rows";
  dock->hide();
  before = window_.numbers().begun();
  view().show_range({kMs * 20, kMs * 30});
  view().filter(QStringLiteral("gpu1"));
  EXPECT_EQ(window_.numbers().begun(), before);
  dock->show();
  QApplication::processEvents();
  EXPECT_EQ(window_.numbers().begun(), before + 1);
  ASSERT_EQ(window_.numbers().table().rowCount(), 1);
  EXPECT_EQ(window_.numbers().table().item(0, 1)->text(), QStringLiteral("2"))
      << "of what is shown now";
  // Another panel of the same place covers it, so it is not closed but not visible.
  auto* const other = window_.findChild<QDockWidget*>(QStringLiteral("errors"));
  other->show();
  other->raise();
  QApplication::processEvents();
  before = window_.numbers().begun();
  view().show_range({kMs * 40, kMs * 50});
  EXPECT_EQ(window_.numbers().begun(), before);
  dock->raise();
  QApplication::processEvents();
  EXPECT_EQ(window_.numbers().begun(), before + 1);
}

TEST_F(Window, NumbersForManySpansAreComputedInAThread) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, core::TrackKind::kLane, 0, "gpu0", 0, 0});
  constexpr int kMany = 200'000;
  for (int i = 0; i < kMany; ++i) {
    core::Span span;
    span.start = Time(10 * i);
    span.duration = Time(10);
    span.kind = 1 + i % 2;
    writer.span(0, span);
  }
  writer.end();
  ASSERT_TRUE(open(write("many.tutti", out.str()))) << said_;
  const QTableWidget& table = window_.numbers().table();
  EXPECT_GT(window_.numbers().begun_in_thread(), 0);
  for (int i = 0; i < 50; ++i)
    view().show_range({Time(i), Time(10 * kMany)});  // each request replaces the previous one
  EXPECT_FALSE(table.isEnabled()) << "old numbers are grey";
  window_.numbers().finish();
  EXPECT_TRUE(table.isEnabled());
  ASSERT_EQ(table.rowCount(), 2);
  EXPECT_EQ(table.item(0, 1)->text().toInt() + table.item(1, 1)->text().toInt(), kMany - 4);
  // Here nothing waits for the numbers.
  view().show_range({Time(), Time(10 * kMany)});
  for (int i = 0; i < 1000 && !table.isEnabled(); ++i) QTest::qWait(10);
  EXPECT_EQ(table.item(0, 1)->text().toInt() + table.item(1, 1)->text().toInt(), kMany);
  // The numbers of a few spans appear immediately, even while those of many spans are being
  // computed.
  view().show_range({Time(), Time(10 * kMany - 10)});
  view().show_range({Time(), Time(100'000)});
  EXPECT_TRUE(table.isEnabled());
  EXPECT_EQ(table.item(0, 1)->text().toInt() + table.item(1, 1)->text().toInt(), 10'000);
}

TEST_F(Window, MenusAndKeysShowAndHidePanels) {
  QMenu* panels = nullptr;
  for (QMenu* const menu : window_.menuBar()->findChildren<QMenu*>()) {
    if (menu->title() == QStringLiteral("&Panels")) panels = menu;
  }
  ASSERT_TRUE(panels);
  ASSERT_TRUE(qobject_cast<QMenu*>(panels->parent()));
  EXPECT_EQ(qobject_cast<QMenu*>(panels->parent())->title(), QStringLiteral("&View"));
  std::set<const QAction*> listed;
  for (const QAction* const action : panels->actions()) {
    EXPECT_TRUE(action->isCheckable());
    EXPECT_FALSE(action->shortcut().isEmpty()) << action->text().toStdString();
    EXPECT_FALSE(action->isEnabled()) << "panels come with the first timeline";
    listed.insert(action);
  }
  open_small();
  const auto docks = window_.findChildren<QDockWidget*>();
  EXPECT_EQ(docks.size(), 9);
  for (QDockWidget* const dock : docks) {
    QAction* const action = dock->toggleViewAction();
    EXPECT_TRUE(listed.contains(action)) << dock->windowTitle().toStdString();
    EXPECT_TRUE(action->isEnabled());
    EXPECT_EQ(action->isChecked(), !dock->isHidden());
    const bool shown = !dock->isHidden();
    for (const bool now : {!shown, shown}) {
      const QKeyCombination key = action->shortcut()[0];
      QTest::keyClick(&view(), key.key(), key.keyboardModifiers());
      EXPECT_EQ(!dock->isHidden(), now) << dock->windowTitle().toStdString();
      EXPECT_EQ(action->isChecked(), now);
      view().setFocus();
    }
    dock->show();
    dock->close();
    EXPECT_FALSE(action->isChecked()) << "closed by its own button";
    action->trigger();
    EXPECT_TRUE(dock->isVisible());
  }
  auto* const search = window_.findChild<SearchBar*>();
  EXPECT_TRUE(listed.contains(search->toggleViewAction()));
  press(Qt::Key_6, Qt::ControlModifier | Qt::AltModifier);
  EXPECT_FALSE(search->isVisible());
  press(Qt::Key_F, Qt::ControlModifier);
  EXPECT_TRUE(search->isVisible()) << "the search field is visible during a search";
}

TEST_F(Window, OpeningMarksAndMatchesKeepsTheWidthOfNumbers) {
  open_small();
  auto* const numbers = window_.findChild<QDockWidget*>(QStringLiteral("numbers"));
  const int width = numbers->width();
  for (const char* const name : {"marks", "found"}) {
    auto* const dock = window_.findChild<QDockWidget*>(QString::fromLatin1(name));
    window_.actions_of().find(QStringLiteral("panel-") + QString::fromLatin1(name))->trigger();
    QApplication::processEvents();
    EXPECT_FALSE(dock->visibleRegion().isEmpty()) << name;
    EXPECT_TRUE(window_.tabifiedDockWidgets(dock).contains(numbers)) << name;
  }
  numbers->raise();
  QApplication::processEvents();
  EXPECT_EQ(numbers->width(), width);
}

/// An empty table says how it gets rows.
TEST_F(Window, AnEmptyTableShowsAText) {
  open_small();
  window_.actions_of().find(QStringLiteral("panel-marks"))->trigger();
  QApplication::processEvents();
  auto* const table = window_.marks().findChild<QTableWidget*>();
  ASSERT_EQ(table->rowCount(), 0);
  const QImage empty = table->viewport()->grab().toImage();
  set_empty_text(*table, QString());
  EXPECT_NE(table->viewport()->grab().toImage(), empty);
}

TEST_F(Window, AShownPanelIsRaisedAboveTheOthers) {
  open_small();
  auto* const numbers = window_.findChild<QDockWidget*>(QStringLiteral("numbers"));
  auto* const errors = window_.findChild<QDockWidget*>(QStringLiteral("errors"));
  press(Qt::Key_5, Qt::ControlModifier | Qt::AltModifier);
  QApplication::processEvents();
  EXPECT_FALSE(errors->visibleRegion().isEmpty());
  EXPECT_TRUE(numbers->visibleRegion().isEmpty());
  press(Qt::Key_2, Qt::ControlModifier | Qt::AltModifier);  // hides it
  press(Qt::Key_2, Qt::ControlModifier | Qt::AltModifier);
  QApplication::processEvents();
  EXPECT_FALSE(numbers->visibleRegion().isEmpty());
}

TEST_F(Window, GroupsCanBeCollapsedPinnedAndFiltered) {
  open_small();
  const auto has = [&](const std::string& key) {
    const auto& lines = view().layout_of_lines().lines();
    return std::any_of(lines.begin(), lines.end(),
                       [&](const Line& line) { return line.key == key; });
  };
  QTest::mouseClick(&view(), Qt::LeftButton, {}, QPoint(20, point("worker 0/gpu0", Time()).y()));
  EXPECT_FALSE(has("worker 0/gpu0/compute"));
  EXPECT_TRUE(has("worker 0/gpu1/compute"));
  press(Qt::Key_Plus, Qt::ControlModifier);
  EXPECT_TRUE(has("worker 0/gpu0/lanes/lane 1"));
  press(Qt::Key_Minus, Qt::ControlModifier);
  EXPECT_FALSE(has("worker 0/gpu0"));
  press(Qt::Key_Plus, Qt::ControlModifier);
  QTest::mouseClick(&view(), Qt::LeftButton, {}, point("worker 1/gpu0/compute", kMs * 10));
  press(Qt::Key_T, Qt::ControlModifier);
  EXPECT_EQ(view().layout_of_lines().lines().front().key, "worker 1/gpu0/compute");
  EXPECT_GT(view().layout_of_lines().pinned_height(), 0);
  view().filter(QStringLiteral("GPU1/packs"));
  EXPECT_TRUE(has("worker 0/gpu1/packs"));
  EXPECT_TRUE(has("worker 1/gpu0/compute")) << "it is pinned";
  EXPECT_FALSE(has("worker 0/gpu1/compute"));
}

TEST_F(Window, SearchVisitsMatchesWithWraparound) {
  open_small();
  press(Qt::Key_F, Qt::ControlModifier);
  QWidget* const line = QApplication::focusWidget();
  ASSERT_TRUE(line);
  QTest::keyClicks(line, QStringLiteral("receive gpu1"));
  std::vector<SpanId> found;
  for (int i = 0; i < 9; ++i) {
    QTest::keyClick(line, Qt::Key_Return);
    ASSERT_TRUE(view().selected());
    found.push_back(*view().selected());
  }
  EXPECT_EQ(found[8], found[0]) << "8 spans, and then the first one again";
  for (const SpanId& span : found) {
    EXPECT_EQ(view().trace()->rows()[span.row].track.device, "gpu1");
    EXPECT_EQ(view().trace()->rows()[span.row].spans.kind(span.index),
              static_cast<int>(core::StepKind::kReceive));
  }
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("8 spans"));
  window_.actions_of().find(QStringLiteral("find-previous"))->trigger();
  EXPECT_EQ(*view().selected(), found[7]);
  auto* const durations = window_.findChild<FoundPanel*>();
  ASSERT_TRUE(durations && durations->isVisible());
  ASSERT_EQ(durations->durations().bins.size(), 1u) << "all last 20 ms";
  EXPECT_EQ(durations->durations().bins.front().spans, 8);
  QTest::mouseClick(durations, Qt::LeftButton, {}, durations->bar(0).center());
  EXPECT_THAT(window_.status_text().toStdString(),
              HasSubstr("8 spans match “receive gpu1 >17179.869184us <34359.738368us”"));
}

TEST_F(Window, MessagesCanBeFollowedAndAreDrawnIfTheyAreFew) {
  open_small();
  QTest::mouseClick(&view(), Qt::LeftButton, {}, point("worker 0/gpu0/lanes/lane 1", kMs * 75));
  ASSERT_TRUE(view().selected());
  const SpanId sender = *view().selected();
  ASSERT_EQ(window_.messages().of_selection().size(), 1u);
  EXPECT_EQ(window_.messages().of_selection().front().sent, kMs * 70);
  press(Qt::Key_BracketRight);
  ASSERT_NE(*view().selected(), sender);
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].track.device, "gpu1");
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].track.lane, 1);
  press(Qt::Key_BracketLeft);
  EXPECT_EQ(*view().selected(), sender);
  press(Qt::Key_BracketLeft);
  EXPECT_EQ(*view().selected(), sender) << "it received nothing";
  EXPECT_THAT(window_.status_text().toStdString(),
              HasSubstr("does not record which span sent a message to this span"));
  window_.messages().update_visible();
  EXPECT_EQ(window_.messages().in_view().size(), 16u);
  press(Qt::Key_G);
  EXPECT_TRUE(window_.messages().in_view().empty());
}

TEST_F(Window, MarksHaveNamesAreStoredWithTheFileAndCanBeVisited) {
  const std::string path = write("small.tutti", small_timeline());
  ASSERT_TRUE(open(path));
  view().select_range(TimeRange{kMs * 20, kMs * 30});
  press(Qt::Key_M);
  ASSERT_EQ(window_.marks().marks().all().size(), 1u);
  QApplication::processEvents();
  auto* const name = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_TRUE(name);
  EXPECT_EQ(name->text(), QStringLiteral("mark 1"));
  QTest::keyClick(name, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClicks(name, QStringLiteral("here it stalls"));
  QTest::keyClick(name, Qt::Key_Return);
  QApplication::processEvents();
  EXPECT_EQ(window_.marks().marks().all().front(), (Mark{{kMs * 20, kMs * 30}, "here it stalls"}));
  view().select_range(std::nullopt);
  view().show_range({kMs * 100, kMs * 140});
  press(Qt::Key_M);
  EXPECT_EQ(window_.marks().marks().all().size(), 2u);
  const std::string kept = folder_.read("small.tutti.marks");
  EXPECT_THAT(kept, HasSubstr("here it stalls"));
  window_.actions_of().find(QStringLiteral("mark-next"))->trigger();
  EXPECT_LE(view().view().range().from, kMs * 20);
  EXPECT_EQ(view().range(), (TimeRange{kMs * 20, kMs * 30}));
  window_.actions_of().find(QStringLiteral("mark-delete"))->trigger();
  EXPECT_EQ(window_.marks().marks().all().size(), 1u);
  ASSERT_TRUE(open(path));
  EXPECT_EQ(window_.marks().marks().all().size(), 1u) << "read from beside the file";
  write("small.tutti.marks", "mark { from: 3 }");
  ASSERT_TRUE(open(path));
  EXPECT_TRUE(window_.marks().marks().all().empty());
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("small.tutti.marks:1:8"));
  press(Qt::Key_M);
  EXPECT_EQ(folder_.read("small.tutti.marks"), "mark { from: 3 }")
      << "an invalid file is not overwritten";
}

TEST_F(Window, TheViewIsExportedAsPngAndSvg) {
  const QString png = QString::fromStdString(folder_.file("a.png")),
                svg = QString::fromStdString(folder_.file("a.svg"));
  EXPECT_EQ(write_picture(view(), png), QStringLiteral("no timeline is open"));
  open_small();
  EXPECT_EQ(write_picture(view(), png), QString());
  EXPECT_EQ(QImage(png).size(), view().size() * 2);
  EXPECT_EQ(write_picture(view(), svg), QString());
  const std::string text = folder_.read("a.svg");
  EXPECT_THAT(text, testing::AllOf(HasSubstr("<svg"), HasSubstr("worker 1"), HasSubstr("step 0"),
                                   HasSubstr("pack 0")));
  EXPECT_THAT(
      text,
      HasSubstr("<defs><style type=\"text/css\">rect { shape-rendering: crispEdges }</style>"));
  EXPECT_THAT(text, testing::Not(HasSubstr("<image"))) << "shapes, not pixels";
  EXPECT_THAT(write_picture(view(), QStringLiteral("/nowhere/a.png")).toStdString(),
              HasSubstr("/nowhere/a.png"));
}

TEST_F(Window, KeysFollowTheCriticalPath) {
  open_small();
  press(Qt::Key_Greater, Qt::ShiftModifier);
  window_.actions_of().find(QStringLiteral("path-next"))->trigger();
  window_.actions_of().find(QStringLiteral("path-previous"))->trigger();
  ASSERT_TRUE(view().selected());
  const SpanId first = *view().selected();
  EXPECT_EQ(view().trace()->rows()[first.row].track.worker, 1);
  EXPECT_EQ(view().trace()->rows()[first.row].spans.kind(first.index),
            static_cast<int>(SpanKind::kFirstCompute));
  window_.actions_of().find(QStringLiteral("path-next"))->trigger();
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].spans.kind(view().selected()->index),
            static_cast<int>(SpanKind::kPackInFlight));
  press(Qt::Key_P);
  EXPECT_TRUE(view().path_only());
}

}  // namespace
}  // namespace tutti::gui
