// The pixels of a row must equal those computed from every span for every pixel.

#include "gui/paint/row_raster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/random.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/writer.h"
#include "gui/paint/utilisation.h"
#include "gui/trace/trace.h"

namespace tutti::gui {
namespace {

using core::Random;
using core::Span;
using core::Time;

SpanRow random_row(Random& random, std::size_t count, unsigned longest_bits) {
  SpanRow row;
  Time at(static_cast<std::int64_t>(random.below(1000)));
  for (std::size_t i = 0; i < count; ++i) {
    Span span;
    span.start = at;
    span.duration = Time(static_cast<std::int64_t>(
        random.below(5) == 0 ? 0 : random.below(1u << random.below(longest_bits))));
    span.kind = static_cast<std::int32_t>(random.below(50));
    at = span.start + span.duration +
         Time(static_cast<std::int64_t>(random.below(2) == 0 ? random.below(5000) : 0));
    row.add(span);
  }
  row.finish();
  return row;
}

/// Computes the columns in the obvious way.
std::vector<Column> every_span(const SpanRow& row, const TimeRange& range, int width) {
  std::vector<Column> columns(static_cast<std::size_t>(width));
  for (int x = 0; x < width; ++x) {
    const Time begin = time_at(range, x, width), end = time_at(range, x + 1, width);
    int touching = 0;
    SpanRow::Index longest = 0;
    Time covered;
    for (SpanRow::Index i = 0; i < row.size(); ++i) {
      const bool starts_here = row.start(i) >= begin && row.start(i) < end;
      const bool reaches_in = row.start(i) < begin && row.end(i) > begin;
      if (!starts_here && !reaches_in) continue;
      if (touching++ == 0 || row.duration(i) > row.duration(longest)) longest = i;
      covered += std::min(row.end(i), end) - std::max(row.start(i), begin);
    }
    if (touching == 0) continue;
    Column& column = columns[x];
    column.kind = static_cast<std::uint8_t>(row.kind(longest));
    const double share =
        static_cast<double>(covered.count()) / static_cast<double>((end - begin).count());
    column.filled =
        touching == 1 ? Column::kFull
                      : static_cast<std::uint16_t>(std::clamp(share * Column::kFull, 1.0, 65535.0));
  }
  return columns;
}

void expect_every_span(const SpanRow& row, const TimeRange& range, int width, int round) {
  const std::vector<Column> columns = RowRaster(range, width).columns_of(row);
  const auto expected = every_span(row, range, width);
  for (std::size_t x = 0; x < columns.size(); ++x) {
    ASSERT_EQ(columns[x].kind, expected[x].kind) << "case " << round << ", pixel " << x;
    ASSERT_EQ(columns[x].filled, expected[x].filled) << "case " << round << ", pixel " << x;
  }
}

TEST(RowRaster, MatchesAnExhaustiveSearchForEveryPixel) {
  Random random(3);
  for (int i = 0; i < 400; ++i) {
    const SpanRow row =
        random_row(random, random.below(400), 4 + static_cast<unsigned>(random.below(12)));
    const std::int64_t length = row.size() == 0 ? 5000 : row.end(row.size() - 1).count() + 2000;
    const int width = 1 + static_cast<int>(random.below(300));
    const Time from(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(length))));
    const Time to =
        from + Time(width + static_cast<std::int64_t>(random.below(1u << random.below(22))));
    expect_every_span(row, {from, to}, width, i);
  }
}

/// Uses one to thousands of spans per pixel, so that every level of the index is used.
TEST(RowRaster, MatchesAnExhaustiveSearchForManySpansOnFewPixels) {
  Random random(6);
  for (int i = 0; i < 60; ++i) {
    const SpanRow row = random_row(random, 20'000, 3 + static_cast<unsigned>(random.below(12)));
    const std::int64_t length = row.end(row.size() - 1).count();
    const Time from(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(length / 4))));
    const Time to = from + Time(length / 2 + static_cast<std::int64_t>(
                                                 random.below(static_cast<std::uint64_t>(length))));
    expect_every_span(row, {from, to}, 1 << random.below(9), i);
  }
}

TEST(RowRaster, AdjacentSpansOfAtLeastFourPixelsHaveABorder) {
  for (const std::int64_t length : {3'000, 4'000, 4'010, 4'300, 4'999, 5'500, 25'300}) {
    SpanRow row;
    for (std::int64_t at = 0; at + length <= 400'000; at += length) {
      Span span;
      span.start = Time(at);
      span.duration = Time(length);
      span.kind = 1;
      row.add(span);
    }
    row.finish();
    constexpr int kWidth = 400;
    RowRaster raster({Time(), Time(400'000)}, kWidth);
    const auto& columns = raster.columns_of(row);
    const auto borders =
        std::count_if(columns.begin(), columns.end(), [](const Column& c) { return c.begins; });
    if (length >= 4'000) {
      EXPECT_EQ(borders, row.size()) << length << " thousandths of a pixel";
    } else {
      EXPECT_EQ(borders, 0) << "narrower spans would be borders only";
    }
  }
}

TEST(RowRaster, TheWaitingPartOfASpanIsDistinguished) {
  SpanRow row;
  Span span;
  span.duration = Time(100'000);
  span.wait = Time(40'000);
  row.add(span);
  row.finish();
  EXPECT_NEAR(static_cast<double>(row.wait(0).count()), 40'000, 400);
  RowRaster raster({Time(), Time(100'000)}, 100);
  const auto& columns = raster.columns_of(row);
  for (std::size_t x = 0; x < columns.size(); ++x)
    EXPECT_EQ(columns[x].waits, x < 39 || (x == 39 && row.wait(0) >= Time(40'000))) << x;
  SpanLooks looks;
  looks.fill({0xff0000ff, 0, 8, 0xff8888ff});
  EXPECT_EQ(fill_of(columns[20], looks, 8).colour, 0xff8888ffu);
  EXPECT_EQ(fill_of(columns[60], looks, 8).colour, 0xff0000ffu);
}

TEST(RowRaster, PixelsAndTimesConvertBothWays) {
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    const int width = 1 + static_cast<int>(random.below(4000));
    const Time from(static_cast<std::int64_t>(random.below(std::uint64_t{1} << random.below(61))));
    const TimeRange range{from, from + Time(width + static_cast<std::int64_t>(random.below(
                                                        std::uint64_t{1} << random.below(61))))};
    EXPECT_EQ(time_at(range, 0, width), range.from);
    EXPECT_EQ(time_at(range, width, width), range.to);
    const int x = static_cast<int>(random.below(static_cast<std::uint64_t>(width)));
    EXPECT_EQ(pixel_at(range, time_at(range, x, width), width), x);
    EXPECT_EQ(pixel_at(range, time_at(range, x + 1, width) - Time(1), width), x);
    EXPECT_EQ(pixel_at(range, range.from - Time(1), width), -1);
    EXPECT_EQ(pixel_at(range, range.to, width), width);
  }
}

TEST(RowRaster, FillsAPixelInProportionToItsCoverage) {
  SpanLooks looks;
  looks.fill({0xff0000ff, 0, 8});
  looks[1] = {0xff00ff00, 0, 4};
  const std::vector<Column> columns{{0, false, false, Column::kFull},
                                    {},
                                    {1, false, false, Column::kFull},
                                    {0, false, false, 1},
                                    {0, false, false, Column::kFull / 2}};
  constexpr int kHeight = 8;
  std::vector<Pixel> pixels(columns.size() * kHeight, 7);
  draw_columns(columns, looks, pixels.data(), std::ssize(columns), kHeight);
  const auto filled = [&](std::size_t x) {
    std::string lines;
    for (std::size_t y = 0; y < kHeight; ++y)
      lines += pixels[y * columns.size() + x] == 7 ? '.' : '#';
    return lines;
  };
  EXPECT_EQ(filled(0), "########");
  EXPECT_EQ(filled(1), "........") << "what is behind stays";
  EXPECT_EQ(filled(2), "####....");
  EXPECT_EQ(filled(3), ".......#") << "any coverage is visible";
  EXPECT_EQ(filled(4), "....####");
  EXPECT_EQ(pixels[0], 0xff0000ff);
  EXPECT_EQ(pixels[2], 0xff00ff00);
}

TEST(Utilisation, ADeviceThatWaitsForItsHostIsNotBusy) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, core::TrackKind::kCompute, 0, "gpu0", 0, 0});
  const auto add = [&](std::int64_t from, std::int64_t to, core::ComputeKind kind) {
    core::Span span;
    span.start = Time(from);
    span.duration = Time(to - from);
    span.kind = core::SpanKind::kFirstCompute + static_cast<int>(kind);
    writer.span(0, span);
  };
  add(0, 100, core::ComputeKind::kForward);
  add(100, 300, core::ComputeKind::kHostGap);
  add(300, 375, core::ComputeKind::kForward);  // a pixel with both
  add(375, 400, core::ComputeKind::kHostGap);
  add(500, 600, core::ComputeKind::kForward);
  writer.end();
  const auto trace = Trace::from_bytes(out.str(), "t");
  ASSERT_TRUE(trace);
  const TimeRange range{Time(0), Time(600)};
  RowRaster raster(range, 6);
  std::vector<double> sums(6);
  add_busy_shares((*trace)->rows().front(), range, raster, sums);
  const std::vector<double> expected{1, 0, 0, 0.75, 0, 1};
  EXPECT_THAT(sums, testing::Pointwise(testing::DoubleNear(1e-3), expected));
}

}  // namespace
}  // namespace tutti::gui
