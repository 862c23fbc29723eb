// The observers of a simulated run: records of packs and steps, and the packs in flight.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/run/flights.h"
#include "sim/run/pack_records.h"
#include "sim/run/pull_order.h"
#include "sim/run/step_ends.h"
#include "tests/sim/simulated.h"

namespace tutti::sim {
namespace {

using core::PackRecord;
using core::Time;
using testing::ElementsAre;

/// If two groups reduce the same pack, its record spans both, and is complete when the second group
/// has finished.
TEST(PackRecords, AreCompleteWhenAllGroupsHaveCompleted) {
  PackRecords records(2);
  records.ready(3, 7, Time(1));
  records.ready(3, 7, Time(5));
  EXPECT_FALSE(records.over({3, 7, {}, Time(6), Time(9), Time(20)}));
  const auto record = records.over({3, 7, {}, Time(4), Time(12), Time(25)});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->ready, Time(5)) << "on the last replica";
  EXPECT_EQ(record->first_start, Time(4));
  EXPECT_EQ(record->last_start, Time(12));
  EXPECT_EQ(record->end, Time(25));
}

/// The record of a step is that of the replica that computed longest. The replica whose gradients
/// were ready last was awaited.
TEST(StepEnds, MakeOneRecordOfAllReplicas) {
  const auto cluster = test::plain_cluster(3);
  StepEnds ends(*cluster, 1);
  ReplicaEnd end;
  const auto replica = [&](int i, int ready, int computed, std::int32_t node) {
    end.device = cluster->replica(i);
    end.ready = Time(ready);
    end.backward = Time(computed);
    end.cause.node = node;
    return end;
  };
  EXPECT_FALSE(ends.add(0, replica(0, 10, 50, 1), Time(100)));
  EXPECT_FALSE(ends.add(0, replica(2, 40, 80, 2), Time(110)));
  EXPECT_FALSE(ends.add(1, replica(0, 10, 50, 3), Time(115))) << "a step ahead";
  const auto record = ends.add(0, replica(1, 20, 30, 4), Time(120));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->step, 0);
  EXPECT_EQ(record->end, Time(120));
  EXPECT_EQ(record->slowest, cluster->part_name(cluster->replica(2)));
  EXPECT_EQ(record->awaited, cluster->part_name(cluster->replica(2)));
  EXPECT_EQ(record->awaited_for, Time(25)) << "others were ready at 15 on average";
  EXPECT_EQ(ends.ended(), 1);
  EXPECT_EQ(ends.last_end(), Time(120));
  EXPECT_EQ(ends.last_cause().node, 4);
  std::vector<Cause*> causes;
  ends.add_causes(causes);
  std::vector<std::int32_t> nodes;
  for (const Cause* const cause : causes) nodes.push_back(cause->node);
  EXPECT_THAT(nodes, ElementsAre(4, 3)) << "packs of the completed step and of the current one";
}

/// Two replicas compute for 50. The replica that ends step 0 first also begins step 1 first, and
/// has completed most of its computation when the step begins. The other replica has all of its
/// computation in the step.
TEST(StepEnds, TheRecordIsThatOfAReplicaWhoseComputationIsInTheStep) {
  const auto cluster = test::plain_cluster(2);
  StepEnds ends(*cluster, 1);
  const auto end = [&](std::int32_t step, int i, int began, int forward, int backward, int now) {
    ReplicaEnd one;
    one.device = cluster->replica(i);
    one.began = Time(began);
    one.forward = Time(forward);
    one.backward = Time(backward);
    return ends.add(step, one, Time(now));
  };
  EXPECT_FALSE(end(0, 0, 0, 20, 30, 60));
  EXPECT_TRUE(end(0, 1, 0, 20, 30, 100));
  EXPECT_FALSE(end(1, 1, 100, 20, 30, 160));
  // This replica computed 1 longer, but only 11 of it after the beginning of the step.
  const auto record = end(1, 0, 60, 20, 31, 170);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->slowest, cluster->part_name(cluster->replica(1)));
  EXPECT_EQ(record->forward, Time(20));
  EXPECT_EQ(record->backward, Time(30));
}

/// Pack 1 is the pull of push pack 0. A helper starts its part of pack 1 when it has completed its
/// part of pack 0.
TEST(PullOrder, PullsStartOnARankWhenItHasCompletedItsPush) {
  core::Plan plan;
  const auto cluster = test::plain_cluster(2);
  for (const int answered : {-1, 0}) {
    core::Pack pack = plan.pack_of(
        {}, {core::Group::of_cluster(*cluster, false), nullptr, core::DataType::kFloat32, 1});
    pack.answers = answered;
    plan.packs.push_back(std::move(pack));
  }
  Flights flights;
  const PullOrder pull_order(plan, flights);
  const Work push{0, {0, 0}, 0}, pull{1, {0, 0}, 1};
  EXPECT_TRUE(pull_order.has_pull(push));
  EXPECT_FALSE(pull_order.has_pull(pull));
  Flight& pushed = flights.add(0, 4, 0, push);
  pushed.rank_completed.assign(3, false);
  EXPECT_EQ(pull_order.pull_flight_of(pushed), nullptr) << "the pull is not in flight";
  Flight& pulled = flights.add(1, 4, 1, pull);
  EXPECT_EQ(pull_order.pull_flight_of(pushed), &pulled);
  EXPECT_TRUE(pull_order.starts_later(pulled, 2));
  pushed.rank_completed[2] = true;
  EXPECT_FALSE(pull_order.starts_later(pulled, 2));
  EXPECT_TRUE(pull_order.starts_later(pulled, 1));
  flights.remove(pushed);
  EXPECT_FALSE(pull_order.starts_later(pulled, 1)) << "the push is over everywhere";
  EXPECT_EQ(flights.find(4, 0, 0), nullptr);
  EXPECT_EQ(flights.find(4, 1, 0), &pulled);
}

}  // namespace
}  // namespace tutti::sim
