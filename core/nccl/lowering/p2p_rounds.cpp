#include "core/nccl/lowering/p2p_rounds.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/base/check.h"
#include "core/nccl/lowering/rounding.h"

namespace tutti::core::nccl {
namespace {

/// Returns all numbers below `count`, in the order of the triangular numbers x(x + 1)/2 modulo P:
/// 0, 1, 3, 6, 10, …. P is the smallest power of two that is at least `count`. The values for x
/// from 0 to P - 1 are all numbers below P; numbers of `count` or more are omitted.
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

/// Returns the order of deltas in NCCL 2.8 to 2.21. The order alternates between numbers around 0
/// and numbers around n/2, with growing distance, without duplicates.
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
  std::vector<int> deltas(count);
  std::iota(deltas.begin(), deltas.end(), 0);
  return deltas;
}

std::vector<int> index_of(const std::vector<int>& deltas) {
  std::vector<int> index(deltas.size());
  for (std::size_t i = 0; i < deltas.size(); ++i) index[deltas[i]] = static_cast<int>(i);
  return index;
}

/// Returns the `bits` low bits of `x` in reverse order.
int reversed(int x, int bits) {
  int made = 0;
  for (int b = 0; b < bits; ++b) made |= (x >> b & 1) << (bits - 1 - b);
  return made;
}

/// From this release on, NCCL orders deltas between nodes instead of deltas between ranks.
constexpr Version kByNodes{2, 12, 0};

bool before_2_22(Version version) { return version < Version{2, 22, 0}; }
bool in_groups_of_eight(Version version) { return version >= Version{2, 28, 7}; }

/// Returns the number of rounds with one node, which has `gpus` GPUs. In 2.18 to 2.21, the number
/// is rounded up to a power of two or, above kP2pAtOnce, to a multiple of kP2pAtOnce. SOURCE:
/// NVIDIA/nccl v2.18.6 src/include/align.h, ALIGN_POWER.
int rounds_of_node(int gpus, Version version) {
  if (version < Version{2, 18, 0} || !before_2_22(version)) return gpus;
  if (gpus > kP2pAtOnce) return static_cast<int>(divided_up(gpus, kP2pAtOnce)) * kP2pAtOnce;
  return kP2pAtOnce / (kP2pAtOnce / gpus);
}

}  // namespace

P2pRounds::P2pRounds(const Communicator& comm)
    : ranks_(comm.ranks),
      gpus_(comm.ranks_of_node()),
      group_(comm.version < kByNodes ? 1 : gpus_),
      channels_(comm.p2p.channels),
      one_node_(comm.nodes == 1),
      version_(comm.version) {
  TUTTI_CHECK((version_ >= Version{2, 7, 0}), "rounds of NCCL {}", to_string(version_));
  if (in_groups_of_eight(version_) && !one_node_) group_ = std::gcd(kP2pAtOnce, group_);
  const int groups = ranks_ / group_;
  const bool old = before_2_22(version_);
  between_ = version_ < Version{2, 8, 0} ? in_order(groups)
             : old                       ? outwards(groups)
                                         : triangular(groups);
  inside_ = old || in_groups_of_eight(version_) ? in_order(rounds_of_node(group_, version_))
                                                : triangular(group_);
  between_index_ = index_of(between_);
  inside_index_ = index_of(inside_);
}

Rank P2pRounds::moved(Rank rank, int round, int sign) const {
  const int groups = ranks_ / group_;
  const int places = static_cast<int>(inside_.size());
  const int between = between_[round / places];
  const int inside = inside_[round % places];
  const int group = (rank / group_ + sign * between + groups) % groups;
  const int place = (rank % group_ + sign * inside + places) % places;
  return place < group_ ? group * group_ + place : kNoPeer;
}

int P2pRounds::round_of(Rank from, Rank to) const {
  const int groups = ranks_ / group_;
  const int places = static_cast<int>(inside_.size());
  const int between = (to / group_ - from / group_ + groups) % groups;
  const int inside = (to % group_ - from % group_ + places) % places;
  return between_index_[between] * places + inside_index_[inside];
}

/// Before 2.22: returns the base number from which the channels of a message's parts are computed.
int P2pRounds::base_by_distance(Rank from, Rank to) const {
  if (version_ < kByNodes) return (to - from + ranks_) % ranks_;
  const int nodes = ranks_ / gpus_;
  const int inside = (to % gpus_ - from % gpus_ + gpus_) % gpus_;
  return one_node_ ? inside : (to / gpus_ - from / gpus_ + nodes) % nodes + inside / kP2pAtOnce;
}

int P2pRounds::base_by_round(int round) const {
  if (one_node_) return round;
  const int each = static_cast<int>(divided_up(group_, kP2pAtOnce));
  return round / group_ * each + round % group_ / kP2pAtOnce;
}

int P2pRounds::channel(Rank from, Rank to, int part) const {
  const bool old = before_2_22(version_);
  const int base = old ? base_by_distance(from, to) : base_by_round(round_of(from, to));
  const int bits = std::bit_width(static_cast<unsigned>(channels_)) - 1;
  if (version_ < Version{2, 13, 0}) return (base + reversed(part, bits)) & (channels_ - 1);
  const bool turned = old || version_ >= Version{2, 28, 3};
  return ((turned ? reversed(base, bits) : base & 0xff) + part) & (channels_ - 1);
}

bool P2pRounds::together(int round, int other) const {
  return !in_groups_of_eight(version_) || round / kP2pAtOnce == other / kP2pAtOnce;
}

}  // namespace tutti::core::nccl
