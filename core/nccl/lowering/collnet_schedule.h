#pragma once

// The base class of all schedules in which the network reduces. Only code in this folder includes
// this header.
//
// A head is a GPU next to a network card. Heads with the same index, one in each node, handle the
// same part of a buffer. A head puts a chunk into one of eight send slots. The head's proxy (the
// CPU thread that operates the network card) signals to the other heads that the chunk is
// available, and receives such a signal from each other head. Then the switches reduce the chunks
// of all heads and send the sum to each head. Each head writes the sum into one of eight receive
// slots. In the schedule, this reduction is a kSwitchReduce step of every head, as in NVLS. A
// channel puts one chunk into a slot per loop. A send slot is free again when all heads have
// signalled that they are at the next loop. A receive slot is free again when the head has
// distributed its content.
//
// Lanes (sequences of steps that a rank executes in order) of a channel: kUp fills send slots, kNet
// is the proxy, and kDown distributes the content of receive slots. Lanes from kFirstOwn on are
// defined by the derived class.

#include <vector>

#include "core/nccl/communicator.h"
#include "core/nccl/lowering/channel_loops.h"
#include "core/schedule/schedule.h"

namespace tutti::core::nccl {

class CollNet : public Schedule {
 public:
  static constexpr Lane kUp = 0;
  static constexpr Lane kNet = 1;
  static constexpr Lane kDown = 2;
  static constexpr Lane kFirstOwn = 3;

  /// `lanes` is the number of lanes per channel.
  CollNet(const Communicator& comm, std::vector<ChannelLoops> channels, Lane lanes);

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return lanes_ * static_cast<Lane>(channels_.size());
  }
  [[nodiscard]] int credits(Rank, Lane) const override { return kSlots; }
  [[nodiscard]] Engine engine(Rank, Lane lane) const override {
    return lane % lanes_ == kNet ? Engine::kCopyEngine : Engine::kKernel;
  }
  [[nodiscard]] std::int64_t scratch(Rank) const override;
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override;
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override;

 protected:
  /// Returns the index of the chunk that this rank, as a head, handles in each loop; -1 if the rank
  /// is not a head. `base` is the first lane of the channel, in this and all following functions.
  [[nodiscard]] virtual int head(Rank rank, Lane base) const = 0;
  /// Returns the number of steps per loop of the lane with role `role`. The last step of kUp fills
  /// the send slot, and the last step of kDown releases the receive slot.
  [[nodiscard]] virtual std::int64_t each_inside(Rank rank, Lane base, Lane role) const = 0;
  virtual void inside(Step& step, Rank rank, Lane base, Lane role, std::int64_t loop,
                      std::int64_t part) const = 0;

  /// Returns the number of steps that a proxy executes per loop. The default is the number for an
  /// all-reduce.
  [[nodiscard]] virtual std::int64_t each_net() const { return nodes_ + 1; }
  virtual void net(Step& step, Rank rank, Lane base, std::int64_t loop, std::int64_t part) const;
  /// Returns the part of a head's slot that the network reduces and sends back to this head.
  [[nodiscard]] virtual Range wanted(const Range& slot, Rank, Lane, std::int64_t) const {
    return slot;
  }

  [[nodiscard]] Rank local(Rank rank) const { return rank % gpus_; }
  [[nodiscard]] Rank beside(Rank rank, int gpu) const { return rank - local(rank) + gpu; }
  [[nodiscard]] std::size_t number(Lane base) const {
    return static_cast<std::size_t>(base / lanes_);
  }
  [[nodiscard]] const ChannelLoops& channel(Lane lane) const { return channels_[number(lane)]; }
  [[nodiscard]] Lane role(Lane lane) const { return lane % lanes_; }
  [[nodiscard]] Range own(Rank rank, Lane base, std::int64_t loop) const {
    return channel(base).at(loop, head(rank, base));
  }
  [[nodiscard]] Range sending(Rank rank, Lane base, std::int64_t loop) const {
    return slot(rank, base, loop, 0);
  }
  [[nodiscard]] Range received(Rank rank, Lane base, std::int64_t loop) const {
    return slot(rank, base, loop, kSlots);
  }
  /// Returns the wait after which a send slot may be overwritten, because all nodes have reached
  /// the loop after the loop that used the slot.
  [[nodiscard]] Wait until_sent(Lane base, std::int64_t loop) const {
    if (loop < kSlots) return {};
    return {base + kNet, (loop - kSlots + 1) * each_net() + each_net() - 1};
  }
  [[nodiscard]] Wait until_received(Lane base, std::int64_t loop) const {
    return {base + kNet, (loop + 1) * each_net()};
  }
  /// Returns the wait after which the content of a receive slot has been distributed.
  [[nodiscard]] Wait until_handed_out(Rank rank, Lane base, std::int64_t loop) const {
    if (loop < kSlots) return {};
    return {base + kDown, (loop - kSlots + 1) * each_inside(rank, base, kDown)};
  }
  [[nodiscard]] Wait until_made(Rank rank, Lane base, std::int64_t loop) const {
    return {base + kUp, (loop + 1) * each_inside(rank, base, kUp)};
  }
  /// Returns the head of another node that has the same index as `rank`. `number` counts the other
  /// nodes from 0.
  [[nodiscard]] Rank other_head(Rank rank, std::int64_t number) const {
    const auto node = static_cast<Rank>(number);
    return (node < rank / gpus_ ? node : node + 1) * gpus_ + local(rank);
  }
  [[nodiscard]] RankSet heads_of_index(Rank rank) const { return {local(rank), nodes_, gpus_}; }
  [[nodiscard]] RankSet node_of(Rank rank) const { return {rank - local(rank), gpus_, 1}; }

  std::int32_t n_;
  std::int32_t gpus_;
  std::int32_t nodes_;

 private:
  [[nodiscard]] std::int64_t each(Rank rank, Lane base, Lane role) const {
    if (role != kNet) return each_inside(rank, base, role);
    return head(rank, base) < 0 ? 0 : each_net();
  }
  [[nodiscard]] Range slot(Rank rank, Lane base, std::int64_t loop, std::int64_t first) const;

  Lane lanes_;
  std::vector<ChannelLoops> channels_;
};

}  // namespace tutti::core::nccl
