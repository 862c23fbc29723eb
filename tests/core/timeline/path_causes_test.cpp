#include "core/timeline/path_causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::core {
namespace {

using testing::ElementsAre;

PathPiece piece(std::int32_t kind, std::int64_t start_us, std::int64_t end_us) {
  PathPiece p;
  p.kind = kind;
  p.start = microseconds(start_us);
  p.end = microseconds(end_us);
  return p;
}

PathPiece flight(std::int64_t start_us, std::int64_t wire_us, std::int64_t queue_us,
                 const std::string& link) {
  PathPiece p = piece(SpanKind::kPackInFlight, start_us, start_us + wire_us + queue_us);
  p.parts.wire[static_cast<std::size_t>(LinkKind::kNetwork)] = microseconds(wire_us);
  p.parts.queue = microseconds(queue_us);
  p.slowest_link = link;
  p.queued_at = link + " port";
  return p;
}

std::string transfer() {
  Breakdown parts;
  parts.wire[static_cast<std::size_t>(LinkKind::kNetwork)] = Time(1);
  for (const auto& [name, time] : named_parts(parts)) {
    if (time > Time()) return name;
  }
  return {};
}

std::vector<std::pair<std::string, std::int64_t>> in_us(const std::vector<PathCause>& causes) {
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (const PathCause& cause : causes)
    all.emplace_back(cause.name, cause.time.count() / 1'000'000);
  return all;
}

TEST(PathCauses, AddUpToTheLengthOfThePathAndAreSorted) {
  const std::int32_t compute = SpanKind::kFirstCompute;
  const std::vector<PathPiece> path{piece(compute, 0, 10), piece(compute + 1, 10, 70),
                                    flight(70, 25, 5, "a"), flight(100, 40, 7, "b")};
  EXPECT_THAT(in_us(causes_of(path)),
              ElementsAre(std::pair(transfer(), 65), std::pair(span_name(compute + 1), 60),
                          testing::Pair(testing::_, 12), std::pair(span_name(compute), 10)));
}

TEST(PathCauses, NameTheLinkOfTheLongestTransferAndOfTheLongestWait) {
  const std::vector<PathPiece> path{flight(0, 25, 9, "a"), flight(34, 40, 7, "b"),
                                    flight(81, 3, 1, "c")};
  const auto causes = causes_of(path);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].where, "b");
  EXPECT_EQ(causes[1].where, "a port");
}

TEST(PathCauses, CollectivesWithoutPartsCountAsInFlight) {
  EXPECT_THAT(in_us(causes_of(std::vector<PathPiece>{piece(SpanKind::kPackInFlight, 5, 30)})),
              ElementsAre(std::pair(span_name(SpanKind::kPackInFlight), 25)));
  EXPECT_THAT(causes_of({}), testing::IsEmpty());
}

}  // namespace
}  // namespace tutti::core
