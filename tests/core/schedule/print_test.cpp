#include "core/schedule/print.h"

#include <gtest/gtest.h>

#include "core/algorithm/ring.h"
#include "core/algorithm/shuffle.h"
#include "core/schedule/written.h"

namespace tutti::core {
namespace {

std::string name(Rank rank) { return "gpu" + std::to_string(rank); }

TEST(Print, ShowsARingOfThree) {
  EXPECT_EQ(print(*ring_all_reduce(3, 6, {.credits = 2}), name),
            "rank 0 (gpu0)\n"
            "  lane 0 (kernel, 2 slots)\n"
            "      0  send                     data[0..2) → rank 1 lane 0\n"
            "      1  receive-reduce-send      data[4..6) ← rank 2 lane 0 → rank 1 lane 0\n"
            "      2  receive-reduce-copy-send data[2..4) ← rank 2 lane 0 → rank 1 lane 0\n"
            "      3  receive-send             data[0..2) ← rank 2 lane 0 → rank 1 lane 0\n"
            "      4  receive                  data[4..6) ← rank 2 lane 0\n"
            "rank 1 (gpu1)\n"
            "  lane 0 (kernel, 2 slots)\n"
            "      0  send                     data[2..4) → rank 2 lane 0\n"
            "      1  receive-reduce-send      data[0..2) ← rank 0 lane 0 → rank 2 lane 0\n"
            "      2  receive-reduce-copy-send data[4..6) ← rank 0 lane 0 → rank 2 lane 0\n"
            "      3  receive-send             data[2..4) ← rank 0 lane 0 → rank 2 lane 0\n"
            "      4  receive                  data[0..2) ← rank 0 lane 0\n"
            "rank 2 (gpu2)\n"
            "  lane 0 (kernel, 2 slots)\n"
            "      0  send                     data[4..6) → rank 0 lane 0\n"
            "      1  receive-reduce-send      data[2..4) ← rank 1 lane 0 → rank 0 lane 0\n"
            "      2  receive-reduce-copy-send data[0..2) ← rank 1 lane 0 → rank 0 lane 0\n"
            "      3  receive-send             data[4..6) ← rank 1 lane 0 → rank 0 lane 0\n"
            "      4  receive                  data[2..4) ← rank 1 lane 0\n");
}

TEST(Print, ShowsWaitsArrivalsAndSums) {
  EXPECT_EQ(
      print(*shuffle_all_reduce(3, 2, {2}, 5, Engine::kCopyEngine, Engine::kCpu), name),
      "rank 0 (gpu0)\n"
      "  lane 0 (copy engine)\n"
      "      0  send                     data[0..5) → rank 2 lane 0\n"
      "      1  receive                  data[0..5) ← rank 2 lane 1\n"
      "rank 1 (gpu1)\n"
      "  lane 0 (copy engine)\n"
      "      0  send                     data[0..5) → rank 2 lane 0\n"
      "      1  receive                  data[0..5) ← rank 2 lane 2\n"
      "rank 2 (gpu2), scratch 15 elements\n"
      "  lane 0 (cpu)\n"
      "      0  receive-any              scratch[0..5) + 5 · slot ← anyone\n"
      "      1  receive-any              scratch[0..5) + 5 · slot ← anyone\n"
      "      2  reduce                   scratch[10..15) = 2 ranges from scratch[0..5) on, every "
      "5\n"
      "  lane 1 (cpu)\n"
      "      0  send                     scratch[10..15) → rank 0 lane 0  after 3 steps of lane 0\n"
      "  lane 2 (cpu)\n"
      "      0  send                     scratch[10..15) → rank 1 lane 0  after 3 steps of lane "
      "0\n");
}

TEST(WrittenSchedule, HasTheStepsOfTheOriginalSchedule) {
  const auto shuffle = shuffle_all_reduce(7, 7, {0, 3}, 100, Engine::kCopyEngine, Engine::kCpu);
  EXPECT_EQ(print(WrittenSchedule::of(*shuffle), name), print(*shuffle, name));
}

}  // namespace
}  // namespace tutti::core
