// SQL queries of timelines: every record is a row, conditions omit only blocks without matches, and
// a query can neither change anything nor run forever.

#include "core/query/timeline_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "core/base/random.h"
#include "core/schedule/step.h"
#include "core/timeline/writer.h"
#include "tests/core/timeline/counted_bytes.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kSteps = 20'000;  // several blocks for each track

/// Returns a timeline of two GPUs. The lane of gpu1 receives from the lane of gpu0.
std::string two_gpus() {
  std::ostringstream out;
  TimelineWriter writer(out);
  RunInfo run;
  run.scenario = "pair";
  run.executor = "simulated";
  run.packs = {{{"a", "b"}, Bytes(1000), "float32", {}, 0, 0, {}},
               {{"c"}, Bytes(7), "float32", {}, 0, 0, {}}};
  writer.begin(run);
  writer.track({0, TrackKind::kCompute, 0, "gpu0", 0, -1});
  writer.track({1, TrackKind::kLane, 0, "gpu0", 0, 0});
  writer.track({2, TrackKind::kLane, 0, "gpu1", 0, 3});
  Random random(7);
  std::vector<Time> at(3);
  for (int i = 0; i < kSteps; ++i) {
    for (TrackId t = 0; t < 3; ++t) {
      Span span;
      span.start = at[t] + Time(static_cast<std::int64_t>(random.below(500'000)));
      span.duration = Time(1'000 + static_cast<std::int64_t>(random.below(900'000)));
      at[t] = span.start + span.duration;
      span.kind = t == 0   ? SpanKind::kFirstCompute
                  : t == 1 ? static_cast<std::int32_t>(StepKind::kSend)
                           : static_cast<std::int32_t>(StepKind::kReceive);
      span.pack = t == 0 ? -1 : i % 2;
      span.index = i;
      span.bytes = Bytes(t == 0 ? 0 : 100 + i % 10);
      if (t == 2) {
        span.wait = Time(span.duration.count() / 4);
        span.peer = 1;
        span.peer_index = i;
      }
      writer.span(t, span);
    }
  }
  StepRecord step;
  step.end = *std::max_element(at.begin(), at.end());
  step.exposed = Time(step.end.count() / 5);
  writer.step(step);
  writer.pack({0, 0, Time(0), Time(1'000'000), Time(2'000'000), Time(5'000'000)});
  writer.pack({0, 1, Time(0), Time(1'000'000), Time(6'000'000), Time(9'000'000)});
  LinkRecord link;
  link.name = "w0/nic0 out";
  link.bandwidth = bandwidth_from_gb_per_s(25);
  link.bytes = Bytes(4);
  link.busy = step.end;
  writer.link(link);
  PathPiece piece;
  piece.kind = SpanKind::kPackInFlight;
  piece.pack = 1;
  piece.end = Time(3'000'000);
  writer.path(piece);
  writer.end();
  return out.str();
}

struct TimelineQueries : testing::Test {
  static TimelineReader open() { return *TimelineReader::from_bytes(two_gpus(), "pair.tutti"); }

  /// Returns the rows as texts, with "|" between the cells.
  std::vector<std::string> rows(const std::string& sql) {
    const auto result = query_.run(sql);
    if (!result) return {"error: " + result.error().message()};
    std::vector<std::string> all;
    for (const auto& row : result->rows) {
      std::string text;
      for (const QueryValue& value : row) {
        if (!text.empty()) text += '|';
        if (const auto* const number = std::get_if<std::int64_t>(&value))
          text += std::to_string(*number);
        if (const auto* const real = std::get_if<double>(&value)) text += fmt::format("{}", *real);
        if (const auto* const word = std::get_if<std::string>(&value)) text += *word;
      }
      all.push_back(text);
    }
    return all;
  }
  std::string error_of(const std::string& sql) {
    const auto result = query_.run(sql);
    return result ? "no error" : result.error().message();
  }

  TimelineReader reader_ = open();
  TimelineQuery query_{{{"simulated", &reader_}}};
};

TEST_F(TimelineQueries, EveryRecordIsARow) {
  EXPECT_THAT(rows("SELECT device, row, what, count(*), sum(bytes) FROM spans "
                   "GROUP BY device, row ORDER BY device, row"),
              ElementsAre("w0/gpu0|compute|forward|20000|0", "w0/gpu0|lane|send|20000|2090000",
                          "w0/gpu1|lane|receive|20000|2090000"));
  EXPECT_THAT(rows("SELECT sender, receiver, sender_lane, receiver_lane, count(*), sum(bytes) "
                   "FROM messages GROUP BY sender, receiver"),
              ElementsAre("w0/gpu0|w0/gpu1|0|3|20000|2090000"));
  EXPECT_THAT(rows("SELECT pack, bytes, gradients, start_us, end_us, time_us FROM packs"),
              ElementsAre("0|1000|2|2|5|3", "1|7|1|6|9|3"));
  EXPECT_THAT(rows("SELECT pack, gradient FROM gradients"), ElementsAre("0|a", "0|b", "1|c"));
  EXPECT_THAT(rows("SELECT link, bandwidth_gb_per_s, bytes, busy_share FROM links"),
              ElementsAre("w0/nic0 out|25|4|1"));
  EXPECT_THAT(rows("SELECT what, pack, time_us FROM path"), ElementsAre("pack in flight|1|3"));
  EXPECT_THAT(
      rows("SELECT timeline, step, abs(exposed_communication_us * 5 - time_us) < 0.001 FROM steps"),
      ElementsAre("simulated|0|1"));
}

TEST_F(TimelineQueries, ConditionsOmitNoMatchingSpans) {
  Random random(11);
  const double end = to_us(reader_.steps().back().end);
  for (int i = 0; i < 30; ++i) {
    const double from = static_cast<double>(random.below(1000)) / 1000 * end;
    const double to = from + static_cast<double>(random.below(100)) / 1000 * end;
    for (const char* const table : {"spans", "messages"}) {
      const std::string device = std::string_view(table) == "spans" ? "device" : "receiver";
      // A unary plus keeps SQLite from passing the condition to the table.
      const std::string text =
          "SELECT count(*), sum(span_id), sum(bytes) FROM {} WHERE {}start_us > "
          "{} AND {}start_us <= {} AND {}end_us >= {} AND {}{} = 'w0/gpu1'";
      const auto of = [&](const char* plus) {
        return rows(fmt::format(fmt::runtime(text), table, plus, from, plus, to, plus,
                                (from + to) / 2, plus, device));
      };
      EXPECT_EQ(of(""), of("+")) << table << ' ' << from << ' ' << to;
    }
  }
  EXPECT_THAT(rows("SELECT count(*) FROM spans WHERE device = 'W0/GPU1' COLLATE NOCASE"),
              ElementsAre("20000"));
  EXPECT_THAT(rows("SELECT count(*) FROM spans WHERE start_us >= 'x'"), ElementsAre("0"));
  EXPECT_THAT(rows("SELECT count(*) FROM spans WHERE start_us < 'x'"), ElementsAre("60000"));
  EXPECT_THAT(rows("SELECT count(*) FROM spans WHERE span_id = NULL OR span_id = 'x'"),
              ElementsAre("0"));
}

TEST_F(TimelineQueries, OnlyTheNeededBlocksAreRead) {
  const auto bytes = std::make_shared<test::CountedBytes>(two_gpus());
  const auto counted =
      TimelineReader::from_source(bytes, "pair.tutti", TimelineReader::Check::kWhenRead);
  ASSERT_TRUE(counted);
  const TimelineQuery query({{"simulated", &*counted}});
  const auto read_by = [&](const std::string& sql) {
    const std::uint64_t before = bytes->bytes();
    const auto result = query.run(sql);
    EXPECT_TRUE(result && !result->rows.empty()) << sql;
    return bytes->bytes() - before;
  };
  const std::uint64_t all = read_by("SELECT count(*) FROM spans");
  EXPECT_LT(read_by("SELECT * FROM spans WHERE span_id = 30000"), all / 10);
  EXPECT_LT(read_by("SELECT count(*) FROM spans WHERE start_us < 100"), all / 3);
  EXPECT_LT(read_by("SELECT count(*) FROM messages"), all - all / 6) << "no computation";
  EXPECT_EQ(read_by("SELECT count(*) FROM packs"), 0u);
}

TEST_F(TimelineQueries, AnIdIdentifiesOneSpan) {
  for (const std::int64_t id : {0, 19'999, 20'000, 41'234, 59'999}) {
    const auto place = query_.place_of(id);
    ASSERT_TRUE(place);
    EXPECT_EQ(*place, (SpanPlace{0, static_cast<TrackId>(id / kSteps), id % kSteps}));
    EXPECT_EQ(rows(fmt::format("SELECT span_id, number FROM spans WHERE span_id = {}", id)),
              rows(fmt::format("SELECT {}, {}", id, place->index)));
  }
  EXPECT_FALSE(query_.place_of(-1));
  EXPECT_FALSE(query_.place_of(60'000));
  // Joins by the id are quick: each looks up one span.
  EXPECT_THAT(rows("SELECT count(*), sum(s.bytes = m.bytes) FROM messages m JOIN spans s "
                   "ON s.span_id = m.span_id"),
              ElementsAre("20000|20000"));
}

TEST_F(TimelineQueries, TwoTimelinesShareTheTables) {
  const TimelineReader other = open();
  const TimelineQuery both({{"simulated", &reader_}, {"real", &other}});
  const auto result = both.run("SELECT timeline, count(*) FROM spans GROUP BY timeline");
  ASSERT_TRUE(result);
  ASSERT_EQ(result->rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(result->rows[0][0]), "real");
  EXPECT_EQ(std::get<std::int64_t>(result->rows[0][1]), 3 * kSteps);
  EXPECT_EQ(both.place_of(3 * kSteps + 5), (SpanPlace{1, 0, 5}));
}

TEST_F(TimelineQueries, PercentilesMatchThoseOfTheSortedValues) {
  EXPECT_THAT(rows("SELECT percentile(value, 0), percentile(value, 50), percentile(value, 100) "
                   "FROM (SELECT 3 AS value UNION SELECT 1 UNION SELECT 7 UNION SELECT NULL)"),
              ElementsAre("1|3|7"));
  EXPECT_THAT(rows("SELECT percentile(bytes, 50) IS NULL FROM packs WHERE pack > 5"),
              ElementsAre("1"));
  EXPECT_THAT(error_of("SELECT percentile(bytes, 101) FROM packs"),
              HasSubstr("p must be between 0 and 100"));
}

TEST_F(TimelineQueries, ExamplesRunAndFindSomething) {
  ASSERT_GE(example_queries().size(), 8u);
  for (const ExampleQuery& example : example_queries()) {
    const auto result = query_.run(example.sql);
    ASSERT_TRUE(result) << example.title << ": " << result.error().message();
    EXPECT_FALSE(result->rows.empty()) << example.title;
  }
}

TEST_F(TimelineQueries, ColumnsMatchTheirDescription) {
  for (const QueryTable& table : query_tables()) {
    const auto result = query_.run("SELECT * FROM " + table.name);
    ASSERT_TRUE(result) << table.name;
    EXPECT_EQ(result->columns, table.columns) << table.name;
  }
}

TEST_F(TimelineQueries, ExplainsErrors) {
  EXPECT_THAT(error_of("SELECT * FROM span"),
              HasSubstr("no such table: span; the tables are steps"));
  EXPECT_THAT(error_of("SELECT length FROM packs"),
              testing::AllOf(HasSubstr("no such column: length"), HasSubstr("packs has timeline"),
                             HasSubstr("time_us"), testing::Not(HasSubstr("spans has"))));
  EXPECT_THAT(error_of("SELECT * FORM packs"), HasSubstr("at character 10"));
  EXPECT_THAT(error_of("  -- nothing"), HasSubstr("there is no query"));
  EXPECT_THAT(error_of("SELECT 1; SELECT 2"), HasSubstr("a single SELECT"));
  EXPECT_EQ(error_of("SELECT 1; -- done"), "no error");
}

TEST_F(TimelineQueries, QueriesCannotWriteOrOpenFiles) {
  for (const char* const sql :
       {"CREATE TABLE t(x)", "INSERT INTO packs VALUES (1)", "DELETE FROM spans",
        "ATTACH '/tmp/x.db' AS x", "PRAGMA journal_mode = wal", "VACUUM INTO '/tmp/x.db'",
        "SELECT * FROM pragma_database_list", "DROP TABLE spans", "BEGIN",
        "SELECT load_extension('x')"})
    EXPECT_NE(error_of(sql), "no error") << sql;
  EXPECT_THAT(error_of("CREATE TABLE t(x)"), HasSubstr("can only read"));
}

TEST_F(TimelineQueries, EndlessQueriesAreStopped) {
  const char* const endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
  std::atomic<bool> stop = false;
  QueryOptions options;
  options.stop = &stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  const auto result = query_.run(endless, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().problems().front().kind.code, ProblemCode::kStopped);
}

/// A byte source that stops the query as soon as a span is read, or returns damaged bytes.
class Disturbed : public test::CountedBytes {
 public:
  using CountedBytes::CountedBytes;
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const override {
    std::string bytes = CountedBytes::read(offset, count);
    if (armed && stops) stop = true;
    if (armed && !stops) std::reverse(bytes.begin(), bytes.end());
    return bytes;
  }
  bool armed = false, stops = true;
  mutable std::atomic<bool> stop = false;
};

TEST_F(TimelineQueries, AScanWithoutMatchesIsStopped) {
  // The condition on the device leaves only lanes without messages, so the table passes over all
  // blocks in a single call.
  const auto bytes = std::make_shared<Disturbed>(two_gpus());
  const auto counted =
      TimelineReader::from_source(bytes, "pair.tutti", TimelineReader::Check::kWhenRead);
  ASSERT_TRUE(counted);
  const TimelineQuery query({{"simulated", &*counted}});
  QueryOptions options;
  options.stop = &bytes->stop;
  const std::string sql = "SELECT count(*) FROM messages WHERE receiver = 'w0/gpu0'";
  const int before = bytes->calls();
  ASSERT_TRUE(query.run(sql, options));
  const int whole = bytes->calls() - before;
  ASSERT_GT(whole, 1) << "there are several blocks";
  bytes->armed = true;
  const auto result = query.run(sql, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().problems().front().kind.code, ProblemCode::kStopped);
  EXPECT_LT(bytes->calls() - before - whole, whole);
}

TEST_F(TimelineQueries, ReportsADamagedBlock) {
  const auto bytes = std::make_shared<Disturbed>(two_gpus());
  const auto counted =
      TimelineReader::from_source(bytes, "pair.tutti", TimelineReader::Check::kWhenRead);
  ASSERT_TRUE(counted);
  bytes->armed = true;
  bytes->stops = false;
  const auto result = TimelineQuery({{"simulated", &*counted}}).run("SELECT * FROM spans");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kRun) << result.error().message();
  EXPECT_EQ(result.error().problems().front().kind.code, ProblemCode::kDamaged);
}

TEST_F(TimelineQueries, PercentilesKeepALimitedNumberOfValues) {
  QueryOptions options;
  options.max_percentile_values = kSteps;
  // Each group has kSteps values, and is complete before the next group begins.
  EXPECT_TRUE(
      query_.run("SELECT row, device, percentile(start_us, 50) FROM spans GROUP BY 1, 2", options));
  const auto result = query_.run("SELECT percentile(start_us, 50) FROM spans", options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().problems().front().kind.code, ProblemCode::kTooLarge);
  EXPECT_THAT(result.error().message(), HasSubstr("more than 20000 values"));
}

TEST_F(TimelineQueries, LongResultsAreTruncated) {
  QueryOptions options;
  options.max_rows = 100;
  const auto result = query_.run("SELECT span_id FROM spans", options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->truncated);
  EXPECT_EQ(result->rows.size(), 100u);
  const auto whole = query_.run("SELECT span_id FROM spans LIMIT 100", options);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->truncated);
}

}  // namespace
}  // namespace tutti::core
