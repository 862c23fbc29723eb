#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "real/transport/transport.h"

namespace tutti::real {

/// The header of every message between two workers. Little-endian, with fixed offsets:
///
///     offset  0  u8   kind: 1 for a piece of a message, 2 for a report of a free slot
///             1  u24  number of the message
///             4  u32  training step       8  u32  pack
///            12  i32  from rank          16  i32  from lane
///            20  i32  to rank            24  i32  to lane
///            28  u32  length of the piece, whose bytes follow the header
///            32  i64  length of the piece's message
///            40  i64  offset of the piece in the message
///
/// Receiver::place() checks lengths against the schedule before memory is allocated for a message.
struct Header {
  enum class Kind : std::uint32_t { kPiece = 1, kSlot = 2 };
  Kind kind = Kind::kPiece;
  Piece piece;  ///< if the kind is kSlot, only the channel is set
};
inline constexpr std::size_t kHeaderBytes = 48;
/// The maximum length of a piece in bytes.
inline constexpr std::int64_t kMaxPieceBytes = 1 << 20;

using HeaderBytes = std::array<std::byte, kHeaderBytes>;
HeaderBytes encode(const Header& header);
/// Returns nullopt if the header is invalid: its kind is unknown, a number is negative, or the
/// piece is too long or exceeds its message.
std::optional<Header> decode(std::span<const std::byte, kHeaderBytes> bytes);

}  // namespace tutti::real
