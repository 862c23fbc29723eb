#include "core/nccl/lowering/p2p_rounds.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/base/check.h"

namespace tutti::core::nccl {
namespace {

/// Of a connection's buffer.
constexpr int kSteps = 8;
constexpr std::int64_t kNvlinkChunk = 524288;
constexpr std::int64_t kOtherChunk = 131072;
/// Up to so many bytes for every channel between two ranks LL is taken.
constexpr std::int64_t kLlBytes = 16384;

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

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
  TUTTI_CHECK((version_ >= Version{2, 22, 0}), "rounds of NCCL {}", to_string(version_));
  if (in_groups_of_eight(version_) && !one_node_) group_ = std::gcd(kP2pAtOnce, group_);
  between_ = triangular(ranks_ / group_);
  inside_ = in_groups_of_eight(version_) ? in_order(group_) : triangular(group_);
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
  const int bits = std::bit_width(static_cast<unsigned>(channels_)) - 1;
  base = version_ >= Version{2, 28, 3} ? reversed(base, bits) : base & 0xff;
  return (base + part) & (channels_ - 1);
}

bool P2pRounds::together(int round, int other) const {
  return !in_groups_of_eight(version_) || round / kP2pAtOnce == other / kP2pAtOnce;
}

P2pPortions p2p_portions(const Communicator& comm, std::int64_t bytes, bool far, bool self) {
  const std::int64_t simple = comm.buffer_bytes[static_cast<std::size_t>(Protocol::kSimple)] / kSteps;
  const std::int64_t ll = comm.buffer_bytes[static_cast<std::size_t>(Protocol::kLl)] / kSteps;
  const int most = comm.p2p.per_peer;
  P2pPortions made;
  made.ll = !far && !self && bytes <= most * kLlBytes;
  const std::int64_t wanted = comm.nodes == 1 && comm.p2p.all_nvlink ? kNvlinkChunk : kOtherChunk;
  const std::int64_t step = made.ll ? ll : std::min(wanted, simple);
  made.chunk = made.ll ? step / 2 : step;
  if (far && bytes < 8 * step) made.chunk /= bytes < step ? 4 : 2;
  made.chunk = in_eight_bits(made.chunk);
  if (bytes == 0) return made;
  int few = most;
  while (few > 1 && static_cast<std::int64_t>(few) * comm.ranks > comm.p2p.channels) few /= 2;
  const std::int64_t least = comm.nodes > 1 ? step / 2 : step / 8;
  const std::int64_t largest = comm.nodes > 1 ? step : step * 32;
  made.parts = static_cast<int>(std::min<std::int64_t>(few, divided_up(bytes, least)));
  std::int64_t part = std::max(least, divided_up(bytes, made.parts));
  while (part > largest && made.parts <= most / 2) {
    made.parts *= 2;
    part = divided_up(bytes, made.parts);
  }
  return made;
}

P2pPart p2p_part(std::int64_t bytes, int parts, int part) {
  constexpr std::int64_t kPage = 4096;
  const std::int64_t each = divided_up(divided_up(bytes, parts), kPage) * kPage;
  return {std::min(bytes, part * each), std::min(bytes, (part + 1) * each)};
}

}  // namespace tutti::core::nccl
