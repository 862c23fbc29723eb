// Compares painted pictures pixel by pixel with those in tests/data/window, at several zoom levels
// and in both themes. The pictures have no texts, whose pixels depend on fonts.
// TUTTI_WRITE_PICTURES=1 rewrites the pictures; look at them before you commit them.

#include <gtest/gtest.h>

#include <QGuiApplication>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/base/random.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/timeline/writer.h"
#include "gui/comparison/comparison.h"
#include "gui/paint/timeline_painter.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"

namespace tutti::gui {
namespace {

using core::Time;

constexpr QSize kSize(320, 400);

const std::shared_ptr<const Trace>& shared_trace() {
  static const std::shared_ptr<const Trace> opened = [] {
    const std::string folder = test::source_folder() + "/scenarios";
    const auto scenario =
        core::load_scenario(folder + "/04_resnet50_ring.textproto", core::Library(folder));
    core::RecordOptions record;
    record.level = core::RecordLevel::kSteps;
    std::ostringstream out;
    core::TimelineWriter writer(out);
    if (!sim::Simulator().run(*scenario, record, {}, writer)) std::abort();
    return *Trace::from_bytes(out.str(), "picture");
  }();
  return opened;
}

const Trace& trace() { return *shared_trace(); }

/// Returns a layout with some open and some closed groups, links, and a pinned line.
Layout layout() {
  Layout lines(trace());
  lines.open("worker 0/gpu1", false);
  lines.open("worker 1", false);
  lines.open("links", true);
  lines.pin("worker 0/gpu0/packs", true);
  return lines;
}

/// Returns a layout with rows on which the critical path lies: the computation of one device, and
/// the packs in flight of another one.
Layout layout_of_path() {
  Layout lines(trace());
  lines.filter("worker 1/gpu4/");
  lines.pin("worker 1/gpu0/packs", true);
  return lines;
}

struct Sight {
  const char* name;
  TimeRange range;
  int scroll = 0;
  bool path_only = false;
};

std::vector<Sight> sights() {
  const Time end = trace().length();
  const Time ms = core::milliseconds(1);
  return {{"all", {Time(), end}},
          {"step", {ms * 116, ms * 233}},
          {"packs", {ms * 40, ms * 90}, 60},
          {"messages", {ms * 76, ms * 77}, 60},
          {"path", {ms * 230, end}, 0, true},
          {"links", {Time(), end}, 100'000}};  // scrolled down to the end
}

std::string name_of(const Sight& sight, const Theme& theme) {
  return std::string(sight.name) + (&theme == &dark_theme() ? "_dark" : "_light") + ".png";
}

TEST(Painting, MatchesStoredPicturesAtEveryZoomAndInBothThemes) {
  const std::filesystem::path folder = test::source_folder() + "/tests/data/window";
  const Layout usual = layout(), of_path = layout_of_path();
  for (const Theme* const theme : {&light_theme(), &dark_theme()}) {
    for (const Sight& sight : sights()) {
      const Layout& lines = sight.path_only ? of_path : usual;
      const int scroll = std::min(sight.scroll, std::max(0, lines.height() - kSize.height()));
      const QImage now =
          paint_lines({trace(), lines, *theme, sight.range, scroll, sight.path_only}, kSize, 1)
              .image;
      const QString path = QString::fromStdString((folder / name_of(sight, *theme)).string());
      if (std::getenv("TUTTI_WRITE_PICTURES")) {
        ASSERT_TRUE(now.save(path));
      }
      const QImage kept = QImage(path).convertToFormat(QImage::Format_RGB32);
      ASSERT_EQ(kept.size(), now.size()) << path.toStdString();
      int wrong = 0;
      for (int y = 0; y < now.height(); ++y) {
        for (int x = 0; x < now.width(); ++x) wrong += kept.pixel(x, y) != now.pixel(x, y);
      }
      EXPECT_EQ(wrong, 0) << "pixels differ from " << path.toStdString();
      if (!sight.path_only) continue;
      for (const std::int32_t kind :
           {core::SpanKind::kFirstCompute, core::SpanKind::kPackInFlight}) {
        int lit = 0;
        for (int y = 0; y < now.height(); ++y) {
          for (int x = 0; x < now.width(); ++x)
            lit += now.pixel(x, y) == theme->spans[static_cast<std::size_t>(kind)].colour;
        }
        EXPECT_GT(lit, 20) << core::span_name(kind) << " on the path has its colour";
      }
    }
  }
}

TEST(Painting, VectorShapesCoverTheSamePixelsAsScanlines) {
  core::Random random(5);
  const Layout lines = layout();
  for (int round = 0; round < 60; ++round) {
    const auto share = [&] { return static_cast<std::int64_t>(random.below(1'000'000)); };
    const Time from(trace().length().count() / 1'000'000 * share());
    const Time length(
        std::max<std::int64_t>(1'000'000, trace().length().count() / (1 + share() % 5000)));
    const Scene scene{trace(),
                      lines,
                      dark_theme(),
                      {from, from + length},
                      static_cast<int>(random.below(500)),
                      random.below(2) == 0};
    QImage shapes(kSize, QImage::Format_RGB32);
    QPainter painter(&shapes);
    paint_line_shapes(painter, scene, kSize);
    painter.end();
    ASSERT_EQ(shapes, paint_lines(scene, kSize, 1).image) << "round " << round;
  }
}

TEST(Painting, CountersShowTheMaximumOfEachPixel) {
  const auto traffic = Traffic::read(trace());
  ASSERT_TRUE(traffic);
  Layout lines = layout();
  lines.show_counters({"bytes in flight", "queue depth"});
  const Time ms = core::milliseconds(1);
  for (const TimeRange& range :
       {TimeRange{Time(), trace().length()}, TimeRange{ms * 45, ms * 60}}) {
    const Scene scene{.trace = trace(),
                      .layout = lines,
                      .theme = light_theme(),
                      .range = range,
                      .traffic = traffic->get()};
    const QImage image = paint_lines(scene, kSize, 1).image;
    QImage shapes(kSize, QImage::Format_RGB32);
    QPainter painter(&shapes);
    paint_line_shapes(painter, scene, kSize);
    painter.end();
    EXPECT_EQ(shapes, image);
    int counters = 0;
    for (const Line& line : lines.lines()) {
      if (line.kind != Line::Kind::kCounter) continue;
      const NamedCounter counter = counters_of(**traffic, range)[line.number];
      ++counters;
      int most = 0;
      for (int x = 0; x < kSize.width(); ++x) {
        const std::int64_t value = counter.counter->most(time_at(range, x, kSize.width()),
                                                         time_at(range, x + 1, kSize.width()));
        int filled = 0;
        for (int y = line.top; y < line.bottom(); ++y)
          filled += image.pixel(x, y) != image.pixel(x, line.top);
        const double height =
            static_cast<double>(value) / static_cast<double>(counter.peak) * (line.height - 4);
        EXPECT_NEAR(filled, value > 0 ? std::max(1.0, height) : 0, 0.51) << line.key << " at " << x;
        most = std::max(most, filled);
      }
      if (range.from == Time()) {
        EXPECT_EQ(most, line.height - 4) << "its peak";
      }
    }
    EXPECT_EQ(counters, 2);
  }
}

TEST(Painting, ACollapsedGroupShowsEachOfTwoTimelinesInOneHalf) {
  const Comparison both = compare_traces(shared_trace(), shared_trace(), Align::kStart, {"a", "b"});
  Layout lines(*both.trace, Arrangement::kPairs);
  lines.open("worker 0", false);
  const Scene scene{*both.trace, lines, light_theme(), {Time(), both.trace->length()}};
  const QImage image = paint_lines(scene, kSize, 1).image;
  const auto group = std::find_if(lines.lines().begin(), lines.lines().end(),
                                  [](const Line& l) { return l.key == "worker 0"; });
  ASSERT_NE(group, lines.lines().end());
  const auto filled = [&](int x, int top, int bottom) {
    int count = 0;
    for (int y = top; y < bottom; ++y) count += image.pixel(x, y) == light_theme().load;
    return count;
  };
  int most = 0;
  for (int x = 0; x < kSize.width(); ++x) {
    const int middle = group->top + group->height / 2;
    const int upper = filled(x, group->top, middle);
    EXPECT_EQ(upper, filled(x, middle, group->bottom())) << "the pictures are equal at " << x;
    most = std::max(most, upper);
  }
  EXPECT_EQ(most, group->height / 2 - 3) << "at times all devices compute";
}

TEST(Painting, TwiceTheScaleDoesNotMoveRows) {
  const Layout lines = layout();
  const Scene scene{trace(), lines, light_theme(), {Time(), trace().length()}};
  const QImage one = paint_lines(scene, kSize, 1).image, two = paint_lines(scene, kSize, 2).image;
  ASSERT_EQ(two.size(), kSize * 2);
  for (std::size_t i = 0; i < lines.lines().size() && lines.lines()[i].top < kSize.height(); ++i) {
    const int y = lines.lines()[i].top;
    EXPECT_EQ(one.pixel(0, y), two.pixel(0, 2 * y)) << lines.lines()[i].key;
  }
}

TEST(Painting, AxisLabelsAreCompleteOrOmitted) {
  const Layout lines = layout();
  const Scene scene{trace(), lines, light_theme(), {Time(), trace().length()}};
  constexpr QRect kPlace(0, 0, 900, Scene::kAxis);
  const auto axis = [&](const QRegion& covered) {
    QImage image(kPlace.size(), QImage::Format_RGB32);
    QPainter painter(&image);
    ShortTexts texts;
    paint_axis(painter, scene, kPlace, texts, covered);
    return image;
  };
  // Returns the columns with text, from the area above the ticks and to the right of the row names.
  const auto columns_with_text = [](const QImage& image) {
    std::vector<int> found;
    for (int x = Scene::kGutter; x < image.width(); ++x) {
      for (int y = 0; y < Scene::kAxis - 10; ++y) {
        if (image.pixel(x, y) == light_theme().group) continue;
        found.push_back(x);
        break;
      }
    }
    return found;
  };
  const QImage bare = axis({});
  const std::vector<int> columns = columns_with_text(bare);
  ASSERT_GT(columns.size(), 50u);
  // A label that an object would partly cover is not painted at all, and the labels to its left and
  // right stay unchanged.
  for (int left = Scene::kGutter; left + 60 < kPlace.width(); left += 7) {
    const QRect flag(left, 2, 60, Scene::kAxis - 4);
    const QImage image = axis(flag);
    for (const int x : columns_with_text(image))
      ASSERT_FALSE(x >= flag.left() && x <= flag.right()) << left;
    const int tick =
        pixel_at(scene.range, core::milliseconds(100), kPlace.width() - Scene::kGutter) +
        Scene::kGutter;
    const bool touches = flag.intersects(QRect(tick + 4, 0, 40, 20));
    const QRect label(tick + 4, 0, 50, Scene::kAxis - 10);
    if (touches || !flag.intersects(label)) {
      ASSERT_EQ(image.copy(label) == bare.copy(label), !touches) << left;
    }
  }
}

}  // namespace
}  // namespace tutti::gui

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QGuiApplication app(argc, argv);
  return RUN_ALL_TESTS();
}
