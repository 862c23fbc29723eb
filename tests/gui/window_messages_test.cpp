// Tests the parts of the window around its documents: the title, messages about files that cannot
// be opened, the frame of the part that has the keyboard focus, and a size that fits on the screen.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>

#include "gui/comparison/comparison_words.h"
#include "gui/editor/form_view.h"
#include "gui/editor/text_editor.h"
#include "gui/paint/scene.h"
#include "gui/widgets/legend_strip.h"
#include "gui/widgets/notice_bar.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/widgets/query_panel.h"
#include "gui/window/comparison_panel.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_fixture.h"

namespace tutti::gui {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Window, AFileThatCannotBeOpenedIsReportedAtTheTop) {
  const NoticeBar& notice = window_.notice();
  EXPECT_FALSE(open(write("letter.tutti", "a letter")));
  EXPECT_TRUE(notice.isVisible());
  EXPECT_THAT(notice.text().toStdString(), HasSubstr("letter.tutti"));
  EXPECT_FALSE(notice.offers());
  EXPECT_LT(notice.mapTo(&window_, QPoint()).y(), window_.height() / 4) << "not only at the bottom";
  open_small();
  EXPECT_FALSE(notice.isVisible()) << "the next file was opened";
  // A report does not replace the timeline, and a later offer replaces the report.
  EXPECT_FALSE(open(folder_.file("gone.tutti")));
  EXPECT_TRUE(notice.isVisible());
  EXPECT_TRUE(view().trace());
  write("small.tutti", small_timeline() + "more");
  EXPECT_TRUE(QTest::qWaitFor([&] { return notice.offers(); }, 20'000));
  EXPECT_THAT(notice.text().toStdString(), HasSubstr("has changed on disk"));
}

TEST_F(Window, ACancelledOpenIsNotReportedAsAnError) {
  open_small();
  window_.open(QString::fromStdString(write("other.tutti", small_timeline())));
  QTest::keyClick(&window_, Qt::Key_Escape);
  EXPECT_FALSE(window_.notice().isVisible());
}

TEST_F(Window, NumbersPerDeviceBringTheirPanelToTheFront) {
  open_small();
  auto* const numbers = window_.findChild<QDockWidget*>(QStringLiteral("numbers"));
  window_.actions_of().find(QStringLiteral("panel-marks"))->trigger();
  QApplication::processEvents();
  ASSERT_TRUE(window_.numbers().visibleRegion().isEmpty()) << "another tab covers the panel";
  press(Qt::Key_B, Qt::ControlModifier);
  EXPECT_TRUE(QTest::qWaitFor([&] { return !window_.numbers().visibleRegion().isEmpty(); }, 5000));
  numbers->hide();
  press(Qt::Key_B, Qt::ControlModifier);
  EXPECT_TRUE(numbers->isVisible());
}

TEST_F(Window, FitsOnTheScreenWithItsFrame) {
  EXPECT_EQ(window_.size(), QSize(1280, 800));
  window_.fit_to_screen({1920, 1080});
  EXPECT_EQ(window_.size(), QSize(1280, 800));
  EXPECT_FALSE(window_.isMaximized());
  // At 1280x800, a title bar would push the status bar out of the screen.
  window_.fit_to_screen({1280, 800});
  EXPECT_TRUE(window_.isMaximized());
  EXPECT_LE(window_.height(), 800);
}

TEST_F(Window, ALegendWithoutSpaceShowsOnlyWholeLines) {
  open_small();
  LegendStrip& legend = window_.legend();
  const int line = legend.minimumSizeHint().height();
  legend.resize(90, line * 3 / 2);  // too narrow for two kinds in one line
  ASSERT_GT(legend.sizeHint().height(), 2 * line);
  const QImage picture = legend.grab().toImage();
  const double scale = picture.devicePixelRatio();
  const QColor background = picture.pixelColor(0, 0);
  const auto is_empty = [&](int from, int to) {
    for (int y = static_cast<int>(from * scale); y < static_cast<int>(to * scale); ++y) {
      for (int x = 0; x < picture.width(); ++x) {
        if (picture.pixelColor(x, y) != background) return false;
      }
    }
    return true;
  };
  EXPECT_FALSE(is_empty(0, line));
  EXPECT_TRUE(is_empty(line, line * 3 / 2));
}

TEST_F(Editor, TheTitleNamesWhatTheWindowShows) {
  own("small.textproto",
      test::small_scenario("algorithm: \"ring\"\n  bytes_per_pack: 1048576", 2, 2));
  const auto title = [&] { return window_->windowTitle().toStdString(); };
  act("run");
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(title(), "small.textproto[*] — Tutti");
  set(path({{"strategy", 0}, {"bytes_per_pack", 0}}), QStringLiteral("2MiB"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  act("compare-last-run");
  ASSERT_TRUE(ran()) << said_;
  EXPECT_THAT(title(), StartsWith("bytes_per_pack 1 MiB and bytes_per_pack 2 MiB"));
  act("compare-last-run");
  ASSERT_TRUE(ran()) << said_;
  EXPECT_EQ(title(), "small.textproto[*] — Tutti") << "the comparison is closed";
  EXPECT_TRUE(window_->isWindowModified());
  // A timeline next to the scenario does not change the title, but it is the title without it.
  open(folder_.write("small.tutti", small_timeline()));
  EXPECT_EQ(title(), "small.textproto[*] — Tutti");
  act("scenario");
  EXPECT_EQ(title(), "small.tutti — Tutti");
  EXPECT_FALSE(window_->isWindowModified());
  act("scenario");
  EXPECT_EQ(title(), "small.textproto[*] — Tutti");
}

TEST_F(Editor, AFrameMarksTheFormOrTheTextThatHasTheFocus) {
  own("small.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  const auto framed = [](const QWidget& widget) {
    auto* const frame = widget.findChild<QWidget*>(QStringLiteral("focus frame"));
    return frame && frame->isVisible() && frame->geometry() == widget.rect();
  };
  auto* const text = window_->findChild<TextEditor*>();
  act("form");
  EXPECT_TRUE(framed(editor().form()));
  EXPECT_FALSE(framed(*text));
  act("text");
  EXPECT_FALSE(framed(editor().form()));
  EXPECT_TRUE(framed(*text));
  window_->resize(window_->width() + 40, window_->height());
  QApplication::processEvents();
  EXPECT_TRUE(framed(*text));
  // The frame has the colour of the selection at the edge of the text.
  const QImage picture = text->grab().toImage();
  EXPECT_EQ(picture.pixelColor(0, picture.height() / 2),
            text->palette().color(QPalette::Highlight));
}

TEST_F(Editor, HidingAPartMovesTheFocusToTheTimeline) {
  own("small.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  act("form");
  act("scenario");
  EXPECT_TRUE(window_->timeline().hasFocus());
}

TEST(LabelsOfComparedTimelines, DropTheWordsThatBothNamesBeginWith) {
  EXPECT_EQ(label_of("bytes_per_pack 25 MiB", "bytes_per_pack 8 MiB"), "25 MiB");
  EXPECT_EQ(label_of("simulated", "real"), "simulated");
  EXPECT_EQ(label_of("shards 4", "shards 8"), "shards 4") << "short names stay whole";
  EXPECT_EQ(label_of("ring, shards 4 of 16", "ring, shards"), "shards 4 of 16");
  EXPECT_EQ(label_of("a_long_name_of_a_run", "another_name"), "a_long_name_of_a_run");
}

/// The symbol of a pinned row must not cover the name of the row.
TEST_F(Editor, NamesOfPinnedRowsAreNotCovered) {
  own("small.textproto",
      test::small_scenario("algorithm: \"ring\"\n  bytes_per_pack: 1048576", 2, 2));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  set(path({{"strategy", 0}, {"bytes_per_pack", 0}}), QStringLiteral("2MiB"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  act("compare-last-run");
  ASSERT_TRUE(ran()) << said_;
  TimelineView& view = window_->timeline();
  const auto& lines = view.layout_of_lines().lines();
  const Line& first = lines.front();
  ASSERT_TRUE(first.pinned && !first.timeline.empty()) << first.key;
  const QImage picture = view.grab().toImage();
  const double scale = picture.devicePixelRatio();
  const int name_ends = 8 + first.depth * 12 +
                        view.fontMetrics().horizontalAdvance(QString::fromStdString(first.name));
  const QColor mark = QColor::fromRgb(light_theme().path);
  const auto marks = [&](int from, int to) {
    int count = 0;
    for (int y = Scene::kAxis; y < Scene::kAxis + first.height; ++y) {
      for (int x = from; x < to; ++x) {
        const QPoint at(static_cast<int>(x * scale), static_cast<int>(y * scale));
        count += picture.pixelColor(at) == mark ? 1 : 0;
      }
    }
    return count;
  };
  EXPECT_EQ(marks(0, name_ends), 0);
  EXPECT_GT(marks(name_ends, Scene::kGutter), 0);
}

}  // namespace
}  // namespace tutti::gui
