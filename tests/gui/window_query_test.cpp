// The panels for the communication between ranks and for SQL queries.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTableWidget>
#include <QToolButton>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include "core/timeline/writer.h"
#include "gui/widgets/communication_panel.h"
#include "gui/widgets/query_panel.h"
#include "gui/widgets/table.h"
#include "gui/window/comparison_panel.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_fixture.h"
#include "tests/support/process.h"

namespace tutti::gui {
namespace {

using core::Time;
using testing::HasSubstr;

/// Returns a timeline with one GPU and two packs. If `overlap`, the second pack begins while the
/// first is in flight, and is therefore in another slot.
std::string two_packs(bool overlap) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  core::RunInfo run;
  run.scenario = "packs";
  run.executor = overlap ? "tcp" : "simulated";
  run.steps = 1;
  run.packs = {{{"a"}, core::Bytes(1000), "float32", {}, 0, 0, {}},
               {{"b"}, core::Bytes(1000), "float32", {}, 0, 0, {}}};
  writer.begin(run);
  writer.track({0, core::TrackKind::kPacks, 0, "gpu0", 0, -1});
  if (overlap) writer.track({1, core::TrackKind::kPacks, 0, "gpu0", 1, -1});
  const int second = overlap ? 10 : 30;
  const auto add = [&](core::TrackId track, std::int32_t pack, int from, int to) {
    core::Span span;
    span.start = kMs * from;
    span.duration = kMs * (to - from);
    span.kind = core::SpanKind::kPackInFlight;
    span.pack = pack;
    writer.span(track, span);
    writer.pack({0, pack, kMs * from, kMs * from, kMs * from, kMs * to});
  };
  add(0, 0, 0, 20);
  add(overlap ? 1 : 0, 1, second, second + 25);
  core::StepRecord step;
  step.end = kMs * 60;
  writer.step(step);
  writer.end();
  return out.str();
}

/// A window whose panels are chosen by their keys.
struct PanelWindow : Window {
  void show_panel(Qt::Key key) {
    press(key, Qt::ControlModifier | Qt::AltModifier);
    QApplication::processEvents();
  }
  CommunicationPanel& communication() { return window_.communication(); }
  CommunicationView& matrix() { return communication().matrix_view(); }
  void run(const QString& sql) {
    window_.query().set_query(sql);
    window_.query().run();
    window_.query().wait();
  }
  QTableWidget& table() { return window_.query().table(); }
  std::string text(int row, int column) {
    const QTableWidgetItem* const item = table().item(row, column);
    return item ? item->text().toStdString() : "no cell";
  }
  bool has_line(const std::string& key) {
    const auto& lines = view().layout_of_lines().lines();
    return std::any_of(lines.begin(), lines.end(),
                       [&](const Line& line) { return line.key == key; });
  }
};

TEST_F(PanelWindow, TheMatrixShowsTheMessagesOfTheRange) {
  open_small();
  EXPECT_EQ(communication().begun(), 0) << "it is not visible";
  show_panel(Qt::Key_8);
  communication().finish();
  ASSERT_EQ(matrix().matrix().ranks.size(), 4u);
  // Each lane receives 500 bytes for 20 ms from the other device, in both steps.
  ASSERT_EQ(matrix().matrix().pairs.size(), 4u);
  EXPECT_EQ(matrix().words_of({0, 1}).toStdString(),
            "w0/gpu0 → w0/gpu1: 2.00 KB in 4 messages, moving for 80.0 ms (2.5e-05 GB/s)");
  EXPECT_EQ(matrix().words_of({0, 2}).toStdString(), "w0/gpu0 → w1/gpu0: no messages");
  EXPECT_NE(matrix().colour_of({0, 1}), matrix().colour_of({0, 2}));
  view().select_range(TimeRange{kMs * 90, kMs * 150});
  communication().finish();
  EXPECT_EQ(matrix().words_of({0, 1}).toStdString(),
            "w0/gpu0 → w0/gpu1: 500 B in 2 messages, moving for 20.0 ms (2.5e-05 GB/s)");
  const int before = communication().begun();
  view().show_range({kMs * 10, kMs * 50});
  EXPECT_EQ(communication().begun(), before) << "the selected range is the same";
  show_panel(Qt::Key_8);
  view().select_range(std::nullopt);
  EXPECT_EQ(communication().begun(), before) << "it is hidden";
}

TEST_F(PanelWindow, TheMatrixIsComputedWhenTheRangeHasSettled) {
  open_small();
  show_panel(Qt::Key_8);
  communication().finish();
  const int before = communication().begun();
  for (int i = 1; i <= 10; ++i) {
    view().show_range({kMs * i, kMs * (50 + i)});
    QApplication::processEvents();
  }
  communication().finish();
  EXPECT_EQ(communication().begun(), before + 1);
  view().show_range({kMs * 90, kMs * 150});
  for (int i = 0; i < 1000 && communication().begun() == before + 1; ++i) QTest::qWait(10);
  EXPECT_EQ(communication().begun(), before + 2) << "by itself";
  // The matrix of another timeline is not shown.
  communication().finish();
  ASSERT_FALSE(matrix().matrix().ranks.empty());
  view().show_trace(Trace::from_bytes(small_timeline(), "again").value());
  EXPECT_TRUE(matrix().matrix().ranks.empty());
  communication().finish();
  EXPECT_EQ(matrix().matrix().ranks.size(), 4u);
}

TEST_F(PanelWindow, APairOfTheMatrixFiltersTheTimeline) {
  open_small();
  show_panel(Qt::Key_8);
  communication().finish();
  QTest::mouseClick(&matrix(), Qt::LeftButton, {}, matrix().box_of({1, 0}).center().toPoint());
  EXPECT_TRUE(has_line("worker 0/gpu0"));
  EXPECT_TRUE(has_line("worker 0/gpu1"));
  EXPECT_FALSE(has_line("worker 1/gpu0"));
  EXPECT_EQ(window_.findChild<QLineEdit*>(QStringLiteral("filter"))->text(),
            QStringLiteral("worker 0/gpu1/ | worker 0/gpu0/"));
  EXPECT_EQ(matrix().matrix().ranks.size(), 4u) << "the matrix still shows all ranks";
  // Again, by keys: the same pair shows all rows.
  matrix().setFocus();
  QTest::keyClick(&matrix(), Qt::Key_Return);
  EXPECT_TRUE(has_line("worker 1/gpu0"));
  // Another filter removes the frame.
  QTest::keyClick(&matrix(), Qt::Key_Return);
  ASSERT_TRUE(matrix().picked());
  window_.findChild<QLineEdit*>(QStringLiteral("filter"))->setText(QStringLiteral("gpu0"));
  EXPECT_FALSE(matrix().picked());
}

TEST_F(PanelWindow, TheMatrixCanBeUsedWithTheKeyboard) {
  open_small();
  show_panel(Qt::Key_8);
  communication().finish();
  const TimeRange seen = view().view().range();
  matrix().setFocus(Qt::TabFocusReason);
  ASSERT_TRUE(matrix().chosen());
  QTest::keyClick(&matrix(), Qt::Key_Right);
  EXPECT_EQ(matrix().chosen(), (CommunicationView::Cell{0, 1}));
  EXPECT_EQ(view().view().range(), seen) << "the arrows move in the matrix alone";
  EXPECT_THAT(matrix().accessibleDescription().toStdString(), HasSubstr("w0/gpu0 → w0/gpu1"));
  QTest::keyClick(&matrix(), Qt::Key_Left);
  QTest::keyClick(&matrix(), Qt::Key_Left);
  QTest::keyClick(&matrix(), Qt::Key_Down);
  EXPECT_EQ(matrix().chosen(), (CommunicationView::Cell{1, 0}));
}

TEST_F(PanelWindow, ColoursOfTheMatrixDependOnTheQuantityAndTheTheme) {
  ASSERT_TRUE(
      open(write("ring.tutti", test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2)))))
      << said_;
  show_panel(Qt::Key_8);
  communication().finish();
  matrix().resize(600, 300);
  for (const Theme* const theme : {&light_theme(), &dark_theme()}) {
    matrix().set_theme(*theme);
    for (const MatrixQuantity quantity :
         {MatrixQuantity::kBytes, MatrixQuantity::kTime, MatrixQuantity::kRate}) {
      matrix().set_quantity(quantity);
      for (const auto& [cell, traffic] : matrix().matrix().pairs)
        EXPECT_GT(contrast(matrix().colour_of(cell), theme->background), 1.2) << "it is visible";
      const QImage picture = matrix().grab().toImage();
      const CommunicationView::Cell some = matrix().matrix().pairs.begin()->first;
      const QPoint inside = matrix().box_of(some).topLeft().toPoint() + QPoint(4, 4);
      EXPECT_EQ(picture.pixel(inside), matrix().colour_of(some));
    }
  }
}

TEST_F(PanelWindow, QueriesFillATableThatSelectsSpans) {
  open_small();
  press(Qt::Key_Q, Qt::ControlModifier | Qt::AltModifier);
  QApplication::processEvents();
  ASSERT_EQ(QApplication::focusWidget(), &window_.query().text());
  QTest::keyClicks(&window_.query().text(),
                   QStringLiteral("SELECT span_id, device, duration_us FROM spans WHERE what = "
                                  "'receive' ORDER BY span_id"));
  QTest::keyClick(&window_.query().text(), Qt::Key_Return, Qt::ControlModifier);
  window_.query().wait();
  ASSERT_EQ(table().rowCount(), 16) << window_.query().message().toStdString();
  EXPECT_EQ(text(0, 2), "20000");
  EXPECT_THAT(window_.query().message().toStdString(), HasSubstr("16 rows"));
  QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                    table().visualItemRect(table().item(2, 1)).center());
  ASSERT_TRUE(view().selected());
  const Trace::Row& row = view().trace()->rows()[view().selected()->row];
  EXPECT_EQ(row.track.lane, 1);
  EXPECT_EQ(row.track.device, "gpu0");
  EXPECT_EQ(row.spans.kind(view().selected()->index), static_cast<int>(core::StepKind::kReceive));
  const SpanId first = *view().selected();
  table().setFocus();
  QTest::keyClick(&table(), Qt::Key_Down);
  EXPECT_NE(view().selected(), first) << "the keyboard does the same";
  // A click on a header sorts by numbers, and rows keep their spans.
  run(QStringLiteral("SELECT span_id, start_us FROM spans WHERE device = 'w0/gpu1' AND lane = 0"));
  table().sortItems(1, Qt::DescendingOrder);
  EXPECT_EQ(text(0, 1), "180000");
  QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                    table().visualItemRect(table().item(0, 1)).center());
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].spans.start(view().selected()->index),
            kMs * 180);
}

TEST_F(PanelWindow, RowsWithTimesSelectTheirRangeAndAreCopied) {
  open_small();
  show_panel(Qt::Key_9);
  run(QStringLiteral("SELECT step, start_us, end_us FROM packs ORDER BY step"));
  ASSERT_EQ(table().rowCount(), 2);
  QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                    table().visualItemRect(table().item(1, 0)).center());
  EXPECT_EQ(view().range(), (TimeRange{kMs * 170, kMs * 200}));
  QTest::keyClick(&table(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QApplication::clipboard()->text(),
            QStringLiteral("step\tstart_us\tend_us\n1\t170000\t200000\n"));
}

TEST_F(PanelWindow, ARangeIsLimitedToTheRun) {
  open_small();
  show_panel(Qt::Key_9);
  run(QStringLiteral("SELECT 150000 AS start_us, 8e12 AS end_us UNION ALL SELECT 7e12, 1e300"));
  ASSERT_EQ(table().rowCount(), 2) << window_.query().message().toStdString();
  for (const int row : {0, 1}) {
    QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                      table().visualItemRect(table().item(row, 0)).center());
    EXPECT_EQ(view().range(), (TimeRange{kMs * 150, view().view().run_length()}));
    EXPECT_LE(view().view().range().to, view().view().run_length());
  }
}

TEST_F(PanelWindow, QueriesFindThePacksThatAComparisonHasMovedToOtherRows) {
  const std::string first = write("first.tutti", two_packs(false)),
                    second = write("second.tutti", two_packs(true));
  ASSERT_FALSE(why_not_opened(window_, [&] {
    window_.open_both(QString::fromStdString(first), QString::fromStdString(second));
  }));
  ASSERT_TRUE(view().trace()->parts());
  press(Qt::Key_3, Qt::AltModifier);  // by pack
  for (int i = 0; i < 1000 && window_.comparison().comparison()->align != Align::kPack; ++i)
    QTest::qWait(10);
  ASSERT_EQ(view().trace()->rows().size(), 2u) << "the packs of the second timeline share a row";
  show_panel(Qt::Key_9);
  run(QStringLiteral("SELECT span_id, pack FROM spans ORDER BY span_id"));
  ASSERT_EQ(table().rowCount(), 4) << window_.query().message().toStdString();
  for (int row = 0; row < 4; ++row) {
    view().select(std::nullopt);
    QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                      table().visualItemRect(table().item(row, 0)).center());
    ASSERT_TRUE(view().selected()) << row;
    const Trace::Row& selected = view().trace()->rows()[view().selected()->row];
    EXPECT_EQ(selected.side, static_cast<std::size_t>(row / 2));
    EXPECT_EQ(selected.spans.pack(view().selected()->index), row % 2);
  }
  run(QStringLiteral("SELECT start_us, end_us FROM packs"));
  QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                    table().visualItemRect(table().item(0, 0)).center());
  EXPECT_THAT(window_.query().message().toStdString(), HasSubstr("span_id"));
}

TEST_F(PanelWindow, ErrorsInQueriesAreShownAndTheTableRemains) {
  open_small();
  show_panel(Qt::Key_9);
  run(QStringLiteral("SELECT durations FROM spans"));
  const auto empty_text = [&] { return table().property("empty text").toString(); };
  EXPECT_EQ(empty_text(), window_.query().message())
      << "the panel has little space for a long message below the query";
  open_small();
  EXPECT_THAT(empty_text().toStdString(), testing::Not(HasSubstr("no such column")))
      << "another timeline is open";
  run(QStringLiteral("SELECT count(*) FROM spans"));
  ASSERT_EQ(table().rowCount(), 1);
  run(QStringLiteral("SELECT durations FROM spans"));
  EXPECT_THAT(window_.query().message().toStdString(),
              testing::AllOf(HasSubstr("no such column: durations"), HasSubstr("duration_us")));
  EXPECT_EQ(table().rowCount(), 1);
  run(QStringLiteral("DELETE FROM spans"));
  EXPECT_THAT(window_.query().message().toStdString(), HasSubstr("can only read"));
  QApplication::clipboard()->clear();
  QTest::keyClick(&window_.query().text(), Qt::Key_V, Qt::ControlModifier);  // Qt 6.4.2 crashed
}

TEST_F(PanelWindow, AQueryThatRunsTooLongIsStopped) {
  open_small();
  show_panel(Qt::Key_9);
  window_.query().set_query(QStringLiteral(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"));
  window_.query().run();
  EXPECT_TRUE(window_.query().is_running());
  window_.query().text().setFocus();
  QTest::keyClick(&window_.query().text(), Qt::Key_Escape);
  for (int i = 0; i < 1000 && window_.query().is_running(); ++i) QTest::qWait(10);
  EXPECT_EQ(window_.query().message(), QStringLiteral("the query was stopped"));
  // Esc works wherever the focus of the panel is.
  table().setFocus();
  window_.query().run();
  EXPECT_EQ(QApplication::focusWidget(), &window_.query().text());
  QTest::keyClick(&window_.query(), Qt::Key_Escape);
  for (int i = 0; i < 1000 && window_.query().is_running(); ++i) QTest::qWait(10);
  EXPECT_EQ(window_.query().message(), QStringLiteral("the query was stopped"));
  // Another timeline ends a query of the timeline before.
  window_.query().run();
  open_small();
  EXPECT_FALSE(window_.query().is_running());
  window_.query().run();  // the window closes while it runs
}

/// Waits until a query of the process sorts its rows in a temporary file. Returns false if the
/// process has ended.
bool sorts(const test::Process& process) {
  const std::filesystem::path files = "/proc/" + std::to_string(process.id()) + "/fd";
  std::error_code error;
  while (true) {
    std::filesystem::directory_iterator file(files, error);
    if (error) return false;
    for (; file != std::filesystem::directory_iterator(); file.increment(error)) {
      if (error) break;
      std::error_code closed;
      if (std::filesystem::read_symlink(file->path(), closed).string().find("etilqs_") !=
          std::string::npos)
        return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// A picture is made without a user who could press Esc.
TEST_F(PanelWindow, ASignalEndsTheQueryOfAPicture) {
  const std::string timeline = write("small.tutti", small_timeline());
  const std::string picture = folder_.file("t.png");
  for (const char* const endless :
       {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n ORDER BY "
        "-i",
        "SELECT a.what FROM spans a, spans b, spans c, spans d, spans e, spans f "
        "ORDER BY a.start_us * b.start_us"}) {
    for (const int number : {SIGINT, SIGTERM}) {
      test::Process view = test::Process::of(
          {test::tutti_program() + "-view", timeline, "--screenshot", picture, "--query", endless},
          {{{"QT_QPA_PLATFORM", "offscreen"}}});
      ASSERT_TRUE(view.handles(number)) << view.err();
      ASSERT_TRUE(sorts(view)) << view.err();
      view.signal(number);
      ASSERT_TRUE(view.says("the query was stopped"));
      const test::Outcome outcome = view.wait();
      EXPECT_EQ(outcome.status, 1) << endless;
      EXPECT_FALSE(std::filesystem::exists(picture));
    }
  }
}

TEST_F(PanelWindow, QueriesAreSavedUnderAnyName) {
  open_small();
  const QString name = QStringLiteral("my / best % query: ü");
  window_.query().set_query(QStringLiteral("SELECT 1"));
  window_.query().save(name);
  EXPECT_EQ(QueryPanel::saved(), QStringList{name});
  MainWindow other;
  EXPECT_EQ(QueryPanel::saved(), QStringList{name}) << "settings outlive the window";
  window_.query().forget(name);
  EXPECT_TRUE(QueryPanel::saved().isEmpty());
}

TEST_F(PanelWindow, QueriesOfAComparisonFindTheSpansOfBothTimelines) {
  const std::string first = write("first.tutti", small_timeline()),
                    second = write("second.tutti", small_timeline());
  ASSERT_FALSE(why_not_opened(window_, [&] {
    window_.open_both(QString::fromStdString(first), QString::fromStdString(second));
  }));
  ASSERT_TRUE(view().trace()->parts());
  show_panel(Qt::Key_9);
  run(QStringLiteral("SELECT timeline, count(*) FROM spans GROUP BY timeline"));
  ASSERT_EQ(table().rowCount(), 2) << window_.query().message().toStdString();
  EXPECT_EQ(text(0, 1), text(1, 1));
  const std::string names[] = {view().trace()->sides()[0].name, view().trace()->sides()[1].name};
  for (int side = 0; side < 2; ++side) {
    run(QStringLiteral("SELECT span_id, start_us FROM spans WHERE timeline = '%1' AND device = "
                       "'w1/gpu1' AND row = 'packs' AND step = 1")
            .arg(QString::fromStdString(names[side])));
    ASSERT_EQ(table().rowCount(), 1) << window_.query().message().toStdString();
    QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                      table().visualItemRect(table().item(0, 0)).center());
    ASSERT_TRUE(view().selected());
    const Trace::Row& row = view().trace()->rows()[view().selected()->row];
    EXPECT_EQ(row.side, static_cast<std::size_t>(side));
    EXPECT_EQ(row.track.worker, 1);
    EXPECT_EQ(row.spans.kind(view().selected()->index), core::SpanKind::kPackInFlight);
  }
}

}  // namespace
}  // namespace tutti::gui
