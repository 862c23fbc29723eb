// The playback of the time cursor: the frames add up to the elapsed time whatever their lengths
// are, and the events equal those found by a search through all spans.

#include "gui/trace/playback.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/random.h"
#include "tests/gui/simulated.h"

namespace tutti::gui {
namespace {

using core::Time;

constexpr TimeRange kRange{Time(1'000'003), Time(7'654'321'987)};

TEST(Playback, SpeedDoesNotDependOnTheFrameRate) {
  for (int speed = Playback::kSlowest; speed <= Playback::kFastest; ++speed) {
    Playback fine, coarse;
    for (Playback* p : {&fine, &coarse}) {
      p->set_speed(speed);
      p->play(kRange);
      EXPECT_EQ(p->moment(), kRange.from) << "the cursor was before the range";
    }
    for (int i = 0; i < 500; ++i) fine.advance(1, kRange);
    coarse.advance(500, kRange);
    EXPECT_EQ(fine.moment(), coarse.moment()) << speed;
    EXPECT_EQ(coarse.moment() - kRange.from, Time(coarse.per_second(kRange).count() / 2)) << speed;
  }
}

TEST(Playback, PlaysTheRangeInTwentySecondsAndPauses) {
  Playback playback;
  playback.play(kRange);
  playback.advance(19'999, kRange);
  EXPECT_TRUE(playback.playing());
  EXPECT_LT(playback.moment(), kRange.to);
  playback.advance(1, kRange);
  EXPECT_FALSE(playback.playing());
  EXPECT_EQ(playback.moment(), kRange.to);
  playback.advance(1000, kRange);
  EXPECT_EQ(playback.moment(), kRange.to) << "paused";
  playback.play(kRange);
  EXPECT_EQ(playback.moment(), kRange.from) << "again from the start";
}

TEST(Playback, ContinuesAtTheCursorAndLimitsTheSpeed) {
  Playback playback;
  playback.set_moment(Time(5'000'000));
  playback.play(kRange);
  EXPECT_EQ(playback.moment(), Time(5'000'000));
  playback.pause();
  playback.set_speed(99);
  EXPECT_EQ(playback.speed(), Playback::kFastest);
  playback.set_speed(-99);
  EXPECT_EQ(playback.speed(), Playback::kSlowest);
}

TEST(Playback, EventsAreStartsAndEndsOfSpans) {
  const auto trace = test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2));
  const std::vector<std::size_t> rows{0, 2, 3, 5};
  std::set<Time> events;
  for (const std::size_t row : rows) {
    const SpanRow& spans = trace->rows()[row].spans;
    for (SpanRow::Index i = 0; i < spans.size(); ++i) events.insert({spans.start(i), spans.end(i)});
  }
  Time t(-1);
  std::size_t steps = 0;
  for (const Time event : events) {
    EXPECT_EQ(next_event(*trace, rows, t), event);
    t = event;
    ++steps;
  }
  EXPECT_EQ(next_event(*trace, rows, t), core::kNever);
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    EXPECT_EQ(previous_event(*trace, rows, t + Time(event == events.rbegin() ? 1 : 0)), *event);
    t = *event;
  }
  EXPECT_EQ(previous_event(*trace, rows, t), core::kNever);
  EXPECT_GT(steps, 20u);
}

}  // namespace
}  // namespace tutti::gui
