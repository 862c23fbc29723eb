// The communication matrix agrees with the receives in the timeline.

#include "gui/trace/communication.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gui/trace/messages.h"
#include "tests/gui/simulated.h"

namespace tutti::gui {
namespace {

using core::Time;

struct Communication : testing::Test {
  std::shared_ptr<const Trace> trace_ =
      test::simulated_trace(test::small_scenario("algorithm: \"ring\"", 2, 2));
  TimeRange all_{Time(), trace_->length() + Time(1)};

  CommunicationMatrix matrix(const TimeRange& range, bool by_worker = false) {
    auto made = communication_of(*trace_, range, {.side = 0, .by_worker = by_worker});
    EXPECT_TRUE(made);
    return made ? *made : CommunicationMatrix();
  }
};

TEST_F(Communication, CountsEveryReceiveOnce) {
  std::map<std::pair<std::string, std::string>, PairTraffic> wanted;
  const auto name = [&](const core::Track& track) {
    return "w" + std::to_string(track.worker) + "/" + track.device;
  };
  for (std::size_t r = 0; r < trace_->rows().size(); ++r) {
    const auto spans = trace_->spans(r, 0, trace_->rows()[r].spans.size());
    ASSERT_TRUE(spans);
    for (const core::Span& span : *spans) {
      if (span.peer == core::kNoTrack) continue;
      const core::Track& sender = trace_->rows()[*trace_->row_of(span.peer)].track;
      PairTraffic& pair = wanted[{name(sender), name(trace_->rows()[r].track)}];
      ++pair.messages;
      pair.bytes += static_cast<double>(span.bytes.count());
      pair.time += span.start + span.duration - begun(span);
    }
  }
  const CommunicationMatrix made = matrix(all_);
  ASSERT_EQ(made.ranks.size(), 4u);
  ASSERT_EQ(made.pairs.size(), wanted.size());
  ASSERT_EQ(wanted.size(), 4u) << "a ring has one successor for each rank";
  for (const auto& [cell, traffic] : made.pairs) {
    const PairTraffic& pair =
        wanted.at({made.ranks[cell.first].name, made.ranks[cell.second].name});
    EXPECT_EQ(traffic.messages, pair.messages);
    EXPECT_DOUBLE_EQ(traffic.bytes, pair.bytes);
    EXPECT_EQ(traffic.time, pair.time);
    EXPECT_GT(traffic.rate(), 0);
  }
}

TEST_F(Communication, PartsOfTheRunAddUpToTheWhole) {
  const CommunicationMatrix whole = matrix(all_);
  for (const int parts : {2, 3, 7}) {
    std::map<std::pair<std::size_t, std::size_t>, PairTraffic> sum;
    for (int i = 0; i < parts; ++i) {
      const TimeRange part{Time(all_.to.count() * i / parts),
                           Time(all_.to.count() * (i + 1) / parts)};
      for (const auto& [cell, traffic] : matrix(part).pairs) {
        sum[cell].bytes += traffic.bytes;
        sum[cell].time += traffic.time;
      }
    }
    for (const auto& [cell, traffic] : whole.pairs) {
      EXPECT_NEAR(sum[cell].bytes, traffic.bytes, 1e-6 * traffic.bytes);
      EXPECT_EQ(sum[cell].time, traffic.time);
    }
  }
}

TEST_F(Communication, ValuesOfWorkersAreSumsOfTheirDevices) {
  const CommunicationMatrix devices = matrix(all_), workers = matrix(all_, true);
  ASSERT_EQ(workers.ranks.size(), 2u);
  EXPECT_EQ(workers.ranks[1].key, "worker 1/");
  double all = 0, between = 0;
  for (const auto& [cell, traffic] : devices.pairs) all += traffic.bytes;
  for (const auto& [cell, traffic] : workers.pairs) between += traffic.bytes;
  EXPECT_DOUBLE_EQ(all, between);
}

TEST_F(Communication, EveryTrackHasARow) {
  for (std::size_t r = 0; r < trace_->rows().size(); ++r)
    EXPECT_EQ(trace_->row_of(trace_->rows()[r].track.id), r);
  EXPECT_FALSE(trace_->row_of(core::kNoTrack));
}

TEST_F(Communication, CountsNothingOutsideOfTheRun) {
  EXPECT_TRUE(matrix({all_.to, all_.to + core::milliseconds(1)}).pairs.empty());
  const std::atomic<bool> stop = true;
  const auto stopped = communication_of(*trace_, all_, {.cancel = &stop});
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(stopped->pairs.empty());
  EXPECT_EQ(devices_with_lanes(*trace_, 0), 4u);
  EXPECT_EQ(devices_with_lanes(*trace_, 1), 0u);
}

}  // namespace
}  // namespace tutti::gui
