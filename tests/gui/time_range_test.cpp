#include "gui/trace/time_range.h"

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace tutti::gui {
namespace {

using core::Time;

constexpr Time kMs = core::milliseconds(1);

TEST(View, StaysInsideTheRun) {
  View view(kMs * 100);
  EXPECT_EQ(view.range(), (TimeRange{Time(), kMs * 100}));
  view.show({kMs * -10, kMs * 20});
  EXPECT_EQ(view.range(), (TimeRange{Time(), kMs * 30}));
  view.show({kMs * 90, kMs * 120});
  EXPECT_EQ(view.range(), (TimeRange{kMs * 70, kMs * 100}));
  view.show({kMs * 5, kMs * 5});
  EXPECT_EQ(view.range().length(), core::nanoseconds(10));
  view.show({kMs * -1000, kMs * 1000});
  EXPECT_EQ(view.range(), (TimeRange{Time(), kMs * 100}));
}

TEST(View, ZoomingKeepsTheTimeUnderTheMouse) {
  core::Random random(5);
  View view(kMs * 100);
  for (int i = 0; i < 200; ++i) {
    const double factor = 0.3 + static_cast<double>(random.below(300)) / 100;
    const TimeRange before = view.range();
    const Time at = before.from + Time(static_cast<std::int64_t>(random.below(
                                      static_cast<std::uint64_t>(before.length().count()))));
    const TimeRange after = view.zoomed(factor, at);
    if (after.length() > view.run_length()) continue;  // the view is clamped then
    const double a = static_cast<double>((at - before.from).count()) /
                     static_cast<double>(before.length().count());
    const double b = static_cast<double>((at - after.from).count()) /
                     static_cast<double>(after.length().count());
    EXPECT_NEAR(a, b, 1e-3 * (1 + std::abs(a)));
    EXPECT_NEAR(static_cast<double>(after.length().count()),
                factor * static_cast<double>(before.length().count()), 2);
    view.show(after);
  }
}

TEST(View, HistoryGoesBackAndForwardByGesture) {
  View view(kMs * 100);
  view.show({kMs * 10, kMs * 20});
  for (int i = 1; i <= 5; ++i) view.glide({kMs * (10 + i), kMs * (20 + i)});
  view.settle();
  view.glide({kMs * 50, kMs * 60});
  view.go_back();
  EXPECT_EQ(view.range(), (TimeRange{kMs * 15, kMs * 25}));
  view.go_back();
  EXPECT_EQ(view.range(), (TimeRange{kMs * 10, kMs * 20}));
  view.go_back();
  EXPECT_EQ(view.range(), (TimeRange{Time(), kMs * 100}));
  EXPECT_FALSE(view.can_go_back());
  view.go_forward();
  view.go_forward();
  EXPECT_EQ(view.range(), (TimeRange{kMs * 15, kMs * 25}));
  view.show({kMs * 1, kMs * 2});
  EXPECT_FALSE(view.can_go_forward());
}

TEST(Ticks, AreFewRoundValuesInTheRange) {
  core::Random random(6);
  for (int i = 0; i < 2000; ++i) {
    const Time from(static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(60))));
    const TimeRange range{from, from + Time(10'000 + static_cast<std::int64_t>(random.below(
                                                         std::uint64_t{1} << random.below(60))))};
    const int most = 1 + static_cast<int>(random.below(20));
    const Ticks ticks = ticks_of(range, most);
    std::int64_t mantissa = ticks.step.count();
    while (mantissa % 10 == 0) mantissa /= 10;
    EXPECT_TRUE(mantissa == 1 || mantissa == 2 || mantissa == 5) << ticks.step.count();
    EXPECT_EQ(ticks.first.count() % ticks.step.count(), 0);
    EXPECT_GE(ticks.first, range.from);
    EXPECT_LT(ticks.first - ticks.step, range.from);
    EXPECT_LE(range.length().count() / ticks.step.count() + 1, most);
  }
}

TEST(Ticks, AdjacentTicksHaveDifferentTextsInOneUnit) {
  for (const std::int64_t step :
       {1ll, 5ll, 20ll, 500ll, 1000ll, 20'000ll, 1'000'000ll, 200'000'000ll, 5'000'000'000ll,
        100'000'000'000ll, 2'000'000'000'000ll}) {
    Ticks ticks;
    ticks.step = Time(step);
    for (std::int64_t n = 1; n < 30; ++n)
      EXPECT_NE(ticks.label(Time(step * n)), ticks.label(Time(step * (n + 1)))) << step;
  }
  Ticks ticks;
  ticks.step = kMs * 20;
  EXPECT_EQ(ticks.label(Time()), "0");
  EXPECT_EQ(ticks.label(kMs * 120), "120 ms");
  ticks.step = kMs * 200;
  EXPECT_EQ(ticks.label(kMs * 1400), "1.4 s");
  ticks.step = Time(500'000'000);
  EXPECT_EQ(ticks.label(kMs * 3), "3.0 ms");
}

TEST(Ticks, HaveTheUnitOfTheRange) {
  const Time later = kMs * 17'000;
  for (const Time length : {Time(50), Time(70'000), Time(591'000'000), kMs * 3, kMs * 350,
                            kMs * 999, kMs * 1000, kMs * 17'400}) {
    const std::string unit = std::string(" ") + unit_for(length).name;
    for (int most = 2; most <= 30; ++most) {
      const Ticks ticks = ticks_of({later, later + length}, most);
      EXPECT_TRUE(ticks.label(ticks.first + ticks.step).ends_with(unit)) << length.count();
      EXPECT_NE(ticks.label(ticks.first + ticks.step), ticks.label(ticks.first + ticks.step * 2))
          << length.count() << ' ' << most;
    }
  }
  EXPECT_EQ(ticks_of({Time(), kMs * 350}, 2).label(kMs * 200), "200 ms");
  EXPECT_EQ(ticks_of({Time(), kMs * 1000}, 25).label(kMs * 50), "0.05 s");
}

}  // namespace
}  // namespace tutti::gui
