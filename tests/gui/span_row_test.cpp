// The index of a row must give the same results as a search through all spans.

#include "gui/trace/span_row.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/random.h"

namespace tutti::gui {
namespace {

using core::Random;
using core::Span;
using core::Time;
using Index = SpanRow::Index;

/// Returns spans with and without gaps, of length zero and of very different lengths.
std::vector<Span> random_spans(Random& random, std::size_t count) {
  std::vector<Span> spans;
  Time at(static_cast<std::int64_t>(random.below(100)));
  for (std::size_t i = 0; i < count; ++i) {
    Span span;
    span.start = at;
    span.duration = Time(
        static_cast<std::int64_t>(random.below(4) == 0 ? 0 : random.below(1u << random.below(16))));
    span.kind = static_cast<std::int32_t>(random.below(50));
    span.pack = static_cast<std::int32_t>(random.below(5)) - 1;
    at = span.start + span.duration +
         Time(static_cast<std::int64_t>(random.below(3) == 0 ? random.below(1000) : 0));
    spans.push_back(span);
  }
  return spans;
}

SpanRow row_of(const std::vector<Span>& spans) {
  SpanRow row;
  for (const Span& span : spans) row.add(span);
  row.finish();
  return row;
}

TEST(SpanRow, StoresLayersOnlyForTheBackwardPass) {
  SpanRow row;
  const std::int32_t compute = core::SpanKind::kFirstCompute;
  std::int64_t at = 0;
  const auto add = [&](std::int32_t kind, std::int32_t pack, std::int64_t index) {
    Span span;
    span.start = Time(at++);
    span.duration = Time(1);
    span.kind = kind;
    span.pack = pack;
    span.index = index;
    row.add(span);
    return std::pair(row.pack(row.size() - 1), row.layer(row.size() - 1));
  };
  EXPECT_EQ(add(compute + 1, -1, 0), std::pair(-1, 0));
  EXPECT_EQ(add(compute + 1, -1, 777), std::pair(-1, 777));
  EXPECT_EQ(add(compute, -1, 3), std::pair(-1, -1)) << "forward";
  EXPECT_EQ(add(compute + 1, 5, 3), std::pair(5, -1));
  EXPECT_EQ(add(0, 0, 3), std::pair(0, -1));
  EXPECT_EQ(add(compute + 1, -1, -1), std::pair(-1, -1));
  EXPECT_EQ(add(compute + 1, -1, std::int64_t{1} << 40), std::pair(-1, -1)) << "of a made-up file";
}

TEST(SpanRow, ReturnsTheSpansThatWereAdded) {
  Random random(1);
  const auto spans = random_spans(random, 1000);
  const SpanRow row = row_of(spans);
  ASSERT_EQ(row.size(), spans.size());
  for (Index i = 0; i < row.size(); ++i) {
    EXPECT_EQ(row.start(i), spans[i].start);
    EXPECT_EQ(row.duration(i), spans[i].duration);
    EXPECT_EQ(row.kind(i), spans[i].kind);
    EXPECT_EQ(row.pack(i), spans[i].pack);
  }
}

TEST(SpanRow, QueriesMatchAnExhaustiveSearch) {
  Random random(2);
  for (const std::size_t count : {0u, 1u, 2u, 63u, 64u, 65u, 500u, 4096u, 4097u, 9000u}) {
    const auto spans = random_spans(random, count);
    const SpanRow row = row_of(spans);
    const std::int64_t length =
        spans.empty() ? 100 : (spans.back().start + spans.back().duration).count() + 10;
    for (int i = 0; i < 300; ++i) {
      const Time from(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(length))));
      const Time to = from + Time(static_cast<std::int64_t>(random.below(1u << random.below(20))));
      Time busy;
      Index first = 0, covers = static_cast<Index>(count);
      for (Index s = 0; s < count; ++s) {
        const Time end = spans[s].start + spans[s].duration;
        busy += std::max(Time(), std::min(end, to) - std::max(spans[s].start, from));
        if (spans[s].start < from) first = s + 1;
        if (spans[s].start <= from && end > from) covers = s;
      }
      EXPECT_EQ(row.busy(from, to), busy)
          << count << " spans, " << from.count() << " to " << to.count();
      EXPECT_EQ(row.first_from(from), first);
      EXPECT_EQ(row.at(from), covers);
      if (count == 0) continue;
      const auto a = static_cast<Index>(random.below(count)),
                 b = static_cast<Index>(random.below(count));
      const Index low = std::min(a, b), high = std::max(a, b) + 1;
      Index longest = low;
      for (Index s = low; s < high; ++s) {
        if (spans[s].duration > spans[longest].duration) longest = s;
      }
      EXPECT_EQ(row.longest(low, high), longest) << count << " spans, " << low << " to " << high;
    }
  }
}

TEST(SpanRow, OverlappingSpansOfADamagedFileAreMadeConsecutive) {
  SpanRow row;
  Span span;
  span.start = Time(100);
  span.duration = Time(50);
  row.add(span);
  span.start = Time(120);
  span.duration = Time(100);
  row.add(span);
  span.start = Time(10);
  span.duration = Time(5);
  row.add(span);
  row.finish();
  EXPECT_EQ(row.start(1), Time(150));
  EXPECT_EQ(row.end(1), Time(220));
  EXPECT_EQ(row.start(2), Time(220));
  EXPECT_EQ(row.duration(2), Time());
}

}  // namespace
}  // namespace tutti::gui
