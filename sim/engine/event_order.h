#pragma once

#include <cstdint>

namespace tutti::sim {

// The key that determines the order of simultaneous events (Event::order, docs/decisions/0005).
// From the highest to the lowest bits, it consists of the serial number of the collective (28
// bits), the sequence number of the lane (24 bits), and the number of the message in the lane (12
// bits). Collectives are numbered in the order in which they are opened, and messages in the order
// in which they are sent.
inline constexpr int kSentBits = 12;
inline constexpr int kTurnBits = 24;

/// Returns the key by which an event is ordered among simultaneous events. `serial` is the serial
/// number of the collective, and `turn` the sequence number of the lane. `sent` is the number of
/// the message in the lane; 0 stands for an event of the lane itself. Message numbers wrap around,
/// because they only have to distinguish messages in flight.
constexpr std::uint64_t event_order(std::uint64_t serial, std::uint64_t turn, std::uint64_t sent) {
  return serial << (kTurnBits + kSentBits) | turn << kSentBits | (sent & ((1U << kSentBits) - 1));
}
/// Returns the key without the number of the message, so that it identifies the collective and the
/// lane.
constexpr std::uint64_t lane_of_order(std::uint64_t order) { return order >> kSentBits; }

}  // namespace tutti::sim
