#pragma once

// The readers of the two forms of GOAL, between which read_goal() chooses.

#include <cstdint>
#include <functional>
#include <string>

#include "core/formats/goal.h"
#include "core/formats/line_stream.h"

namespace tutti::core {

constexpr std::uint64_t kGoalMagic = 4223;
constexpr std::uint32_t kAnyInGoalBinary = 0xFFFFFFFF;
constexpr std::int64_t kMaxGoalRanks = std::int64_t{1} << 24;
constexpr std::size_t kMaxGoalOperations = std::size_t{1} << 30;  ///< operations per rank
/// The limit on sizes and times. The sum of two such values fits into 64 bits, even in picoseconds.
constexpr std::int64_t kMaxGoalSize = std::int64_t{1} << 52;
/// The size of the header, which precedes the table of ranks. The header has the magic number, the
/// number of ranks, and the largest CPU and port numbers.
constexpr std::size_t kGoalHeaderBytes = 14;
/// Offsets of the binary form count from the end of the magic number.
constexpr std::uint64_t kGoalOffsetsFrom = 8;
constexpr std::size_t kGoalNodeBytes = 39;

Expected<void> read_goal_text(LineStream& lines, const std::function<void(std::int64_t)>& begin,
                              const std::function<Expected<void>(GoalRank&&)>& take);
/// `start` has the first bytes of the file, which were already read from `input`.
Expected<void> read_goal_binary(std::string start, ByteInput& input, const std::string& name,
                                const std::function<void(std::int64_t)>& begin,
                                const std::function<Expected<void>(GoalRank&&)>& take);

/// Returns the number in little-endian form at `from`.
template <class Number>
Number goal_number_at(const char* from) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value |=
        static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(from[i])) << (8 * i));
  return value;
}

}  // namespace tutti::core
