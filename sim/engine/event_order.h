#pragma once

#include <cstdint>

namespace tutti::sim {

// Which of the events at one time comes first (Event::order): that of the collective begun first, then of the lane whose turn
// is first, then of what the lane did first: itself, then its messages in the order in which they were sent
// (docs/decisions/0005). 28, 24 and 12 bits.
inline constexpr int kSentBits = 12;
inline constexpr int kTurnBits = 24;

/// `sent`: which message of the lane; 0 is the lane itself. Numbers wrap round: only what is under way is told apart.
constexpr std::uint64_t event_order(std::uint64_t serial, std::uint64_t turn, std::uint64_t sent) {
  return serial << (kTurnBits + kSentBits) | turn << kSentBits | (sent & ((1U << kSentBits) - 1));
}
/// All of it but which message: the collective and the lane.
constexpr std::uint64_t lane_of_order(std::uint64_t order) { return order >> kSentBits; }

}  // namespace tutti::sim
