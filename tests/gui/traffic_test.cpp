// Counters and transfers between devices, compared with a search through all changes and all pairs
// of spans.

#include "gui/traffic/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/timeline/writer.h"
#include "gui/trace/messages.h"
#include "tests/gui/simulated.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::StepKind;
using core::Time;

Time at(std::uint64_t t) { return Time(static_cast<std::int64_t>(t)); }

TEST(Counter, IsTheSumOfAllEarlierChanges) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    core::Random random(seed);
    std::vector<Counter::Change> changes;
    for (std::uint64_t i = 0; i < seed * seed; ++i)
      changes.push_back({at(random.below(300)), static_cast<std::int64_t>(random.below(9)) - 4});
    const Counter counter(changes);
    std::vector<std::int64_t> values(310, 0);  // value at every moment
    for (const Counter::Change& change : changes) {
      for (auto t = static_cast<std::size_t>(change.at.count()); t < values.size(); ++t)
        values[t] += change.by;
    }
    EXPECT_EQ(counter.peak(),
              std::max<std::int64_t>(0, *std::max_element(values.begin(), values.end())));
    for (std::size_t t = 0; t < values.size(); ++t) {
      EXPECT_EQ(counter.at(at(t)), values[t]) << t;
      for (const std::size_t length : {1u, 2u, 17u, 100u}) {
        if (t + length > values.size()) continue;
        const auto from = values.begin() + static_cast<std::ptrdiff_t>(t);
        EXPECT_EQ(counter.most(at(t), at(t + length)),
                  *std::max_element(from, from + static_cast<std::ptrdiff_t>(length)))
            << t << " + " << length;
      }
    }
  }
}

/// Four devices that send, receive or do both at random times, which may be inconsistent.
struct RandomLanes {
  std::string bytes;
  std::vector<std::pair<std::int32_t, Span>>
      spans;  ///< with their track, which is also their device
};

RandomLanes random_lanes(std::uint64_t seed) {
  core::Random random(seed);
  RandomLanes made;
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  const StepKind kinds[] = {StepKind::kSend, StepKind::kReceive,   StepKind::kReceiveReduceSend,
                            StepKind::kCopy, StepKind::kMulticast, StepKind::kReceiveAny};
  std::vector<Span> rows[4];
  for (std::int32_t row = 0; row < 4; ++row) {
    writer.track({row, core::TrackKind::kLane, row / 2, "gpu" + std::to_string(row % 2), 0, 0});
    Time end;
    for (std::int32_t i = 0; i < 60; ++i) {
      Span span;
      span.start = end + at(random.below(3) == 0 ? random.below(20) : 0);
      span.duration = at(random.below(15));
      span.wait = at(random.below(16));
      span.kind = static_cast<std::int32_t>(kinds[random.below(std::size(kinds))]);
      span.step = i / 20;
      span.pack = i / 10 % 2;
      span.index = i % 10;
      span.bytes = core::Bytes(static_cast<std::int64_t>(random.below(1000)));
      if (receives(static_cast<StepKind>(span.kind)) && random.below(8) > 0) {
        span.peer = static_cast<std::int32_t>(random.below(4));
        span.peer_index = static_cast<std::int64_t>(random.below(10));
      }
      span.wait = std::min(span.wait, span.duration);
      end = span.start + span.duration;
      writer.span(row, span);
      made.spans.emplace_back(row, span);
    }
  }
  writer.end();
  made.bytes = out.str();
  return made;
}

/// The times of one receiving span that traffic.h reports, found by a search through all spans.
struct Received {
  Time sent, moves, left, awaited, taken;
};

Received expected_of(const RandomLanes& lanes, std::int32_t track, const Span& to) {
  const Time seen = to.start + to.wait, end = to.start + to.duration;
  for (const auto& [row, from] : lanes.spans) {
    if (row != to.peer || row == track || from.step != to.step || from.pack != to.pack ||
        from.index != to.peer_index)
      continue;
    const Time began = from.start + from.wait, through = from.start + from.duration;
    const auto kind = static_cast<StepKind>(from.kind);
    const bool only_sends = kind == StepKind::kSend || kind == StepKind::kMulticast;
    Time moves = only_sends ? began : std::min(std::max(to.start, began), through);
    if (to.wait > Time()) moves = std::min(std::max(seen, began), through);
    return {only_sends ? began : moves, moves, through, to.start, std::max(end, moves)};
  }
  return {seen, seen, end, to.start, std::max(end, seen)};
}

TEST(Traffic, MatchesAnExhaustiveSearch) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const RandomLanes lanes = random_lanes(seed);
    const auto trace = Trace::from_bytes(lanes.bytes, "t");
    ASSERT_TRUE(trace);
    const auto traffic = Traffic::read(**trace);
    ASSERT_TRUE(traffic) << traffic.error().message();
    for (std::int64_t t = 0; t < 1000; t += 3) {
      std::int64_t bytes = 0, waiting = 0, flying = 0;
      for (const auto& [row, span] : lanes.spans) {
        if (!receives(static_cast<StepKind>(span.kind))) continue;
        const Received expected = expected_of(lanes, row, span);
        const bool in_flight = expected.sent <= Time(t) && Time(t) < expected.taken;
        flying += in_flight;
        bytes += in_flight ? span.bytes.count() : 0;
        waiting += expected.sent <= Time(t) && Time(t) < expected.moves;
        waiting += std::max(expected.left, expected.moves) <= Time(t) && Time(t) < expected.awaited;
      }
      EXPECT_EQ((*traffic)->counters().bytes_in_flight.at(Time(t)), bytes)
          << "seed " << seed << " at " << t;
      EXPECT_EQ((*traffic)->counters().queue_depth.at(Time(t)), waiting)
          << "seed " << seed << " at " << t;
      const auto in_flight = (*traffic)->in_flight(Time(t));
      EXPECT_EQ(static_cast<std::int64_t>(in_flight.size()), flying)
          << "seed " << seed << " at " << t;
      for (const Transfer& transfer : in_flight) {
        EXPECT_LE(transfer.sent, Time(t));
        EXPECT_GT(transfer.taken, Time(t));
      }
    }
  }
}

// A counter of a long run merges changes, but no peak may be lost, and short ranges are exact.
TEST(Traffic, CountersOfManyMessagesKeepTheirMaxima) {
  constexpr std::size_t kMaxValues = 60;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const RandomLanes lanes = random_lanes(seed);
    const auto trace = Trace::from_bytes(lanes.bytes, "t");
    ASSERT_TRUE(trace);
    const auto exact = Traffic::read(**trace), merged = Traffic::read(**trace, nullptr, kMaxValues);
    ASSERT_TRUE(exact && merged);
    const Traffic::Counters &all = (*exact)->counters(), &few = (*merged)->counters();
    EXPECT_LT(few.bytes_in_flight.changes(), all.bytes_in_flight.changes());
    EXPECT_LE(few.bytes_in_flight.changes(), kMaxValues);
    EXPECT_LE(few.queue_depth.changes(), kMaxValues);
    EXPECT_EQ(few.bytes_in_flight.peak(), all.bytes_in_flight.peak());
    EXPECT_EQ(few.queue_depth.peak(), all.queue_depth.peak());
    for (std::int64_t t = 0; t < 1000; t += 7) {
      for (const std::int64_t length : {1, 10, 200}) {
        const Time from(t), to(t + length);
        EXPECT_GE(few.bytes_in_flight.most(from, to), all.bytes_in_flight.most(from, to));
        EXPECT_GE(few.queue_depth.most(from, to), all.queue_depth.most(from, to));
        const auto in_range = (*merged)->counters_in({from, to});
        EXPECT_EQ(in_range->bytes_in_flight.most(from, to), all.bytes_in_flight.most(from, to));
        EXPECT_EQ(in_range->queue_depth.most(from, to), all.queue_depth.most(from, to));
      }
    }
  }
}

// A frame of a view that moves must not compute its counters again.
TEST(Traffic, CountersOfARangeRemainValidWhenTheRangeMovesALittle) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  for (const std::int32_t row : {0, 1})
    writer.track({row, core::TrackKind::kLane, 0, "gpu" + std::to_string(row), 0, 0});
  constexpr std::int64_t kMessages = 75'000;
  for (const std::int32_t row : {0, 1}) {
    for (std::int64_t i = 0; i < kMessages; ++i) {
      Span span;
      span.start = Time(10 * i + 6 * row);  // each message waits for its receiver
      span.duration = Time(3);
      span.kind = static_cast<std::int32_t>(row == 0 ? StepKind::kSend : StepKind::kReceive);
      span.index = i;
      span.bytes = core::Bytes(100);
      span.peer = row == 0 ? core::kNoTrack : 0;
      span.peer_index = i;
      writer.span(row, span);
    }
  }
  writer.end();
  const auto trace = Trace::from_bytes(out.str(), "t");
  ASSERT_TRUE(trace);
  const auto traffic = Traffic::read(**trace, nullptr, 1000);
  ASSERT_TRUE(traffic);
  const Traffic::Counters* const whole = &(*traffic)->counters();
  int exact = 0;
  for (std::int64_t length = 30; length < 10 * kMessages; length = length * 3 / 2) {
    const Time middle(5 * kMessages), by(length / 30);
    const TimeRange range{middle, middle + Time(length)};
    const auto before = (*traffic)->counters_in(range);
    if (before.get() == whole) continue;
    ++exact;
    EXPECT_EQ(before, (*traffic)->counters_in({range.from + by, range.to + by})) << length;
  }
  EXPECT_GT(exact, 15);
  EXPECT_EQ((*traffic)->counters_in({Time(), Time(10 * kMessages)}).get(), whole);
}

TEST(Counter, MergedValuesAreMaximaAndIdleTimesStayIdle) {
  std::vector<Counter::Change> changes;
  for (std::int64_t burst = 0; burst < 3; ++burst) {  // 10 short peaks, then nothing for 1000
    for (std::int64_t i = 0; i < 10; ++i) {
      changes.push_back({Time(1000 * burst + 2 * i + 1), 5 + i});
      changes.push_back({Time(1000 * burst + 2 * i + 2), -5 - i});
    }
  }
  const Counter exact(changes);
  MergedCounter builder(8, Time(100));
  builder.append(exact, {Time(0), Time(1015)});  // the pieces begin and end in a burst
  builder.append(exact, {Time(1015), Time(5000)});
  const Counter merged = builder.finish();
  EXPECT_LT(merged.changes(), 20u) << "of 60";
  EXPECT_EQ(merged.peak(), 14);
  for (std::int64_t t = 0; t < 3000; ++t) {
    EXPECT_GE(merged.at(Time(t)), exact.at(Time(t))) << t;
    const bool idle = t % 1000 >= 20;
    EXPECT_TRUE(!idle || merged.at(Time(t)) == 0) << t;
  }
}

TEST(Traffic, MatchesEverySendOfASimulatedRunWithItsReceive) {
  for (const char* strategy :
       {"algorithm: \"ring\"", "algorithm: \"pscpu\" shards: 2", "algorithm: \"nccl\"",
        "algorithm: \"halving_doubling\"", "algorithm: \"nccl/ring\""}) {
    const auto trace = test::simulated_trace(test::small_scenario(strategy, 2, 2));
    const auto traffic = Traffic::read(*trace);
    ASSERT_TRUE(traffic);
    const std::vector<Transfer> transfers = test::transfers_of(**traffic);
    EXPECT_FALSE(transfers.empty());
    std::int64_t bytes = 0;
    for (const Transfer& transfer : transfers) {
      EXPECT_GE(transfer.from, 0) << strategy;
      EXPECT_LE(transfer.sent, transfer.moves);
      EXPECT_LE(transfer.moves, transfer.left);
      EXPECT_LE(transfer.moves, transfer.taken);
      bytes = std::max(bytes, transfer.bytes.count());
    }
    const Counter& flying = (*traffic)->counters().bytes_in_flight;
    EXPECT_GE(flying.peak(), bytes);
    EXPECT_EQ(flying.at(trace->length()), 0) << "in the end everything has been taken";
    EXPECT_EQ((*traffic)->counters().queue_depth.at(trace->length()), 0);
  }
}

/// Returns the times at which exchanges of a device were in flight, in order. The spans of one
/// device may be in several rows.
std::map<std::string, std::vector<TimeRange>> exchanges_by_device(const Trace& trace) {
  std::map<std::string, std::vector<TimeRange>> flights;
  for (const Trace::Row& row : trace.rows()) {
    for (SpanRow::Index i = 0; row.track.kind == core::TrackKind::kPacks && i < row.spans.size();
         ++i) {
      if (row.spans.kind(i) == core::SpanKind::kExchange)
        flights[row.group + row.track.device].push_back({row.spans.start(i), row.spans.end(i)});
    }
  }
  for (auto& [device, of] : flights)
    std::sort(of.begin(), of.end(),
              [](const TimeRange& a, const TimeRange& b) { return a.from < b.from; });
  return flights;
}

/// Returns the index of the range that contains the whole interval; -1 if there is none.
std::ptrdiff_t place(const std::vector<TimeRange>& ranges, Time from, Time to) {
  const auto holds = std::find_if(ranges.begin(), ranges.end(), [&](const TimeRange& range) {
    return range.from <= from && to <= range.to;
  });
  return holds == ranges.end() ? -1 : holds - ranges.begin();
}

TEST(Traffic, EveryExchangeHasItsOwnMessages) {
  for (const char* algorithm : {"ring", "halving_doubling"}) {
    const auto trace =
        test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2) +
                              fmt::format("communicator {{ name: \"t\" size: 4 algorithm: \"{}\" "
                                          "exchange {{ collective: ALL_REDUCE bytes: 4096 "
                                          "per_forward: 3 per_backward: 2 }} }}",
                                          algorithm));
    const auto flights = exchanges_by_device(*trace);
    ASSERT_EQ(flights.size(), 4u);
    for (const auto& [device, of] : flights) ASSERT_EQ(of.size(), 10u) << "5 in each of 2 steps";
    std::size_t receipts = 0, followed = 0;
    for (std::size_t r = 0; r < trace->rows().size(); ++r) {
      const Trace::Row& row = trace->rows()[r];
      for (SpanRow::Index i = 0; row.track.kind == core::TrackKind::kLane && i < row.spans.size();
           ++i) {
        if (!receives(static_cast<StepKind>(row.spans.kind(i)))) continue;
        ++receipts;
        if (row.spans.pack(i) >= 0) continue;
        const auto message = message_into(*trace, {r, i});
        ASSERT_TRUE(message && *message);
        const Trace::Row& sender = trace->rows()[(*message)->from.row];
        const SpanRow::Index sent = (*message)->from.index;
        const auto taken_in =
            place(flights.at(row.group + row.track.device), row.spans.start(i), row.spans.end(i));
        ASSERT_GE(taken_in, 0);
        EXPECT_EQ(place(flights.at(sender.group + sender.track.device), sender.spans.start(sent),
                        sender.spans.end(sent)),
                  taken_in);
        ++followed;
      }
    }
    EXPECT_GE(followed, 10u * 4 * 2);
    const auto traffic = Traffic::read(*trace);
    ASSERT_TRUE(traffic);
    const std::vector<Transfer> transfers = test::transfers_of(**traffic);
    EXPECT_EQ(transfers.size(), receipts);
    for (const Transfer& transfer : transfers) {
      if (transfer.pack >= 0) continue;
      const auto& to = (*traffic)->devices()[transfer.to];
      const auto& from = (*traffic)->devices()[transfer.from];
      const auto& taken = flights.at(fmt::format("worker {}{}", to.worker, to.name));
      const auto& sent = flights.at(fmt::format("worker {}{}", from.worker, from.name));
      const auto n = place(taken, transfer.awaited, transfer.taken);
      ASSERT_GE(n, 0);
      EXPECT_EQ(place(sent, transfer.sent, transfer.left), n);
    }
  }
}

TEST(Traffic, ExtremeValuesDoNotOverflow) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  writer.begin({});
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  for (std::int32_t row = 0; row < 3; ++row) {
    writer.track({row, core::TrackKind::kLane, 0, "gpu" + std::to_string(row), 0, row});
    for (const std::int64_t index :
         {std::int64_t{-5}, std::int64_t{0}, std::int64_t{7}, kHuge - 1, kHuge}) {
      Span span;
      span.start = Time(10);
      span.duration = Time(5);
      span.wait = Time(90);
      span.kind = static_cast<std::int32_t>(row == 0 ? StepKind::kSend : StepKind::kReceive);
      span.index = index;
      span.bytes = core::Bytes(kHuge);
      span.peer = 2 - row;
      span.peer_index = index;
      writer.span(row, span);
    }
  }
  writer.end();
  const auto trace = Trace::from_bytes(out.str(), "made up");
  if (!trace) return;  // the whole file was rejected
  const auto traffic = Traffic::read(**trace);
  ASSERT_TRUE(traffic);
  EXPECT_GE((*traffic)->counters().bytes_in_flight.peak(), 0);
  EXPECT_EQ((*traffic)->counters().bytes_in_flight.at(Time(1000)), 0);
  EXPECT_LE((*traffic)->steps_done(0, 0, 0, -1, Time(1000)), 8);
}

TEST(Traffic, CanBeStopped) {
  const auto trace = test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 1, 2));
  const std::atomic<bool> cancel = true;
  const auto traffic = Traffic::read(*trace, &cancel);
  ASSERT_FALSE(traffic);
  EXPECT_EQ(traffic.error().kind(), core::ErrorKind::kRun) << "no damage of the file";
}

}  // namespace
}  // namespace tutti::gui
