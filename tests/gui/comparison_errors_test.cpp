// Compares two timelines on one axis. The pairs of equal spans and their differences must equal
// those found by a search through all spans of both timelines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <tuple>

#include "core/plan/compute_kind.h"
#include "gui/comparison/deviations.h"
#include "gui/trace/messages.h"
#include "tests/gui/made_pairs.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackKind;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// Identifies a span by properties that are the same in both timelines.
using Key = std::tuple<std::int32_t, std::string, TrackKind, std::int32_t, std::int32_t,
                       std::int32_t, std::string, std::int64_t>;
Key key_of(const Trace& own, const Trace::Row& row, const Span& span) {
  const bool lane = row.track.kind == TrackKind::kLane;
  const std::string pack = span.pack < 0 ? "" : own.run().packs[span.pack].gradients.front();
  const bool backward = span.kind == SpanKind::kFirstCompute +
                                         static_cast<std::int32_t>(core::ComputeKind::kBackward);
  const std::string layer = backward ? own.run().layers[span.index] : "";
  return {row.track.worker, row.track.device, row.track.kind, row.track.lane,
          span.step,        span.kind,        pack + layer,   lane ? span.index : 0};
}

TEST(Comparison, PartnersAreTheMatchingSpansOfTheOtherTimeline) {
  for (const auto& [first, second] : pairs()) {
    for (const Align align : kAll) {
      const Comparison b = comparison(first, second, align);
      std::array<std::map<Key, SpanId>, 2> shown;
      for (std::size_t side = 0; side < 2; ++side) {
        for_each_span(b, side, [&](const Trace::Row& row, SpanId, const Span& span, SpanId here) {
          shown[side][key_of(*b.sources[side], row, span)] = here;
        });
      }
      int found = 0;
      for (std::size_t side = 0; side < 2; ++side) {
        for (const auto& [key, here] : shown[side]) {
          const auto other = shown[1 - side].find(key);
          const std::vector<SpanId> partners = b.trace->parts()->partners(here);
          const auto expected =
              other == shown[1 - side].end() ? std::vector<SpanId>() : std::vector{other->second};
          ASSERT_EQ(partners, expected);
          found += !partners.empty();
        }
      }
      EXPECT_GT(found, 20);
    }
  }
}

TEST(Comparison, MessagesConnectTheSpansOfTheFile) {
  for (const Align align : kAll) {
    const Comparison b = comparison(pairs()[2].first, pairs()[2].second, align);
    for (std::size_t side = 0; side < 2; ++side) {
      for_each_span(b, side, [&](const Trace::Row&, SpanId own, const Span& span, SpanId here) {
        if (span.peer == core::kNoTrack || span.index != 1) return;
        const auto there = message_into(*b.sources[side], own);
        const auto shown = message_into(*b.trace, here);
        ASSERT_TRUE(there && *there && shown && *shown);
        const auto [source, from] = b.trace->parts()->origin((*shown)->from);
        ASSERT_EQ(from, (*there)->from);
      });
    }
  }
}

TEST(Comparison, ErrorsMatchThoseOfEverySpanAndRecord) {
  const std::atomic<bool> go{false};
  for (const auto& [first, second] : pairs()) {
    const std::string bytes_a = bytes_of(first), bytes_b = bytes_of(second);
    const Comparison b =
        compare_traces(trace_of(bytes_a), trace_of(bytes_b), Align::kStep, {"a", "b"});
    const auto reader_a = core::TimelineReader::from_bytes(bytes_a, "a"),
               reader_b = core::TimelineReader::from_bytes(bytes_b, "b");
    std::multiset<std::int64_t> expected, got;
    for_each_span(b, 0, [&](const Trace::Row&, SpanId own, const Span& span, SpanId here) {
      const std::vector<SpanId> partners = b.trace->parts()->partners(here);
      if (partners.empty()) return;
      const auto [other, its] = b.trace->parts()->origin(partners.front());
      const auto theirs = other->span(its.row, its.index);
      ASSERT_TRUE(theirs);
      expected.insert(
          std::abs((theirs->duration - theirs->wait - (span.duration - span.wait)).count()));
      static_cast<void>(own);
    });
    const auto all = largest_deviations(*reader_a, *reader_b, b.steps, b.packs, 1'000'000, go);
    ASSERT_TRUE(all);
    for (const Deviation& d : *all) {
      if (d.sort == Deviation::Sort::kSpan) got.insert(std::abs(d.time.difference().count()));
      if (d.sort == Deviation::Sort::kSpan) {
        const auto span = b.find(0, d.track, d.start);
        ASSERT_TRUE(span);
        EXPECT_EQ(core::span_name(b.trace->rows()[span->row].spans.kind(span->index)), d.what);
      } else if (d.sort == Deviation::Sort::kPack) {
        const auto span = b.find_pack(d.step, d.pack);
        ASSERT_TRUE(span);
        EXPECT_EQ(b.trace->rows()[span->row].spans.pack(span->index), d.pack);
      } else {
        EXPECT_TRUE(b.find_step(d.step));
      }
    }
    EXPECT_EQ(got, expected);
    for (std::size_t i = 1; i < all->size(); ++i)
      ASSERT_GE(std::abs((*all)[i - 1].time.difference().count()),
                std::abs((*all)[i].time.difference().count()));
    // Also checks the largest differences, for a limited number.
    const auto few = largest_deviations(*reader_a, *reader_b, b.steps, b.packs, 5, go);
    ASSERT_TRUE(few);
    std::multiset<std::int64_t> largest;
    for (const Deviation& d : *few) {
      if (d.sort == Deviation::Sort::kSpan) largest.insert(std::abs(d.time.difference().count()));
    }
    EXPECT_EQ(largest, std::multiset<std::int64_t>(std::prev(expected.end(), 5), expected.end()));
    for (const DifferenceRow& row : b.trace->differences()) {
      for (const Difference& d : row.differences) EXPECT_FALSE(d.at.from > d.at.to);
    }
    const std::atomic<bool> stop{true};
    EXPECT_FALSE(largest_deviations(*reader_a, *reader_b, b.steps, b.packs, 5, stop));
  }
}

}  // namespace
}  // namespace tutti::gui
