// Messages can be found from their sender and from their receiver. The messages must equal those
// found by a search through all spans.

#include "gui/trace/messages.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/timeline/writer.h"
#include "sim/simulator.h"
#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::gui {
namespace {

using core::Span;
using core::Time;

/// Simulates one step of a shipped scenario, and records all steps of all lanes.
std::shared_ptr<const Trace> simulated(const std::string& name) {
  const auto scenario = core::load_scenario(
      test::source_folder() + "/scenarios/" + name + ".textproto", test::shipped_library());
  EXPECT_TRUE(scenario) << scenario.error().message();
  core::RecordOptions record;
  record.level = core::RecordLevel::kSteps;
  record.last_worker = 1;
  std::ostringstream out;
  core::TimelineWriter writer(out);
  sim::Simulator simulator;
  EXPECT_TRUE(simulator.run(*scenario, record, {}, writer));
  auto trace = Trace::from_bytes(out.str(), name);
  EXPECT_TRUE(trace) << trace.error().message();
  return *trace;
}

/// Returns all messages. The sender of each receiving span is looked up in a table of all spans.
std::vector<Message> all_messages(const Trace& trace) {
  std::map<std::tuple<core::TrackId, int, int, std::int64_t>, std::pair<SpanId, Span>> by_name;
  std::vector<std::pair<SpanId, Span>> receivers;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    if (trace.rows()[r].track.kind != core::TrackKind::kLane) continue;
    const auto spans = trace.spans(r, 0, trace.rows()[r].spans.size());
    for (SpanRow::Index i = 0; i < spans->size(); ++i) {
      const Span& span = (*spans)[i];
      by_name[{trace.rows()[r].track.id, span.step, span.pack, span.index}] = {{r, i}, span};
      if (span.peer != core::kNoTrack) receivers.emplace_back(SpanId{r, i}, span);
    }
  }
  std::vector<Message> messages;
  for (const auto& [to, span] : receivers) {
    const auto sender = by_name.find({span.peer, span.step, span.pack, span.peer_index});
    if (sender == by_name.end()) continue;
    const auto& [from, sent] = sender->second;
    messages.push_back({from, to, sent.start + sent.wait, span.start + span.wait});
  }
  return messages;
}

class Messages : public testing::TestWithParam<const char*> {};

TEST_P(Messages, AreFoundFromBothEnds) {
  const auto trace = simulated(GetParam());
  const std::vector<Message> all = all_messages(*trace);
  ASSERT_GT(all.size(), 20u);
  const std::size_t every = std::max<std::size_t>(1, all.size() / 200);
  for (std::size_t m = 0; m < all.size(); m += every) {
    const Message& message = all[m];
    const auto into = message_into(*trace, message.to);
    ASSERT_TRUE(into && *into);
    EXPECT_EQ(**into, message);
    const auto out_of = messages_out_of(*trace, message.from);
    ASSERT_TRUE(out_of);
    std::size_t expected = 0;
    for (const Message& other : all) expected += other.from == message.from;
    EXPECT_EQ(out_of->size(), expected);
    EXPECT_NE(std::find(out_of->begin(), out_of->end(), message), out_of->end());
  }
}

TEST_P(Messages, FindsTheMessagesInFlightDuringARange) {
  const auto trace = simulated(GetParam());
  const std::vector<Message> all = all_messages(*trace);
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < trace->rows().size(); r += 2) rows.push_back(r);
  for (std::size_t m = 0; m < all.size(); m += all.size() / 7 + 1) {
    const TimeRange range{all[m].sent - core::microseconds(50),
                          all[m].sent + core::microseconds(100)};
    const auto found = messages_in(*trace, rows, range, 1'000'000);
    ASSERT_TRUE(found && *found);
    std::size_t expected = 0;
    for (const Message& message : all) {
      // Counts the message if both the receiver's span and the message overlap the range.
      const SpanRow& spans = trace->rows()[message.to.row].spans;
      expected += message.to.row % 2 == 0 && spans.start(message.to.index) < range.to &&
                  (spans.end(message.to.index) > range.from ||
                   spans.start(message.to.index) >= range.from) &&
                  message.sent < range.to && message.arrived >= range.from;
    }
    EXPECT_EQ((*found)->size(), expected);
    EXPECT_FALSE(*messages_in(*trace, rows, {Time(), trace->length()}, 3)) << "too many";
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Messages,
                         testing::Values("04_resnet50_ring", "05_resnet50_pscpu"),
                         [](const auto& shipped) { return std::string(shipped.param); });

TEST(MessagesOf, SpansWithoutMessagesHaveNone) {
  const auto trace = simulated("04_resnet50_ring");
  for (std::size_t r = 0; r < trace->rows().size(); ++r) {
    if (trace->rows()[r].track.kind != core::TrackKind::kCompute) continue;
    EXPECT_FALSE(*message_into(*trace, {r, 0}));
    EXPECT_TRUE(messages_out_of(*trace, {r, 0})->empty());
  }
}

}  // namespace
}  // namespace tutti::gui
