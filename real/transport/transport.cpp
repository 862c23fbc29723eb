#include "real/transport/transport.h"

#include <cstring>

namespace tutti::real {

bool Receiver::take(const Piece& piece, const std::byte* bytes) {
  std::byte* const to = place(piece);
  if (!to) return false;
  if (piece.length > 0) std::memcpy(to, bytes, static_cast<std::size_t>(piece.length));
  arrived(piece);
  return true;
}

}  // namespace tutti::real
