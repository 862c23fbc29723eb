// A block is identified by its distance s (0 … n - 1) from the rank, in ranks. A block makes one
// hop for each set bit of s; the lowest set bit is the dimension of the next hop. The tree is
// divided at its top into `factor` branches, which execute the same steps at the same time
// ("aggregated"). The branches put their chunks into the same message if the message has space for
// them. The distance is s = branch · delta + low. The steps handle the values low = 1 … delta - 1
// in the order of a tree traversal, from far to near, so that messages never need more slots than
// exist. The steps of each round belong to phases, which are numbered as in NCCL: phase 0 handles
// the leaves, phase 1 the low bits, and phases 2 and 3 the branches. An all-gather begins with
// phase 2. A reduce-scatter ends with phases 2, 3 and 4; phase 4 handles the rank's own block.

#include "core/nccl/lowering/pat_order.h"

#include <array>
#include <utility>

#include "core/nccl/lowering/pat_walk.h"

namespace tutti::core::nccl {
namespace {

class AllGather : public PatWalk {
 public:
  AllGather(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes)
      : PatWalk(ranks, slot_bytes, part_bytes, true) {}

  PatOrder order() {
    for (scale_ = factor_ / 2; scale_ > 0; scale_ /= 2) {
      for (int a = 0; a < factor_ / (2 * scale_); ++a) branch(a);
    }
    bits_ = log2_up(delta_);
    for (int d = 0; d < bits_; ++d) left_[d] = bits_ - d;
    zero_step_.fill(1);
    low_ = next_low();
    do {
      for (int a = 0; a < factor_; ++a) pass_on(a);
      if (low_ % 2 == 1) {
        for (int a = 0; a < factor_; ++a) leaf(a);
      }
      const bool odd = low_ % 2 == 1;
      low_ = next_low();
      if (odd && low_ == delta_ / 2) break;
    } while (true);
    return std::move(order_);
  }

 private:
  /// Phase 2: sends a chunk to the first rank of a branch.
  void branch(int a) {
    NcclStep nccl_step;
    int s = (2 * a + 1) * scale_ * delta_;
    nccl_step.post_send = a % each_ == each_ - 1 || (2 * (a + 1) + 1) * scale_ * delta_ >= n_;
    nccl_step.skip = s >= n_;
    nccl_step.send = lowest_bit(s);
    s -= 1 << nccl_step.send;
    nccl_step.send_place = a % each_;
    nccl_step.later = a / each_;
    nccl_step.ahead = s;
    if (s > 0) {
      nccl_step.receive = lowest_bit(s);
      const int received = a * 2 * scale_ * delta_ >> (nccl_step.receive + 1);
      nccl_step.receive_place = received % each_;
      nccl_step.later = received / each_;
    }
    add(nccl_step);
  }

  /// Phase 1: stores a received chunk and forwards it.
  void pass_on(int a) {
    NcclStep nccl_step;
    int s = a * delta_ + low_;
    nccl_step.skip = s >= n_;
    nccl_step.send = lowest_bit(s);
    s -= 1 << nccl_step.send;
    nccl_step.ahead = s;
    const bool last = a % each_ == each_ - 1;
    nccl_step.send_place = nccl_step.receive_place = a % each_;
    nccl_step.post_send = last || (a + 1) * delta_ + low_ >= n_;
    nccl_step.post_receive = nccl_step.send == 0 && (last || (a + 1) * delta_ + low_ - 1 >= n_);
    nccl_step.later = nccl_step.send == 0 ? 0 : a / each_;
    if (s == 0) {
      nccl_step.post_receive = false;
    } else {
      nccl_step.receive = lowest_bit(s);
      if (low_ - (1 << nccl_step.send) == 0) {
        const int received = a * delta_ >> (nccl_step.receive + 1);
        nccl_step.receive_place = received % each_;
        nccl_step.post_receive =
            nccl_step.send == 0 &&
            (received % each_ == each_ - 1 || ((received + 1) * 2 + 1) << nccl_step.receive >= n_);
        nccl_step.later = nccl_step.send == 0 ? 0 : received / each_;
      }
    }
    if (s < n_ && nccl_step.send == 0 && nccl_step.skip) {
      // The rank receives the chunk, but has no rank to which to forward it.
      nccl_step.send = -1;
      nccl_step.post_send = false;
      nccl_step.skip = false;
    }
    add(nccl_step);
  }

  /// Phase 0: stores a received chunk without forwarding it.
  void leaf(int a) {
    NcclStep nccl_step;
    const int s = a * delta_ + low_;
    nccl_step.skip = s >= n_;
    nccl_step.ahead = s;
    nccl_step.receive = 0;
    nccl_step.receive_place = a % each_;
    nccl_step.post_receive = a % each_ == each_ - 1 || (a + 1) * delta_ + low_ >= n_;
    add(nccl_step);
  }

  /// Returns the next value of `low`, which traverses a tree from far to near.
  int next_low() {
    for (int d = 0; d < bits_; ++d) {
      const int bit = 1 << d;
      int& left = left_[d];
      if (--left > 0) continue;
      value_ ^= bit;
      left = bit;
      if ((value_ & bit) != 0) continue;
      int& zeros = zero_step_[d];
      left += lowest_bit(zeros) - 1;
      if (left == 0) {
        value_ ^= bit;
        left = bit;
      }
      ++zeros;
    }
    return value_;
  }

  int scale_ = 0;
  int low_ = 0;
  int bits_ = 0;
  int value_ = 0;
  std::array<int, 32> left_{};
  std::array<int, 32> zero_step_{};
};

class ReduceScatter : public PatReduceScatterWalk<ReduceScatter> {
 public:
  using PatReduceScatterWalk::PatReduceScatterWalk;

 private:
  friend class PatReduceScatterWalk<ReduceScatter>;

  [[nodiscard]] int last_received() const { return factor_ - 1; }
  void begin() { skipped_ = later_ = 0; }
  [[nodiscard]] bool ends(int a, int last) const { return a % each_ + 1 >= each_ || a == last - 1; }

  /// Phase 0: sends the first contribution to a sum.
  void leaf(int a) {
    NcclStep nccl_step;
    const int s = mirrored(a, factor_) * delta_ + low_;
    nccl_step.skip = s >= n_;
    nccl_step.ahead = s;
    nccl_step.send = 0;
    nccl_step.send_place = a % each_;
    nccl_step.post_send = ends(a, factor_);
    nccl_step.later = later_;
    add(nccl_step);
  }

  /// Phase 1: adds the rank's own contribution to a received chunk.
  void pass_on(int a) {
    NcclStep nccl_step;
    int s = mirrored(a, factor_) * delta_ + low_;
    bool skip = s >= n_;
    nccl_step.receive = lowest_bit(s);
    nccl_step.send_place = nccl_step.receive_place = a % each_;
    nccl_step.post_send = nccl_step.receive == 0 && ends(a, factor_);
    nccl_step.post_receive = ends(a, factor_);
    nccl_step.later = later_;
    s -= 1 << nccl_step.receive;
    nccl_step.ahead = s;
    const int received = nccl_step.receive;
    if (s > 0) {
      nccl_step.send = lowest_bit(s);
      if (low_ - (1 << received) == 0) {
        if (new_peer(a, factor_)) {
          skipped_ = a;
          nccl_step.later = later_ = 0;
        }
        nccl_step.send_place = (a - skipped_) % each_;
      }
    }
    if (s < n_ && skip) {
      nccl_step.receive = -1;
      nccl_step.post_receive = false;
      skip = false;
    }
    nccl_step.skip = skip;
    add(nccl_step);
    if (received > 0 && (a - skipped_) % each_ + 1 >= each_ && !skip) ++later_;
  }

  /// Phase 2: adds the first contributions of branches, which arrive along the nearest dimension.
  void branch_leaf(int a, int last) {
    NcclStep nccl_step;
    int s = (2 * mirrored(a, last) + 1) * scale_ * delta_ + 1;
    bool skip = s >= n_;
    nccl_step.receive = 0;
    s -= 1;
    if (s < n_ && skip) {
      nccl_step.receive = -1;
      skip = false;
    } else if (!skip) {
      const int received = a + factor_ - factor_ / scale_;
      nccl_step.post_receive = (received + 1) % each_ == 0;
      nccl_step.receive_place = received % each_;
    }
    nccl_step.skip = skip;
    nccl_step.ahead = s;
    nccl_step.send = s > 0 ? lowest_bit(s) : -1;
    nccl_step.later = later_;
    nccl_step.post_send = a == last - 1 || (a + 1) % each_ == 0;
    nccl_step.send_place = a % each_;
    add(nccl_step);
  }

  /// Phase 3: sends the sum of a branch to the next branch.
  void branch(int a, int last) {
    NcclStep nccl_step;
    int s = (2 * mirrored(a, last) + 1) * scale_ * delta_;
    bool skip = s >= n_;
    nccl_step.receive = lowest_bit(s);
    s -= 1 << nccl_step.receive;
    nccl_step.ahead = s;
    nccl_step.post_receive = a == last - 1 || (a + 1) % each_ == 0;
    nccl_step.receive_place = a % each_;
    nccl_step.send = s > 0 ? lowest_bit(s) : -1;
    if (s < n_ && skip) {
      nccl_step.receive = -1;
      nccl_step.post_receive = false;
      skip = false;
    }
    nccl_step.skip = skip;
    nccl_step.later = later_;
    if (new_peer(a, last)) {
      skipped_ = a;
      nccl_step.later = later_ = 0;
    }
    const int sent = a - skipped_;
    nccl_step.send_place = sent % each_;
    add(nccl_step);
    if (sent % each_ + 1 >= each_ && !skip) ++later_;
  }

  int skipped_ = 0;  ///< number of steps that precede the steps for the current peer
  int later_ = 0;
};

}  // namespace

PatOrder pat_all_gather(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes) {
  return AllGather(ranks, slot_bytes, part_bytes).order();
}

PatOrder pat_reduce_scatter(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes) {
  return ReduceScatter(ranks, slot_bytes, part_bytes).order();
}

}  // namespace tutti::core::nccl
