#pragma once

#include <cstdint>

namespace tutti::sim {

// The order of events at the same time (Event::order): first by the collective, in order of
// opening; then by the lane's turn; then by the lane's activity: the lane itself, then its messages
// in the order in which they were sent (docs/decisions/0005). 28, 24 and 12 bits.
inline constexpr int kSentBits = 12;
inline constexpr int kTurnBits = 24;

/// `sent`: the message's number in the lane; 0 is the lane itself. Numbers wrap around: they only
/// distinguish what is in flight.
constexpr std::uint64_t event_order(std::uint64_t serial, std::uint64_t turn, std::uint64_t sent) {
  return serial << (kTurnBits + kSentBits) | turn << kSentBits | (sent & ((1U << kSentBits) - 1));
}
/// Returns the collective and the lane, without the message.
constexpr std::uint64_t lane_of_order(std::uint64_t order) { return order >> kSentBits; }

}  // namespace tutti::sim
