// The start of the window: its first page and opening files; groups and headers of rows, and the
// critical path by cause.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSettings>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/timeline/writer.h"
#include "gui/editor/form_model.h"
#include "gui/editor/form_view.h"
#include "gui/editor/text_editor.h"
#include "gui/paint/scene.h"
#include "gui/sweep/sweep_panel.h"
#include "gui/widgets/example_picture.h"
#include "gui/widgets/open_progress.h"
#include "gui/widgets/path_panel.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/time_cursor.h"
#include "gui/widgets/welcome_page.h"
#include "gui/window/comparison_panel.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_fixture.h"
#include "tests/gui/window_hands.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::gui {
namespace {

using testing::HasSubstr;

/// The first page of a window that draws pictures of the examples.
struct FirstPage : Editor {
  FirstPage() {
    draws_examples_ = true;
    make_window();
    window_->resize(1280, 720);
    QApplication::processEvents();
  }
  QList<ExamplePicture*> pictures() { return window_->findChildren<ExamplePicture*>(); }
  /// Returns true if the picture has colours of spans besides those of its frame.
  static bool is_drawn(ExamplePicture& picture) {
    const QImage image = picture.grab().toImage();
    const SpanLooks& looks = light_theme().spans;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        const QRgb pixel = image.pixel(x, y) | 0xff000000;
        if (pixel == looks[core::SpanKind::kFirstCompute].colour ||
            pixel == looks[core::SpanKind::kPackInFlight].colour)
          return true;
      }
    }
    return false;
  }
};

TEST_F(FirstPage, PicturesOfTheExamplesInViewAreDrawn) {
  ASSERT_GE(pictures().size(), 6);
  int in_view = 0, below = 0;
  for (ExamplePicture* const picture : pictures()) {
    if (picture->visibleRegion().isEmpty()) {
      ++below;
      continue;
    }
    ++in_view;
    EXPECT_TRUE(until([&] { return is_drawn(*picture); })) << in_view;
  }
  EXPECT_GT(in_view, 0);
  EXPECT_GT(below, 0) << "only examples in view are simulated at once";
  ExamplePicture& last = *pictures().back();
  EXPECT_FALSE(is_drawn(last));
  window_->welcome().ensureWidgetVisible(&last);
  EXPECT_TRUE(until([&] { return is_drawn(last); })) << "scrolling simulates the examples in view";
}

TEST_F(FirstPage, APictureOfThePageHasThePicturesOfAllExamples) {
  window_->welcome().finish_pictures();
  for (ExamplePicture* const picture : pictures()) EXPECT_TRUE(is_drawn(*picture));
}

TEST_F(Window, EscCancelsOpeningAndTheWindowStaysAsItWas) {
  open_small();
  view().show_range({kMs * 20, kMs * 60});
  const auto shown = view().shared_trace();
  QSignalSpy opened(&window_, &MainWindow::opened), failed(&window_, &MainWindow::failed);
  window_.open(QString::fromStdString(write("other.tutti", small_timeline())));
  ASSERT_TRUE(window_.open_progress().is_active());
  press(Qt::Key_Escape);
  EXPECT_FALSE(window_.open_progress().is_active());
  ASSERT_EQ(failed.size(), 1);
  EXPECT_THAT(window_.status_text().toStdString(), HasSubstr("cancelled"));
  QTest::qWait(50);
  EXPECT_TRUE(opened.isEmpty());
  EXPECT_EQ(view().shared_trace(), shown);
  EXPECT_EQ(view().view().range(), (TimeRange{kMs * 20, kMs * 60}));
  // Afterwards, Esc has its usual effect, and files can be opened.
  view().select(SpanId{0, 0});
  press(Qt::Key_Escape);
  EXPECT_FALSE(view().selected());
  EXPECT_TRUE(open(folder_.file("other.tutti"))) << said_;
}

TEST_F(Window, EscCancelsOpeningASecondTimelineAndTheFirstStays) {
  open_small();
  const auto shown = view().shared_trace();
  const std::string other = write("other.tutti", small_timeline());
  // The first timeline is opened again, and then the second one. The queued call comes before any
  // result of the second one.
  bool was_active = false, pressed = false;
  QObject::connect(
      &view(), &TimelineView::trace_changed, &view(),
      [&] {
        was_active = window_.open_progress().is_active();
        press(Qt::Key_Escape);
        pressed = true;
      },
      static_cast<Qt::ConnectionType>(Qt::QueuedConnection | Qt::SingleShotConnection));
  drop(&window_, {folder_.file("small.tutti"), other});
  ASSERT_TRUE(QTest::qWaitFor([&] { return pressed; }, 20'000));
  EXPECT_TRUE(was_active);
  const auto first = view().shared_trace();
  EXPECT_NE(first, shown);
  QTest::qWait(50);
  EXPECT_EQ(view().shared_trace(), first);
  EXPECT_FALSE(window_.comparison().comparison());
  const auto why = why_not_opened(window_, [&] {
    window_.open_both(QString::fromStdString(folder_.file("small.tutti")),
                      QString::fromStdString(other));
  });
  EXPECT_FALSE(why) << *why;
  EXPECT_TRUE(window_.comparison().comparison());
}

TEST_F(Window, ProgressOfOpeningIsInTheMiddleOfTheWindow) {
  window_.resize(1000, 700);
  open_small();
  OpenProgress& progress = window_.open_progress();
  EXPECT_FALSE(progress.isVisible()) << "a small file opens at once";
  progress.begin(QStringLiteral("opening large.tutti …"));
  progress.set_percent(40);
  ASSERT_TRUE(QTest::qWaitFor([&] { return progress.isVisible(); }, 5000));
  const QPoint middle = progress.geometry().center();
  EXPECT_NEAR(middle.x(), window_.width() / 2, 2);
  EXPECT_GT(middle.y(), window_.height() / 5);
  EXPECT_LT(middle.y(), window_.height() * 3 / 5);
  QSignalSpy cancelled(&progress, &OpenProgress::cancel_wanted);
  progress.findChild<QPushButton*>()->click();
  EXPECT_EQ(cancelled.size(), 1);
  EXPECT_FALSE(progress.isVisible());
}

/// Returns a timeline of one GPU with these numbers of rows of packs and lanes, each with a span in
/// each of two steps.
std::string timeline_with(int packs, int lanes) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  core::TrackId id = 0;
  const auto add = [&](core::TrackKind kind, int slot, int lane, std::int32_t what) {
    writer.track({id, kind, 0, "gpu0", slot, lane});
    for (std::int32_t step = 0; step < 2; ++step) {
      core::Span span;
      span.start = kMs * (10 * step);
      span.duration = kMs * 5;
      span.kind = what;
      span.step = step;
      span.pack = 0;
      writer.span(id, span);
    }
    ++id;
  };
  add(core::TrackKind::kCompute, 0, -1, core::SpanKind::kFirstCompute);
  for (int i = 0; i < packs; ++i)
    add(core::TrackKind::kPacks, i, -1, core::SpanKind::kPackInFlight);
  for (int i = 0; i < lanes; ++i)
    add(core::TrackKind::kLane, 0, i, static_cast<std::int32_t>(core::StepKind::kSend));
  writer.end();
  return out.str();
}

const Line* line_with(const TimelineView& view, const std::string& key) {
  for (const Line& line : view.layout_of_lines().lines()) {
    if (line.key == key) return &line;
  }
  return nullptr;
}

TEST_F(Window, ManyRowsOfPacksOfADeviceAreAGroup) {
  ASSERT_TRUE(open(write("few.tutti", timeline_with(4, 1)))) << said_;
  EXPECT_FALSE(line_with(view(), "worker 0/gpu0/packs/packs"));
  ASSERT_TRUE(open(write("some.tutti", timeline_with(8, 1)))) << said_;
  EXPECT_TRUE(line_with(view(), "worker 0/gpu0/packs/packs, slot 3")) << "the group is open";
  ASSERT_TRUE(open(write("many.tutti", timeline_with(9, 1)))) << said_;
  const Line* group = line_with(view(), "worker 0/gpu0/packs");
  ASSERT_TRUE(group && group->is_group());
  EXPECT_FALSE(group->open) << "at first, its utilisation is shown";
  EXPECT_EQ(group->rows.size(), 9u);
  EXPECT_FALSE(line_with(view(), "worker 0/gpu0/packs/packs, slot 3"));
  view().open_all();
  EXPECT_TRUE(line_with(view(), "worker 0/gpu0/packs/packs, slot 3"));
}

TEST_F(Window, TheHeaderOfAGroupStaysWhileItsRowsAreScrolled) {
  window_.resize(1280, 700);
  ASSERT_TRUE(open(write("lanes.tutti", timeline_with(9, 60)))) << said_;
  view().open_all();
  const auto header = [&] {
    const QImage picture = view().grab().toImage();
    return picture.pixel(view().width() / 2, Scene::kAxis + Scene::kSticky - 2);
  };
  // Far down, only lanes are in view.
  auto* const bar = view().findChild<QScrollBar*>();
  ASSERT_TRUE(bar && bar->maximum() > 500);
  bar->setValue(bar->maximum());
  EXPECT_EQ(header(), light_theme().group);
  EXPECT_EQ(sticky_group(view().layout_of_lines(), 0), view().layout_of_lines().lines().size())
      << "at the top, no header is out of view";
  const QPoint on_header(20, Scene::kAxis + Scene::kSticky / 2);
  QTest::mouseClick(&view(), Qt::LeftButton, {}, on_header);
  const Line* lanes = line_with(view(), "worker 0/gpu0/lanes");
  ASSERT_TRUE(lanes);
  EXPECT_FALSE(lanes->open) << "a click on the header closes its group";
  // Going to a row never hides it beneath the header.
  view().open_all();
  bar->setValue(bar->maximum());
  view().go_to({5, 0});
  const QRect box = view().box_of({5, 0});
  EXPECT_FALSE(box.isEmpty());
  EXPECT_GE(box.top(), Scene::kAxis + Scene::kSticky);
}

TEST_F(Window, EscInTheSearchReturnsToTheTimelineAndKeepsTheSelection) {
  open_small();
  window_.actions_of().find(QStringLiteral("find"))->trigger();
  auto* const line = window_.findChild<QLineEdit*>(QStringLiteral("find"));
  ASSERT_TRUE(line && line->hasFocus());
  QTest::keyClicks(line, QStringLiteral("receive"));
  QTest::keyClick(line, Qt::Key_Return);
  ASSERT_TRUE(view().selected());
  QTest::keyClick(line, Qt::Key_Escape);
  EXPECT_TRUE(view().hasFocus());
  EXPECT_TRUE(view().selected());
  press(Qt::Key_Escape);
  EXPECT_FALSE(view().selected());
}

TEST_F(Window, PinnedRowsHaveTheirFullNames) {
  open_small();
  QTest::mouseClick(&view(), Qt::LeftButton, {}, point("worker 0/gpu1/compute", kMs * 10));
  press(Qt::Key_T, Qt::ControlModifier);
  const Line& first = view().layout_of_lines().lines().front();
  ASSERT_TRUE(first.pinned);
  EXPECT_EQ(first.full_name, "w0/gpu1, compute");
}

TEST_F(Window, TheCriticalPathComesIntoView) {
  window_.resize(1280, 700);
  open_small();
  // The path is in step 1, on the second worker.
  view().show_range({kMs * 0, kMs * 50});
  press(Qt::Key_P);
  EXPECT_LT(view().view().range().from, kMs * 130);
  EXPECT_GT(view().view().range().to, kMs * 130);
  bool is_visible = false;
  for (std::size_t r = 0; r < view().trace()->rows().size(); ++r) {
    const SpanRow& spans = view().trace()->rows()[r].spans;
    for (SpanRow::Index i = 0; i < spans.size(); ++i) {
      if (is_on_path(view().trace()->on_path(r), spans, i) && !view().box_of({r, i}).isEmpty())
        is_visible = true;
    }
  }
  EXPECT_TRUE(is_visible);
  press(Qt::Key_P);
}

TEST_F(Editor, AtASmallSizeSpansHaveHalfOfTheWidthNextToAScenario) {
  window_->resize(1280, 720);
  open(shipped("04_resnet50_ring"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  QApplication::processEvents();
  ASSERT_TRUE(session().isVisible());
  EXPECT_GE(lines_rect(window_->timeline().size()).width(), 1280 / 2);
  EXPECT_EQ(window_->size(), QSize(1280, 720));
}

TEST_F(Editor, TheTopologyCanBeNarrow) {
  window_->resize(1280, 720);
  open(folder_.write("ring.tutti",
                     test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2))));
  auto* const dock = window_->findChild<QDockWidget*>(QStringLiteral("topology"));
  ASSERT_TRUE(dock && dock->isVisible());
  window_->resizeDocks({dock}, {160}, Qt::Horizontal);
  QApplication::processEvents();
  EXPECT_LT(dock->width(), 200);
}

TEST_F(Editor, FieldsThatTheScenarioSetsComeFirst) {
  own("own.textproto", "run { seed: 3 }\nstrategy { algorithm: \"ring\" }\n");
  const auto first = [&](int row, const QModelIndex& below = {}) {
    return form().index(row, FormModel::kName, below).data().toString().toStdString();
  };
  EXPECT_EQ(first(0), "strategy") << "in the order of the schema";
  EXPECT_EQ(first(1), "run");
  EXPECT_EQ(first(0, form().index_of(path({{"run", 0}}))), "seed");
  // An edit does not move the fields under the user's hands.
  set(path({{"name", 0}}), QStringLiteral("mine"));
  EXPECT_EQ(first(0), "strategy");
  act("undo");  // so that opening another scenario asks nothing
  own("other.textproto", "name: \"x\"\n");
  EXPECT_EQ(first(0), "name");
}

TEST_F(Editor, EveryGroupOfTheFormHasADescription) {
  own("own.textproto", test::small_scenario("algorithm: \"ring\"", 2, 2));
  const QLabel* about = nullptr;
  for (const auto* const label : editor().findChildren<QLabel*>()) {
    if (label->accessibleName() == QStringLiteral("About the field")) about = label;
  }
  ASSERT_TRUE(about);
  for (int row = 0; row < form().rowCount(); ++row) {
    const QModelIndex at = form().index(row, FormModel::kName);
    if (!form().type(at)->message) continue;
    editor().form().setCurrentIndex(at);
    EXPECT_FALSE(about->text().isEmpty()) << at.data().toString().toStdString();
  }
}

TEST_F(Editor, FormAndTextHaveTheSameWidthNextToEachOther) {
  window_->resize(1280, 720);
  open(shipped("04_resnet50_ring"));
  QApplication::processEvents();
  EXPECT_NEAR(editor().text_editor().width(), editor().form().width(), 20);
}

/// Shows the panel of the critical path.
PathPanel& show_path(MainWindow& window) {
  window.resize(1280, 800);
  QAction* const action = window.actions_of().find(QStringLiteral("panel-path"));
  if (!action->isChecked()) action->trigger();
  QApplication::processEvents();
  return window.flame();
}

TEST_F(Window, TheCriticalPathByCauseIsReadAndGoneToByKeys) {
  ASSERT_TRUE(open(
      write("ring.tutti", test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2)))));
  PathPanel& panel = show_path(window_);
  ASSERT_TRUE(panel.isVisible());
  ASSERT_GT(panel.boxes().size(), 5u);
  panel.setFocus();
  EXPECT_EQ(panel.chosen(), -1);
  QTest::keyClick(&panel, Qt::Key_Right);
  ASSERT_EQ(panel.chosen(), 0);
  QTest::keyClick(&panel, Qt::Key_Down);
  const FlameBox group = panel.boxes()[static_cast<std::size_t>(panel.chosen())];
  EXPECT_EQ(group.level, 1);
  EXPECT_THAT(panel.accessibleDescription().toStdString(),
              testing::AllOf(HasSubstr(group.name), HasSubstr("% of the critical path")));
  QTest::keyClick(&panel, Qt::Key_Return);
  EXPECT_EQ(view().range(), group.longest);
  EXPECT_LE(view().view().range().from, group.longest.from);
  EXPECT_GE(view().view().range().to, group.longest.to);
  QTest::keyClick(&panel, Qt::Key_Up);
  EXPECT_EQ(panel.chosen(), 0);
}

TEST_F(Window, AClickOnACauseShowsItsLongestPiece) {
  ASSERT_TRUE(open(
      write("ring.tutti", test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2)))));
  PathPanel& panel = show_path(window_);
  const auto cause = std::find_if(panel.boxes().begin(), panel.boxes().end(),
                                  [](const FlameBox& box) { return box.level == 2; });
  ASSERT_NE(cause, panel.boxes().end());
  const QRect box = panel.rect_of(*cause);
  ASSERT_GT(box.width(), 20);
  QTest::mouseClick(&panel, Qt::LeftButton, {}, box.center());
  EXPECT_EQ(view().range(), cause->longest);
  // The boxes are drawn in colours that the legend explains.
  const QImage picture = panel.grab().toImage();
  EXPECT_EQ(picture.pixel(box.right() - 3, box.bottom() - 4) | 0xff000000,
            light_theme().spans[static_cast<std::size_t>(cause->kind)].colour);
}

}  // namespace
}  // namespace tutti::gui
