#include "core/timeline/summary.h"

#include <gtest/gtest.h>

namespace tutti::core {
namespace {

StepRecord step(int i, std::int64_t start, std::int64_t end) {
  StepRecord s;
  s.step = i;
  s.start = Time(start);
  s.end = Time(end);
  return s;
}

TEST(Summary, TheSteadyStateLeavesTheFirstStepOut) {
  Summary s;
  s.step(step(0, 0, 100));
  EXPECT_EQ(s.step_time(), Time(100));
  EXPECT_EQ(s.steady_from(), -1);
  s.step(step(1, 100, 190));
  EXPECT_EQ(s.step_time(), Time(90));
  s.step(step(2, 190, 280));
  EXPECT_EQ(s.step_time(), Time(90));
  EXPECT_EQ(s.steady_from(), 1);
  s.step(step(3, 280, 400));
  EXPECT_EQ(s.step_time(), Time(100));
  EXPECT_EQ(s.steady_from(), -1);
}

PathPiece piece(std::int32_t kind, const std::string& device, std::int64_t start_us,
                std::int64_t end_us, std::int32_t pack = -1) {
  PathPiece p;
  p.kind = kind;
  p.device = device;
  p.start = microseconds(start_us);
  p.end = microseconds(end_us);
  p.pack = pack;
  if (kind == SpanKind::kPackInFlight)
    p.parts.wire[static_cast<std::size_t>(LinkKind::kNetwork)] = p.end - p.start;
  return p;
}

TEST(Summary, DescribesTheCriticalPath) {
  Summary s;
  const std::int32_t compute = SpanKind::kFirstCompute;
  s.path(piece(compute + 0, "w0/gpu1", 0, 10));
  PathPiece backward = piece(compute + 1, "w0/gpu1", 10, 30);
  backward.layer = "conv5";
  s.path(backward);
  s.path(piece(compute + 2, "w0/gpu1", 30, 31, 0));
  backward = piece(compute + 1, "w0/gpu1", 31, 50);
  backward.layer = "conv1";
  s.path(backward);
  PathPiece flight = piece(SpanKind::kPackInFlight, "w1/gpu0", 50, 80, 3);
  flight.slowest_link = "w0/nic0→network";
  s.path(flight);
  s.path(piece(SpanKind::kPackInFlight, "w1/gpu0", 80, 90, 4));
  s.path(piece(compute + 4, "w1/gpu0", 90, 95, 4));
  EXPECT_EQ(s.path_in_words(),
            (std::vector<std::string>{"10.0 µs: forward pass on w0/gpu1",
                                      "40.0 µs: backward pass on w0/gpu1, until \"conv1\" is done; "
                                      "1.00 µs of this time for copies into 1 pack",
                                      "40.0 µs: 2 packs, 3 to 4 in flight, one after the other: "
                                      "40.0 µs transfer over network links; "
                                      "slowest link: w0/nic0→network",
                                      "5.00 µs: update (pack 4) on w1/gpu0"}));
}

}  // namespace
}  // namespace tutti::core
