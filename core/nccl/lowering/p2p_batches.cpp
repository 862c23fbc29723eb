#include "core/nccl/lowering/p2p_batches.h"

#include <algorithm>
#include <array>
#include <map>

namespace tutti::core::nccl {
namespace {

class Batches {
 public:
  Batches(const P2pRounds& rounds, Version version, Rank rank, const P2pParts& parts)
      : rounds_(rounds), version_(version), rank_(rank), parts_(parts) {}

  /// Assigns the parts of all rounds to batches. A round's part to send and its part to receive are
  /// added to a batch together.
  void in_pairs(const std::vector<int>& which) {
    struct Pairs {
      int number = 0, full = 0, round = 0;
    };
    std::map<int, Pairs> open;
    const int at_once = version_ < Version{2, 8, 0} ? 1 : kP2pAtOnce;
    for (const int round : which) {
      const auto [sent, received] = parts_in(round);
      for (int part = 0; part < std::max(sent, received); ++part) {
        const int channel = rounds_.channel(rank_, rounds_.sends_to(rank_, round), part);
        Pairs& batch = open[channel];
        if (batch.full > 0 && (batch.full == at_once || !rounds_.together(round, batch.round)))
          batch = {batch.number + 1, 0, 0};
        if (part < sent) assigned.push_back({round, part, channel, batch.number, batch.full, true});
        if (part < received)
          assigned.push_back({round, part, channel, batch.number, batch.full, false});
        ++batch.full;
        batch.round = round;
      }
    }
  }

  /// Assigns the parts of all rounds to batches. Parts to send and parts to receive are added
  /// independently.
  void one_by_one(const std::vector<int>& which) {
    const bool anew = version_ >= Version{2, 18, 0};
    // Since 2.19.4, each part of every eighth round begins a new batch; if that round has no parts,
    // no new batch begins. In earlier releases, a new batch begins once for every group of eight
    // rounds, at the first round with work.
    const bool each_part_anew = version_ >= Version{2, 19, 4};
    int before = -1;
    for (const int round : which) {
      if (anew && !each_part_anew && round / kP2pAtOnce != before) fuses_ = false;
      before = round / kP2pAtOnce;
      const auto [sent, received] = parts_in(round);
      for (int part = 0; part < std::max(sent, received); ++part) {
        if (each_part_anew && round % kP2pAtOnce == 0) fuses_ = false;
        if (part < received) add(round, part, false);
        if (part < sent) add(round, part, true);
      }
    }
  }

  std::vector<P2pAssignment> assigned;

 private:
  struct Batch {
    int number = -1;
    std::array<std::vector<Rank>, 2> peers;  ///< [0]: peers from which the batch receives; [1]:
                                             ///< peers to which it sends
  };

  /// Returns the number of parts that the rank sends in a round, and the number that it receives.
  [[nodiscard]] std::pair<int, int> parts_in(int round) const {
    const Rank to = rounds_.sends_to(rank_, round);
    const Rank from = rounds_.receives_from(rank_, round);
    return {to == P2pRounds::kNoPeer ? 0 : parts_(rank_, to),
            from == P2pRounds::kNoPeer ? 0 : parts_(from, rank_)};
  }

  void add(int round, int part, bool sends) {
    const Rank peer = sends ? rounds_.sends_to(rank_, round) : rounds_.receives_from(rank_, round);
    const int channel =
        sends ? rounds_.channel(rank_, peer, part) : rounds_.channel(peer, rank_, part);
    const std::size_t way = sends ? 1 : 0;
    Batch& batch = open_[channel];
    const std::vector<Rank>& there = batch.peers[way];
    if (batch.number < 0 || !fuses_ || there.size() == kP2pAtOnce ||
        std::find(there.begin(), there.end(), peer) != there.end())
      batch = {batch.number + 1, {}};
    assigned.push_back(
        {round, part, channel, batch.number, static_cast<int>(batch.peers[way].size()), sends});
    batch.peers[way].push_back(peer);
    fuses_ = true;
  }

  const P2pRounds& rounds_;
  Version version_;
  Rank rank_;
  const P2pParts& parts_;
  std::map<int, Batch> open_;  ///< for each channel: the batch to which the next parts are added
  bool fuses_ = true;          ///< false: the next part begins a new batch
};

}  // namespace

std::vector<P2pAssignment> p2p_batches(const P2pRounds& rounds, Version version, Rank rank,
                                       const std::vector<int>& which, const P2pParts& parts) {
  Batches made(rounds, version, rank, parts);
  const bool each_for_itself = version >= Version{2, 12, 0} && version < Version{2, 22, 0};
  each_for_itself ? made.one_by_one(which) : made.in_pairs(which);
  return std::move(made.assigned);
}

}  // namespace tutti::core::nccl
