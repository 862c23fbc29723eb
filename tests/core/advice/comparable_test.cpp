#include "core/advice/comparable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/clusters.h"
#include "tests/support/shipped.h"

namespace tutti::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Returns a simulated prediction for two machines connected by `link`, or for one machine if
/// `link` is empty.
DataMovers travel(const std::string& strategy, const std::string& link,
                  const std::string& cluster = "", const std::string& run = "") {
  const Library& library = test::shipped_library();
  const std::string network =
      link.empty() ? "count: 1 }"
                   : "count: 2 } network { kind: ONE_SWITCH link: \"" + link + "\" }";
  const auto read = read_scenario("cluster { workers { machine: \"dgx-a100\" " + network + cluster +
                                      " }\nworkload { variable { name: \"a\" shape: 1000000 } "
                                      "forward_ms: 1 backward_ms: 2 }\nstrategy { " +
                                      strategy + " }\n" + run,
                                  "s.textproto", library);
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  if (!read) throw std::runtime_error(strategy);
  return data_movers_of(*read);
}

constexpr const char* kNccl = "algorithm: \"nccl\"";
constexpr const char* kRing = "algorithm: \"ring\"";
constexpr const char* kBetween = "algorithm: \"nccl/ring\"";

TEST(Comparable, TimesOfTheSameDataPathAreComparable) {
  for (const char* link : {"hdr", "ethernet-25", ""}) {
    EXPECT_THAT(
        why_not_comparable(travel(kNccl, link), travel("algorithm: \"nccl\" channels: 2", link)),
        IsEmpty());
    EXPECT_THAT(why_not_comparable(travel(kRing, link), travel("algorithm: \"pscpu\"", link)),
                IsEmpty());
  }
}

TEST(Comparable, AssumedNcclParametersAreNotComparableWithOtherTimes) {
  const DataMovers nccl = travel(kNccl, "ethernet-25"), ring = travel(kRing, "ethernet-25"),
                   between = travel(kBetween, "ethernet-25");
  EXPECT_EQ(nccl.assumed_network, "tcp");
  EXPECT_THAT(why_not_comparable(nccl, ring),
              AllOf(HasSubstr("NCCL's parameters for tcp are assumed"),
                    HasSubstr("the host overhead per message was measured on other machines")));
  for (const auto& [a, b] :
       {std::pair(ring, nccl), std::pair(nccl, between), std::pair(between, nccl)})
    EXPECT_THAT(why_not_comparable(a, b), Not(IsEmpty()));
  EXPECT_THAT(why_not_comparable(ring, between), IsEmpty())
      << "inside workers NCCL's figures are fitted";
}

/// A link at its full rate is a lower bound for the time of messages. So a measured time that is
/// shorter than such a prediction is comparable with it, but not vice versa.
TEST(Comparable, AShorterMeasuredNcclTimeIsComparableWithMessagesButNotViceVersa) {
  const DataMovers nccl = travel(kNccl, "hdr"), ring = travel(kRing, "hdr");
  EXPECT_THAT(why_not_comparable(ring, nccl), IsEmpty());
  const std::string between = why_not_comparable(nccl, ring);
  EXPECT_THAT(between, HasSubstr("between workers messages are simulated at the full rate"));
  const std::string inside = why_not_comparable(travel(kNccl, ""), travel(kRing, ""));
  EXPECT_THAT(inside, Not(IsEmpty()));
  EXPECT_NE(inside, between);
}

TEST(Comparable, TimesOnCalibratedLinksAreComparableWithMeasuredNcclTimes) {
  const std::string calibrated = " calibrated { workers: 2 }";
  EXPECT_THAT(
      why_not_comparable(travel(kNccl, "hdr", calibrated), travel(kRing, "hdr", calibrated)),
      IsEmpty());
  EXPECT_THAT(why_not_comparable(travel(kNccl, "ethernet-25", calibrated),
                                 travel(kRing, "ethernet-25", calibrated)),
              Not(IsEmpty()))
      << "NCCL's times do not depend on the links of the scenario";
}

TEST(Comparable, NcclSimulatedAsRingsIsNotComparableWithPredictedNccl) {
  const std::string rings = "run { nccl: RINGS }";
  EXPECT_THAT(why_not_comparable(travel(kRing, "hdr"), travel(kNccl, "hdr", "", rings)),
              Not(IsEmpty()));
}

}  // namespace
}  // namespace tutti::core
