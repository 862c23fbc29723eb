// Two timelines on one axis: what is where, what is the same, and how far apart, against looking at every span of both.

#include "gui/model/beside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "core/base/random.h"
#include "core/strategy/driver.h"
#include "core/timeline/writer.h"
#include "gui/model/describe.h"
#include "gui/model/deviations.h"
#include "gui/model/layout.h"
#include "gui/model/messages.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackKind;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// What is to be made up.
struct Recipe {
  std::uint64_t seed = 1;
  int workers = 2;
  int steps = 3;
  int first_step = 0;
  std::vector<std::string> packs{"a", "b", "c", "d"};
  std::vector<std::string> layers{"l1", "l2", "l3"};
  std::string executor = "simulated";
  std::string strategy = "ring, mean";
  bool links = true;
  int longest_us = 400;  ///< of a piece of computation; packs take up to three times as long
};

Time random_time(core::Random& random, int most_us) {
  return Time(1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_us) * 1'000'000)));
}

/// One device's step: computation, packs in two slots that overlap, each with the steps of two lanes.
class Device {
 public:
  Device(core::TimelineWriter& writer, core::TrackId first, std::int32_t worker, const std::string& name)
      : writer_(writer), first_(first) {
    for (core::TrackId t = 0; t < kTracks; ++t) {
      const auto kind = t == 0 ? TrackKind::kCompute : t < 3 ? TrackKind::kPacks : TrackKind::kLane;
      const std::int32_t slot = t == 0 ? 0 : t < 3 ? t - 1 : (t - 3) / 2;
      writer.track({first + t, kind, worker, name, slot, t < 3 ? -1 : (t - 3) % 2});
    }
  }
  static constexpr core::TrackId kTracks = 7;

  /// When it is over.
  Time step(core::Random& random, const Recipe& recipe, std::int32_t step, Time begin, std::vector<TimeRange>& packs) {
    Time now = begin + random_time(random, 20);
    const auto compute = [&](core::ComputeKind kind, std::int64_t index) {
      Span span;
      span.start = now;
      span.duration = random_time(random, recipe.longest_us);
      span.kind = SpanKind::kFirstCompute + static_cast<std::int32_t>(kind);
      span.step = step;
      span.index = index;
      writer_.span(first_, span);
      now = span.start + span.duration;
    };
    compute(core::ComputeKind::kForward, 0);
    for (std::size_t l = 0; l < recipe.layers.size(); ++l)
      compute(core::ComputeKind::kBackward, static_cast<std::int64_t>(l));
    std::array<Time, 2> free_from{begin, begin};
    Time end = now;
    for (std::size_t p = 0; p < recipe.packs.size(); ++p) {
      const std::size_t slot = p % 2;
      const Time start = free_from[slot] + random_time(random, recipe.longest_us);
      const Time length(3 * (1 + random_time(random, recipe.longest_us).count()));
      const auto pack = static_cast<std::int32_t>(p);
      const auto row = [&](core::TrackId t, Time from, Time duration, std::int32_t kind, std::int64_t index) {
        Span span;
        span.start = from;
        span.duration = duration;
        span.wait = t < 3 ? Time() : Time(duration.count() / 4);
        span.kind = kind;
        span.step = step;
        span.pack = pack;
        span.index = index;
        if (kind == 2) {
          span.peer = first_ + t;
          span.peer_index = 0;
        }
        writer_.span(first_ + t, span);
      };
      row(1 + static_cast<core::TrackId>(slot), start, length, SpanKind::kPackInFlight, 0);
      for (core::TrackId lane = 0; lane < 2; ++lane) {
        for (std::int64_t i = 0; i < 3; ++i)
          row(3 + static_cast<core::TrackId>(slot) * 2 + lane, start + Time(i * length.count() / 3),
              Time(length.count() / 3 - 1), 1 + static_cast<std::int32_t>(i > 0), i);
      }
      free_from[slot] = start + length;
      end = std::max(end, start + length);
      packs[p] = {std::max(packs[p].from, start), std::max(packs[p].to, start + length)};
    }
    return end;
  }

 private:
  core::TimelineWriter& writer_;
  core::TrackId first_;
};

std::string bytes_of(const Recipe& recipe) {
  core::Random random(recipe.seed);
  std::ostringstream out;
  core::TimelineWriter writer(out);
  core::RunInfo run;
  run.executor = recipe.executor;
  run.strategy = recipe.strategy;
  for (const std::string& gradient : recipe.packs) run.packs.push_back({{gradient}, core::Bytes(100), "float32"});
  run.layers = recipe.layers;
  writer.begin(run);
  std::vector<Device> devices;
  for (int w = 0; w < recipe.workers; ++w) {
    for (const char* name : {"gpu0", "gpu1"})
      devices.emplace_back(writer, static_cast<core::TrackId>(devices.size()) * Device::kTracks, w, name);
  }
  Time begin;
  for (std::int32_t step = recipe.first_step; step < recipe.first_step + recipe.steps; ++step) {
    std::vector<TimeRange> packs(recipe.packs.size());
    Time end = begin;
    for (Device& device : devices) end = std::max(end, device.step(random, recipe, step, begin, packs));
    for (std::size_t p = 0; p < packs.size(); ++p)
      writer.pack({step, static_cast<std::int32_t>(p), packs[p].from, packs[p].from, packs[p].from, packs[p].to});
    core::StepRecord record;
    record.step = step;
    record.start = begin;
    record.end = end;
    record.forward = random_time(random, 100);
    writer.step(record);
    begin = end;
  }
  if (recipe.links) {
    core::LinkRecord link;
    link.name = "w0/nic0 out";
    link.bandwidth = core::bandwidth_from_gb_per_s(1);
    link.bin_width = core::microseconds(7);
    for (Time t; t < begin; t += link.bin_width) link.bins.push_back(static_cast<std::int64_t>(random.below(7000)));
    writer.link(link);
  }
  core::PathPiece piece;
  piece.kind = SpanKind::kFirstCompute;
  piece.device = "w0/gpu0";
  piece.start = begin - core::microseconds(10);
  piece.end = begin;
  writer.path(piece);
  writer.end();
  return out.str();
}

std::shared_ptr<const Trace> trace_of(const std::string& bytes) {
  auto trace = Trace::from_bytes(bytes, "t.tutti");
  if (!trace) throw std::runtime_error(trace.error().message());
  return *trace;
}
std::shared_ptr<const Trace> made(const Recipe& recipe) { return trace_of(bytes_of(recipe)); }

constexpr std::array<Align, 3> kAll{Align::kStart, Align::kStep, Align::kPack};

Beside beside(const Recipe& a, const Recipe& b, Align align) { return put_beside(made(a), made(b), align, {"a", "b"}); }

/// Different packs, layers, lengths and seeds.
std::vector<std::pair<Recipe, Recipe>> pairs() {
  std::vector<std::pair<Recipe, Recipe>> all;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Recipe a, b;
    a.seed = seed;
    b.seed = seed + 100;
    b.executor = "tcp";
    all.emplace_back(a, b);
    b.longest_us = 900;
    all.emplace_back(a, b);
    b.packs = {"c", "x", "a"};
    b.layers = {"l3", "l1"};
    b.workers = 3;
    b.steps = 5;
    all.emplace_back(a, b);
    a.first_step = 2;
    a.longest_us = 2000;
    all.emplace_back(a, b);
  }
  return all;
}

/// Calls with each span of a side: its own trace's row and number, as it is in its file, and where it is shown.
template <class Take>
void for_each_span(const Beside& b, std::size_t side, Take take) {
  std::map<std::pair<std::size_t, SpanRow::Index>, SpanId> shown;
  for (std::size_t r = 0; r < b.trace->rows().size(); ++r) {
    if (b.trace->rows()[r].side != side) continue;
    for (SpanRow::Index i = 0; i < b.trace->rows()[r].spans.size(); ++i) {
      const auto [source, own] = b.trace->parts()->origin({r, i});
      ASSERT_EQ(source, b.sources[side].get());
      ASSERT_TRUE(shown.emplace(std::pair(own.row, own.index), SpanId{r, i}).second) << "shown twice";
    }
  }
  for (std::size_t r = 0; r < b.sources[side]->rows().size(); ++r) {
    const auto spans = b.sources[side]->spans(r, 0, b.sources[side]->rows()[r].spans.size());
    ASSERT_TRUE(spans);
    for (SpanRow::Index i = 0; i < spans->size(); ++i) {
      ASSERT_TRUE(shown.contains({r, i})) << "not shown";
      take(b.sources[side]->rows()[r], SpanId{r, i}, (*spans)[i], shown.at({r, i}));
    }
  }
}

TEST(Beside, EverySpanIsShownOnceAsLongAsItIsAndNoneOverlap) {
  for (const auto& [first, second] : pairs()) {
    for (const Align align : kAll) {
      const Beside b = beside(first, second, align);
      EXPECT_EQ(b.align, align);
      for (std::size_t side = 0; side < 2; ++side) {
        for_each_span(b, side, [&](const Trace::Row& row, SpanId own, const Span& span, SpanId here) {
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
        for (SpanRow::Index i = 1; i < row.spans.size(); ++i) ASSERT_GE(row.spans.start(i), row.spans.end(i - 1));
      }
      std::int64_t bytes = 0, shown = 0;
      for (const std::int64_t bin : b.sources[1]->links().front().bins) bytes += bin;
      for (const std::int64_t bin : b.trace->sides()[1].links.front().bins) shown += bin;
      EXPECT_EQ(shown, bytes);
    }
  }
}

TEST(Beside, ByStartNothingIsMoved) {
  for (const auto& [first, second] : pairs()) {
    const Beside b = beside(first, second, Align::kStart);
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

TEST(Beside, ByStepEachStepBeginsAtOneTimeAndMovesAsAWhole) {
  for (const auto& [first, second] : pairs()) {
    for (const Align align : {Align::kStep, Align::kPack}) {
      const Beside b = beside(first, second, align);
      const auto shown_a = steps_of(b.trace->sides()[0].steps), shown_b = steps_of(b.trace->sides()[1].steps);
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
          EXPECT_EQ(b.alignment.delays[side].own(shown.at(step).from + middle), range.from + middle);
        }
      }
    }
  }
}

TEST(Beside, ByPackEachPackIsInFlightFromOneTimeOnAndMovesAsAWhole) {
  for (const auto& [first, second] : pairs()) {
    const Beside b = beside(first, second, Align::kPack);
    std::map<std::pair<std::int32_t, std::int32_t>, Time> begins;
    for (const core::PackRecord& pack : b.trace->sides()[0].packs) begins[{pack.step, pack.pack}] = pack.last_start;
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
      ASSERT_EQ(b.trace->rows()[here.row].spans.start(here.index) - span.start, moves.at({span.step, span.pack}));
    });
  }
}

/// By what the two have in common of it.
using Key = std::tuple<std::int32_t, std::string, TrackKind, std::int32_t, std::int32_t, std::int32_t, std::string,
                       std::int64_t>;
Key key_of(const Trace& own, const Trace::Row& row, const Span& span) {
  const bool lane = row.track.kind == TrackKind::kLane;
  const std::string pack = span.pack < 0 ? "" : own.run().packs[static_cast<std::size_t>(span.pack)].gradients.front();
  const bool backward = span.kind == SpanKind::kFirstCompute + static_cast<std::int32_t>(core::ComputeKind::kBackward);
  const std::string layer = backward ? own.run().layers[static_cast<std::size_t>(span.index)] : "";
  return {row.track.worker, row.track.device, row.track.kind, row.track.lane,
          span.step,        span.kind,        pack + layer,   lane ? span.index : 0};
}

TEST(Beside, PartnersAreTheSameThingOfTheOther) {
  for (const auto& [first, second] : pairs()) {
    for (const Align align : kAll) {
      const Beside b = beside(first, second, align);
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
          const auto expected = other == shown[1 - side].end() ? std::vector<SpanId>() : std::vector{other->second};
          ASSERT_EQ(partners, expected);
          found += !partners.empty();
        }
      }
      EXPECT_GT(found, 20);
    }
  }
}

TEST(Beside, MessagesLeadFromSpanToSpanAsInTheFile) {
  for (const Align align : kAll) {
    const Beside b = beside(pairs()[2].first, pairs()[2].second, align);
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

TEST(Beside, ErrorsAreThoseOfEverySpanAndRecord) {
  const std::atomic<bool> go{false};
  for (const auto& [first, second] : pairs()) {
    const std::string bytes_a = bytes_of(first), bytes_b = bytes_of(second);
    const Beside b = put_beside(trace_of(bytes_a), trace_of(bytes_b), Align::kStep, {"a", "b"});
    const auto reader_a = core::TimelineReader::from_bytes(bytes_a, "a"),
               reader_b = core::TimelineReader::from_bytes(bytes_b, "b");
    std::multiset<std::int64_t> expected, got;
    for_each_span(b, 0, [&](const Trace::Row&, SpanId own, const Span& span, SpanId here) {
      const std::vector<SpanId> partners = b.trace->parts()->partners(here);
      if (partners.empty()) return;
      const auto [other, its] = b.trace->parts()->origin(partners.front());
      const auto theirs = other->span(its.row, its.index);
      ASSERT_TRUE(theirs);
      expected.insert(std::abs((theirs->duration - theirs->wait - (span.duration - span.wait)).count()));
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
      ASSERT_GE(std::abs((*all)[i - 1].time.difference().count()), std::abs((*all)[i].time.difference().count()));
    // And the largest of them, if not all are wanted.
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

TEST(Beside, TheSameIsOneAboveTheOtherOrAllOfOneAboveAllOfTheOther) {
  const Beside b = beside(pairs()[2].first, pairs()[2].second, Align::kStep);
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

TEST(Beside, TheTwoAreCalledByWhatTheyAre) {
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
  // Of long names what tells them apart: the rows have no room for more.
  EXPECT_EQ(names_of(a, b, {"f/04_resnet50_ring (run 2).tutti", "f/04_resnet50_ring (run 13).tutti"}),
            (Names{"run 2", "run 13"}));
  EXPECT_EQ(names_of(a, b, {"runs/monday/resnet50.tutti", "runs/tuesday/resnet50.tutti"}),
            (Names{"monday", "tuesday"}));
  EXPECT_EQ(names_of(a, b, {"a_long_name_it_is.tutti", "a_long_name.tutti"}), (Names{"name_it_is", "name"}));
  a.strategy = "ring, bytes_per_pack 5, mean";
  b.strategy = "pscpu, bytes_per_pack 5, mean";
  EXPECT_EQ(names_of(a, b, {"x", "y"}), (Names{"ring", "pscpu"}));
}

TEST(Beside, WhatDiffersIsSaid) {
  Recipe a, b;
  EXPECT_THAT(beside(a, a, Align::kStep).differences, IsEmpty());
  b.executor = "tcp";
  b.workers = 3;
  b.steps = 2;
  b.links = false;
  b.packs = {"a", "z"};
  const std::vector<std::string> said = beside(a, b, Align::kStep).differences;
  EXPECT_THAT(said, Contains("real alone has worker 2"));
  EXPECT_THAT(said, Contains("simulated alone has training step 2"));
  EXPECT_THAT(said, Contains("real has no load of links"));
  EXPECT_THAT(said, Contains(HasSubstr("1 of simulated's 4 packs")));
}

TEST(Beside, AligningCanBeStopped) {
  const Recipe a, b;
  const std::atomic<bool> stop{true};
  for (const Align align : {Align::kStart, Align::kStep, Align::kPack}) {
    EXPECT_FALSE(put_beside(made(a), made(b), align, {"a", "b"}, stop).trace);
    EXPECT_TRUE(put_beside(made(a), made(b), align, {"a", "b"}).trace);
  }
}

TEST(Beside, WhatHasNothingInCommonIsShownByStartAndSaysSo) {
  Recipe a, b;
  a.workers = 1;
  a.packs = {"a"};
  b.packs = {"z"};
  b.first_step = 7;
  b.executor = "tcp";
  std::string bytes = bytes_of(b);
  const Beside shown = put_beside(made(a), trace_of(bytes), Align::kPack, {"a", "b"});
  EXPECT_EQ(shown.align, Align::kStart);
  EXPECT_THAT(shown.differences,
              Contains(HasSubstr("cannot be aligned by pack and are aligned by start: no training step is in both")));
  EXPECT_EQ(shown.trace->sides().size(), 2u);
  EXPECT_THAT(shown.steps, IsEmpty());
  // Nothing at all.
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.end();
  const Beside empty = put_beside(made(a), trace_of(out.str()), Align::kStep, {"a", "b"});
  EXPECT_THAT(empty.differences, Contains(HasSubstr("nothing in common")));
  EXPECT_EQ(empty.trace->spans(), made(a)->spans());
}

TEST(Beside, CutOffAndDamagedFilesAreShownAsFarAsTheyGo) {
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
        const Beside both = put_beside(first, second, align, {"a", "b"});
        EXPECT_EQ(both.trace->spans(), first->spans() + second->spans());
        for (const Trace::Row& row : both.trace->rows()) {
          for (SpanRow::Index i = 0; i < row.spans.size(); ++i) {
            ASSERT_GE(row.spans.start(i), i > 0 ? row.spans.end(i - 1) : Time());
          }
        }
        for (std::size_t r = 0; r < both.trace->rows().size(); ++r) {
          if (both.trace->rows()[r].spans.size() > 0) static_cast<void>(facts_of_span(*both.trace, r, 0));
        }
        static_cast<void>(facts_of_run(*both.trace));
        static_cast<void>(Layout(*both.trace));
        ++shown;
      }
    }
  };
  for (std::size_t length = 8; length < bytes.size(); length += bytes.size() / 40) look(bytes.substr(0, length));
  for (std::size_t at = 8; at < bytes.size(); at += bytes.size() / 150) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    look(damaged);
  }
  EXPECT_GT(shown, 100);
}

TEST(Beside, DetailsTellTrueTimesOfBoth) {
  const Beside b = beside(pairs()[1].first, pairs()[1].second, Align::kPack);
  int told = 0;
  for_each_span(b, 1, [&](const Trace::Row& row, SpanId own, const Span& span, SpanId here) {
    if (row.track.kind != TrackKind::kPacks || span.step != 2) return;
    const auto facts = facts_of_span(*b.trace, here.row, here.index);
    const auto of_file = facts_of_span(*b.sources[1], own.row, own.index);
    ASSERT_TRUE(facts && of_file);
    for (const auto& fact : *of_file) EXPECT_THAT(*facts, Contains(fact));
    EXPECT_THAT(*facts, Contains(Facts::value_type("timeline", "real")));
    EXPECT_THAT(*facts, Contains(testing::Key("difference")));
    EXPECT_THAT(*facts, Contains(testing::Key("simulated")));
    ++told;
  });
  EXPECT_GT(told, 0);
  EXPECT_EQ(moment(*b.trace, b.trace->axis()[1].from + core::microseconds(5)), "step 1 + 0.005000 ms");
}

}  // namespace
}  // namespace tutti::gui
