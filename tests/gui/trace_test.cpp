// The window's representation of a timeline file. Rows, spans, steps and packs must equal the
// content of the file, also for files that are damaged or truncated. Queries such as lines, numbers
// and search must give the right results.

#include "gui/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "core/base/random.h"
#include "core/scenario/run_info.h"
#include "core/schedule/step.h"
#include "core/timeline/byte_source.h"
#include "core/timeline/writer.h"
#include "gui/trace/describe.h"
#include "gui/trace/guarded.h"
#include "gui/trace/layout.h"
#include "gui/trace/search.h"
#include "gui/trace/statistics.h"
#include "tests/core/timeline/counted_bytes.h"
#include "tests/gui/simulated.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::SpanKind;
using core::Time;
using testing::HasSubstr;

/// Rows with many blocks in random order, and the spans that they contain.
struct Written {
  std::string bytes;
  std::map<core::TrackId, std::vector<Span>> spans;
};

Written random_timeline(std::uint64_t seed, int rows, int spans_each) {
  core::Random random(seed);
  Written written;
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  std::vector<Time> ends(static_cast<std::size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    // In the file, gpu10 comes before gpu2, and lanes come before computation.
    const int device = rows - 1 - row;
    writer.track({row, row % 2 ? core::TrackKind::kCompute : core::TrackKind::kLane, 0,
                  "gpu" + std::to_string(device / 2), 0, row % 2 ? -1 : 0});
  }
  for (int i = 0; i < spans_each; ++i) {
    for (int row = 0; row < rows; ++row) {
      Time& end = ends[row];
      Span span;
      span.start =
          end + Time(static_cast<std::int64_t>(random.below(2) == 0 ? 0 : random.below(1000)));
      span.duration =
          Time(static_cast<std::int64_t>(random.below(3) == 0 ? 0 : random.below(5000)));
      span.kind = row % 2 ? SpanKind::kFirstCompute + static_cast<int>(random.below(2))
                          : 1 + static_cast<int>(random.below(4));
      span.pack = static_cast<std::int32_t>(random.below(4)) - 1;
      span.index = i;
      span.bytes = core::Bytes(static_cast<std::int64_t>(random.below(10'000)));
      end = span.start + span.duration;
      writer.span(row, span);
      written.spans[row].push_back(span);
    }
  }
  writer.end();
  written.bytes = out.str();
  return written;
}

TEST(Trace, ContainsEverySpanOfTheFile) {
  const Written written = random_timeline(7, 24, 9000);
  std::atomic<int> told{0};
  OpenControl control;
  control.progress = [&](double) { ++told; };
  const auto trace = Trace::from_bytes(written.bytes, "t.tutti", control);
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ((*trace)->spans(), 24 * 9000);
  EXPECT_GT(told, 24);
  core::Random random(8);
  for (std::size_t r = 0; r < (*trace)->rows().size(); ++r) {
    const Trace::Row& row = (*trace)->rows()[r];
    const std::vector<Span>& spans = written.spans.at(row.track.id);
    ASSERT_EQ(row.spans.size(), spans.size());
    for (SpanRow::Index i = 0; i < row.spans.size(); ++i) {
      ASSERT_EQ(row.spans.start(i), spans[i].start);
      ASSERT_EQ(row.spans.duration(i), spans[i].duration);
      ASSERT_EQ(row.spans.kind(i), spans[i].kind);
      ASSERT_EQ(row.spans.pack(i), spans[i].pack);
    }
    for (int n = 0; n < 20; ++n) {
      const auto i = static_cast<SpanRow::Index>(random.below(spans.size()));
      const auto whole = (*trace)->span(r, i);
      ASSERT_TRUE(whole);
      EXPECT_EQ(whole->index, spans[i].index);
      EXPECT_EQ(whole->bytes, spans[i].bytes);
    }
  }
}

TEST(Trace, OpeningReadsEachBlockOnce) {
  // The writer buffers 262,144 spans of all rows. With many rows, blocks are small and the blocks
  // of a row are far apart.
  const Written written = random_timeline(31, 600, 1200);
  const auto source = std::make_shared<const test::CountedBytes>(written.bytes);
  const auto trace = Trace::from_source(source, "t.tutti");
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ((*trace)->spans(), 600 * 1200);
  EXPECT_GT((*trace)->reader().span_blocks().size(), 600u * 2);
  EXPECT_LT(source->bytes(), written.bytes.size() * 11 / 10);
  // Reading a row again reads only the bytes of the row, and reading a span only those of its
  // block.
  const std::uint64_t before = source->bytes();
  ASSERT_TRUE((*trace)->read_row(7, [](const Span&) {}));
  EXPECT_LT(source->bytes() - before, written.bytes.size() / 300);
  const std::uint64_t then = source->bytes();
  ASSERT_TRUE((*trace)->span(7, 700));
  EXPECT_LT(source->bytes() - then, written.bytes.size() / 600);
}

TEST(Trace, RowsAreInNaturalOrder) {
  const auto trace = Trace::from_bytes(random_timeline(9, 24, 3).bytes, "t.tutti");
  ASSERT_TRUE(trace);
  std::vector<std::string> names;
  for (const Trace::Row& row : (*trace)->rows()) names.push_back(row.track.device + ' ' + row.name);
  ASSERT_EQ(names.size(), 24u);
  EXPECT_EQ(names[0], "gpu0 compute");
  EXPECT_EQ(names[1], "gpu0 lane 0");
  EXPECT_EQ(names[4], "gpu2 compute") << "before gpu10";
  EXPECT_EQ(names.back(), "gpu11 lane 0");
}

TEST(Trace, OpeningCanBeStopped) {
  const std::atomic<bool> cancel{true};
  OpenControl control;
  control.cancel = &cancel;
  const auto trace = Trace::from_bytes(random_timeline(10, 8, 5000).bytes, "t.tutti", control);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().kind(), core::ErrorKind::kRun) << "no damage of the file";
}

std::map<std::string, std::string> facts_of(const std::string& bytes) {
  const auto trace = Trace::from_bytes(bytes, "t.tutti");
  if (!trace) throw std::runtime_error(trace.error().message());
  std::map<std::string, std::string> facts;
  for (const auto& [name, value] : facts_of_run(**trace)) facts[name] = value;
  return facts;
}

TEST(Trace, ATruncatedFileKeepsItsStepTimesAndStatesWhatIsMissing) {
  const std::string whole = test::simulated(test::small_scenario("algorithm: \"ring\"", 2, 2));
  const auto of_whole = facts_of(whole);
  EXPECT_FALSE(of_whole.contains("incomplete"));
  EXPECT_FALSE(of_whole.contains("missing"));
  EXPECT_THAT(of_whole.at("step time"), HasSubstr("(step 1)"));
  // Steps and packs come before the spans, and links and the path come after them. The file is cut
  // at the last block of spans.
  const auto reader = core::TimelineReader::from_bytes(whole, "t.tutti");
  ASSERT_TRUE(reader);
  const auto late = facts_of(whole.substr(0, reader->span_blocks().back().offset + 3));
  EXPECT_THAT(late.at("incomplete"), HasSubstr("ends before its index"));
  EXPECT_THAT(
      late.at("missing"),
      testing::AllOf(HasSubstr("in 1 of "), HasSubstr("the load of links"),
                     HasSubstr("the critical path"), testing::Not(HasSubstr("training steps"))));
  EXPECT_EQ(late.at("step time"), of_whole.at("step time"));
}

TEST(Trace, ADamagedBlockIsReportedAndTheOthersAreShown) {
  const Written written = random_timeline(21, 6, 9000);
  const auto sane = core::TimelineReader::from_bytes(written.bytes, "t.tutti");
  ASSERT_TRUE(sane);
  std::vector<core::TimelineReader::SpanBlock> of_track;
  for (const auto& block : sane->span_blocks()) {
    if (block.track == 2) of_track.push_back(block);
  }
  ASSERT_GE(of_track.size(), 3u);
  const core::TimelineReader::SpanBlock& lost = of_track[1];
  std::string bytes = written.bytes;
  bytes.replace(static_cast<std::size_t>(lost.offset) + 8, 16, std::string(16, '\xff'));
  const auto trace = Trace::from_bytes(bytes, "t.tutti");
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ((*trace)->damage(), core::TimelineReader::from_bytes(bytes, "t.tutti")->damage());
  EXPECT_THAT((*trace)->damage(),
              HasSubstr(fmt::format("{} of its {} spans are missing", lost.spans, 6 * 9000)));
  EXPECT_EQ((*trace)->spans(), 6 * 9000 - lost.spans);
  const auto row = (*trace)->row_of(2);
  ASSERT_TRUE(row);
  std::vector<Span> left = written.spans.at(2);
  const auto gone = left.begin() + of_track[0].spans;
  left.erase(gone, gone + lost.spans);
  const SpanRow& shown = (*trace)->rows()[*row].spans;
  ASSERT_EQ(shown.size(), left.size());
  for (SpanRow::Index i = 0; i < shown.size(); ++i) ASSERT_EQ(shown.start(i), left[i].start);
  // The spans after the gap are read from their place, both span by span and row by row.
  const auto behind = static_cast<SpanRow::Index>(of_track[0].spans);
  EXPECT_EQ((*trace)->span(*row, behind)->index, left[behind].index);
  std::size_t read = 0;
  ASSERT_TRUE((*trace)->read_row(
      *row, [&](const Span& span) { EXPECT_EQ(span.index, left[read++].index); }));
  EXPECT_EQ(read, left.size());
  EXPECT_EQ(facts_of(bytes).at("incomplete"), "the file " + (*trace)->damage());
}

TEST(Trace, ComputingNumbersCanBeStopped) {
  const auto trace = Trace::from_bytes(random_timeline(13, 4, 50).bytes, "t.tutti");
  ASSERT_TRUE(trace);
  const std::vector<std::size_t> rows{0, 1, 2, 3};
  const TimeRange all{Time(), (*trace)->length()};
  std::atomic<bool> cancel = false;
  StatisticsOptions options;
  options.cancel = &cancel;
  EXPECT_FALSE(statistics_of(**trace, rows, all, options).kinds.empty());
  cancel = true;
  EXPECT_TRUE(statistics_of(**trace, rows, all, options).kinds.empty());
}

TEST(Guarded, ExceptionsOfAThreadBecomeErrors) {
  EXPECT_FALSE(guarded([] {}));
  EXPECT_EQ(guarded([] { throw std::bad_alloc(); })->message(), "out of memory");
  EXPECT_EQ(guarded([] { throw std::runtime_error("it broke"); })->message(), "it broke");
}

TEST(Trace, NumbersOfARangeMatchAnExhaustiveSearch) {
  const Written written = random_timeline(11, 6, 400);
  const auto opened = Trace::from_bytes(written.bytes, "t.tutti");
  ASSERT_TRUE(opened);
  const Trace& trace = **opened;
  core::Random random(12);
  for (int n = 0; n < 50; ++n) {
    const Time from(static_cast<std::int64_t>(
        random.below(static_cast<std::uint64_t>(trace.length().count()))));
    const TimeRange range{from,
                          from + Time(1 + static_cast<std::int64_t>(random.below(2'000'000)))};
    std::map<int, std::vector<Time>> expected;
    for (const Trace::Row& row : trace.rows()) {
      for (const Span& span : written.spans.at(row.track.id)) {
        const Time end = span.start + span.duration;
        if (span.start >= range.to || (end <= range.from && span.start < range.from)) continue;
        expected[span.kind].push_back(std::min(end, range.to) - std::max(span.start, range.from));
      }
    }
    const RangeStatistics got = statistics_of(trace, {0, 1, 2, 3, 4, 5}, range);
    ASSERT_EQ(got.kinds.size(), expected.size());
    for (const KindStatistics& kind : got.kinds) {
      std::vector<Time>& lengths = expected.at(kind.kind);
      std::sort(lengths.begin(), lengths.end());
      Time sum;
      for (const Time length : lengths) sum += length;
      EXPECT_EQ(kind.spans, std::ssize(lengths));
      EXPECT_EQ(kind.sum, sum);
      EXPECT_EQ(kind.p50, lengths[(lengths.size() - 1) / 2]);
      EXPECT_EQ(kind.p99, lengths[(lengths.size() - 1) * 99 / 100]);
      EXPECT_EQ(kind.longest, lengths.back());
    }
  }
}

TEST(Trace, SearchVisitsEveryMatchOnceInOrderOfTime) {
  const auto opened = Trace::from_bytes(random_timeline(13, 6, 60).bytes, "t.tutti");
  ASSERT_TRUE(opened);
  const Trace& trace = **opened;
  for (const char* text :
       {"pack 1", "send", "forward gpu1", "receive pack 2 lane", "gpu2", "send >2.5ns <4000ps"}) {
    const Query query(text, trace);
    const std::int64_t count = durations_of(trace, query).spans;
    ASSERT_GT(count, 0) << text;
    const auto start = [&](const SpanId& f) { return trace.rows()[f.row].spans.start(f.index); };
    std::vector<std::tuple<Time, std::size_t, SpanRow::Index>> visited;
    std::optional<SpanId> found = find_next(trace, query, Time());
    for (std::int64_t i = 0; i < count; ++i, found = find_next(trace, query, *found)) {
      ASSERT_TRUE(found);
      visited.emplace_back(start(*found), found->row, found->index);
    }
    EXPECT_TRUE(std::is_sorted(visited.begin(), visited.end())) << text;
    EXPECT_EQ(std::adjacent_find(visited.begin(), visited.end()), visited.end()) << text;
    EXPECT_EQ(std::tuple(start(*found), found->row, found->index), visited.front()) << "around";
    for (std::int64_t i = count; i-- > 0;) {
      found = find_previous(trace, query, *found);
      ASSERT_TRUE(found);
      EXPECT_EQ(std::tuple(start(*found), found->row, found->index), visited[i]) << text;
    }
  }
  EXPECT_EQ(durations_of(trace, Query("", trace)).spans, 0);
  EXPECT_FALSE(find_next(trace, Query("pack 77", trace), Time()));
}

TEST(Trace, NumbersOfADeviceIncludeItsBytesAndItsShareOfTime) {
  const Written written = random_timeline(21, 8, 300);
  const auto opened = Trace::from_bytes(written.bytes, "t.tutti");
  ASSERT_TRUE(opened);
  const Trace& trace = **opened;
  core::Random random(22);
  for (int n = 0; n < 30; ++n) {
    const Time from(static_cast<std::int64_t>(
        random.below(static_cast<std::uint64_t>(trace.length().count()))));
    const TimeRange range{from, from + Time(1 + static_cast<std::int64_t>(random.below(900'000)))};
    std::map<std::pair<std::string, int>, double> bytes, covered;
    std::int64_t spans = 0;
    for (const Trace::Row& row : trace.rows()) {
      for (const Span& span : written.spans.at(row.track.id)) {
        const Time end = span.start + span.duration;
        if (span.start >= range.to || (end <= range.from && span.start < range.from)) continue;
        const double inside = static_cast<double>(
            (std::min(end, range.to) - std::max(span.start, range.from)).count());
        const double whole = static_cast<double>(span.duration.count());
        const std::pair key("w0/" + row.track.device, span.kind);
        bytes[key] += static_cast<double>(span.bytes.count()) * (whole > 0 ? inside / whole : 1);
        covered[key] += inside;
        ++spans;
      }
    }
    const RangeStatistics got = statistics_of(trace, {0, 1, 2, 3, 4, 5, 6, 7}, range, {true, true});
    EXPECT_EQ(spans_in(trace, {0, 1, 2, 3, 4, 5, 6, 7}, range), spans);
    ASSERT_EQ(got.kinds.size(), bytes.size());
    for (const KindStatistics& kind : got.kinds) {
      const std::pair key(kind.device, kind.kind);
      ASSERT_TRUE(kind.bytes && bytes.contains(key));
      EXPECT_NEAR(static_cast<double>(kind.bytes->count()), bytes.at(key), 0.51);
      // Each device has one row of computation and one lane, so the spans of each kind are in one
      // row.
      EXPECT_NEAR(kind.busy, covered.at(key) / static_cast<double>(range.length().count()), 1e-9);
    }
    for (const KindStatistics& kind : statistics_of(trace, {0}, range).kinds)
      EXPECT_FALSE(kind.bytes) << "nobody asked";
  }
}

/// Kind 1 takes 100 ns on one device, and kind 2 takes 60 ns on each of three devices. Kind 2 comes
/// first, because it takes longer in total.
TEST(Trace, NumbersPerDeviceHaveTheKindsInTheOrderOfTheirTotals) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  for (int device = 0; device < 3; ++device)
    writer.track({device, core::TrackKind::kLane, 0, "gpu" + std::to_string(device), 0, 0});
  const auto write = [&](int row, int kind, int start_ns, int ns) {
    Span span;
    span.start = Time(start_ns * 1000);
    span.duration = Time(ns * 1000);
    span.kind = kind;
    writer.span(row, span);
  };
  for (int row = 0; row < 3; ++row) write(row, 2, 0, 60);
  write(0, 1, 60, 100);
  writer.end();
  const auto trace = Trace::from_bytes(out.str(), "t.tutti");
  ASSERT_TRUE(trace);
  for (const bool by_device : {false, true}) {
    std::vector<int> kinds;
    for (const KindStatistics& entry :
         statistics_of(**trace, {0, 1, 2}, {Time(), (*trace)->length()}, {by_device}).kinds)
      kinds.push_back(entry.kind);
    EXPECT_EQ(kinds, by_device ? std::vector({2, 2, 2, 1}) : std::vector({2, 1}));
  }
}

TEST(Trace, DurationsOfMatchesAreCountedByPowersOfTwo) {
  const auto opened = Trace::from_bytes(random_timeline(9, 6, 3000).bytes, "t.tutti");
  ASSERT_TRUE(opened);
  const Trace& trace = **opened;
  for (const char* text : {"send", "pack 1", "receive >1ns", "<3ns", "gpu1"}) {
    const Durations all = durations_of(trace, Query(text, trace));
    std::int64_t spans = 0;
    for (const Durations::Bin& bin : all.bins) {
      const Query narrower(std::string(text) + " " + Query::lasting(bin.from, bin.to), trace);
      std::int64_t brute = 0;
      for (const Trace::Row& row : trace.rows()) {
        for (SpanRow::Index i = 0; i < row.spans.size() && narrower.takes_row(row); ++i)
          brute += Query(text, trace).takes(row, i) && row.spans.duration(i) >= bin.from &&
                   row.spans.duration(i) < bin.to;
      }
      EXPECT_EQ(bin.spans, brute) << text << ", from " << bin.from.count();
      if (std::string(text).find_first_of("<>") == std::string::npos) {
        EXPECT_EQ(durations_of(trace, narrower).spans, bin.spans) << "narrowed down to it";
      }
      spans += bin.spans;
    }
    EXPECT_EQ(all.spans, spans) << text;
  }
}

TEST(Trace, RowsHaveNoGapsIfGroupsAreClosedPinnedOrFiltered) {
  const auto opened = Trace::from_bytes(random_timeline(14, 12, 5).bytes, "t.tutti");
  ASSERT_TRUE(opened);
  Layout layout(**opened);
  core::Random random(15);
  std::vector<std::string> keys;
  layout.open_all(true);
  for (const Line& line : layout.lines()) keys.push_back(line.key);
  for (int n = 0; n < 500; ++n) {
    const std::string& key = keys[random.below(keys.size())];
    switch (random.below(4)) {
      case 0: layout.open(key, random.below(2) == 0); break;
      case 1: layout.pin(key, random.below(2) == 0); break;
      case 2:
        layout.filter(random.below(2) == 0 ? "" : key.substr(random.below(key.size())));
        break;
      default: layout.reveal(random.below(12)); break;
    }
    int top = 0;
    for (std::size_t i = 0; i < layout.lines().size(); ++i) {
      const Line& line = layout.lines()[i];
      ASSERT_EQ(line.top, top);
      ASSERT_EQ(layout.line_at(line.top), i);
      ASSERT_EQ(layout.line_at(line.bottom() - 1), i);
      top = line.bottom();
    }
    ASSERT_EQ(layout.height(), top);
    ASSERT_EQ(layout.line_at(top), layout.lines().size());
    ASSERT_EQ(layout.line_at(-1), layout.lines().size());
  }
  for (std::size_t row = 0; row < 12; ++row) {
    layout.open_all(false);
    layout.reveal(row);
    EXPECT_LT(layout.line_of_row(row), layout.lines().size());
  }
}

TEST(Trace, TheRecordedPartIsTheRequestedRange) {
  const std::string text = test::small_scenario("algorithm: \"ring\"", 2, 2);
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  const auto whole = Trace::from_bytes(test::simulated(text, record), "t");
  ASSERT_TRUE(whole);
  EXPECT_FALSE((*whole)->recorded());
  // The window begins and ends at odd times, at which no span begins or ends.
  record.from = core::microseconds(100) + Time(7);
  record.to = core::microseconds(200) + Time(13);
  ASSERT_LT(record.to, (*whole)->length());
  const auto part = Trace::from_bytes(test::simulated(text, record), "t");
  ASSERT_TRUE(part);
  ASSERT_TRUE((*part)->recorded());
  EXPECT_EQ(*(*part)->recorded(), (TimeRange{record.from, record.to}));

  record = {};
  record.level = core::RecordLevel::kSteps;
  record.most_spans = 40;
  const auto limited = Trace::from_bytes(test::simulated(text, record), "t");
  ASSERT_TRUE(limited);
  EXPECT_EQ((*limited)->spans(), 40);
  ASSERT_TRUE((*limited)->recorded());
  EXPECT_EQ((*limited)->recorded()->from, Time());
  EXPECT_GT((*limited)->recorded()->to, Time());
  EXPECT_LT((*limited)->recorded()->to, (*limited)->length());
}

/// Returns a timeline of three steps of 100 ms with one span each and this note.
std::shared_ptr<const Trace> noted(const std::string& note) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.note(note);
  writer.track({0, core::TrackKind::kCompute, 0, "gpu0", 0, -1});
  for (std::int32_t i = 0; i < 3; ++i) {
    Span span;
    span.start = core::milliseconds(100 * i);
    span.duration = core::milliseconds(100);
    span.kind = SpanKind::kFirstCompute;
    span.step = i;
    writer.span(0, span);
    core::StepRecord step;
    step.step = i;
    step.start = span.start;
    step.end = span.start + span.duration;
    writer.step(step);
  }
  writer.end();
  return *Trace::from_bytes(out.str(), "t");
}

TEST(Trace, NotesAboutTheRecordedPartAreRead) {
  const Time ms = core::milliseconds(1);
  const auto part = [](const std::string& note) {
    EXPECT_TRUE(core::is_recording_note(note)) << note;
    return noted(note)->recorded();
  };
  EXPECT_EQ(part(core::limit_note(Time(123'456'789'012), 5)),
            (TimeRange{Time(), Time(123'456'789'012)}));
  EXPECT_EQ(part(core::limit_note_of_step(1, 5)), (TimeRange{Time(), ms * 100}));
  EXPECT_EQ(part(core::limit_note_of_step(12, 5)), std::nullopt) << "there is no such step";
  EXPECT_EQ(part(core::limit_note(ms * 300, 5)), std::nullopt) << "that is the whole run";
  // Earlier versions wrote these notes.
  EXPECT_EQ(part("recorded spans: only from 60.0 ms to 200 ms"), (TimeRange{ms * 60, ms * 200}));
  EXPECT_EQ(part("recorded spans: only up to 12.345 ms, because at most 100 spans are recorded"),
            (TimeRange{Time(), Time(12'345'000'000)}));
  EXPECT_EQ(part("recorded only the spans from 0.150 s on"), (TimeRange{ms * 150, ms * 300}));
  EXPECT_EQ(part("the number of recorded spans was limited to 100"), std::nullopt);
  for (const char* const wrong :
       {"recorded only the spans from nan ms on", "recorded only the spans up to -5 ms",
        "recorded only the spans up to 1e99 ms", "recorded only the spans from ",
        "recorded only the spans of workers 0 to 15 (of 32 workers)"})
    EXPECT_EQ(part(wrong), std::nullopt) << wrong;
  EXPECT_FALSE(core::is_recording_note("launch_us is not replayed"));
}

TEST(Trace, ListsKindsInTheOrderOfTheirTotalTimes) {
  const Written written = random_timeline(5, 6, 400);
  const auto trace = *Trace::from_bytes(written.bytes, "t");
  std::map<int, double> times;
  for (const auto& [track, spans] : written.spans) {
    for (const Span& span : spans) times[span.kind] += static_cast<double>(span.duration.count());
  }
  ASSERT_EQ(trace->kinds().size(), times.size());
  for (std::size_t i = 1; i < trace->kinds().size(); ++i)
    EXPECT_GE(times.at(trace->kinds()[i - 1]), times.at(trace->kinds()[i]));
  EXPECT_FALSE(trace->has_waits());
  EXPECT_TRUE(
      test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2))->has_waits());
}

TEST(Trace, TheExactNameOfAKindFindsOnlyThatKind) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  writer.track({0, core::TrackKind::kPacks, 0, "gpu0", 0, -1});
  for (const std::int32_t kind : {SpanKind::kPackInFlight, SpanKind::kExchange}) {
    Span span;
    span.start = core::milliseconds(kind);
    span.duration = core::milliseconds(1);
    span.kind = kind;
    span.pack = kind == SpanKind::kPackInFlight ? 0 : -1;
    writer.span(0, span);
  }
  writer.end();
  const auto trace = *Trace::from_bytes(out.str(), "t");
  for (const char* const name : {"pack in flight", "exchange in flight", "Pack in flight"})
    EXPECT_EQ(durations_of(*trace, Query(name, *trace)).spans, 1) << name;
  EXPECT_EQ(durations_of(*trace, Query("flight", *trace)).spans, 2);
}

TEST(Trace, KeepsThePartsOfRowsThatAreOnTheCriticalPath) {
  const auto trace = test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2));
  std::size_t parts = 0;
  for (std::size_t r = 0; r < trace->rows().size(); ++r) {
    const auto& on_path = trace->on_path(r);
    EXPECT_EQ(&on_path, &trace->on_path(r)) << "it is not computed again for every frame";
    const core::Track& track = trace->rows()[r].track;
    for (const OnPath& part : on_path) {
      EXPECT_EQ(track.kind == core::TrackKind::kPacks, part.kind == SpanKind::kPackInFlight);
      EXPECT_NE(track.kind, core::TrackKind::kLane);
    }
    EXPECT_TRUE(
        std::is_sorted(on_path.begin(), on_path.end(),
                       [](const OnPath& a, const OnPath& b) { return a.at.from < b.at.from; }));
    parts += on_path.size();
  }
  EXPECT_GE(parts, trace->path().size()) << "every piece of the path lies in some row";
}

}  // namespace
}  // namespace tutti::gui
