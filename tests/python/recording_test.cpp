#include "tools/python/recording.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scenario/library_folder.h"
#include "core/scenario/scenario.h"
#include "core/timeline/writer.h"
#include "sim/simulator.h"

namespace tutti::python {
namespace {

/// A small run with messages: four hosts, a ring and two packs.
constexpr const char* kScenario = R"(
cluster {
  workers { machine: "cpu-host" count: 4 }
  network { kind: ONE_SWITCH latency_us: 5 }
}
workload {
  variable { name: "a" shape: 1000 }
  variable { name: "b" shape: 3001 }
  forward_ms: 0.01 backward_ms: 0.02
}
strategy { algorithm: "ring" bytes_per_pack: 4096 }
run { steps: 2 }
)";

core::Scenario scenario() {
  const auto read =
      core::read_scenario(kScenario, "small.textproto", core::Library(core::library_folder()));
  if (!read) throw std::runtime_error(read.error().message());
  return *read;
}

core::RecordOptions all() {
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  return record;
}

std::string bytes_of(const std::function<void(core::TimelineSink&)>& fill) {
  std::ostringstream out;
  core::TimelineWriter writer(out);
  fill(writer);
  return out.str();
}

template <class T>
const std::vector<T>& numbers(const Table& table, const char* name) {
  return std::get<std::vector<T>>(table.find(name)->values);
}

class RecordedRun : public testing::Test {
 protected:
  void SetUp() override {
    sim::Simulator simulator;
    const auto ran = simulator.run(scenario(), all(), {}, recording);
    ASSERT_TRUE(ran) << ran.error().message();
  }
  Recording recording;
};

TEST_F(RecordedRun, ReplaysTheRecordedOutput) {
  sim::Simulator simulator;
  const std::string written = bytes_of(
      [&](core::TimelineSink& sink) { ASSERT_TRUE(simulator.run(scenario(), all(), {}, sink)); });
  const auto reader = core::TimelineReader::from_bytes(written, "written");
  ASSERT_TRUE(reader);
  Recording read;
  ASSERT_TRUE(reader->replay(read));
  // A file orders spans by block and a run orders them by time. So both are compared through a
  // file.
  const auto again = recording.reader();
  ASSERT_TRUE(again);
  Recording twice;
  ASSERT_TRUE(again->replay(twice));
  EXPECT_GT(read.span_count(), 50U);
  EXPECT_EQ(bytes_of([&](core::TimelineSink& sink) { read.replay(sink); }),
            bytes_of([&](core::TimelineSink& sink) { twice.replay(sink); }));
}

TEST_F(RecordedRun, TrackNumbersAreRowsOfTheTableOfTracks) {
  const auto& track = numbers<std::int32_t>(*recording.spans(), "track");
  const Table tracks = recording.tracks();
  const auto& names = recording.spans()->find("track")->categories;
  ASSERT_EQ(tracks.rows(), names.size());
  EXPECT_EQ(std::get<Texts>(tracks.find("track")->values).at(0), names[0]);
  for (const std::int32_t one : track) ASSERT_LT(one, static_cast<int>(names.size()));
}

TEST_F(RecordedRun, EveryMessageHasASender) {
  const Table messages = recording.messages();
  const auto& sent = numbers<std::int64_t>(messages, "sent_ps");
  const auto& received = numbers<std::int64_t>(messages, "received_ps");
  const auto& bytes = numbers<std::int64_t>(messages, "bytes");
  // In each of 2 steps, 2 packs are reduced by a ring of 4 ranks: each rank receives 2 (4 - 1)
  // messages per pack.
  ASSERT_EQ(messages.rows(), 2U * 2 * 4 * 6);
  std::int64_t all_bytes = 0;
  for (std::size_t m = 0; m < sent.size(); ++m) {
    ASSERT_GE(sent[m], 0);
    ASSERT_GT(received[m], sent[m]);
    all_bytes += bytes[m];
  }
  // Each pack crosses the ring 2 (n - 1) times, whatever its chunks are. There are 4001 elements of
  // 4 bytes and two steps.
  EXPECT_EQ(all_bytes, 2 * 4001 * 4 * 2 * 3);
}

TEST_F(RecordedRun, KindsHaveDifferentNames) {
  std::vector<std::string> names = recording.spans()->find("kind")->categories;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_THAT(names, testing::IsSupersetOf({"backward", "update", "pack in flight", "send"}));
}

TEST_F(RecordedRun, TablesHaveTheRecords) {
  const Table steps = recording.steps();
  EXPECT_EQ(steps.rows(), 2U);
  EXPECT_EQ(recording.packs().rows(), 4U);
  EXPECT_EQ(numbers<std::int64_t>(recording.packs(), "bytes")[0] +
                numbers<std::int64_t>(recording.packs(), "bytes")[1],
            4001 * 4);
  EXPECT_GT(recording.links().rows(), 0U);
  EXPECT_GT(recording.path().rows(), 0U);
}

TEST(Recording, TrackNumbersAreConvertedToIndices) {
  Recording recording;
  recording.begin({});
  recording.track({7, core::TrackKind::kLane, 0, "cpu0", 0, 0});
  recording.track({3, core::TrackKind::kLane, 1, "cpu0", 0, 0});
  core::Span span;
  span.peer = 7;
  recording.span(3, span);
  span.peer = 9;  // a track that is not recorded
  recording.span(7, span);
  recording.end();
  EXPECT_THAT(numbers<std::int32_t>(*recording.spans(), "track"), testing::ElementsAre(1, 0));
  EXPECT_THAT(numbers<std::int32_t>(*recording.spans(), "peer_track"),
              testing::ElementsAre(0, core::kNoTrack));
}

}  // namespace
}  // namespace tutti::python
