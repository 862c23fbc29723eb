// Finds the spans of a row that have room for a text.

#include "gui/paint/row_texts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"

namespace tutti::gui {
namespace {

using core::Random;
using core::Span;
using core::Time;

constexpr std::int64_t kPixel = 1000;  // picoseconds

struct Piece {
  std::int64_t gap = 0, length = 0;  ///< gap before the span, and length, in 1/1000 pixel
  int kind = 0;
};

SpanRow row_of(const std::vector<Piece>& pieces) {
  SpanRow row;
  Time at;
  for (const Piece& piece : pieces) {
    Span span;
    span.start = at + Time(piece.gap);
    span.duration = Time(piece.length);
    span.kind = piece.kind;
    at = span.start + span.duration;
    row.add(span);
  }
  row.finish();
  return row;
}

RowTexts texts(const SpanRow& row, int width, int scale = 1) {
  RowRaster raster({Time(), Time(width * kPixel)}, width * scale);
  raster.columns_of(row);
  return texts_of(raster, scale);
}

TEST(RowTexts, EverySpanThatIsWideEnoughHasOneText) {
  Random random(21);
  for (int round = 0; round < 200; ++round) {
    std::vector<Piece> pieces;
    for (int i = 0; i < 80; ++i) {
      const auto below = [&](std::uint64_t most) {
        return static_cast<std::int64_t>(random.below(most));
      };
      // Lengths are zero, less than a pixel, or up to 60 pixels. Many spans start at a pixel's
      // edge.
      const std::int64_t length = random.below(4) == 0   ? 0
                                  : random.below(2) == 0 ? below(kPixel)
                                                         : below(60) * kPixel;
      pieces.push_back({random.below(2) == 0 ? 0 : below(3 * kPixel), length,
                        static_cast<int>(random.below(5))});
    }
    const SpanRow row = row_of(pieces);
    constexpr int kWidth = 900;
    const TimeRange range{Time(), Time(kWidth * kPixel)};
    for (const int scale : {1, 2}) {
      const RowTexts found = texts(row, kWidth, scale);
      ASSERT_TRUE(std::is_sorted(found.wide.begin(), found.wide.end()));
      for (SpanRow::Index i = 0; i < row.size(); ++i) {
        const int from = pixel_at(range, row.start(i), kWidth),
                  to = pixel_at(range, row.end(i), kWidth);
        const auto times = std::count(found.wide.begin(), found.wide.end(), i);
        ASSERT_LE(times, 1);
        if (to - from >= kNarrowText) {
          ASSERT_EQ(times, 1) << "round " << round << ", span " << i;
        }
      }
    }
  }
}

/// Returns `count` spans, each a third of a pixel long. The kind alternates every three pixels.
std::vector<Piece> short_ones(int count, std::int64_t gap, int kind, int other_kind) {
  std::vector<Piece> pieces;
  for (int i = 0; i < count; ++i)
    pieces.push_back({gap, kPixel / 3, i % 18 < 9 ? kind : other_kind});
  return pieces;
}

TEST(RowTexts, ManyShortSpansOfOneKindHaveOneText) {
  EXPECT_TRUE(texts(row_of(short_ones(900, 0, 4, 4)), 300).wide.empty());
  const std::vector<RowTexts::Run> all{{0, 300, 4}};
  EXPECT_EQ(texts(row_of(short_ones(900, 0, 4, 4)), 300).runs, all);
  EXPECT_EQ(texts(row_of(short_ones(900, 0, 4, 4)), 300, 2).runs, all)
      << "at twice the scale the same";
}

TEST(RowTexts, ACommonTextIsOnlyForAKindThatTakesMostOfTheTime) {
  // Each pixel contains one long span of kind 1 and five short spans of kind 2, which take more
  // time together. The picture shows only kind 1, the kind of the longest span.
  std::vector<Piece> mixed, pure;
  for (int pixel = 0; pixel < 400; ++pixel) {
    mixed.push_back({0, kPixel * 4 / 10, 1});
    for (int i = 0; i < 5; ++i) mixed.push_back({0, kPixel * 12 / 100, 2});
    for (int i = 0; i < 4; ++i) pure.push_back({0, kPixel / 4, 1});
  }
  const TimeRange all{Time(), Time(400 * kPixel)};
  EXPECT_FALSE(is_mostly(row_of(mixed), all, 1));
  EXPECT_FALSE(is_mostly(row_of(mixed), all, 2));
  EXPECT_TRUE(is_mostly(row_of(pure), all, 1));
  EXPECT_FALSE(is_mostly(row_of(pure), all, 2));
  EXPECT_FALSE(is_mostly(row_of({}), all, 1)) << "no span";
}

TEST(RowTexts, ShortSpansOfAlternatingKindsOrWithGapsHaveNoText) {
  EXPECT_TRUE(texts(row_of(short_ones(900, 0, 4, 5)), 300).runs.empty())
      << "each kind is of too few pixels";
  EXPECT_TRUE(texts(row_of(short_ones(60, 5 * kPixel, 4, 4)), 300).runs.empty())
      << "most of it is empty";
  EXPECT_TRUE(texts(row_of(short_ones(90, 0, 4, 4)), 300).runs.empty()) << "30 pixels are too few";
}

TEST(RowTexts, SpansWithABorderHaveTheirOwnTextOrNone) {
  std::vector<Piece> pieces;
  for (int i = 0; i < 13; ++i) pieces.push_back({0, 25 * kPixel, 4});
  const RowTexts found = texts(row_of(pieces), 325);
  EXPECT_TRUE(found.runs.empty()) << "thirteen spans are not one";
  EXPECT_TRUE(found.wide.empty());
}

TEST(RowTexts, NoTextExtendsOverAGap) {
  std::vector<Piece> pieces = short_ones(180, 0, 4, 4);
  pieces.push_back({3 * kPixel, kPixel / 3, 4});
  for (const Piece& piece : short_ones(180, 0, 4, 4)) pieces.push_back(piece);
  for (const RowTexts::Run& run : texts(row_of(pieces), 123).runs)
    EXPECT_TRUE(run.to <= 60 || run.from >= 63) << run.from << " to " << run.to;
}

TEST(RowTexts, AWideSpanEndsAGroupOfShortSpans) {
  std::vector<Piece> pieces = short_ones(450, 0, 4, 4);
  pieces.push_back({0, 60 * kPixel, 4});
  for (const Piece& piece : short_ones(300, 0, 4, 4)) pieces.push_back(piece);
  const RowTexts found = texts(row_of(pieces), 300);
  EXPECT_EQ(found.wide, std::vector<SpanRow::Index>{450});
  const std::vector<RowTexts::Run> runs{{0, 150, 4}, {210, 300, 4}};
  EXPECT_EQ(found.runs, runs);
}

}  // namespace
}  // namespace tutti::gui
