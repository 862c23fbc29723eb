// Selections of time and rows, and what screen readers and keyboard users get of a timeline.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAccessible>
#include <QApplication>
#include <QTableWidget>
#include <set>

#include "gui/widgets/found_panel.h"
#include "gui/widgets/numbers_panel.h"
#include "tests/gui/window_fixture.h"

namespace tutti::gui {
namespace {

using core::Time;
using testing::HasSubstr;

struct RegionWindow : Window {
  void drag(const QPoint& from, const QPoint& to, Qt::KeyboardModifiers with = Qt::NoModifier) {
    QTest::mousePress(&view(), Qt::LeftButton, with, from);
    QMouseEvent move(QEvent::MouseMove, to, view().mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                     with);
    QApplication::sendEvent(&view(), &move);
    QTest::mouseRelease(&view(), Qt::LeftButton, with, to);
  }
  QString count(const QString& kind) {
    const QTableWidget& table = window_.numbers().table();
    for (int r = 0; r < table.rowCount(); ++r) {
      if (table.item(r, 0)->text() == kind) return table.item(r, 1)->text();
    }
    return {};
  }
};

TEST_F(RegionWindow, ADragAcrossRowsSelectsTimeAndRows) {
  open_small();
  view().open_all();
  drag(point("worker 0/gpu0/lanes/lane 0", kMs * 60),
       point("worker 0/gpu0/lanes/lane 1", kMs * 101));
  EXPECT_EQ(view().region(),
            (std::set<std::string>{"worker 0/gpu0/lanes/lane 0", "worker 0/gpu0/lanes/lane 1"}));
  EXPECT_EQ(view().counted_rows().size(), 2u);
  EXPECT_EQ(count(QStringLiteral("receive")), QStringLiteral("2"));
  EXPECT_EQ(count(QStringLiteral("forward")), QString());
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("× 2 rows, 4 spans"));
  // Within a line, a drag selects the range on all lines, and with Ctrl on this line.
  drag(point("worker 0/gpu0/compute", kMs * 10), point("worker 0/gpu0/compute", kMs * 20));
  EXPECT_TRUE(view().region().empty());
  EXPECT_EQ(count(QStringLiteral("forward")), QStringLiteral("4"));
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("× 16 rows, 4 spans, 25.0 % busy"));
  drag(point("worker 0/gpu0/compute", kMs * 10), point("worker 0/gpu0/compute", kMs * 20),
       Qt::ControlModifier);
  EXPECT_EQ(view().region(), std::set<std::string>{"worker 0/gpu0/compute"});
  EXPECT_EQ(count(QStringLiteral("forward")), QStringLiteral("1"));
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("× 1 row, 1 span, 100.0 % busy"));
  press(Qt::Key_Escape);
  EXPECT_TRUE(view().region().empty());
  EXPECT_FALSE(view().range());
  EXPECT_THAT(window_.status_text().toStdString(), testing::Not(HasSubstr("selected")));
}

TEST_F(RegionWindow, ADragUpwardsSelectsTheSameRegion) {
  open_small();
  const QPoint upper = point("worker 0/gpu0/compute", kMs * 10),
               lower = point("worker 0/gpu1/compute", kMs * 50);
  drag(upper, lower);
  const std::set<std::string> down = view().region();
  EXPECT_GT(down.size(), 2u);
  drag(lower, upper);
  EXPECT_EQ(view().region(), down);
  EXPECT_NE(view().grab().toImage().pixel(lower - QPoint(20, 0)),
            view().grab().toImage().pixel(lower + QPoint(20, 0)))
      << "it is tinted";
}

TEST_F(RegionWindow, KeysExtendTheRegionRowByRow) {
  open_small();
  view().select_range(TimeRange{kMs * 10, kMs * 20});
  view().go_to_line(QStringLiteral("worker 0/gpu0/compute"));
  press(Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(view().region(), std::set<std::string>{"worker 0/gpu0/compute"});
  press(Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(view().region(),
            (std::set<std::string>{"worker 0/gpu0/compute", "worker 0/gpu0/packs"}));
  EXPECT_EQ(view().range(), (TimeRange{kMs * 10, kMs * 20}));
  press(Qt::Key_Up, Qt::ShiftModifier);
  press(Qt::Key_Up, Qt::ShiftModifier);
  EXPECT_EQ(view().region(), (std::set<std::string>{"worker 0/gpu0", "worker 0/gpu0/compute"}));
  EXPECT_EQ(view().counted_rows().size(), 1u) << "the rows of an open group have their own lines";
  for (int i = 0; i < 100; ++i) press(Qt::Key_Up, Qt::ShiftModifier);
  EXPECT_TRUE(view().region().contains(view().layout_of_lines().lines().front().key));
}

TEST_F(RegionWindow, ARegionKeepsItsRowsWhenGroupsAreClosed) {
  open_small();
  view().open_all();
  drag(point("worker 0/gpu0/lanes/lane 0", kMs * 60),
       point("worker 0/gpu0/lanes/lane 1", kMs * 101));
  const std::vector<std::size_t> rows = view().counted_rows();
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_THAT(window_.status_text().toStdString(), HasSubstr("× 2 rows"));
  view().close_all();
  EXPECT_EQ(view().counted_rows(), rows) << "the closed group shows the rows";
  EXPECT_EQ(count(QStringLiteral("receive")), QStringLiteral("2"));
  view().filter(QStringLiteral("worker 1"));
  EXPECT_TRUE(view().counted_rows().empty()) << "the rows are hidden";
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("× 0 rows"));
  view().filter({});
  view().open_all();
  EXPECT_EQ(view().counted_rows(), rows);
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("× 2 rows"));
}

TEST_F(RegionWindow, ScreenReadersDoNotKeepAClosedTimeline) {
  open_small();
  QAccessibleInterface* const timeline = QAccessible::queryAccessibleInterface(&view());
  ASSERT_TRUE(timeline && timeline->child(0)->isValid());
  const std::weak_ptr<const Trace> closed = view().shared_trace();
  open_small();
  QApplication::processEvents();
  EXPECT_TRUE(closed.expired());
}

TEST_F(RegionWindow, ScreenReadersSeeTheSpansInView) {
  open_small();
  QAccessibleInterface* const timeline = QAccessible::queryAccessibleInterface(&view());
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->text(QAccessible::Name), QStringLiteral("Timeline"));
  EXPECT_THAT(timeline->text(QAccessible::Value).toStdString(),
              HasSubstr("0 s to 200 ms of 200 ms, 56 spans in 16 rows"));
  ASSERT_GT(timeline->childCount(), 10);
  std::set<std::string> names;
  for (int i = 0; i < timeline->childCount(); ++i) {
    QAccessibleInterface* const span = timeline->child(i);
    ASSERT_TRUE(span && span->isValid());
    EXPECT_EQ(span->role(), QAccessible::ListItem);
    EXPECT_EQ(timeline->child(i), span) << "it is the same while it is in view";
    EXPECT_EQ(timeline->indexOfChild(span), i);
    EXPECT_TRUE(names.insert(span->text(QAccessible::Name).toStdString()).second) << "it is unique";
    const QRect box = span->rect();
    ASSERT_FALSE(box.isEmpty());
    EXPECT_TRUE(timeline->rect().contains(box));
    EXPECT_EQ(timeline->childAt(box.center().x(), box.center().y()), span);
    EXPECT_EQ(span->parent(), timeline);
  }
  EXPECT_TRUE(names.contains("forward, compute of worker 0/gpu0, from 0 s for 30.0 ms") ||
              names.contains("forward conv1, compute of worker 0/gpu0, from 0 s for 30.0 ms"))
      << *names.begin();
}

TEST_F(RegionWindow, ScreenReadersFollowTheSelection) {
  open_small();
  QAccessibleInterface* const timeline = QAccessible::queryAccessibleInterface(&view());
  view().setFocus();
  EXPECT_FALSE(timeline->focusChild());
  QTest::mouseClick(&view(), Qt::LeftButton, {}, point("worker 0/gpu0/packs", kMs * 75));
  QAccessibleInterface* const span = timeline->focusChild();
  ASSERT_TRUE(span);
  EXPECT_TRUE(span->state().selected);
  EXPECT_EQ(span->text(QAccessible::Value), QStringLiteral("30.0 ms"));
  EXPECT_THAT(view().accessibleDescription().toStdString(), HasSubstr("pack 0"));
  press(Qt::Key_Period);
  EXPECT_FALSE(span->state().selected);
  EXPECT_TRUE(timeline->focusChild()->state().selected);
  view().show_range({kMs * 60, kMs * 65});
  EXPECT_TRUE(span->state().offscreen);
  open_small();
  EXPECT_FALSE(span->isValid()) << "its timeline is gone";
  EXPECT_TRUE(span->rect().isEmpty());
}

TEST_F(RegionWindow, TheTimelineHasMostOfTheWidthOfASmallWindow) {
  window_.resize(1280, 720);
  open_small();
  QApplication::processEvents();
  ASSERT_TRUE(window_.findChild<QWidget*>(QStringLiteral("topology"))->isVisible());
  EXPECT_GT(lines_rect(view().size()).width(), 1280 * 55 / 100);
  EXPECT_GT(view().height(), 720 / 2);
}

/// Tab must reach every panel, and the window must show where the focus is.
TEST_F(RegionWindow, TabVisitsAllPartsOfTheWindowWithAVisibleFocus) {
  open_small();
  for (const char* const panel :
       {"panel-found", "panel-marks", "panel-communication", "panel-query", "panel-numbers"}) {
    QAction* const action = window_.actions_of().find(QString::fromLatin1(panel));
    if (!action->isChecked()) action->trigger();
    QApplication::processEvents();
    std::set<QWidget*> reached;
    view().setFocus();
    for (int i = 0; i < 200; ++i) {
      QWidget* const now = QApplication::focusWidget();
      ASSERT_TRUE(now);
      if (!reached.insert(now).second) break;
      QTest::keyClick(now, Qt::Key_Tab);
      QApplication::processEvents();
    }
    EXPECT_EQ(QApplication::focusWidget(), &view()) << panel << ": it comes back";
    EXPECT_GT(reached.size(), 5u);
    for (QWidget* const widget : reached) {
      if (!widget->isVisible()) continue;
      QAccessibleInterface* const heard = QAccessible::queryAccessibleInterface(widget);
      ASSERT_TRUE(heard);
      EXPECT_FALSE(heard->text(QAccessible::Name).isEmpty())
          << panel << ": screen readers have no name for " << widget->metaObject()->className()
          << ' ' << widget->objectName().toStdString();
      widget->setFocus(Qt::TabFocusReason);
      if (QApplication::focusWidget() != widget) continue;
      QApplication::processEvents();
      const QImage with = widget->grab().toImage();
      QWidget* const other = widget == &view() ? static_cast<QWidget*>(&window_.numbers())
                                               : static_cast<QWidget*>(&view());
      widget->clearFocus();
      other->setFocus();
      QApplication::processEvents();
      EXPECT_NE(widget->grab().toImage(), with)
          << panel << ": " << widget->metaObject()->className() << ' '
          << widget->objectName().toStdString() << ' ' << widget->accessibleName().toStdString();
    }
  }
}

}  // namespace
}  // namespace tutti::gui
