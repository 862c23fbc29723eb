// Two timelines in the window. Keys open, align, arrange, navigate and close the timelines, and
// problems of the second file are reported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTableWidget>
#include <QTest>
#include <QTimer>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "core/base/format.h"
#include "core/plan/compute_kind.h"
#include "core/schedule/step.h"
#include "core/timeline/compare.h"
#include "core/timeline/writer.h"
#include "gui/topology/topology_panel.h"
#include "gui/widgets/details_panel.h"
#include "gui/widgets/notice_bar.h"
#include "gui/widgets/numbers_panel.h"
#include "gui/window/comparison_panel.h"
#include "gui/window/main_window.h"
#include "tests/gui/window_hands.h"
#include "tests/support/program.h"

namespace tutti::gui {
namespace {

namespace fs = std::filesystem;
using core::Span;
using core::SpanKind;
using core::Time;
using testing::HasSubstr;

constexpr Time kMs = core::milliseconds(1);

/// Returns a timeline of two GPUs and three steps. Each step computes for 50 ms. At 40 ms a pack
/// starts, is in flight for 20 + `late` ms, and ends the step.
std::string timeline(const std::string& executor, int late, const std::string& gradient = "a") {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  core::RunInfo run;
  run.scenario = "small";
  run.executor = executor;
  run.packs = {{{gradient}, core::Bytes(1000), "float32", {}, 0, 0, {}}};
  run.layers = {"conv1"};
  writer.begin(run);
  const int length = 60 + late;
  for (core::TrackId id = 0; id < 6; ++id) {
    const int row = id % 3;
    const auto kind = row == 0   ? core::TrackKind::kCompute
                      : row == 1 ? core::TrackKind::kPacks
                                 : core::TrackKind::kLane;
    writer.track({id, kind, 0, id < 3 ? "gpu0" : "gpu1", 0, row < 2 ? -1 : 0});
    for (std::int32_t step = 0; step < 3; ++step) {
      const auto add = [&](std::int32_t what, int from, int to, std::int32_t pack,
                           std::int64_t index) {
        Span span;
        span.start = kMs * (length * step + from);
        span.duration = kMs * (to - from);
        span.kind = what;
        span.step = step;
        span.pack = pack;
        span.index = index;
        writer.span(id, span);
      };
      if (row == 0) {
        add(SpanKind::kFirstCompute + static_cast<std::int32_t>(core::ComputeKind::kForward), 0, 20,
            -1, 0);
        add(SpanKind::kFirstCompute + static_cast<std::int32_t>(core::ComputeKind::kBackward), 20,
            50, -1, 0);
      } else if (row == 1) {
        add(SpanKind::kPackInFlight, 40, length, 0, 0);
      } else {
        add(static_cast<std::int32_t>(core::StepKind::kSend), 40, 45, 0, 0);
        add(static_cast<std::int32_t>(core::StepKind::kReceive), 45, length, 0, 1);
      }
    }
  }
  for (std::int32_t step = 0; step < 3; ++step) {
    core::StepRecord record;
    record.step = step;
    record.start = kMs * (length * step);
    record.end = record.start + kMs * length;
    record.forward = kMs * 20;
    record.backward = kMs * 30;
    record.exposed = kMs * (length - 50);
    writer.step(record);
    writer.pack({step, 0, record.start + kMs * 40, record.start + kMs * 40, record.start + kMs * 40,
                 record.end});
  }
  core::PathPiece piece;
  piece.kind = SpanKind::kPackInFlight;
  piece.device = "w0/gpu1";
  piece.pack = 0;
  piece.start = kMs * (length * 2 + 40);
  piece.end = kMs * length * 3;
  writer.path(piece);
  writer.end();
  return out.str();
}

class TwoTimelines : public testing::Test {
 protected:
  TwoTimelines() {
    QSettings().clear();
    window_ = std::make_unique<MainWindow>();
    first_ = folder_.write("first.tutti", timeline("simulated", 0));
    second_ = folder_.write("second.tutti", timeline("tcp", 6));
  }

  /// Returns true if both timelines are shown and compared; otherwise said_ has the message.
  bool open(const std::string& first, const std::string& second) {
    return opens(
        [&] { window_->open_both(QString::fromStdString(first), QString::fromStdString(second)); });
  }
  bool opens(const std::function<void()>& open) {
    const auto why = why_not_opened(*window_, open);
    said_ = why.value_or("");
    return !why;
  }
  void open_both() {
    ASSERT_TRUE(open(first_, second_)) << said_;
    ASSERT_TRUE(window_->comparison().comparison());
  }
  void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
    QTest::keyClick(&view(), key, with);
  }
  void align(Qt::Key key) {
    QSignalSpy shown(&window_->comparison(), &ComparisonPanel::shown);
    press(key, Qt::AltModifier);
    for (int i = 0; i < 1000 && shown.isEmpty(); ++i) QTest::qWait(10);
    ASSERT_FALSE(shown.isEmpty());
  }
  [[nodiscard]] TimelineView& view() { return window_->timeline(); }
  [[nodiscard]] const QTableWidget& list() { return window_->comparison().table(); }
  [[nodiscard]] std::vector<std::string> keys() {
    std::vector<std::string> all;
    for (const Line& line : view().layout_of_lines().lines()) all.push_back(line.key);
    return all;
  }
  /// Returns the time at which the view shows the span with this index, in the row of the line with
  /// this key.
  Time shown_at(const std::string& key, SpanRow::Index index) {
    for (const Line& line : view().layout_of_lines().lines()) {
      if (line.key == key) return view().trace()->rows()[line.rows.front()].spans.start(index);
    }
    ADD_FAILURE() << "no line " << key;
    return {};
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<MainWindow> window_;
  std::string first_, second_, said_;
};

TEST_F(TwoTimelines, ShowsOneAboveTheOtherWithTheErrors) {
  open_both();
  EXPECT_EQ(view().trace()->sides().size(), 2u);
  EXPECT_THAT(keys(), testing::IsSupersetOf({"steps/simulated", "steps/real", "error of steps",
                                             "error of packs", "worker 0/gpu1/packs/simulated",
                                             "worker 0/gpu1/packs/real"}));
  EXPECT_EQ(window_->windowTitle().toStdString(), "simulated and real — Tutti");
  // The list has 3 steps, the exposed communication of each, and 3 packs. The other parts do not
  // differ.
  EXPECT_EQ(list().rowCount(), 9);
  EXPECT_EQ(list().item(0, 6)->text().toStdString(), "+6.00 ms");
  EXPECT_EQ(list().horizontalHeaderItem(5)->text().toStdString(), "real");
  window_->grab();
}

TEST_F(TwoTimelines, KeysChangeTheAlignmentAndKeepTheSelection) {
  open_both();
  const std::string simulated = "worker 0/gpu1/compute/simulated",
                    real = "worker 0/gpu1/compute/real";
  EXPECT_EQ(shown_at(simulated, 4), shown_at(real, 4))
      << "by step, unless something else was chosen";
  EXPECT_EQ(shown_at(real, 4), kMs * 132);
  view().go_to({0, 3});
  align(Qt::Key_1);
  EXPECT_EQ(shown_at(simulated, 4), kMs * 120);
  EXPECT_EQ(shown_at(real, 4), kMs * 132);
  ASSERT_TRUE(view().selected());
  EXPECT_EQ(*view().selected(), (SpanId{0, 3}));
  align(Qt::Key_3);
  EXPECT_EQ(window_->comparison().comparison()->align, Align::kPack);
  EXPECT_EQ(shown_at("worker 0/gpu1/packs/simulated", 2), shown_at("worker 0/gpu1/packs/real", 2));
  align(Qt::Key_2);
  EXPECT_EQ(shown_at(real, 4), kMs * 132);
  EXPECT_EQ(list().rowCount(), 9) << "the errors stay";
  EXPECT_EQ(QSettings().value(QStringLiteral("align")).toString().toStdString(), "step");
}

TEST_F(TwoTimelines, TheNumberOfErrorsIsStatedAfterEveryAlignment) {
  open_both();
  const auto words = [&] {
    return window_->comparison().findChild<QLabel*>(QStringLiteral("listed"))->text();
  };
  const QString listed = words();
  EXPECT_THAT(listed.toStdString(), HasSubstr("at the bottom if real is slower"));
  for (const Qt::Key key : {Qt::Key_1, Qt::Key_3, Qt::Key_2}) {
    align(key);
    EXPECT_EQ(words(), listed) << key;
  }
  // An alignment while the errors are being computed starts their computation again.
  ASSERT_TRUE(opens([&] {
    QObject::connect(
        &window_->comparison(), &ComparisonPanel::shown, window_.get(),
        [&] { window_->comparison().align(Align::kStart); }, Qt::SingleShotConnection);
    window_->open_both(QString::fromStdString(first_), QString::fromStdString(second_));
  })) << said_;
  EXPECT_TRUE(QTest::qWaitFor([&] { return words() == listed; }, 20'000)) << words().toStdString();
}

TEST_F(TwoTimelines, AKeyChangesTheArrangementWhichIsRemembered) {
  open_both();
  press(Qt::Key_I);
  EXPECT_THAT(keys(), testing::IsSupersetOf(
                          {"simulated", "real", "real/worker 0/gpu1/compute", "error of steps"}));
  EXPECT_EQ(QSettings().value(QStringLiteral("arrangement")).toString().toStdString(), "sides");
  press(Qt::Key_I);
  EXPECT_THAT(keys(), testing::Contains("worker 0/gpu1/compute/real"));
}

TEST_F(TwoTimelines, PartnersAreFoundFromEitherTimeline) {
  open_both();
  view().go_to({1, 2});
  ASSERT_EQ(view().partners().size(), 1u);
  const SpanId partner = view().partners().front();
  EXPECT_EQ(view().trace()->rows()[partner.row].timeline, "real");
  EXPECT_EQ(view().trace()->rows()[partner.row].spans.duration(partner.index), kMs * 26);
  const auto* const details = window_->findChild<DetailsPanel*>();
  ASSERT_TRUE(details);
  std::map<std::string, std::string> facts;
  for (int row = 0; row < details->table().rowCount(); ++row)
    facts[details->table().item(row, 0)->text().toStdString()] =
        details->table().item(row, 1)->text().toStdString();
  EXPECT_EQ(facts["simulated"], "20.0 ms");
  EXPECT_EQ(facts["real"], "26.0 ms");
  EXPECT_EQ(facts["difference"], "+6.00 ms (+30.0 %)");
  press(Qt::Key_X);
  EXPECT_EQ(view().selected(), partner);
  press(Qt::Key_X);
  EXPECT_EQ(view().selected(), (SpanId{1, 2}));
}

TEST_F(TwoTimelines, ClickEnterAndKeysSelectAnError) {
  open_both();
  // For a pack, this selects the span that ends last, and the matching span of the other timeline.
  int pack = -1, step = -1;
  for (int row = 0; row < list().rowCount(); ++row) {
    if (list().item(row, 0)->text() == QLatin1String("pack in flight") &&
        list().item(row, 1)->text() == QLatin1String("2"))
      pack = row;
    if (list().item(row, 0)->text() == QLatin1String("step") &&
        list().item(row, 1)->text() == QLatin1String("1"))
      step = row;
  }
  ASSERT_GE(pack, 0);
  ASSERT_GE(step, 0);
  auto& table = const_cast<QTableWidget&>(list());
  const auto click = [&](int row) {
    table.scrollToItem(table.item(row, 0));
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                      table.visualItemRect(table.item(row, 0)).center());
  };
  click(pack);
  ASSERT_TRUE(view().selected());
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].spans.kind(view().selected()->index),
            static_cast<int>(SpanKind::kPackInFlight));
  EXPECT_EQ(view().selected()->index, 2u);
  EXPECT_EQ(view().partners().size(), 1u);
  click(step);
  ASSERT_TRUE(view().range());
  EXPECT_EQ(*view().range(), (TimeRange{kMs * 66, kMs * 132}));
  EXPECT_EQ(view().view().range(), *view().range());
  table.setCurrentCell(pack, 0);
  QTest::keyClick(&table, Qt::Key_Return);
  EXPECT_TRUE(view().selected());
  table.setCurrentCell(0, 0);
  press(Qt::Key_E);
  EXPECT_EQ(table.currentRow(), 1);
  press(Qt::Key_E, Qt::ShiftModifier);
  EXPECT_EQ(table.currentRow(), 0);
}

TEST_F(TwoTimelines, TheListOfErrorsIsFilteredAndSorted) {
  open_both();
  QComboBox* sorts = nullptr;
  for (QComboBox* const box : window_->comparison().findChildren<QComboBox*>()) {
    if (box->accessibleName().contains(QLatin1String("listed"))) sorts = box;
  }
  ASSERT_TRUE(sorts);
  const auto choose = [&](int at) {
    sorts->setCurrentIndex(at);
    emit sorts->activated(at);
    return list().rowCount();
  };
  EXPECT_EQ(choose(1), 6);
  EXPECT_EQ(choose(2), 3);
  // There are 2 devices and 3 steps. A pack in flight and the receiving lane differ; computation
  // and the sending lane do not.
  EXPECT_EQ(choose(3), 12);
  EXPECT_EQ(choose(4), 21);
  auto& table = const_cast<QTableWidget&>(list());
  table.sortByColumn(7, Qt::AscendingOrder);
  EXPECT_EQ(table.item(0, 0)->text().toStdString(), "step");
  table.sortByColumn(7, Qt::DescendingOrder);
  EXPECT_EQ(table.item(0, 0)->text().toStdString(), "exposed communication");
}

TEST_F(TwoTimelines, TheListStatesThatNothingDiffers) {
  ASSERT_TRUE(open(first_, folder_.write("again.tutti", timeline("simulated", 0)))) << said_;
  EXPECT_EQ(list().rowCount(), 0);
  QStringList words;
  for (const QLabel* const label : window_->comparison().findChildren<QLabel*>())
    words.append(label->text());
  EXPECT_THAT(words.join(QLatin1Char('\n')).toStdString(), HasSubstr("no differences"));
}

TEST_F(TwoTimelines, LongSentencesAreElidedInTheStatusBarAndCompleteInItsTooltip) {
  open_both();
  window_->tell(QString(2000, QLatin1Char('x')));
  EXPECT_EQ(window_->status_text().size(), 2000);
  auto* const bar = window_->statusBar();
  EXPECT_LE(bar->fontMetrics().horizontalAdvance(bar->currentMessage()), bar->width());
  EXPECT_EQ(bar->toolTip().size(), 2000);
}

TEST_F(TwoTimelines, NumbersAreShownForEachTimeline) {
  open_both();
  const auto* const numbers = window_->findChild<NumbersPanel*>();
  ASSERT_TRUE(numbers);
  EXPECT_THAT(numbers->csv().toStdString(), HasSubstr("timeline,kind,"));
  EXPECT_THAT(numbers->csv().toStdString(),
              HasSubstr("\"simulated\",pack in flight,6,120000.000000"));
  EXPECT_THAT(numbers->csv().toStdString(), HasSubstr("\"real\",pack in flight,6,156000.000000"));
}

TEST_F(TwoTimelines, DetailsMatchTuttiCompare) {
  open_both();
  const auto a = core::TimelineReader::open(first_), b = core::TimelineReader::open(second_);
  ASSERT_TRUE(a && b);
  const auto compared = core::compare(*a, *b);
  ASSERT_TRUE(compared);
  const auto* const details = window_->findChild<DetailsPanel*>();
  ASSERT_TRUE(details);
  std::multimap<std::string, std::string> facts;
  for (int row = 0; row < details->table().rowCount(); ++row)
    facts.emplace(details->table().item(row, 0)->text().toStdString(),
                  details->table().item(row, 1)->text().toStdString());
  const auto expect = [&](const std::string& name, const core::Pair& pair) {
    ASSERT_EQ(facts.count(name), 1u) << name;
    EXPECT_THAT(facts.find(name)->second,
                testing::StartsWith(core::show(pair.a) + " → " + core::show(pair.b)))
        << name;
  };
  expect("step time", compared->steady.time);
  expect("forward", compared->steady.forward);
  expect("backward", compared->steady.backward);
  expect("exposed communication", compared->steady.exposed);
  EXPECT_EQ(facts.find("basis of these times")->second, "mean of steps 1 to 2");
  EXPECT_EQ(facts.count("in words"), compared->in_words().size());
}

TEST_F(TwoTimelines, KeysFollowTheCriticalPathOfEachTimeline) {
  open_both();
  window_->actions_of().find(QStringLiteral("path-next"))->trigger();
  ASSERT_TRUE(view().selected());
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].timeline, "simulated");
  press(Qt::Key_X);
  window_->actions_of().find(QStringLiteral("path-next"))->trigger();
  EXPECT_EQ(view().trace()->rows()[view().selected()->row].timeline, "real");
}

TEST_F(TwoTimelines, AKeyClosesTheSecondTimeline) {
  open_both();
  press(Qt::Key_W, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_FALSE(window_->comparison().comparison());
  EXPECT_EQ(view().trace()->sides().size(), 1u);
  EXPECT_EQ(list().rowCount(), 0);
  EXPECT_THAT(keys(), testing::Contains("worker 0/gpu1/compute"));
  press(Qt::Key_W, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("no second timeline"));
}

TEST_F(TwoTimelines, AKeyOpensTheFileDialog) {
  press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
  window_->actions_of().find(QStringLiteral("open-beside"))->trigger();
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("open a timeline first"));
  ASSERT_TRUE(opens([&] { window_->open(QString::fromStdString(first_)); })) << said_;
  QSignalSpy wanted(&window_->comparison(), &ComparisonPanel::second_wanted);
  QTimer closer;
  QObject::connect(&closer, &QTimer::timeout, [] {
    if (QWidget* const dialog = QApplication::activeModalWidget()) dialog->close();
  });
  closer.start(20);
  press(Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_EQ(wanted.count(), 1);
}

TEST_F(TwoTimelines, OpenIfDroppedTogether) {
  ASSERT_TRUE(opens([&] { EXPECT_TRUE(drop(window_.get(), {first_, second_})); })) << said_;
  EXPECT_TRUE(window_->comparison().comparison());
}

TEST_F(TwoTimelines, ABrokenSecondFileCausesAMessageAndTheFirstRemainsOpen) {
  const std::string whole = timeline("tcp", 6);
  for (const std::string& bytes : {std::string(), std::string("a letter"), whole.substr(0, 4)}) {
    EXPECT_FALSE(open(first_, folder_.write("broken.tutti", bytes)));
    EXPECT_FALSE(said_.empty());
    EXPECT_EQ(view().trace()->sides().size(), 1u);
    EXPECT_EQ(view().trace()->rows().size(), 6u);
  }
  EXPECT_FALSE(open(first_, folder_.file("gone.tutti")));
  EXPECT_THAT(said_, HasSubstr("gone.tutti"));
  // A truncated or damaged file is shown as far as possible, or the message says why it is not.
  for (std::size_t length = 30; length < whole.size(); length += 61) {
    open(first_, folder_.write("cut.tutti", whole.substr(0, length)));
    window_->grab();
  }
  for (std::size_t at = 8; at < whole.size(); at += 47) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    open(folder_.write("damaged.tutti", damaged), second_);
    window_->grab();
  }
}

TEST_F(TwoTimelines, UnrelatedTimelinesAreShownWithAMessage) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.end();
  ASSERT_TRUE(open(first_, folder_.write("empty.tutti", out.str()))) << said_;
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("no device and no pack in common"));
  EXPECT_THAT(window_->status_text().toStdString(), HasSubstr("aligned by start"));
  window_->grab();
}

TEST_F(TwoTimelines, OpeningOneTimelineLaterShowsItsUsualPanels) {
  open_both();
  window_->close();
  window_ = std::make_unique<MainWindow>();
  ASSERT_TRUE(opens([&] { window_->open(QString::fromStdString(first_)); })) << said_;
  EXPECT_FALSE(window_->comparison().isVisible());
  EXPECT_TRUE(window_->topology().isVisible());
}

TEST_F(TwoTimelines, ClosingTheWindowEndsTheComparison) {
  show_in_front(*window_);
  window_->open_both(QString::fromStdString(first_), QString::fromStdString(second_));
  for (int i = 0; i < 1000 && !view().trace(); ++i) QTest::qWait(1);
  window_->close();
  QTest::qWait(20);
  window_.reset();
}

TEST_F(TwoTimelines, BothFilesAreWatchedAndReloaded) {
  open_both();
  const std::size_t side = 1;
  ASSERT_EQ(view().trace()->sides()[side].steps[0].end, kMs * 66);
  view().show_range({kMs * 20, kMs * 60});
  for (const int late : {16, 26}) {
    // First the second file changes, then both do.
    const bool both = late == 26;
    if (both) first_ = folder_.write("first.tutti", timeline("simulated", 2));
    second_ = folder_.write("second.tutti", timeline("tcp", late));
    fs::last_write_time(second_, fs::last_write_time(second_) + std::chrono::seconds(late));
    ASSERT_TRUE(QTest::qWaitFor([&] { return window_->notice().isVisible(); }, 5000));
    ASSERT_TRUE(opens([&] { window_->notice().button().click(); })) << said_;
    ASSERT_TRUE(window_->comparison().comparison());
    EXPECT_FALSE(window_->notice().isVisible());
    ASSERT_EQ(view().trace()->sides().size(), 2u);
    EXPECT_EQ(view().trace()->sides()[0].steps[0].end, kMs * (both ? 62 : 60));
    EXPECT_EQ(view().trace()->sides()[side].steps[0].end, kMs * (60 + late));
    EXPECT_EQ(view().view().range(), (TimeRange{kMs * 20, kMs * 60})) << "the view stays";
  }
}

}  // namespace
}  // namespace tutti::gui
