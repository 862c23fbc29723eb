// The coordinator's merging of the step results of all workers into one timeline. Results with
// extreme or contradicting values must be rejected or yield a valid timeline.

#include "real/coordinator/merge.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/scenario/scenario.h"
#include "core/timeline/summary.h"
#include "core/timeline/waiting.h"
#include "real/proto/run.pb.h"

namespace tutti::real {
namespace {

using core::Time;

/// Returns a scenario of two hosts with one replica each.
const core::Scenario& two_hosts() {
  static const auto scenario = *core::read_scenario(
      "cluster { workers { machine: \"h\" count: 2 } network { kind: ONE_SWITCH latency_us: 1 } "
      "machine { name: \"h\" "
      "device { name: \"cpu0\" kind: CPU memory_gb_per_s: 50 } nic { name: \"n\" "
      "bandwidth_gb_per_s: 10 } "
      "link { from: \"cpu0\" to: \"n\" kind: PCIE bandwidth_gb_per_s: 10 latency_us: 0 } } } "
      "workload { variable { name: \"a\" shape: 10 } } strategy { algorithm: \"ring\" }",
      "s", core::Library(std::vector<core::Library::File>()));
  return scenario;
}

proto::StepResult part_of(std::int32_t worker, std::int64_t start_us, std::int64_t end_us,
                          std::int64_t forward_us, std::int64_t in_flight_us) {
  proto::StepResult part;
  proto::ReplicaStep& replica = *part.add_replica();
  replica.set_device("w" + std::to_string(worker) + "/cpu0");
  replica.set_start_ns(1000 * start_us);
  replica.set_end_ns(1000 * end_us);
  replica.set_forward_ns(1000 * forward_us);
  replica.set_communication_ns(1000 * in_flight_us);
  replica.set_exposed_ns(1000 * in_flight_us);
  proto::PackStep& pack = *part.add_pack();
  pack.set_ready_ns(1000 * start_us);
  pack.set_first_start_ns(1000 * start_us);
  pack.set_last_start_ns(1000 * start_us);
  pack.set_end_ns(1000 * end_us);
  proto::TrackInfo& track = *part.add_track();
  track.set_kind(static_cast<int>(core::TrackKind::kLane));
  track.set_worker(worker);
  track.set_device("cpu0");
  proto::SpanColumns& spans = *part.add_spans();
  spans.add_start_ps(1000 * start_us);
  spans.add_duration_ps(1000);
  spans.add_wait_ps(0);
  spans.add_kind(0);
  spans.add_step(0);
  spans.add_pack(0);
  spans.add_index(0);
  spans.add_bytes(4);
  return part;
}

/// The thread of worker 0, which computes longest, is scheduled late, and worker 1 ends after it.
/// This delay is not communication.
TEST(StepMerger, WaitingForOthersIsNotExposedCommunication) {
  core::Summary summary;
  const core::RecordOptions record;
  StepMerger merger(two_hosts(), 0, record, summary);
  const proto::StepResult first = part_of(0, 100, 500, 200, 150),
                          second = part_of(1, 0, 900, 100, 800);
  const auto same = [](std::int64_t ns) { return ns; };
  const std::vector<WorkerPart> parts{{&first, same}, {&second, same}};
  merger.begin_batch(parts);
  merger.merge(0, parts);
  ASSERT_EQ(summary.steps().size(), 1u);
  const core::StepRecord& step = summary.steps().front();
  EXPECT_EQ(step.slowest, "w0/cpu0");
  EXPECT_EQ(step.communication, core::microseconds(150));
  EXPECT_EQ(step.exposed, core::microseconds(150));
  EXPECT_EQ(waiting(step), core::microseconds(900 - 200 - 150));
}

TEST(StepMerger, ChecksEveryNumberOfAReport) {
  core::Summary summary;
  const core::RecordOptions record;
  StepMerger merger(two_hosts(), 0, record, summary);
  EXPECT_EQ(merger.problem_of(part_of(1, 0, 900, 100, 800), 1, 0), "");
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  const std::pair<const char*, std::function<void(proto::StepResult&)>> lies[] = {
      {"another worker's track", [](auto& p) { p.mutable_track(0)->set_worker(0); }},
      {"a track of nobody", [](auto& p) { p.mutable_track(0)->set_worker(-7); }},
      {"a slot below 0", [](auto& p) { p.mutable_track(0)->set_slot(-1); }},
      {"a lane below none", [](auto& p) { p.mutable_track(0)->set_lane(-2); }},
      {"more lanes than there are", [](auto& p) { p.mutable_track(0)->set_lane(2'000'000'000); }},
      {"a kind of track", [](auto& p) { p.mutable_track(0)->set_kind(3); }},
      {"a kind of span", [](auto& p) { p.mutable_spans(0)->set_kind(0, 99); }},
      {"an index below 0", [](auto& p) { p.mutable_spans(0)->set_index(0, -1); }},
      {"a pack of another plan", [](auto& p) { p.mutable_spans(0)->set_pack(0, 1); }},
      {"a step to come", [](auto& p) { p.mutable_spans(0)->set_step(0, 1); }},
      {"another pack's times", [](auto& p) { p.mutable_pack(0)->set_pack(1); }},
      {"more replicas than it has", [](auto& p) { *p.add_replica() = p.replica(0); }},
      {"no replica", [](auto& p) { p.clear_replica(); }},
      {"exposed for less than no time", [](auto& p) { p.mutable_replica(0)->set_exposed_ns(-1); }},
      {"messages below 0", [](auto& p) { p.set_messages(-1); }},
      {"more messages than can be added up", [](auto& p) { p.set_messages(kHuge); }},
      {"more late messages than there are", [](auto& p) { p.set_late_messages(1); }},
      {"a name of a device that it does not have",
       [](auto& p) { p.mutable_replica(0)->set_device("w1/\x1b[2J"); }},
      {"a track of a device that it does not have",
       [](auto& p) { p.mutable_track(0)->set_device("gpu7"); }},
      {"a begin before all clocks",
       [](auto& p) {
         p.mutable_replica(0)->set_start_ns(std::numeric_limits<std::int64_t>::min());
       }},
      {"a message that is years late", [](auto& p) { p.set_latest_ns(kHuge); }}};
  for (const auto& [what, lie] : lies) {
    proto::StepResult part = part_of(1, 0, 900, 100, 800);
    lie(part);
    EXPECT_THAT(merger.problem_of(part, 1, 0),
                testing::AnyOf("sent times that do not match this plan", "sent impossible times"))
        << what;
  }
}

// --- extreme values in every field of every message ---

void set_extreme(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
                 int which) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& r = *message.GetReflection();
  const auto pick = [which](auto least, auto most) {
    return which == 0 ? least : which == 1 ? most : which == 2 ? least + 1 : most / 2;
  };
  const bool list = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto v =
          pick(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
      return list ? r.SetRepeatedInt32(&message, &field, 0, v) : r.SetInt32(&message, &field, v);
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const auto v =
          pick(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
      return list ? r.SetRepeatedInt64(&message, &field, 0, v) : r.SetInt64(&message, &field, v);
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      if (!list) r.SetBool(&message, &field, which % 2 == 0);
      return;
    case FieldDescriptor::CPPTYPE_STRING:
      if (!list) r.SetString(&message, &field, which == 0 ? "" : std::string(100'000, '\x1b'));
      return;
    default: return;
  }
}

/// Calls `tried` with copies of the message. In each copy one field, also of a nested message, has
/// an extreme value, or a list has one entry more or less.
void each_extreme(const proto::StepResult& good,
                  const std::function<void(const proto::StepResult&, const std::string&)>& tried) {
  using google::protobuf::FieldDescriptor;
  using google::protobuf::Message;
  // A path of fields from the root. Each message field has one entry.
  std::vector<std::vector<const FieldDescriptor*>> paths;
  const std::function<void(const google::protobuf::Descriptor&,
                           std::vector<const FieldDescriptor*>)>
      collect = [&](const auto& type, const auto& path) {
        for (int i = 0; i < type.field_count(); ++i) {
          auto longer = path;
          longer.push_back(type.field(i));
          paths.push_back(longer);
          if (type.field(i)->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
            collect(*type.field(i)->message_type(), longer);
        }
      };
  collect(*proto::StepResult::descriptor(), {});
  ASSERT_GE(paths.size(), 40u);
  for (const auto& path : paths) {
    std::string name;
    for (const FieldDescriptor* field : path) name += "." + std::string(field->name());
    for (int which = 0; which < 6; ++which) {
      proto::StepResult changed = good;
      Message* message = &changed;
      for (std::size_t i = 0; i + 1 < path.size(); ++i)
        message = message->GetReflection()->MutableRepeatedMessage(message, path[i], 0);
      const FieldDescriptor& field = *path.back();
      const google::protobuf::Reflection& r = *message->GetReflection();
      if (which >= 4 && field.is_repeated()) {
        if (which == 4 && r.FieldSize(*message, &field) > 0) r.RemoveLast(message, &field);
        if (which == 5 && field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
          r.AddMessage(message, &field);
        if (which == 5 && field.cpp_type() == FieldDescriptor::CPPTYPE_INT64)
          r.AddInt64(message, &field, 1);
        if (which == 5 && field.cpp_type() == FieldDescriptor::CPPTYPE_INT32)
          r.AddInt32(message, &field, 0);
      } else if (which < 4 && (!field.is_repeated() || r.FieldSize(*message, &field) > 0)) {
        set_extreme(*message, field, which);
      }
      tried(changed, name + " " + std::to_string(which));
    }
  }
}

/// Any report of a worker is either rejected, or merged into a timeline that ends before the
/// horizon.
TEST(StepMerger, AcceptsOrRefusesReportsWithExtremeValues) {
  const proto::StepResult other = part_of(0, 100, 500, 200, 150);
  int refused = 0, merged = 0;
  each_extreme(part_of(1, 0, 900, 100, 800),
               [&](const proto::StepResult& part, const std::string& what) {
                 core::Summary summary;
                 const core::RecordOptions record;
                 StepMerger merger(two_hosts(), 0, record, summary);
                 if (!merger.problem_of(part, 1, 0).empty()) {
                   ++refused;
                   return;
                 }
                 ++merged;
                 const auto same = [](std::int64_t ns) { return ns; };
                 const std::vector<WorkerPart> parts{{&other, same}, {&part, same}};
                 merger.begin_batch(parts);
                 merger.merge(0, parts);
                 ASSERT_EQ(summary.steps().size(), 1u) << what;
                 const core::StepRecord& step = summary.steps().front();
                 EXPECT_GE(step.end, step.start) << what;
                 EXPECT_LE(step.end, core::kHorizon) << what;
                 EXPECT_GE(step.exposed, Time()) << what;
                 EXPECT_TRUE(step.slowest == "w0/cpu0" || step.slowest == "w1/cpu0") << what;
               });
  EXPECT_GT(refused, 60);
  EXPECT_GT(merged, 60);
}

/// Each step may have the maximum length, but all of them must end before the horizon.
TEST(StepMerger, ImpossiblyLongStepsDoNotOverflow) {
  core::Summary summary;
  const core::RecordOptions record;
  for (const double time_scale : {0.0, 0.001}) {
    StepMerger merger(two_hosts(), time_scale, record, summary);
    const auto same = [](std::int64_t ns) { return ns; };
    for (int step = 0; step < 20; ++step) {
      std::vector<proto::StepResult> told;
      for (const std::int32_t w : {0, 1}) {
        told.push_back(part_of(w, 0, 900'000'000'000, 100, 800));
        told.back().set_step(step);
        ASSERT_EQ(merger.problem_of(told.back(), w, step), "");
      }
      const std::vector<WorkerPart> parts{{&told[0], same}, {&told[1], same}};
      merger.begin_batch(parts);
      merger.merge(step, parts);
      const core::StepRecord& record_of = summary.steps().back();
      EXPECT_GE(record_of.end, record_of.start);
      EXPECT_LE(record_of.end, core::kHorizon);
    }
  }
}

}  // namespace
}  // namespace tutti::real
