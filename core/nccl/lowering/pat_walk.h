#pragma once

// Declarations that the implementations of the PAT orders share. No other code includes this
// header.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/nccl/lowering/connection.h"
#include "core/nccl/lowering/pat_order.h"

namespace tutti::core::nccl {

inline int log2_up(int n) { return std::bit_width(static_cast<unsigned>(n) - 1); }
inline int lowest_bit(int s) { return std::countr_zero(static_cast<unsigned>(s)); }

/// The base class of the generators of a PatOrder, which traverse the branches of PAT's tree and
/// collect the steps.
class PatWalk {
 public:
  PatWalk(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes, bool gathers)
      : n_(ranks), gathers_(gathers) {
    TUTTI_CHECK(ranks > 1 && ranks <= 1 << 20 && slot_bytes > 0 && part_bytes > 0,
                "PAT between {} ranks, {} of {} bytes", ranks, part_bytes, slot_bytes);
    order_.dimensions = log2_up(ranks);
    delta_ = 1 << order_.dimensions;
    const auto double_factor = [this] {
      factor_ *= 2;
      delta_ /= 2;
    };
    while (slot_bytes / (part_bytes * factor_) >= 2 && factor_ < n_ / 2) double_factor();
    order_.per_message = each_ = factor_;
    for (int depth = kSlots; depth > 1 && factor_ < n_ / 2; depth /= 2) double_factor();
    done_.resize(2 * static_cast<std::size_t>(order_.dimensions));
    touched_.resize(order_.dimensions);
  }

 protected:
  /// A step as NCCL's algorithm describes it. A place is the index of a chunk in its message.
  /// `later` is the distance from the next message to the message that this step uses, counted in
  /// received messages for an all-gather, and in sent messages for a reduce-scatter.
  struct NcclStep {
    int ahead = 0;
    int receive = -1, receive_place = 0;
    int send = -1, send_place = 0;
    int later = 0;
    bool post_receive = false, post_send = false;
    bool skip = false;
  };

  void add(const NcclStep& nccl_step) {
    if (nccl_step.skip) return;
    PatStep step;
    step.ahead = nccl_step.ahead;
    if (nccl_step.receive >= 0) {
      int& done = of(nccl_step.receive, false);
      step.from = {nccl_step.receive, done + (gathers_ ? nccl_step.later : 0),
                   nccl_step.receive_place};
      step.from_through = nccl_step.post_receive;
      done += static_cast<int>(nccl_step.post_receive);
    }
    if (nccl_step.send >= 0) {
      int& done = of(nccl_step.send, true);
      step.to = {nccl_step.send, done + (gathers_ ? 0 : nccl_step.later), nccl_step.send_place};
      step.to_complete = nccl_step.post_send;
      done += static_cast<int>(nccl_step.post_send);
    }
    const PatStep::ChunkLocation& matters = gathers_ ? step.from : step.to;
    if (matters.dimension < 0) {
      step.fresh = !own_touched_;
      own_touched_ = true;
    } else {
      // Chunks are used for the first time in ascending order, so a chunk after all used chunks is
      // fresh.
      auto& most = touched_[matters.dimension];
      const std::pair here{matters.message, matters.place};
      step.fresh = !most || *most < here;
      if (step.fresh) most = here;
    }
    order_.steps.push_back(step);
  }

  /// Returns i with its k lowest bits reversed and inverted, where `max` = 2^k.
  static int mirrored(int i, int max) {
    int made = 0;
    for (int mask = 1, mirror = max / 2; mask < max; mask <<= 1, mirror >>= 1) {
      if ((i & mask) == 0) made += mirror;
    }
    return made;
  }
  /// True if the k-bit number `i` is a sequence of ones followed by zeros (or only zeros), where
  /// `power` = 2^k. REQUIRES: `i` < `power`.
  static bool new_peer(int i, int power) {
    return std::has_single_bit(static_cast<unsigned>((i ^ (power - 1)) + 1));
  }

  int n_;
  bool gathers_;
  int factor_ = 1;  ///< number of branches
  int delta_ = 1;   ///< distance between branches
  int each_ = 1;    ///< number of chunks per message
  PatOrder order_;

 private:
  int& of(int dimension, bool sent) {
    return done_[2 * static_cast<std::size_t>(dimension) + (sent ? 1 : 0)];
  }

  std::vector<int> done_;  ///< for each dimension, the number of messages received and the number
                           ///< of messages sent
  std::vector<std::optional<std::pair<int, int>>> touched_;
  bool own_touched_ = false;
};

/// Generates the steps of a reduce-scatter in order. The class `Phases` has the functions that
/// differ between releases of NCCL: begin() starts a round; leaf(), pass_on(), branch_leaf() and
/// branch() add the steps of a phase; last_received() returns the location of the last received
/// chunk.
template <class Phases>
class PatReduceScatterWalk : public PatWalk {
 public:
  PatReduceScatterWalk(int ranks, std::int64_t slot_bytes, std::int64_t part_bytes)
      : PatWalk(ranks, slot_bytes, part_bytes, false) {}

  PatOrder order() {
    auto& phases = static_cast<Phases&>(*this);
    low_ = delta_ - 1;
    while (true) {
      phases.begin();
      for (int a = 0; a < factor_; ++a) phases.leaf(a);
      if (low_ == 1) break;
      do {
        phases.begin();
        for (int a = 0; a < factor_; ++a) phases.pass_on(a);
        --low_;
      } while (low_ % 2 == 0);
    }
    for (scale_ = 1; scale_ < factor_; scale_ *= 2) {
      const int last = factor_ / (2 * scale_);
      phases.begin();
      for (int a = 0; a < last; ++a) phases.branch_leaf(a, last);
      phases.begin();
      for (int a = 0; a < last; ++a) phases.branch(a, last);
    }
    NcclStep own;
    own.receive = 0;
    own.receive_place = phases.last_received() % each_;
    own.post_receive = true;
    add(own);
    return std::move(order_);
  }

 protected:
  int scale_ = 1;
  int low_ = 0;
};

}  // namespace tutti::core::nccl
