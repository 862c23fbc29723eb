// The time cursor, the counters and the topology in the window. Every action is triggered by its
// shortcut, and the test determines the length of each frame.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QApplication>
#include <QComboBox>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>

#include "core/base/format.h"
#include "gui/topology/topology_panel.h"
#include "gui/topology/topology_view.h"
#include "gui/topology/traffic_reader.h"
#include "gui/widgets/overview_strip.h"
#include "gui/widgets/time_cursor.h"
#include "gui/window/comparison_panel.h"
#include "gui/window/main_window.h"
#include "tests/gui/simulated.h"
#include "tests/gui/window_hands.h"
#include "tests/support/program.h"

namespace tutti::gui {
namespace {

using core::Time;
using testing::HasSubstr;

class TopologyWindow : public testing::Test {
 protected:
  TopologyWindow() { QSettings().clear(); }

  void open(const std::string& bytes) {
    const auto why = why_not_opened(
        window_, [&] { window_.open(QString::fromStdString(folder_.write("t.tutti", bytes))); });
    ASSERT_FALSE(why) << *why;
    window_.traffic().wait();
  }
  void open_ring() { open(test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2))); }

  TimelineView& view() { return window_.timeline(); }
  TimeCursor& cursor() { return window_.cursor(); }
  TopologyView& picture() { return window_.topology().topology_view(); }
  void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
    QTest::keyClick(&view(), key, with);
  }
  std::string words() { return window_.topology().words().toStdString(); }
  std::size_t node(const std::string& name) {
    for (std::size_t n = 0; n < picture().topology()->nodes().size(); ++n) {
      if (picture().topology()->nodes()[n].full_name() == name) return n;
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  }
  bool has_line(const std::string& key) {
    const auto& lines = view().layout_of_lines().lines();
    return std::any_of(lines.begin(), lines.end(),
                       [&](const Line& line) { return line.key == key; });
  }

  test::TemporaryFolder folder_;
  MainWindow window_;
};

TEST_F(TopologyWindow, AClickOnAxisOrOverviewMovesTheCursor) {
  open_ring();
  const Time length = view().view().run_length();
  const QRect lines = lines_rect(view().size());
  QTest::mouseClick(&view(), Qt::LeftButton, {}, QPoint(lines.left() + lines.width() / 4, 5));
  EXPECT_NEAR(core::to_ms(cursor().moment()), core::to_ms(length) / 4, core::to_ms(length) / 100);
  auto* const overview = window_.findChild<OverviewStrip*>();
  ASSERT_TRUE(overview);
  QTest::mouseClick(overview, Qt::LeftButton, {}, QPoint(overview->width() - 5, 10));
  EXPECT_NEAR(core::to_ms(cursor().moment()), core::to_ms(length), core::to_ms(length) / 100);
}

TEST_F(TopologyWindow, TheTimeOfTheCursorHidesWholeAxisLabels) {
  open_ring();
  const QRect lines = lines_rect(view().size());
  const auto columns = [&](const QImage& image, auto wanted) {
    std::vector<int> found;
    for (int x = lines.left(); x < lines.right(); ++x) {
      for (int y = 4; y < Scene::kAxis - 10; ++y) {
        if (!wanted(image.pixel(x, y))) continue;
        found.push_back(x);
        break;
      }
    }
    return found;
  };
  const Theme& theme = light_theme();
  const auto is_flag = [&](QRgb pixel) { return pixel == theme.cursor; };
  const auto is_text = [&](QRgb pixel) { return pixel != theme.group && pixel != theme.line; };
  cursor().set_moment(Time());
  const std::vector<int> bare = columns(view().picture(view().size(), 1), is_text);
  // The columns of the first label that begins right of the flag at the start of the run.
  constexpr int kBetweenLabels = 12;
  std::vector<int> label;
  for (std::size_t i = 1; i < bare.size(); ++i) {
    const bool begins = bare[i] - bare[i - 1] >= kBetweenLabels;
    if (begins && !label.empty()) break;
    if (!label.empty() || (begins && bare[i] > lines.left() + 100)) label.push_back(bare[i]);
  }
  ASSERT_GT(label.size(), 5u);
  int intact = 0, omitted = 0;
  for (int by = -60; by <= 90; by += 10) {
    const int at = label.front() + by;
    QTest::mouseClick(&view(), Qt::LeftButton, {}, QPoint(at, 5));
    const QImage image = view().picture(view().size(), 1);
    const std::vector<int> flag = columns(image, is_flag);
    ASSERT_FALSE(flag.empty()) << at << " of " << lines.left() << " to " << lines.right();
    const std::vector<int> text = columns(image, is_text);
    std::size_t left_over = 0;
    for (const int x : label) {
      const bool in_flag = x >= flag.front() - 1 && x <= flag.back() + 1;
      left_over += !in_flag && std::binary_search(text.begin(), text.end(), x);
    }
    left_over == 0 ? ++omitted : ++intact;
    EXPECT_TRUE(left_over == 0 || left_over == label.size()) << by;
  }
  EXPECT_GT(omitted, 3);
  EXPECT_GT(intact, 3);
}

TEST_F(TopologyWindow, TheKeyboardFocusOnlyAddsAFrame) {
  open_ring();
  const core::PackRecord pack = view().trace()->packs().front();
  cursor().set_moment(pack.first_start + Time((pack.end - pack.first_start).count() / 2));
  ASSERT_FALSE(picture().moment().flights.empty());
  view().setFocus();
  const QImage without = picture().grab().toImage();
  picture().setFocus();
  ASSERT_TRUE(picture().hasFocus());
  const QImage with = picture().grab().toImage();
  EXPECT_NE(with.pixel(0, 0), without.pixel(0, 0));
  const QRect inside = with.rect().adjusted(1, 1, -1, -1);
  EXPECT_EQ(with.copy(inside), without.copy(inside));
}

TEST_F(TopologyWindow, KeysMoveTheCursorBetweenEventsAndToTheStart) {
  open_ring();
  cursor().set_moment(Time(1));
  press(Qt::Key_L);
  const Time first = cursor().moment();
  EXPECT_EQ(first, next_event(*view().trace(), view().visible_rows(), Time(1)));
  press(Qt::Key_L);
  EXPECT_GT(cursor().moment(), first);
  press(Qt::Key_J);
  EXPECT_EQ(cursor().moment(), first);
  view().show_range({Time(5'000'000), Time(90'000'000)});
  press(Qt::Key_K, Qt::ShiftModifier);
  EXPECT_EQ(cursor().moment(), Time(5'000'000));
}

TEST_F(TopologyWindow, PlayingMovesTheCursorThroughTheVisibleRangeWithoutBlocking) {
  open_ring();
  const TimeRange range{Time(5'000'000), Time(90'000'000)};
  view().show_range(range);
  press(Qt::Key_K);
  EXPECT_TRUE(cursor().playback().playing());
  press(Qt::Key_K);
  EXPECT_FALSE(cursor().playback().playing());
  cursor().to_start();
  // From here, the test calls what the timer would call.
  press(Qt::Key_L, Qt::ShiftModifier);
  EXPECT_EQ(cursor().playback().speed(), 1);
  press(Qt::Key_J, Qt::ShiftModifier);
  press(Qt::Key_J, Qt::ShiftModifier);
  EXPECT_EQ(cursor().playback().speed(), -1);
  cursor().set_speed(0);
  press(Qt::Key_K);
  cursor().set_moment(range.from);
  const Time second = cursor().per_second();
  EXPECT_EQ(second, Time(range.length().count() / 20));
  cursor().advance(1000);
  EXPECT_EQ(cursor().moment(), range.from + second);
  cursor().advance(30'000);
  EXPECT_EQ(cursor().moment(), range.to);
  EXPECT_FALSE(cursor().playback().playing()) << "it is at the end";
}

TEST_F(TopologyWindow, ChunksMoveWhileItPlays) {
  open_ring();
  const core::PackRecord pack = view().trace()->packs().front();
  view().show_range({pack.first_start, pack.end});
  cursor().to_start();
  press(Qt::Key_K);
  double moved = 0;
  std::size_t most = 0;
  for (int frame = 0; frame < 200; ++frame) {
    const TopologyMoment before = picture().moment();
    cursor().advance(100);
    EXPECT_EQ(picture().moment().at, cursor().moment());
    most = std::max(most, picture().moment().flights.size());
    for (const auto& was : before.flights) {
      for (const auto& is : picture().moment().flights) {
        if (was.transfer != is.transfer) continue;
        EXPECT_GE(is.progress, was.progress);
        moved += is.progress - was.progress;
      }
    }
  }
  EXPECT_GE(most, 4u) << "every device sends";
  EXPECT_GT(moved, 3);
}

TEST_F(TopologyWindow, MouseAndKeysShowTheContentsOfDevices) {
  open_ring();
  const core::PackRecord pack = view().trace()->packs().front();
  cursor().set_moment(pack.end - Time(1));
  EXPECT_THAT(words(), HasSubstr("in flight"));
  const std::size_t gpu = node("w1/gpu0");
  QApplication::processEvents();  // the panels have their sizes after the next pass of the layout
  QTest::mouseMove(&picture(),
                   picture().place_of(picture().layout_of_nodes().nodes[gpu].centre()).toPoint());
  EXPECT_EQ(picture().current_node(), gpu);
  EXPECT_THAT(words(), HasSubstr("w1/gpu0 holds these parts of pack"));
  QTest::mouseMove(&picture(), QPoint(1, 1));
  EXPECT_THAT(words(), HasSubstr("in flight"));
  picture().setFocus();
  QTest::keyClick(&picture(), Qt::Key_Right);
  ASSERT_TRUE(picture().selected_node()) << "here, arrow keys are for the picture";
  EXPECT_EQ(picture().topology()->nodes()[*picture().selected_node()].full_name(), "w0/gpu0");
  QTest::keyClick(&picture(), Qt::Key_Right);
  EXPECT_EQ(picture().topology()->nodes()[*picture().selected_node()].full_name(), "w0/gpu1");
  EXPECT_THAT(words(), HasSubstr("w0/gpu1 holds these parts of pack"));
  QTest::keyClick(&picture(), Qt::Key_Up);
  EXPECT_EQ(picture().topology()->nodes()[*picture().selected_node()].full_name(), "w0/plx0");
  cursor().set_moment(Time());
  EXPECT_THAT(words(), HasSubstr("no pack is in flight"));
}

TEST_F(TopologyWindow, TheSelectedLinkIsTheSameInTimelineAndTopology) {
  open_ring();
  picture().setFocus();
  ASSERT_TRUE(window_.topology().select_device(QStringLiteral("w1/nic0")));
  EXPECT_FALSE(window_.topology().select_device(QStringLiteral("w9/nic0")));
  std::set<std::string> seen;
  for (int i = 0; i < 4; ++i) {
    QTest::keyClick(&picture(), Qt::Key_N);
    ASSERT_TRUE(picture().selected_link());
    const Topology::Link& link = picture().topology()->links()[*picture().selected_link()];
    seen.insert(link.name);
    if (link.record) {
      EXPECT_TRUE(has_line("links/" + link.name)) << "its row is to be seen";
    }
  }
  EXPECT_EQ(seen, (std::set<std::string>{"w1/nic0→network", "network→w1/nic0", "w1/nic0→w1/plx0",
                                         "w1/plx0→w1/nic0"}));
  QTest::keyClick(&picture(), Qt::Key_B);
  // Now the link is selected in the list first, and then in the topology.
  picture().select_link(std::nullopt);
  view().go_to_line(QStringLiteral("links/w0/nic0→network"));
  for (const Line& line : view().layout_of_lines().lines()) {
    if (line.key != "links/w0/nic0→network") continue;
    const QRect lines = lines_rect(view().size());
    const int scroll = view().findChild<QScrollBar*>()->value();
    QTest::mouseClick(&view(), Qt::LeftButton, {},
                      QPoint(lines.left() + 50, lines.top() + line.top - scroll + line.height / 2));
  }
  ASSERT_TRUE(picture().selected_link());
  EXPECT_EQ(picture().topology()->links()[*picture().selected_link()].name, "w0/nic0→network");
  // Selects the link with the mouse, at the middle of its line.
  picture().select_link(std::nullopt);
  const std::size_t link = *picture().topology()->link_of_record(0);
  QTest::mouseClick(
      &picture(), Qt::LeftButton, {},
      picture().place_of(along(picture().layout_of_nodes().links[link], 0.5)).toPoint());
  EXPECT_EQ(picture().selected_link(), link);
  window_.grab();
}

TEST_F(TopologyWindow, CountersAppearWithTheTrafficAndAKeyHidesThem) {
  open_ring();
  EXPECT_TRUE(has_line("counters/bytes in flight"));
  EXPECT_TRUE(has_line("counters/queue depth"));
  press(Qt::Key_C);
  EXPECT_FALSE(has_line("counters/bytes in flight"));
  EXPECT_FALSE(has_line("counters"));
  press(Qt::Key_C);
  EXPECT_TRUE(has_line("counters/queue depth"));
}

TEST_F(TopologyWindow, ValuesOfCountersAndLinksAreShownUnderTheMouse) {
  open_ring();
  window_.traffic().wait();
  QApplication::processEvents();
  const auto counters = counters_of(*window_.traffic().traffic(), view().view().range());
  ASSERT_EQ(counters.front().name, "bytes in flight");
  const Layout& layout = view().layout_of_lines();
  const QRect lines = lines_rect(view().size());
  const auto point_of = [&](const std::string& key, int x) {
    for (const Line& line : layout.lines()) {
      if (line.key == key) return QPoint(x, lines.top() + line.top + line.height / 2);
    }
    return QPoint();
  };
  int values = 0;
  for (int x = lines.left(); x < lines.right(); x += 7) {
    const core::Time from = time_at(view().view().range(), x - lines.left(), lines.width()),
                     to = time_at(view().view().range(), x + 1 - lines.left(), lines.width());
    const std::int64_t most = counters.front().counter->most(from, to);
    const std::string text =
        view().value_under(point_of("counters/bytes in flight", x)).toStdString();
    EXPECT_THAT(text, HasSubstr(": " + core::show(core::Bytes(most)) + " (")) << x;
    values += most > 0;
  }
  EXPECT_GT(values, 5);
  EXPECT_THAT(
      view().value_under(point_of("counters/queue depth", lines.center().x())).toStdString(),
      HasSubstr("at most)"));
  EXPECT_EQ(view().value_under(point_of("steps", lines.center().x())), QString());
  const auto& links = view().trace()->links();
  ASSERT_FALSE(links.empty());
  view().go_to_line(QString::fromStdString("links/" + links.front().name));
  for (const Line& line : layout.lines()) {
    if (line.kind != Line::Kind::kLink || line.number != 0) continue;
    const int top = line.top - view().findChild<QScrollBar*>()->value();
    const QPoint there(lines.center().x(), lines.top() + top + line.height / 2);
    EXPECT_THAT(view().value_under(there).toStdString(),
                testing::AllOf(HasSubstr(links.front().name), HasSubstr("% load")));
  }
}

TEST_F(TopologyWindow, APackInFlightCanBeSelected) {
  open_ring();
  // Chooses a moment at which several packs are in flight.
  const auto& packs = view().trace()->packs();
  for (const core::PackRecord& pack : packs) {
    cursor().set_moment(pack.last_start);
    if (picture().moment().in_flight.size() > 1) break;
  }
  ASSERT_GT(picture().moment().in_flight.size(), 1u);
  const PackOfStep last = picture().moment().in_flight.back();
  EXPECT_NE(picture().moment().pack, last) << "the first pack by default";
  auto* const box = window_.topology().findChild<QComboBox*>(QStringLiteral("packs"));
  ASSERT_TRUE(box);
  EXPECT_EQ(box->count(), static_cast<int>(picture().moment().in_flight.size()));
  box->setFocus();
  QTest::keyClick(box, Qt::Key_End);
  EXPECT_EQ(picture().moment().pack, last);
  cursor().set_moment(view().trace()->length());
  EXPECT_FALSE(picture().moment().pack);
  EXPECT_EQ(box->currentText(), QStringLiteral("no pack"));
}

TEST_F(TopologyWindow, TimelinesWithFewerRecordsCauseANote) {
  open(test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2),
                       core::RecordLevel::kPacks));
  EXPECT_THAT(words(), HasSubstr("--record steps"));
  EXPECT_FALSE(has_line("counters"));
  EXPECT_FALSE(picture().topology()->nodes().empty());
  window_.grab();
  open(
      test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2), core::RecordLevel::kNone));
  EXPECT_FALSE(words().empty());
  window_.grab();
}

TEST_F(TopologyWindow, ARunWithoutStepsToRecordIsNotAdvisedToRecordThem) {
  const std::string nccl =
      "cluster { workers { machine: \"dgx-a100\" } network { kind: ONE_SWITCH latency_us: 1 } } "
      "workload { variable { name: \"a\" shape: 1000000 forward_ms: 1 backward_ms: 1 } } "
      "strategy { algorithm: \"nccl\" } ";
  open(test::simulated(nccl));
  EXPECT_THAT(words(), HasSubstr("--nccl rings"));
  EXPECT_THAT(words(), testing::Not(HasSubstr("--record steps")));
  // A run of NCCL whose steps are simulated has lanes, and its chunks can be followed.
  const std::string rings =
      folder_.write("rings.tutti", test::simulated(nccl + "run { nccl: RINGS }"));
  const auto why = why_not_opened(window_, [&] {
    window_.open_both(QString::fromStdString(folder_.file("t.tutti")),
                      QString::fromStdString(rings));
  });
  ASSERT_FALSE(why) << *why;
  EXPECT_THAT(window_.status_text().toStdString(),
              testing::AllOf(HasSubstr("has no lanes"), HasSubstr("--nccl rings"),
                             testing::Not(HasSubstr("--record steps"))));
}

TEST_F(TopologyWindow, AKeyHidesAndShowsItAtTheTimeOfTheCursor) {
  open_ring();
  ASSERT_TRUE(window_.topology().isVisible());
  press(Qt::Key_T);
  EXPECT_FALSE(window_.topology().isVisible());
  const core::PackRecord pack = view().trace()->packs().front();
  cursor().set_moment(pack.last_start);
  EXPECT_NE(picture().moment().at, pack.last_start)
      << "nothing is computed while the panel is hidden";
  press(Qt::Key_T);
  EXPECT_TRUE(window_.topology().isVisible());
  EXPECT_EQ(picture().moment().at, pack.last_start);
  EXPECT_TRUE(picture().hasFocus());
}

TEST_F(TopologyWindow, ZoomsMovesAndFitsInBothThemes) {
  open_ring();
  const double fitted = picture().scale();
  picture().setFocus();
  QTest::keyClick(&picture(), Qt::Key_Plus);
  EXPECT_GT(picture().scale(), fitted);
  QTest::keyClick(&picture(), Qt::Key_Minus);
  QTest::keyClick(&picture(), Qt::Key_Minus);
  EXPECT_LT(picture().scale(), fitted);
  for (int i = 0; i < 60; ++i) QTest::keyClick(&picture(), i < 30 ? Qt::Key_Minus : Qt::Key_Plus);
  window_.grab();
  QTest::keyClick(&picture(), Qt::Key_Home);
  EXPECT_DOUBLE_EQ(picture().scale(), fitted);
  window_.set_dark(false);
  const QImage light = picture().grab().toImage();
  window_.set_dark(true);
  const QImage dark = picture().grab().toImage();
  EXPECT_GT(qGray(light.pixel(2, light.height() - 2)), 200);
  EXPECT_LT(qGray(dark.pixel(2, dark.height() - 2)), 60);
}

TEST(TopologyWindowAlone, OpeningAnotherFileOrClosingStopsTheReader) {
  const test::TemporaryFolder folder;
  const std::string bytes = test::simulated(test::small_scenario("algorithm: \"nccl\"", 4, 4));
  const QString path = QString::fromStdString(folder.write("t.tutti", bytes));
  for (int i = 0; i < 5; ++i) {
    MainWindow window;
    window.show();
    for (int again = 0; again < 3; ++again) {
      QSignalSpy opened(&window, &MainWindow::opened);
      window.open(path);
      for (int wait = 0; wait < 1000 && opened.isEmpty(); ++wait) QTest::qWait(1);
      ASSERT_EQ(opened.size(), 1);
    }
    if (i % 2) {
      window.traffic().wait();
      EXPECT_TRUE(window.traffic().traffic());
      QApplication::processEvents();
    }
  }
}

/// The same cluster with two algorithms, on one axis.
class TwoTopologies : public TopologyWindow {
 protected:
  void SetUp() override {
    first_ = folder_.write("ring.tutti",
                           test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2)));
    second_ = folder_.write("pscpu.tutti",
                            test::simulated(test::small_scenario("algorithm: \"pscpu\"", 2, 2)));
    open(first_, second_);
  }
  void open(const std::string& first, const std::string& second) {
    const auto why = why_not_opened(window_, [&] {
      window_.open_both(QString::fromStdString(first), QString::fromStdString(second));
    });
    ASSERT_FALSE(why) << *why;
  }
  const Comparison& both() { return *window_.comparison().comparison(); }
  /// Returns the state that a window with only this side would show at its own moment.
  TopologyMoment alone(std::size_t side, Time own) {
    const auto& trace = both().sources[side];
    const auto traffic = Traffic::read(*trace, nullptr);
    const Topology topology = Topology::of(*trace, window_.traffic().plan().get(), traffic->get());
    return TopologyPlayer(trace, window_.traffic().plan(), *traffic, topology).at(own);
  }
  void expect_shows(std::size_t side) {
    const TopologyMoment& shown = picture().moment();
    const Time own = both().alignment.delays[side].own(cursor().moment());
    EXPECT_EQ(shown.at, own);
    const TopologyMoment expected = alone(side, own);
    EXPECT_EQ(shown.loads, expected.loads);
    EXPECT_EQ(shown.flights.size(), expected.flights.size());
    EXPECT_EQ(shown.in_flight, expected.in_flight);
    EXPECT_THAT(words(), HasSubstr("The topology shows " + both().trace->sides()[side].name +
                                   " at time " + core::show(own) + " of its run."));
  }

  std::string first_, second_;
};

TEST_F(TwoTopologies, EachTimelineIsShownAtItsOwnTime) {
  EXPECT_FALSE(window_.topology().isVisible()) << "two timelines need the whole window";
  press(Qt::Key_T);
  ASSERT_TRUE(window_.topology().isVisible());
  for (const Align align : {Align::kStart, Align::kStep, Align::kPack}) {
    window_.comparison().align(align);
    for (int i = 0; i < 1000 && both().align != align; ++i) QTest::qWait(10);
    for (std::size_t side = 0; side < 2; ++side) {
      if (window_.topology().side() != side) press(Qt::Key_T, Qt::ShiftModifier);
      ASSERT_EQ(window_.topology().side(), side);
      window_.traffic().wait();
      ASSERT_TRUE(window_.traffic().traffic()) << window_.traffic().problem();
      const core::PackRecord pack = both().trace->sides()[side].packs.back();
      cursor().set_moment(pack.first_start + Time((pack.end - pack.first_start).count() / 2));
      expect_shows(side);
      EXPECT_FALSE(picture().moment().in_flight.empty());
    }
  }
  // With a single timeline, everything is as before, including the counters.
  press(Qt::Key_W, Qt::ControlModifier | Qt::ShiftModifier);
  window_.traffic().wait();
  EXPECT_EQ(window_.topology().side(), 0u);
  EXPECT_EQ(view().trace()->sides().size(), 1u);
  EXPECT_TRUE(has_line("counters"));
  EXPECT_TRUE(window_.traffic().traffic());
}

TEST_F(TwoTopologies, ASelectedLinkBelongsToItsTimeline) {
  press(Qt::Key_T);
  press(Qt::Key_T, Qt::ShiftModifier);
  window_.traffic().wait();
  ASSERT_TRUE(picture().topology()->has_links());
  picture().setFocus();
  QTest::keyClick(&picture(), Qt::Key_N);
  ASSERT_TRUE(picture().selected_link());
  // The first link may have no record, so the next one with a record is selected.
  for (int i = 0; i < 200 && !picture().topology()->links()[*picture().selected_link()].record; ++i)
    QTest::keyClick(&picture(), Qt::Key_N);
  const auto record = picture().topology()->links()[*picture().selected_link()].record;
  ASSERT_TRUE(record);
  const std::string key = view().layout_of_lines().key_of_link(1, *record);
  EXPECT_THAT(key, HasSubstr(both().trace->sides()[1].links[*record].name));
  EXPECT_TRUE(has_line(key)) << "the group of links was opened";
}

}  // namespace
}  // namespace tutti::gui
