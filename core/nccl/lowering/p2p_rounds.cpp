#include "core/nccl/lowering/p2p_rounds.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "core/nccl/lowering/connection.h"
#include "core/nccl/lowering/rounding.h"

namespace tutti::core::nccl {
namespace {

constexpr std::int64_t kNvlinkChunk = 524288;
constexpr std::int64_t kOtherChunk = 131072;
/// Until 2.19 from here on only one node's ranks leave each other channels.
constexpr Version kSharesInOneNode{2, 18, 3};
/// Up to so many bytes for every channel between two ranks LL is taken.
constexpr std::int64_t kLlBytes = 16384;

/// 0, 1, 3, 6, 10, …: x(x + 1)/2 modulo the next power of two goes through all numbers below it; those that are too large are left out.
std::vector<int> triangular(int count) {
  const unsigned mask = std::bit_ceil(static_cast<unsigned>(count)) - 1;
  std::vector<int> deltas;
  unsigned delta = 0;
  for (unsigned x = 0; x <= mask; ++x) {
    delta = (delta + x) & mask;
    if (delta < static_cast<unsigned>(count)) deltas.push_back(static_cast<int>(delta));
  }
  return deltas;
}

/// Before 2.22: outwards from 0 and from the far side in turn, and none twice.
std::vector<int> outwards(int n) {
  std::vector<int> deltas;
  for (int d = 0; d <= n / 4; ++d) {
    for (const int delta : {d, (n - d) % n, n / 2 - d, (n - (n / 2 - d)) % n}) {
      if (std::find(deltas.begin(), deltas.end(), delta) == deltas.end()) deltas.push_back(delta);
    }
  }
  return deltas;
}

std::vector<int> in_order(int count) {
  std::vector<int> deltas(static_cast<std::size_t>(count));
  std::iota(deltas.begin(), deltas.end(), 0);
  return deltas;
}

std::vector<int> index_of(const std::vector<int>& deltas) {
  std::vector<int> index(deltas.size());
  for (std::size_t i = 0; i < deltas.size(); ++i) index[static_cast<std::size_t>(deltas[i])] = static_cast<int>(i);
  return index;
}

/// The low bits of `x`, the lowest first.
int reversed(int x, int bits) {
  int made = 0;
  for (int b = 0; b < bits; ++b) made |= (x >> b & 1) << (bits - 1 - b);
  return made;
}

bool before_2_22(Version version) { return version < Version{2, 22, 0}; }
bool in_groups_of_eight(Version version) { return version >= Version{2, 28, 7}; }

/// What eight bits can say: a power of two and three bits behind it. SOURCE: NVIDIA/nccl src/include/bitops.h, u32fp8Encode.
std::int64_t in_eight_bits(std::int64_t x) {
  const int low = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x))) - 4);
  return x >> low << low;
}

}  // namespace

P2pRounds::P2pRounds(const Communicator& comm)
    : ranks_(comm.ranks),
      group_(comm.ranks_of_node()),
      channels_(comm.p2p.channels),
      one_node_(comm.nodes == 1),
      version_(comm.version) {
  TUTTI_CHECK((version_ >= Version{2, 18, 0}), "rounds of NCCL {}", to_string(version_));
  if (in_groups_of_eight(version_) && !one_node_) group_ = std::gcd(kP2pAtOnce, group_);
  const bool old = before_2_22(version_);
  between_ = old ? outwards(ranks_ / group_) : triangular(ranks_ / group_);
  inside_ = old || in_groups_of_eight(version_) ? in_order(group_) : triangular(group_);
  between_index_ = index_of(between_);
  inside_index_ = index_of(inside_);
}

Rank P2pRounds::moved(Rank rank, int round, int sign) const {
  const int groups = ranks_ / group_;
  const int between = between_[static_cast<std::size_t>(round / group_)];
  const int inside = inside_[static_cast<std::size_t>(round % group_)];
  const int group = (rank / group_ + sign * between + groups) % groups;
  return group * group_ + (rank % group_ + sign * inside + group_) % group_;
}

int P2pRounds::round_of(Rank from, Rank to) const {
  const int groups = ranks_ / group_;
  const int between = (to / group_ - from / group_ + groups) % groups;
  const int inside = (to % group_ - from % group_ + group_) % group_;
  return between_index_[static_cast<std::size_t>(between)] * group_ + inside_index_[static_cast<std::size_t>(inside)];
}

int P2pRounds::channel(int round, int part) const {
  int base = round;
  if (!one_node_) {
    const int each = static_cast<int>(divided_up(group_, kP2pAtOnce));
    base = round / group_ * each + round % group_ / kP2pAtOnce;
  }
  if (before_2_22(version_) && !one_node_)
    base = between_[static_cast<std::size_t>(round / group_)] + round % group_ / kP2pAtOnce;
  const int bits = std::bit_width(static_cast<unsigned>(channels_)) - 1;
  const bool turned = before_2_22(version_) || version_ >= Version{2, 28, 3};
  base = turned ? reversed(base, bits) : base & 0xff;
  return (base + part) & (channels_ - 1);
}

bool P2pRounds::together(int round, int other) const {
  return !in_groups_of_eight(version_) || round / kP2pAtOnce == other / kP2pAtOnce;
}

namespace {

/// What sizes of parts and chunks go by.
struct Sizes {
  std::int64_t step;  ///< a slot's, of Simple
  std::int64_t ll;    ///< of LL, with flags
  int few;            ///< channels with which every rank has its own
  int most;           ///< channels to a peer
  static std::int64_t least_part(const Communicator& comm, std::int64_t of) {
    return comm.nodes > 1 && comm.version >= Version{2, 20, 0} ? of / 2 : of / 8;
  }
  static std::int64_t largest_part(const Communicator& comm, std::int64_t of) { return comm.nodes > 1 ? of : of * 32; }
};

Sizes sizes(const Communicator& comm) {
  const std::int64_t simple = comm.buffer_bytes[static_cast<std::size_t>(Protocol::kSimple)] / kSlots;
  Sizes made{std::min(comm.nodes == 1 && comm.p2p.all_nvlink ? kNvlinkChunk : kOtherChunk, simple),
             comm.buffer_bytes[static_cast<std::size_t>(Protocol::kLl)] / kSlots, comm.p2p.per_peer, comm.p2p.per_peer};
  const auto until = [&](int& channels, std::int64_t times) {
    while (channels > 1 && static_cast<std::int64_t>(channels) * comm.ranks > comm.p2p.channels * times) channels /= 2;
  };
  const bool old = comm.version < Version{2, 20, 0};
  const bool shares = !old || comm.nodes == 1 || comm.version < kSharesInOneNode;
  if (shares) until(made.few, 1);
  // A thread block with eight sends and more has no warp to spare.
  if (old && shares) until(made.most, 4);
  return made;
}

/// … over the network less of a slot if there is little.
std::int64_t chunk_of(std::int64_t bytes, std::int64_t step, bool far) {
  if (!far || bytes >= 8 * step) return step;
  return bytes < step ? step / 4 : step / 2;
}

/// Parts that are more until none is too large. `least` bytes of one.
std::pair<int, std::int64_t> more_parts(std::int64_t bytes, int parts, int most, std::int64_t least,
                                        std::int64_t largest) {
  std::int64_t part = std::max(least, divided_up(bytes, parts));
  while (part > largest && parts <= most / 2) {
    parts *= 2;
    part = divided_up(bytes, parts);
  }
  return {parts, part};
}

/// Before 2.22: parts go by their own sizes.
P2pPortions by_parts(const Communicator& comm, std::int64_t bytes, bool far, bool self) {
  const Sizes size = sizes(comm);
  const std::int64_t least = size.least_part(comm, size.step);
  const std::int64_t part = more_parts(bytes, size.few, size.most, least, size.largest_part(comm, size.step)).second;
  P2pPortions made;
  made.part = divided_up(part, least) * least;
  made.parts = static_cast<int>(std::max<std::int64_t>(1, divided_up(bytes, made.part)));
  const auto chunk = [&](std::int64_t of) {
    const bool ll = !far && !self && of <= kLlBytes;
    return ll ? size.ll / 2 : chunk_of(of, size.step, far);
  };
  made.chunk = chunk(std::min(bytes, made.part));
  made.last_chunk = chunk(bytes - (made.parts - 1) * made.part);
  made.ll = !far && !self && std::min(bytes, made.part) <= kLlBytes;
  return made;
}

}  // namespace

P2pPortions p2p_portions(const Communicator& comm, std::int64_t bytes, bool far, bool self) {
  if (before_2_22(comm.version)) return by_parts(comm, bytes, far, self);
  constexpr std::int64_t kPage = 4096;
  const Sizes size = sizes(comm);
  P2pPortions made;
  made.ll = !far && !self && bytes <= size.most * kLlBytes;
  const std::int64_t step = made.ll ? size.ll : size.step;
  made.chunk = made.last_chunk = in_eight_bits(made.ll ? step / 2 : chunk_of(bytes, step, far));
  if (bytes > 0) {
    const std::int64_t least = size.least_part(comm, step);
    made.parts = static_cast<int>(std::min<std::int64_t>(size.few, divided_up(bytes, least)));
    made.parts = more_parts(bytes, made.parts, size.most, least, size.largest_part(comm, step)).first;
  }
  made.part = divided_up(divided_up(bytes, made.parts), kPage) * kPage;
  return made;
}

}  // namespace tutti::core::nccl
