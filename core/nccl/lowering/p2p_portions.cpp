#include "core/nccl/lowering/p2p_portions.h"

#include <bit>
#include <utility>

#include "core/nccl/lowering/connection.h"
#include "core/nccl/lowering/rounding.h"
#include "core/nccl/names.h"

namespace tutti::core::nccl {
namespace {

constexpr std::int64_t kNvlinkChunk = 524288;
constexpr std::int64_t kOtherChunk = 131072;
/// From this release up to 2.19, NCCL reduces the channels per peer in large communicators only if
/// there is a single node.
constexpr Version kSharesInOneNode{2, 18, 3};
/// NCCL sends a part with LL if the part has at most this number of bytes.
constexpr std::int64_t kLlBytes = 16384;

/// Rounds x down to a number that NCCL can encode in eight bits, by keeping only the leading bit
/// and the next three bits. SOURCE: NVIDIA/nccl src/include/bitops.h, u32fp8Encode.
std::int64_t in_eight_bits(std::int64_t x) {
  const int low = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x))) - 4);
  return x >> low << low;
}

/// The limits that determine the sizes of parts and chunks.
struct Sizes {
  std::int64_t step = 0;   ///< number of bytes of a full chunk
  std::int64_t least = 0;  ///< minimum number of bytes of a part; before NCCL 2.22, every part is a
                           ///< multiple of this number
  std::int64_t largest = 0;  ///< maximum number of bytes of a part, if there are enough channels
  int few = 1;  ///< initial number of channels per peer; if NCCL limits it, all peers together have
                ///< at most as many channels as the communicator
  int most = 1;  ///< maximum number of channels per peer
};

std::int64_t slot(const Communicator& comm, Protocol protocol) {
  return comm.buffer_bytes[static_cast<std::size_t>(protocol)] / kSlots;
}

void set_channels(const Communicator& comm, Sizes& made) {
  made.few = made.most = comm.p2p.per_peer;
  if (comm.version < Version{2, 8, 0}) return;
  const auto until = [&](int& channels, std::int64_t times) {
    while (channels > 1 &&
           static_cast<std::int64_t>(channels) * comm.ranks > comm.p2p.channels * times)
      channels /= 2;
  };
  const bool old = comm.version < Version{2, 20, 0};
  const bool shares = !old || comm.nodes == 1 || comm.version < kSharesInOneNode;
  if (shares) until(made.few, 1);
  // A thread block with eight or more sends has no spare warp, so NCCL also limits the maximum
  // number of channels.
  if (old && shares) until(made.most, 4);
}

/// Returns the sizes of NCCL before 2.13, in which a chunk is a quarter of a slot.
Sizes of_slots(const Communicator& comm) {
  Sizes made;
  const std::int64_t whole = slot(comm, Protocol::kSimple);
  made.step = whole / 4;
  made.largest = 4 * whole;
  made.least = comm.version < Version{2, 8, 0} ? 4 * whole : whole;
  set_channels(comm, made);
  return made;
}

/// Returns the chunk size of Simple since 2.13. Before 2.16, the chunk is a whole slot if there is
/// a single node.
std::int64_t step_of(const Communicator& comm) {
  const std::int64_t whole = slot(comm, Protocol::kSimple);
  if (comm.version < Version{2, 16, 0} && comm.nodes == 1) return whole;
  if (comm.version < Version{2, 14, 0}) return whole / 4;
  return std::min(comm.nodes == 1 && comm.p2p.all_nvlink ? kNvlinkChunk : kOtherChunk, whole);
}

/// Returns the sizes that result from the protocol's chunk size `step`.
Sizes of_steps(const Communicator& comm, std::int64_t step) {
  Sizes made;
  made.step = step;
  made.least = comm.nodes > 1 && comm.version >= Version{2, 20, 0} ? step / 2 : step / 8;
  made.largest = comm.nodes > 1 ? step : step * 32;
  set_channels(comm, made);
  return made;
}

/// Returns the chunk size of a message. `far` is true if the message crosses the network; short
/// messages then have smaller chunks.
std::int64_t chunk_of(std::int64_t bytes, std::int64_t step, bool far) {
  if (!far || bytes >= 8 * step) return step;
  return bytes < step ? step / 4 : step / 2;
}

/// Doubles the number of parts until no part is too large or there are no more channels. Returns
/// the number of parts and the bytes of one part.
std::pair<int, std::int64_t> more_parts(std::int64_t bytes, int parts, const Sizes& size) {
  std::int64_t part = std::max(size.least, divided_up(bytes, parts));
  while (part > size.largest && parts <= size.most / 2) {
    parts *= 2;
    part = divided_up(bytes, parts);
  }
  return {parts, part};
}

/// Returns the portions of NCCL before 2.22, in which the protocol and chunk size of a part depend
/// on the size of the part.
P2pPortions by_parts(const Communicator& comm, std::int64_t bytes, bool far, bool self) {
  const auto before = [&](int minor) { return comm.version < Version{2, minor, 0}; };
  const Sizes size = before(13) ? of_slots(comm) : of_steps(comm, step_of(comm));
  const std::int64_t part = more_parts(bytes, size.few, size).second;
  P2pPortions made;
  made.part = divided_up(part, size.least) * size.least;
  made.parts = static_cast<int>(std::max<std::int64_t>(1, divided_up(bytes, made.part)));
  const auto by_ll = [&](std::int64_t of) {
    return !before(14) && !far && !self && of <= kLlBytes;
  };
  const auto chunk = [&](std::int64_t of) {
    return by_ll(of) ? slot(comm, Protocol::kLl) / 2 : chunk_of(of, size.step, far && !before(9));
  };
  made.chunk = chunk(std::min(bytes, made.part));
  made.last_chunk = chunk(bytes - (made.parts - 1) * made.part);
  made.ll = by_ll(std::min(bytes, made.part));
  return made;
}

}  // namespace

P2pPortions p2p_portions(const Communicator& comm, std::int64_t bytes, bool far, bool self) {
  if (comm.version < Version{2, 22, 0}) return by_parts(comm, bytes, far, self);
  constexpr std::int64_t kPage = 4096;
  P2pPortions made;
  made.ll = !far && !self && bytes <= comm.p2p.per_peer * kLlBytes;
  const std::int64_t step = made.ll ? slot(comm, Protocol::kLl) : step_of(comm);
  const Sizes size = of_steps(comm, step);
  made.chunk = made.last_chunk = in_eight_bits(made.ll ? step / 2 : chunk_of(bytes, step, far));
  if (bytes > 0) {
    made.parts = static_cast<int>(std::min<std::int64_t>(size.few, divided_up(bytes, size.least)));
    made.parts = more_parts(bytes, made.parts, size).first;
  }
  made.part = divided_up(divided_up(bytes, made.parts), kPage) * kPage;
  return made;
}

}  // namespace tutti::core::nccl
