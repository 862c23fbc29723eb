// The order of a reduce-scatter by PAT in 2.23 to 2.25. For 2^k ranks, it equals the order of later
// releases. For other numbers of ranks, some blocks are omitted because no rank is that far away.
// They take no space in a message, so both the sending and the receiving step count them.

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
    Said said;
    const int s = mirrored(a, factor_) * delta_ + low_;
    said.skip = s >= n_;
    said.ahead = s;
    said.send = 0;
    said.send_place = (a - send_skipped_) % each_;
    said.post_send = ends(a - send_skipped_, a, factor_);
    add(said);
    count(said.skip, true, true);
  }

  /// Phase 1: adds the rank's own contribution to a received chunk.
  void pass_on(int a) {
    Said said;
    int s = mirrored(a, factor_) * delta_ + low_;
    said.skip = s >= n_;
    said.receive = lowest_bit(s);
    said.receive_place = (a - receive_skipped_) % each_;
    said.post_receive = ends(a - receive_skipped_, a, factor_);
    const bool from_nearest = said.receive == 0;
    said.post_send = from_nearest && ends(a - send_skipped_, a, factor_);
    s -= 1 << said.receive;
    said.ahead = s;
    if (s > 0) {
      said.send = lowest_bit(s);
      if (low_ - (1 << said.receive) == 0 && new_peer(a, factor_)) send_skipped_ = a;
      said.send_place = (a - send_skipped_) % each_;
      said.later = from_nearest ? 0 : (a - send_skipped_) / each_;
    }
    receive_nothing_from_beyond(said, s);
    add(said);
    count(said.skip, true, said.receive >= 0);
  }

  /// Phase 2: adds the first contributions of branches, which arrive along the nearest dimension.
  void branch_leaf(int a, int last) {
    Said said;
    int s = (2 * mirrored(a, last) + 1) * scale_ * delta_ + 1;
    said.skip = s >= n_;
    said.receive = 0;
    s -= 1;
    if (!said.skip) {
      said.receive_place = from_leaves_ % each_;
      said.post_receive = ++from_leaves_ % each_ == 0;
    }
    receive_nothing_from_beyond(said, s);
    said.ahead = s;
    said.send = s > 0 ? lowest_bit(s) : -1;
    said.send_place = (a - send_skipped_) % each_;
    said.post_send = ends(a - send_skipped_, a, last);
    add(said);
    count(said.skip, said.send >= 0, true);
  }

  /// Phase 3: sends the sum of a branch to the next branch.
  void branch(int a, int last) {
    Said said;
    int s = (2 * mirrored(a, last) + 1) * scale_ * delta_;
    said.skip = s >= n_;
    said.receive = lowest_bit(s);
    s -= 1 << said.receive;
    said.ahead = s;
    said.receive_place = (a - receive_skipped_) % each_;
    said.post_receive = ends(a - receive_skipped_, a, last);
    said.send = s > 0 ? lowest_bit(s) : -1;
    receive_nothing_from_beyond(said, s);
    if (new_peer(a, last)) send_skipped_ = a;
    said.later = (a - send_skipped_) / each_;
    said.send_place = (a - send_skipped_) % each_;
    add(said);
    count(said.skip, true, said.receive >= 0);
  }

  /// Removes the receive if this rank exists but the next rank in the dimension does not.
  void receive_nothing_from_beyond(Said& said, int s) const {
    if (s >= n_ || !said.skip) return;
    said.receive = -1;
    said.post_receive = false;
    said.skip = false;
  }

  /// The number of sends of the round before the sends to the current peer, and of omitted sends.
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
