#include "real/transport/wire.h"

#include <bit>
#include <cstring>

namespace tutti::real {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the header is written in its memory layout");

template <class T>
void put(HeaderBytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <class T>
T get(std::span<const std::byte, kHeaderBytes> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

HeaderBytes encode(const Header& header) {
  HeaderBytes bytes;
  const Channel& channel = header.piece.channel;
  put(bytes, 0, static_cast<std::uint32_t>(header.kind) | header.piece.message << 8);
  put(bytes, 4, channel.collective.step);
  put(bytes, 8, channel.collective.pack);
  put(bytes, 12, channel.from);
  put(bytes, 16, channel.from_lane);
  put(bytes, 20, channel.to);
  put(bytes, 24, channel.to_lane);
  put(bytes, 28, static_cast<std::uint32_t>(header.piece.length));
  put(bytes, 32, header.piece.total);
  put(bytes, 40, header.piece.offset);
  return bytes;
}

std::optional<Header> decode(std::span<const std::byte, kHeaderBytes> bytes) {
  Header header;
  const auto first = get<std::uint32_t>(bytes, 0);
  const std::uint32_t kind = first & 0xff;
  if (kind != static_cast<std::uint32_t>(Header::Kind::kPiece) &&
      kind != static_cast<std::uint32_t>(Header::Kind::kSlot))
    return std::nullopt;
  header.kind = static_cast<Header::Kind>(kind);
  Piece& piece = header.piece;
  piece.channel = {{get<std::uint32_t>(bytes, 4), get<std::uint32_t>(bytes, 8)},
                   get<std::int32_t>(bytes, 12),
                   get<std::int32_t>(bytes, 16),
                   get<std::int32_t>(bytes, 20),
                   get<std::int32_t>(bytes, 24)};
  piece.message = first >> 8;
  piece.length = get<std::uint32_t>(bytes, 28);
  piece.total = get<std::int64_t>(bytes, 32);
  piece.offset = get<std::int64_t>(bytes, 40);
  const Channel& channel = piece.channel;
  if (channel.from < 0 || channel.from_lane < 0 || channel.to < 0 || channel.to_lane < 0)
    return std::nullopt;
  if (piece.length > kMaxPieceBytes || piece.total < 0 || piece.offset < 0 ||
      piece.offset > piece.total || piece.length > piece.total - piece.offset)
    return std::nullopt;
  return header;
}

}  // namespace tutti::real
