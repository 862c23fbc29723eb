// All-gathers and reduce-scatters through the switches of one node. In an all-gather, every GPU
// multicasts its block, chunk by chunk. In a reduce-scatter, all GPUs signal that their data is
// ready; then every GPU lets the switch reduce its block over all GPUs. Lanes of a channel: lane 0
// multicasts, or signals and reduces. For a reduce-scatter, lane 1 receives the signals of the
// other GPUs. For an all-gather, lane 1 + r receives the chunks of rank r.

#include "core/nccl/lowering/parts.h"

namespace tutti::core::nccl {
namespace {

constexpr Lane kSends = 0;
constexpr Lane kBlockSignals = 1;
constexpr Lane kFirstRank = 1;

class NvlsBlocks : public Schedule {
 public:
  NvlsBlocks(const Communicator& comm, std::int64_t elements, std::vector<ChannelLoops> channels)
      : n_(comm.ranks), block_(elements / comm.ranks), channels_(std::move(channels)) {}

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return of_channel() * static_cast<std::int32_t>(channels_.size());
  }

 protected:
  [[nodiscard]] virtual Lane of_channel() const = 0;
  [[nodiscard]] const ChannelLoops& channel(Lane lane) const {
    return channels_[lane / of_channel()];
  }
  [[nodiscard]] Range chunk(Lane lane, std::int64_t loop, Rank whose) const {
    Range range = channel(lane).at(loop, 0);
    range.offset += whose * block_;
    return range;
  }
  static Step multicast(std::int32_t ranks, const Range& range, Lane to) {
    Step step;
    step.kind = StepKind::kMulticast;
    step.source = range;
    step.group = {0, ranks, 1};
    step.to = Peer::at(0, to);
    return step;
  }

  std::int32_t n_;

 private:
  std::int64_t block_;
  std::vector<ChannelLoops> channels_;
};

class Gather : public NvlsBlocks {
 public:
  using NvlsBlocks::NvlsBlocks;

  [[nodiscard]] int credits(Rank, Lane lane) const override { return channel(lane).chunks.slots; }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return lane % of_channel() == kFirstRank + rank ? 0 : channel(lane).loops();
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Lane role = lane % of_channel();
    const Lane base = lane - role;
    if (role == kSends) return multicast(n_, chunk(lane, index, rank), base + kFirstRank + rank);
    const Rank from = role - kFirstRank;
    Step step;
    step.kind = StepKind::kReceive;
    step.from = Peer::at(from, base + kSends);
    step.target = chunk(lane, index, from);
    return step;
  }

 protected:
  [[nodiscard]] Lane of_channel() const override { return kFirstRank + n_; }
};

class Scatter : public NvlsBlocks {
 public:
  using NvlsBlocks::NvlsBlocks;

  [[nodiscard]] std::int64_t steps(Rank, Lane lane) const override {
    return lane % of_channel() == kBlockSignals ? n_ - 1 : 1 + channel(lane).loops();
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    const Lane role = lane % of_channel();
    const Lane base = lane - role;
    if (role == kSends && index == 0)
      return multicast(n_, {Buffer::kData, 0, 0}, base + kBlockSignals);
    Step step;
    if (role == kBlockSignals) {
      step.kind = StepKind::kReceiveAny;
      step.target = {Buffer::kData, 0, 0};
      return step;
    }
    step.kind = StepKind::kSwitchReduce;
    step.group = {0, n_, 1};
    step.source = step.target = chunk(lane, index - 1, rank);
    if (index == 1) step.wait = {base + kBlockSignals, n_ - 1};
    return step;
  }

 protected:
  [[nodiscard]] Lane of_channel() const override { return kBlockSignals + 1; }
};

}  // namespace

std::shared_ptr<const Schedule> lowered_nvls_blocks(const Communicator& comm, CollectiveKind kind,
                                                    std::int64_t elements,
                                                    std::vector<ChannelLoops> channels) {
  if (kind == CollectiveKind::kAllGather)
    return std::make_shared<Gather>(comm, elements, std::move(channels));
  return std::make_shared<Scatter>(comm, elements, std::move(channels));
}

}  // namespace tutti::core::nccl
