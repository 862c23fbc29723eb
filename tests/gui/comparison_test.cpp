// Two timelines on one axis: names, rows, alignment and markers. The positions of spans are
// compared with those found by a search through all spans of both timelines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <sstream>

#include "core/timeline/writer.h"
#include "gui/trace/describe.h"
#include "gui/trace/layout.h"
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

TEST(Comparison, EverySpanIsShownOnceInItsLengthWithoutOverlaps) {
  for (const auto& [first, second] : pairs()) {
    for (const Align align : kAll) {
      const Comparison b = comparison(first, second, align);
      EXPECT_EQ(b.align, align);
      for (std::size_t side = 0; side < 2; ++side) {
        for_each_span(
            b, side, [&](const Trace::Row& row, SpanId own, const Span& span, SpanId here) {
              const Trace::Row& shown = b.trace->rows()[here.row];
              ASSERT_EQ(shown.spans.duration(here.index), span.duration);
              ASSERT_EQ(shown.spans.kind(here.index), span.kind);
              ASSERT_EQ(shown.spans.pack(here.index), span.pack);
              ASSERT_EQ(shown.track.kind, row.track.kind);
              ASSERT_EQ(shown.track.worker, row.track.worker);
              ASSERT_EQ(shown.track.device, row.track.device);
              ASSERT_EQ(shown.track.lane, row.track.lane);
              ASSERT_EQ(b.rows ? b.find(side, row.track.id, span.start) : std::nullopt, here);
              const auto read = b.trace->span(here.row, here.index);
              ASSERT_TRUE(read);
              ASSERT_EQ(read->index, span.index);
              ASSERT_EQ(read->start, shown.spans.start(here.index));
              static_cast<void>(own);
            });
      }
      for (const Trace::Row& row : b.trace->rows()) {
        for (SpanRow::Index i = 1; i < row.spans.size(); ++i)
          ASSERT_GE(row.spans.start(i), row.spans.end(i - 1));
      }
      std::int64_t bytes = 0, shown = 0;
      for (const std::int64_t bin : b.sources[1]->links().front().bins) bytes += bin;
      for (const std::int64_t bin : b.trace->sides()[1].links.front().bins) shown += bin;
      EXPECT_EQ(shown, bytes);
    }
  }
}

TEST(Comparison, AligningByStartMovesNothing) {
  for (const auto& [first, second] : pairs()) {
    const Comparison b = comparison(first, second, Align::kStart);
    for (std::size_t side = 0; side < 2; ++side) {
      for_each_span(b, side, [&](const Trace::Row&, SpanId, const Span& span, SpanId here) {
        ASSERT_EQ(b.trace->rows()[here.row].spans.start(here.index), span.start);
      });
    }
    EXPECT_THAT(b.trace->axis(), IsEmpty());
  }
}

std::map<std::int32_t, TimeRange> steps_of(const std::vector<core::StepRecord>& records) {
  std::map<std::int32_t, TimeRange> steps;
  for (const core::StepRecord& step : records) steps[step.step] = {step.start, step.end};
  return steps;
}

TEST(Comparison, AligningByStepMovesWholeStepsToACommonStart) {
  for (const auto& [first, second] : pairs()) {
    for (const Align align : {Align::kStep, Align::kPack}) {
      const Comparison b = comparison(first, second, align);
      const auto shown_a = steps_of(b.trace->sides()[0].steps),
                 shown_b = steps_of(b.trace->sides()[1].steps);
      std::set<std::int32_t> all;
      for (const auto& [step, range] : shown_a) all.insert(step);
      for (const auto& [step, range] : shown_b) all.insert(step);
      ASSERT_EQ(b.trace->axis().size(), all.size());
      Time end;
      std::size_t stretch = 0;
      for (const std::int32_t step : all) {
        const auto a = shown_a.find(step), other = shown_b.find(step);
        const Time begin = a != shown_a.end() ? a->second.from : other->second.from;
        if (a != shown_a.end() && other != shown_b.end()) {
          EXPECT_EQ(a->second.from, other->second.from);
        }
        EXPECT_GE(begin, end) << "steps do not overlap";
        EXPECT_EQ(b.trace->axis()[stretch].from, begin);
        EXPECT_EQ(b.trace->axis()[stretch].name, "step " + std::to_string(step));
        if (a != shown_a.end()) end = std::max(end, a->second.to);
        if (other != shown_b.end()) end = std::max(end, other->second.to);
        ++stretch;
      }
      for (std::size_t side = 0; side < 2; ++side) {
        const auto own = steps_of(b.sources[side]->steps());
        const auto& shown = side == 0 ? shown_a : shown_b;
        for_each_span(b, side, [&](const Trace::Row& row, SpanId, const Span& span, SpanId here) {
          if (align == Align::kPack && side == 1 && row.track.kind != TrackKind::kCompute) return;
          ASSERT_EQ(b.trace->rows()[here.row].spans.start(here.index) - span.start,
                    shown.at(span.step).from - own.at(span.step).from);
        });
        for (const auto& [step, range] : own) {
          EXPECT_EQ(b.alignment.delays[side].own(shown.at(step).from), range.from);
          const Time middle(range.length().count() / 2);
          EXPECT_EQ(b.alignment.delays[side].own(shown.at(step).from + middle),
                    range.from + middle);
        }
      }
    }
  }
}

TEST(Comparison, AligningByPackMovesWholePacksToACommonStart) {
  for (const auto& [first, second] : pairs()) {
    const Comparison b = comparison(first, second, Align::kPack);
    std::map<std::pair<std::int32_t, std::int32_t>, Time> begins;
    for (const core::PackRecord& pack : b.trace->sides()[0].packs)
      begins[{pack.step, pack.pack}] = pack.last_start;
    std::map<std::int32_t, std::int32_t> numbers;
    for (const auto& [a, other] : b.packs) numbers[other] = a;
    std::map<std::pair<std::int32_t, std::int32_t>, Time> moves;
    int aligned = 0;
    for (std::size_t p = 0; p < b.trace->sides()[1].packs.size(); ++p) {
      const core::PackRecord& pack = b.trace->sides()[1].packs[p];
      moves[{pack.step, pack.pack}] = pack.last_start - b.sources[1]->packs()[p].last_start;
      const auto number = numbers.find(pack.pack);
      if (number == numbers.end() || !begins.contains({pack.step, number->second})) continue;
      ++aligned;
      EXPECT_EQ(pack.last_start, begins.at({pack.step, number->second}));
    }
    EXPECT_GT(aligned, 0);
    for_each_span(b, 1, [&](const Trace::Row& row, SpanId, const Span& span, SpanId here) {
      if (row.track.kind == TrackKind::kCompute) return;
      ASSERT_EQ(b.trace->rows()[here.row].spans.start(here.index) - span.start,
                moves.at({span.step, span.pack}));
    });
  }
}

TEST(Comparison, RowsAreArrangedInPairsOrByTimeline) {
  const Comparison b = comparison(pairs()[2].first, pairs()[2].second, Align::kStep);
  for (const Arrangement arrangement : {Arrangement::kPairs, Arrangement::kSides}) {
    Layout layout(*b.trace, arrangement);
    layout.open_all(true);
    std::set<std::string> keys;
    std::set<std::size_t> rows;
    for (std::size_t i = 0; i < layout.lines().size(); ++i) {
      const Line& line = layout.lines()[i];
      EXPECT_TRUE(keys.insert(line.key).second) << line.key;
      if (line.kind != Line::Kind::kSpans) continue;
      EXPECT_TRUE(rows.insert(line.rows.front()).second);
      EXPECT_EQ(layout.line_of_row(line.rows.front()), i);
      const Trace::Row& row = b.trace->rows()[line.rows.front()];
      if (arrangement == Arrangement::kPairs && row.side == 1 && row.track.worker < 2) {
        const Trace::Row& above = b.trace->rows()[layout.lines()[i - 1].rows.front()];
        EXPECT_EQ(above.side, 0u);
        EXPECT_EQ(above.name, row.name);
        EXPECT_EQ(above.track.device, row.track.device);
      } else if (arrangement == Arrangement::kSides) {
        EXPECT_TRUE(line.key.starts_with(row.timeline + '/')) << line.key;
      }
    }
    EXPECT_EQ(rows.size(), b.trace->rows().size());
  }
}

TEST(Comparison, TimelinesAreNamedByTheirExecutors) {
  core::RunInfo a, b;
  a.executor = "simulated";
  b.executor = "tcp, processes of this machine";
  using Names = std::array<std::string, 2>;
  EXPECT_EQ(names_of(a, b, {"x", "y"}), (Names{"simulated", "real"}));
  b.executor = "emulated over tcp";
  EXPECT_EQ(names_of(a, b, {"x", "y"}), (Names{"simulated", "emulated"}));
  b.executor = "simulated";
  EXPECT_EQ(names_of(a, b, {"f/x.tutti", "f/y.tutti"}), (Names{"x.tutti", "y.tutti"}));
  EXPECT_EQ(names_of(a, b, {"f/x", "g/x"}), (Names{"f/x", "g/x"}));
  EXPECT_EQ(names_of(a, b, {"x", "x"}), (Names{"first", "second"}));
  // Long names are reduced to the part that differs, because rows have no room for more.
  EXPECT_EQ(
      names_of(a, b, {"f/04_resnet50_ring (run 2).tutti", "f/04_resnet50_ring (run 13).tutti"}),
      (Names{"run 2", "run 13"}));
  EXPECT_EQ(names_of(a, b, {"runs/monday/resnet50.tutti", "runs/tuesday/resnet50.tutti"}),
            (Names{"monday", "tuesday"}));
  EXPECT_EQ(names_of(a, b, {"a_long_name_it_is.tutti", "a_long_name.tutti"}),
            (Names{"name_it_is", "name"}));
  a.strategy = "ring, bytes_per_pack 5, mean";
  b.strategy = "pscpu, bytes_per_pack 5, mean";
  EXPECT_EQ(names_of(a, b, {"x", "y"}), (Names{"ring", "pscpu"}));
}

TEST(Comparison, DifferencesAreReported) {
  Recipe a, b;
  EXPECT_THAT(comparison(a, a, Align::kStep).differences, IsEmpty());
  b.executor = "tcp";
  b.workers = 3;
  b.steps = 2;
  b.links = false;
  b.packs = {"a", "z"};
  const std::vector<std::string> said = comparison(a, b, Align::kStep).differences;
  EXPECT_THAT(said, Contains("real alone has worker 2"));
  EXPECT_THAT(said, Contains("simulated alone has training step 2"));
  EXPECT_THAT(said, Contains("real has no load of links"));
  EXPECT_THAT(said, Contains(HasSubstr("1 of the 4 packs in simulated")));
}

TEST(Comparison, AligningCanBeStopped) {
  const Recipe a, b;
  const std::atomic<bool> stop{true};
  for (const Align align : {Align::kStart, Align::kStep, Align::kPack}) {
    EXPECT_FALSE(compare_traces(made(a), made(b), align, {"a", "b"}, stop).trace);
    EXPECT_TRUE(compare_traces(made(a), made(b), align, {"a", "b"}).trace);
  }
}

TEST(Comparison, UnrelatedTimelinesAreAlignedByStartWithANote) {
  Recipe a, b;
  a.workers = 1;
  a.packs = {"a"};
  b.packs = {"z"};
  b.first_step = 7;
  b.executor = "tcp";
  std::string bytes = bytes_of(b);
  const Comparison shown = compare_traces(made(a), trace_of(bytes), Align::kPack, {"a", "b"});
  EXPECT_EQ(shown.align, Align::kStart);
  EXPECT_THAT(shown.differences, Contains(testing::ContainsRegex("by start, .*by pack")));
  EXPECT_EQ(shown.trace->sides().size(), 2u);
  EXPECT_THAT(shown.steps, IsEmpty());
  // The second timeline has nothing in common with the first.
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.end();
  const Comparison empty = compare_traces(made(a), trace_of(out.str()), Align::kStep, {"a", "b"});
  EXPECT_THAT(empty.differences, Contains(HasSubstr("no device and no pack in common")));
  EXPECT_EQ(empty.trace->spans(), made(a)->spans());
}

TEST(Comparison, ShowsTheReadablePartOfTruncatedAndDamagedFiles) {
  Recipe a, b;
  b.seed = 9;
  b.steps = 2;
  b.workers = 1;
  const std::string bytes = bytes_of(b);
  const auto whole = made(a);
  int shown = 0;
  const auto look = [&](const std::string& damaged) {
    const auto trace = Trace::from_bytes(damaged, "d");
    if (!trace) return;
    for (const Align align : kAll) {
      for (const auto& [first, second] :
           {std::pair(whole, *trace), std::pair(*trace, whole), std::pair(*trace, *trace)}) {
        const Comparison both = compare_traces(first, second, align, {"a", "b"});
        EXPECT_EQ(both.trace->spans(), first->spans() + second->spans());
        for (const Trace::Row& row : both.trace->rows()) {
          for (SpanRow::Index i = 0; i < row.spans.size(); ++i) {
            ASSERT_GE(row.spans.start(i), i > 0 ? row.spans.end(i - 1) : Time());
          }
        }
        for (std::size_t r = 0; r < both.trace->rows().size(); ++r) {
          if (both.trace->rows()[r].spans.size() > 0)
            static_cast<void>(facts_of_span(*both.trace, r, 0));
        }
        static_cast<void>(facts_of_run(*both.trace));
        static_cast<void>(Layout(*both.trace));
        ++shown;
      }
    }
  };
  for (std::size_t length = 8; length < bytes.size(); length += bytes.size() / 40)
    look(bytes.substr(0, length));
  for (std::size_t at = 8; at < bytes.size(); at += bytes.size() / 150) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    look(damaged);
  }
  EXPECT_GT(shown, 100);
}

TEST(Comparison, DetailsHaveTheOriginalTimesOfBothTimelines) {
  const Comparison b = comparison(pairs()[1].first, pairs()[1].second, Align::kPack);
  int compared_times = 0;
  for_each_span(b, 1, [&](const Trace::Row& row, SpanId own, const Span& span, SpanId here) {
    if (row.track.kind != TrackKind::kPacks || span.step != 2) return;
    const auto facts = facts_of_span(*b.trace, here.row, here.index);
    const auto of_file = facts_of_span(*b.sources[1], own.row, own.index);
    ASSERT_TRUE(facts && of_file);
    for (const auto& fact : *of_file) EXPECT_THAT(*facts, Contains(fact));
    EXPECT_THAT(*facts, Contains(Facts::value_type("timeline", "real")));
    EXPECT_THAT(*facts, Contains(testing::Key("difference")));
    EXPECT_THAT(*facts, Contains(testing::Key("simulated")));
    ++compared_times;
  });
  EXPECT_GT(compared_times, 0);
  EXPECT_EQ(moment(*b.trace, b.trace->axis()[1].from + core::microseconds(5)),
            "step 1 + 0.005000 ms");
}

}  // namespace
}  // namespace tutti::gui
