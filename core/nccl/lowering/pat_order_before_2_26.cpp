// The order of steps of a PAT reduce-scatter in NCCL 2.23 to 2.25. For 2^k ranks, this order is the
// same as in later releases. For other numbers of ranks, some blocks are omitted because no rank is
// at their distance. Omitted blocks take no space in a message. Sender and receiver both count the
// omitted blocks, to find the positions of the blocks that are sent.

#include "core/nccl/lowering/pat_walk.h"

namespace tutti::core::nccl {
namespace {

class OldReduceScatter : public PatReduceScatterWalk<OldReduceScatter> {
 public:
  using PatReduceScatterWalk::PatReduceScatterWalk;

 private:
  friend class PatReduceScatterWalk<OldReduceScatter>;

  [[nodiscard]] int last_received() const { return from_leaves_; }
  void begin() { send_skipped_ = receive_skipped_ = 0; }
  [[nodiscard]] bool ends(int place, int a, int last) const {
    return place % each_ + 1 >= each_ || a == last - 1;
  }
  void count(bool left_out, bool sends, bool receives) {
    send_skipped_ += static_cast<int>(left_out || !sends);
    receive_skipped_ += static_cast<int>(left_out || !receives);
  }

  /// Phase 0: sends the first contribution to a sum.
  void leaf(int a) {
    NcclStep nccl_step;
    const int s = mirrored(a, factor_) * delta_ + low_;
    nccl_step.skip = s >= n_;
    nccl_step.ahead = s;
    nccl_step.send = 0;
    nccl_step.send_place = (a - send_skipped_) % each_;
    nccl_step.post_send = ends(a - send_skipped_, a, factor_);
    add(nccl_step);
    count(nccl_step.skip, true, true);
  }

  /// Phase 1: adds the rank's own contribution to a received chunk.
  void pass_on(int a) {
    NcclStep nccl_step;
    int s = mirrored(a, factor_) * delta_ + low_;
    nccl_step.skip = s >= n_;
    nccl_step.receive = lowest_bit(s);
    nccl_step.receive_place = (a - receive_skipped_) % each_;
    nccl_step.post_receive = ends(a - receive_skipped_, a, factor_);
    const bool from_nearest = nccl_step.receive == 0;
    nccl_step.post_send = from_nearest && ends(a - send_skipped_, a, factor_);
    s -= 1 << nccl_step.receive;
    nccl_step.ahead = s;
    if (s > 0) {
      nccl_step.send = lowest_bit(s);
      if (low_ - (1 << nccl_step.receive) == 0 && new_peer(a, factor_)) send_skipped_ = a;
      nccl_step.send_place = (a - send_skipped_) % each_;
      nccl_step.later = from_nearest ? 0 : (a - send_skipped_) / each_;
    }
    receive_nothing_from_beyond(nccl_step, s);
    add(nccl_step);
    count(nccl_step.skip, true, nccl_step.receive >= 0);
  }

  /// Phase 2: adds the first contributions of branches, which arrive along the nearest dimension.
  void branch_leaf(int a, int last) {
    NcclStep nccl_step;
    int s = (2 * mirrored(a, last) + 1) * scale_ * delta_ + 1;
    nccl_step.skip = s >= n_;
    nccl_step.receive = 0;
    s -= 1;
    if (!nccl_step.skip) {
      nccl_step.receive_place = from_leaves_ % each_;
      nccl_step.post_receive = ++from_leaves_ % each_ == 0;
    }
    receive_nothing_from_beyond(nccl_step, s);
    nccl_step.ahead = s;
    nccl_step.send = s > 0 ? lowest_bit(s) : -1;
    nccl_step.send_place = (a - send_skipped_) % each_;
    nccl_step.post_send = ends(a - send_skipped_, a, last);
    add(nccl_step);
    count(nccl_step.skip, nccl_step.send >= 0, true);
  }

  /// Phase 3: sends the sum of a branch to the next branch.
  void branch(int a, int last) {
    NcclStep nccl_step;
    int s = (2 * mirrored(a, last) + 1) * scale_ * delta_;
    nccl_step.skip = s >= n_;
    nccl_step.receive = lowest_bit(s);
    s -= 1 << nccl_step.receive;
    nccl_step.ahead = s;
    nccl_step.receive_place = (a - receive_skipped_) % each_;
    nccl_step.post_receive = ends(a - receive_skipped_, a, last);
    nccl_step.send = s > 0 ? lowest_bit(s) : -1;
    receive_nothing_from_beyond(nccl_step, s);
    if (new_peer(a, last)) send_skipped_ = a;
    nccl_step.later = (a - send_skipped_) / each_;
    nccl_step.send_place = (a - send_skipped_) % each_;
    add(nccl_step);
    count(nccl_step.skip, true, nccl_step.receive >= 0);
  }

  /// Removes the receive from a step if the rank that would send does not exist.
  void receive_nothing_from_beyond(NcclStep& nccl_step, int s) const {
    if (s >= n_ || !nccl_step.skip) return;
    nccl_step.receive = -1;
    nccl_step.post_receive = false;
    nccl_step.skip = false;
  }

  /// The number of sends in the round before those to the current peer, plus the number of omitted
  /// sends.
  int send_skipped_ = 0;
  int receive_skipped_ = 0;  ///< number of omitted receives of the round
  int from_leaves_ = 0;      ///< number of chunks received in phase 2
};

}  // namespace

PatOrder pat_reduce_scatter_before_2_26(int ranks, std::int64_t slot_bytes,
                                        std::int64_t part_bytes) {
  return OldReduceScatter(ranks, slot_bytes, part_bytes).order();
}

}  // namespace tutti::core::nccl
