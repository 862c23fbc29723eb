// Sweeps in the window: which files open, keys and mouse in the plot, and opening the run of a
// point. Sweeps are also started, stopped and resumed in the window, and followed while another
// program writes them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>
#include <atomic>
#include <fstream>

#include "core/timeline/writer.h"
#include "gui/paint/scene.h"
#include "gui/sweep/plot_view.h"
#include "gui/sweep/sweep_choices.h"
#include "gui/sweep/sweep_form.h"
#include "gui/sweep/sweep_panel.h"
#include "tests/gui/editor_fixture.h"
#include "tests/gui/window_fixture.h"
#include "tests/gui/window_hands.h"

namespace tutti::gui {
namespace {

using testing::HasSubstr;

class Sweeps : public Editor {
 protected:
  SweepPanel& panel() { return window_->sweep(); }
  PlotView& plot() { return panel().plot(); }

  static SweepOrder order_of(const std::string& file, const std::vector<std::string>& over) {
    SweepOrder order;
    order.info.version = "1";
    order.info.scenario_file = shipped("01_two_ranks");
    order.info.scenario_text = file_text(order.info.scenario_file);
    for (const std::string& one : over) order.info.axes.push_back(*core::parse_axis("", one));
    order.file = file;
    return order;
  }
  /// Writes a small complete sweep over 8 latencies and 2 algorithms.
  std::string made(const std::string& name = "a.sweep") {
    const SweepOrder order = order_of(
        folder_.file(name), {"strategy.launch_us=1..128*2", "strategy.algorithm=ring,psgpu"});
    std::atomic<bool> cancel = false;
    const auto all = executors().sweep(order, executors().library, {&cancel, [] {}, [](double) {}});
    EXPECT_TRUE(all && *all) << (all ? "stopped" : all.error().message());
    return order.file;
  }
  /// Saves a picture of the window in the folder TUTTI_TEST_PICTURES, for manual inspection.
  void picture(const char* name) {
    const QString folder = qEnvironmentVariable("TUTTI_TEST_PICTURES");
    if (!folder.isEmpty())
      window_->grab().save(folder + QLatin1Char('/') + QString::fromLatin1(name));
  }
  void open_made() {
    open(made());
    ASSERT_EQ(said_, "");
    ASSERT_TRUE(panel().data());
  }
};

TEST_F(Sweeps, OpenWithAPlotThatContainsTheBestPoint) {
  open_made();
  EXPECT_TRUE(panel().isVisible());
  EXPECT_EQ(panel().data()->rows.size(), 16u);
  const SweepCurves& curves = plot().curves();
  EXPECT_EQ(curves.x, "strategy.launch_us");
  EXPECT_EQ(curves.curves.size(), 2u);
  ASSERT_TRUE(curves.best);
  for (const SweepData::Row& row : panel().data()->rows) {
    if (row.outcome.status != core::Outcome::Status::kDone) continue;
    EXPECT_LE(curves.at(*curves.best).value, core::to_ms(row.outcome.step));
  }
  // Dropping the file has the same effect.
  EXPECT_TRUE(drop(window_.get(), {made("b.sweep")}));
  EXPECT_TRUE(until([&] { return panel().data()->path.ends_with("b.sweep"); }));
}

TEST_F(Sweeps, OtherFilesCauseAMessageAndTheOpenFileRemains) {
  open_made();
  const std::string path = panel().data()->path, whole = file_text(path);
  const auto refused = [&](const std::string& file) {
    open(file);
    EXPECT_NE(said_, "") << file;
    EXPECT_EQ(panel().data()->path, path);
    window_->grab();
  };
  refused(folder_.file("nothing.sweep"));
  refused(folder_.write("empty.sweep", ""));
  refused(folder_.write("text.sweep", "a letter to a friend"));
  refused(folder_.write("begin.sweep", "SQLite format 3"));
  // A database with other content.
  {
    auto other = core::Database::open(folder_.file("other.db"), core::Database::Mode::kWrite);
    ASSERT_TRUE(other->run("CREATE TABLE friends (name TEXT)"));
  }
  refused(folder_.file("other.db"));
  EXPECT_THAT(said_, HasSubstr("was not written by tutti sweep"));
  // A damaged file is shown, or the message says why it is not.
  for (std::size_t at = 16; at < whole.size(); at += whole.size() / 60) {
    std::string damaged = whole;
    for (std::size_t i = at; i < std::min(at + 40, damaged.size()); ++i)
      damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    open(folder_.write("damaged.sweep", damaged));
    window_->grab();
    if (at % 3 == 0) open(folder_.write("cut.sweep", whole.substr(0, at)));
  }
}

TEST_F(Sweeps, KeysMoveBetweenPointsAndEnterOpensTheRun) {
  open_made();
  plot().setFocus();
  press(Qt::Key_Right);
  ASSERT_TRUE(plot().selected()) << "first of all the best";
  EXPECT_EQ(*plot().selected(), *plot().curves().best);
  press(Qt::Key_Home);
  EXPECT_EQ(plot().selected()->index, 0u);
  press(Qt::Key_Right);
  press(Qt::Key_Right);
  EXPECT_EQ(plot().selected()->index, 2u);
  const double y = plot().curves().at(*plot().selected()).y;
  const std::size_t curve = plot().selected()->curve;
  press(Qt::Key_Up);
  press(Qt::Key_Down);
  press(Qt::Key_Up);
  EXPECT_TRUE(plot().selected()->curve == curve || plot().curves().at(*plot().selected()).y >= y);
  press(Qt::Key_End);
  EXPECT_EQ(plot().selected()->index + 1,
            plot().curves().curves[plot().selected()->curve].points.size());
  EXPECT_THAT(plot().accessibleDescription().toStdString(), HasSubstr("strategy.launch_us = 128"));
  EXPECT_THAT(plot().card().toStdString(), HasSubstr("step "));
  picture("card.png");
  press(Qt::Key_Return);
  ASSERT_TRUE(ran()) << said_;
  // The opened run belongs to the selected point, so it takes the same time.
  ASSERT_TRUE(window_->timeline().trace());
  const std::int64_t point = plot().curves().at(*plot().selected()).point;
  EXPECT_THAT(window_->timeline().trace()->run().scenario_text, HasSubstr("launch_us: 128"));
  EXPECT_EQ(window_->timeline().view().run_length(), panel().data()->outcome(point)->step);
  EXPECT_TRUE(panel().isVisible()) << "beside its timeline";
  window_->resize(1500, 850);
  QTest::qWait(50);
  picture("point.png");
}

TEST_F(Sweeps, HidingTheSweepMovesTheFocusToTheTimeline) {
  open_made();
  open(folder_.write("small.tutti", small_timeline()));
  plot().setFocus();
  act("sweep-panel");
  EXPECT_FALSE(panel().isVisible());
  EXPECT_TRUE(window_->timeline().hasFocus());
  EXPECT_EQ(window_->windowTitle().toStdString(), "small.tutti — Tutti");
}

TEST_F(Sweeps, FourPartsFitNextToEachOtherOnAFullHdScreen) {
  window_->resize(1920, 1080);
  open(shipped("04_resnet50_ring"));
  act("run");
  ASSERT_TRUE(ran()) << said_;
  auto* const topology = window_->findChild<QDockWidget*>(QStringLiteral("topology"));
  if (topology->isHidden()) act("topology");
  act("sweep");
  QApplication::processEvents();
  picture("four_parts.png");
  ASSERT_TRUE(topology->isVisible() && session().isVisible() && panel().isVisible());
  EXPECT_EQ(window_->size(), QSize(1920, 1080)) << "the window does not grow";
  EXPECT_GE(lines_rect(window_->timeline().size()).width(), 400);
  EXPECT_GE(topology->width(), 200);
  EXPECT_GE(session().width(), 320);
  // The values of the field are readable as a whole.
  const auto fields = panel().findChildren<QLineEdit*>();
  const auto values = std::find_if(fields.begin(), fields.end(), [](const QLineEdit* field) {
    return field->text() == QStringLiteral("1MiB..64MiB*2");
  });
  ASSERT_NE(values, fields.end());
  EXPECT_GE((*values)->width(), (*values)->fontMetrics().horizontalAdvance((*values)->text()) + 8);
}

TEST_F(Sweeps, AClickOnAPointOpensItsRun) {
  open_made();
  for (const CurvePlace place : {CurvePlace{0, 1}, CurvePlace{1, 5}}) {
    opened_ = failed_ = 0;
    QTest::mouseMove(&plot(), plot().pixel_of(place).toPoint());
    QTest::mouseClick(&plot(), Qt::LeftButton, {}, plot().pixel_of(place).toPoint());
    ASSERT_TRUE(ran()) << said_;
    const std::int64_t point = plot().curves().at(*plot().selected()).point;
    EXPECT_EQ(window_->timeline().view().run_length(), panel().data()->outcome(point)->step);
  }
  QTest::mouseClick(&plot(), Qt::LeftButton, {}, {1, 1});
  EXPECT_FALSE(panel().running()) << "there is no point";
}

TEST_F(Sweeps, ListsSelectTheDrawnFields) {
  open_made();
  const auto choose = [&](const char* list, const char* value) {
    auto* const box = panel().findChild<QComboBox*>(QString::fromLatin1(list));
    ASSERT_GE(box->findData(QString::fromLatin1(value)), 0) << value;
    box->setCurrentIndex(box->findData(QString::fromLatin1(value)));
  };
  choose("cost", "speed_up");
  EXPECT_EQ(plot().curves().cost->id, std::string("speed_up"));
  choose("x", "strategy.algorithm");
  EXPECT_EQ(plot().curves().x, "strategy.algorithm");
  choose("by", "strategy.launch_us");
  EXPECT_EQ(plot().curves().curves.size(), 8u);
  choose("by", "");
  EXPECT_EQ(plot().curves().curves.size(), 1u);
  auto* const only = panel().findChild<QComboBox*>(QStringLiteral("only strategy.launch_us"));
  ASSERT_TRUE(only);
  only->setCurrentIndex(only->findText(QStringLiteral("32")));
  EXPECT_EQ(plot().curves().hidden, 0);
  choose("x", "strategy.launch_us");
  EXPECT_TRUE(plot().curves().x_axis.logarithmic());
  act("sweep-x-scale");
  EXPECT_FALSE(plot().curves().x_axis.logarithmic());
  act("sweep-x-scale");
  EXPECT_TRUE(plot().curves().x_axis.logarithmic());
  act("sweep-y-scale");
  act("sweep-y-scale");
  EXPECT_TRUE(plot().curves().y_axis.logarithmic());
}

TEST_F(Sweeps, TheFormStartsASweepThatIsDrawn) {
  open(shipped("01_two_ranks"));
  act("sweep");
  SweepForm& form = panel().form();
  ASSERT_TRUE(form.isVisible());
  form.set_fields({{QStringLiteral("strategy.shard"), QStringLiteral("1")}});
  EXPECT_THAT(form.words().toStdString(), HasSubstr("\"shards\""));
  auto* const run = form.findChild<QPushButton*>(QStringLiteral("run sweep"));
  EXPECT_FALSE(run->isEnabled());
  form.set_fields({{QStringLiteral("strategy.launch_us"), QStringLiteral("1..1000*10")},
                   {QStringLiteral("strategy.algorithm"), QStringLiteral("ring,psgpu")}});
  EXPECT_THAT(form.words().toStdString(), HasSubstr("8 points"));
  window_->resize(1300, 800);
  QTest::qWait(50);
  picture("form.png");
  form.file().setText(QString::fromStdString(folder_.file("mine.sweep")));
  run->click();
  EXPECT_TRUE(until([&] {
    return panel().data() && panel().data()->complete() && !panel().running();
  })) << said_;
  EXPECT_EQ(panel().words(), QString());
  EXPECT_TRUE(panel().isVisible());
  EXPECT_EQ(plot().curves().curves.size(), 2u);
  EXPECT_EQ(panel().data()->rows.size(), 8u);
  // The form continues a sweep in its file, but rejects the file of a different sweep.
  act("sweep");
  EXPECT_THAT(panel().form().words().toStdString(), HasSubstr("8 points"));
  form.set_fields({{QStringLiteral("strategy.launch_us"), QStringLiteral("5,6")}});
  form.file().setText(QString::fromStdString(folder_.file("mine.sweep")));
  failed_ = 0;
  run->click();
  EXPECT_TRUE(until([&] { return failed_ > 0; }));
  EXPECT_THAT(said_, HasSubstr("another sweep"));
}

TEST_F(Sweeps, SearchesAreDrawnWhileTheyRun) {
  open(shipped("04_resnet50_ring"));
  act("sweep");
  SweepForm& form = panel().form();
  form.set_fields(
      {{QStringLiteral("strategy.bytes_per_pack"), QStringLiteral("1MiB..128MiB*1.02")}});
  form.set_search(true);
  form.file().setText(QString::fromStdString(folder_.file("tuned.sweep")));
  form.findChild<QPushButton*>(QStringLiteral("run sweep"))->click();
  std::size_t before_end = 0;
  EXPECT_TRUE(until([&] {
    if (panel().running() && panel().data())
      before_end = std::max(before_end, panel().data()->rows.size());
    return !panel().running() && panel().data();
  })) << said_;
  EXPECT_TRUE(until([&] { return plot().curves().best.has_value(); }));
  EXPECT_LT(std::ssize(panel().data()->rows), panel().data()->space->size())
      << "not all of them are tried";
  EXPECT_GT(panel().data()->rows.size(), 3u);
}

TEST_F(Sweeps, CanBeStoppedAndResumed) {
  open(shipped("04_resnet50_ring"));
  act("sweep");
  SweepForm& form = panel().form();
  form.set_fields({{QStringLiteral("strategy.launch_us"), QStringLiteral("1..400+1")}});
  form.file().setText(QString::fromStdString(folder_.file("long.sweep")));
  auto* const run = form.findChild<QPushButton*>(QStringLiteral("run sweep"));
  run->click();
  ASSERT_TRUE(until([&] { return panel().data() && !panel().data()->rows.empty(); })) << said_;
  picture("running.png");
  act("sweep-stop");
  ASSERT_TRUE(until([&] { return !panel().running(); }));
  EXPECT_THAT(panel().words().toStdString(), HasSubstr("again continues it"));
  QTest::qWait(900);  // wait until the last change has been read
  const std::size_t done = panel().data()->rows.size();
  EXPECT_LT(done, 400u);
  run->click();
  EXPECT_TRUE(until([&] { return panel().data()->rows.size() > done; }));
  window_->close();
  EXPECT_FALSE(panel().running());
}

TEST_F(Sweeps, PointsCanBeOpenedWhileTheSweepRuns) {
  open(shipped("04_resnet50_ring"));
  act("sweep");
  SweepForm& form = panel().form();
  form.set_fields({{QStringLiteral("strategy.launch_us"), QStringLiteral("1..20000+1")}});
  form.file().setText(QString::fromStdString(folder_.file("long.sweep")));
  form.findChild<QPushButton*>(QStringLiteral("run sweep"))->click();
  ASSERT_TRUE(until([&] { return panel().data() && !panel().data()->rows.empty(); })) << said_;
  const SweepData::Row first = panel().data()->rows.front();
  opened_ = failed_ = 0;
  panel().open_point(first.point);
  ASSERT_TRUE(ran()) << said_;
  EXPECT_TRUE(panel().running()) << "the sweep continues";
  EXPECT_GT(window_->timeline().view().run_length(), core::Time());
  const std::size_t there = panel().data()->rows.size();
  EXPECT_TRUE(until([&] { return panel().data()->rows.size() > there; }));
  act("sweep-stop");
  EXPECT_TRUE(until([&] { return !panel().running(); }));
  EXPECT_THAT(panel().words().toStdString(), HasSubstr("again continues it"));
}

TEST_F(Sweeps, FormsRefuseMoreValuesThanAPlotCanShow) {
  open(shipped("01_two_ranks"));
  act("sweep");
  panel().form().set_fields(
      {{QStringLiteral("strategy.launch_us"), QStringLiteral("1..9000000+1")}});
  EXPECT_THAT(panel().form().words().toStdString(), HasSubstr("200000"));
  EXPECT_FALSE(panel().form().findChild<QPushButton*>(QStringLiteral("run sweep"))->isEnabled());
}

TEST_F(Sweeps, UpdateWhileAnotherProcessWritesThem) {
  const SweepOrder order = order_of(folder_.file("grows.sweep"), {"strategy.launch_us=1..64+1"});
  auto store = core::SweepStore::resume(order.file, order.info);
  ASSERT_TRUE(store);
  open(order.file);
  ASSERT_EQ(said_, "");
  EXPECT_TRUE(panel().data()->rows.empty());
  window_->grab();
  core::Outcome outcome;
  for (std::int64_t p = 0; p < 64; ++p) {
    outcome.step = core::microseconds(100 + p);
    ASSERT_TRUE(store->add(p, outcome));
    if (p != 20) continue;
    EXPECT_TRUE(until([&] { return panel().data()->rows.size() == 21; }));
    plot().select(CurvePlace{0, 7});
  }
  EXPECT_TRUE(until([&] { return panel().data()->complete(); }));
  EXPECT_EQ(plot().selected(), (std::optional(CurvePlace{0, 7}))) << "what is selected stays";
  EXPECT_EQ(plot().curves().at(*plot().curves().best).point, 0);
}

TEST_F(Sweeps, RealRunsAreDrawnAtTheirPoints) {
  open_made();
  plot().select(CurvePlace{1, 3});
  const std::int64_t point = plot().curves().at(*plot().selected()).point;
  opened_ = failed_ = 0;
  plot().open_selected();
  ASSERT_TRUE(ran());
  // Writes a simulated timeline as if it were from a real run.
  const std::string timeline = folder_.file("real.tutti");
  {
    std::ofstream file(timeline, std::ios::binary);
    core::TimelineWriter writer(file);
    core::RunInfo run = window_->timeline().trace()->run();
    run.executor = "tcp";
    writer.begin(run);
    core::StepRecord step;
    step.end = core::microseconds(300);
    writer.step(step);
    writer.end();
  }
  panel().join({QString::fromStdString(timeline), QStringLiteral("/nowhere.tutti")});
  ASSERT_TRUE(until([&] { return !panel().data()->measured.empty(); }));
  ASSERT_EQ(plot().curves().measured.size(), 1u);
  EXPECT_EQ(plot().curves().measured.front().point, point);
  EXPECT_TRUE(until([&] { return window_->status_text().contains(QStringLiteral("nowhere")); }));
  // The measurement is stored in the file.
  EXPECT_EQ(core::SweepStore::open(panel().data()->path)->measured()->size(), 1u);
}

TEST_F(Sweeps, TheirActionsHaveShortcuts) {
  open_made();
  press(Qt::Key_J, Qt::ControlModifier);
  EXPECT_EQ(plot().selected(), plot().curves().best);
  press(Qt::Key_Return, Qt::ControlModifier);
  EXPECT_TRUE(ran()) << said_;
  press(Qt::Key_F7);
  EXPECT_FALSE(panel().isVisible());
  press(Qt::Key_F7);
  EXPECT_TRUE(panel().isVisible());
  plot().setFocus();
  press(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_THAT(text(), HasSubstr("launch_us:")) << "the point, to be edited";
  press(Qt::Key_F4);
  EXPECT_FALSE(session().isVisible());
  plot().setFocus();
  press(Qt::Key_F5, Qt::ControlModifier);
  EXPECT_TRUE(panel().form().isVisible());
  EXPECT_THAT(panel().form().words().toStdString(), HasSubstr("16 points")) << "the sweep's own";
  press(Qt::Key_F5, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("no sweep is running"));
}

TEST_F(Sweeps, CanBeExportedAsPicturesAndTables) {
  open_made();
  plot().setFocus();
  for (const char* name : {"p.png", "p.svg"}) {
    const std::string file = folder_.file(name);
    EXPECT_EQ(window_->write_shown(QString::fromStdString(file)).toStdString(), "");
    EXPECT_GT(file_text(file).size(), 2000u);
  }
  EXPECT_THAT(file_text(folder_.file("p.svg")),
              testing::AllOf(HasSubstr("strategy.launch_us"), HasSubstr("lower bound")));
  EXPECT_THAT(panel().csv().toStdString(),
              HasSubstr("strategy.launch_us,strategy.algorithm,step_time_ms"));
  EXPECT_NE(window_->write_shown(QStringLiteral("/nowhere/at/all.png")).toStdString(), "");
  window_->set_dark(false);
  const QImage light = plot().grab().toImage();
  window_->set_dark(true);
  const QImage dark = plot().grab().toImage();
  EXPECT_GT(qGray(light.pixel(light.width() - 4, light.height() - 40)), 200);
  EXPECT_LT(qGray(dark.pixel(dark.width() - 4, dark.height() - 40)), 60);
}

TEST_F(Sweeps, AHundredThousandPointsCanBeDrawnAndSelected) {
  const SweepOrder order =
      order_of(folder_.file("large.sweep"),
               {"strategy.bytes_per_pack=1000..20000999+1000", "strategy.shards=1,2,3,4,5"});
  ASSERT_EQ(core::SweepStore::resume(order.file, order.info)->space().size(), 100'000);
  {
    // Writes all points in one statement, because a commit per point waits for the disk each time.
    auto database = core::Database::open(order.file, core::Database::Mode::kWrite);
    const auto written = database->run(
        "INSERT INTO point WITH RECURSIVE n(p) AS (SELECT 0 UNION ALL SELECT p + 1 FROM n WHERE p "
        "< 99999) "
        "SELECT p, CAST(1000 * (1 + p / 5) AS TEXT), CAST(1 + p % 5 AS TEXT), 'done', '', "
        "(1000 + p * 7919 % 1000) * 1000000, 0, 0, 0, 0, 0, 0, 900000000, 0, 1, 0 FROM n");
    ASSERT_TRUE(written) << written.error().message();
  }
  open(order.file);
  ASSERT_TRUE(panel().data()) << said_;
  EXPECT_EQ(panel().data()->rows.size(), 100'000u);
  plot().setFocus();
  press(Qt::Key_Home);
  press(Qt::Key_Home);
  for (int i = 0; i < 50; ++i) press(Qt::Key_Right);
  EXPECT_EQ(plot().selected()->index, 50u);
  for (int x = 0; x < plot().width(); x += 3) QTest::mouseMove(&plot(), {x, plot().height() / 2});
  const QImage all = plot().grab().toImage();
  EXPECT_FALSE(all.isNull());
  picture("large.png");
}

}  // namespace
}  // namespace tutti::gui
