#pragma once

#include <cstdint>

namespace tutti::sim {

// The key that orders simultaneous events (Event::order, docs/decisions/0005). From the highest
// bits to the lowest: the serial number of the collective, in order of opening (28 bits); the
// lane's sequence number (24 bits); and the message's number in the lane, in order of sending (12
// bits).
inline constexpr int kSentBits = 12;
inline constexpr int kTurnBits = 24;

/// `sent`: the message's number in the lane; 0 denotes the lane itself. Message numbers wrap
/// around, because they only have to distinguish messages in flight.
constexpr std::uint64_t event_order(std::uint64_t serial, std::uint64_t turn, std::uint64_t sent) {
  return serial << (kTurnBits + kSentBits) | turn << kSentBits | (sent & ((1U << kSentBits) - 1));
}
/// Returns the part of the key that identifies the collective and the lane, without the message's
/// number.
constexpr std::uint64_t lane_of_order(std::uint64_t order) { return order >> kSentBits; }

}  // namespace tutti::sim
