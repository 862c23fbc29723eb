#include "core/algorithm/ring_blocks.h"

#include <algorithm>

#include "core/algorithm/ring_walk.h"

namespace tutti::core {
namespace {

class RingBlocks : public Schedule {
 public:
  RingBlocks(const Contract& contract, const RingOptions& options)
      : contract_(contract),
        n_(contract.members()),
        adds_(contract.kind == CollectiveKind::kReduceScatter),
        options_(options),
        walk_(n_, options.lanes) {
    TUTTI_CHECK((adds_ || contract.kind == CollectiveKind::kAllGather) && options.input_shift == 0 &&
                    options.most_elements_per_message >= 1,
                "a ring for {}", to_string(contract.kind));
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return carrying_lanes() + (copies() ? 1 : 0); }
  [[nodiscard]] int credits(Rank, Lane) const override { return options_.credits; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return options_.engine; }

  [[nodiscard]] std::int64_t steps(Rank, Lane lane) const override {
    if (lane == carrying_lanes()) return contract_.block() > 0 ? 1 : 0;
    const EvenCut part = part_of(lane);
    return part.total == 0 || n_ == 1 ? 0 : part.parts * n_;
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    Step step;
    if (lane == carrying_lanes()) {
      step.kind = StepKind::kCopy;
      step.source = step.target = {Buffer::kData, rank * contract_.block(), contract_.block()};
      step.source.offset += contract_.input_shift;
      return step;
    }
    const std::int64_t round = index % n_;
    const std::int64_t behind = adds_ ? round + 1 : round;  // whose block it is, in positions of the ring
    const std::int64_t position = ((walk_.position(rank, lane) - behind) % n_ + n_) % n_;
    step.source = step.target = message(lane, walk_.rank_at(position, lane), index / n_);
    // What is its own input; the sums and other ranks' blocks are not.
    if (adds_ || round == 0) step.source.offset += contract_.input_shift;
    step.from = walk_.neighbour(rank, lane, -1);
    step.to = walk_.neighbour(rank, lane, +1);
    if (round == 0) {
      step.kind = StepKind::kSend;
    } else if (round < n_ - 1) {
      step.kind = adds_ ? StepKind::kReceiveReduceSend : StepKind::kReceiveSend;
    } else {
      step.kind = adds_ ? StepKind::kReceiveReduce : StepKind::kReceive;
    }
    return step;
  }

 private:
  [[nodiscard]] std::int32_t carrying_lanes() const { return static_cast<std::int32_t>(options_.lanes.size()); }
  /// Out of place, on a lane beside the others, what a rank gathers from itself. (Sums are made in their place.)
  [[nodiscard]] bool copies() const { return contract_.input_shift != 0 && (!adds_ || n_ == 1); }
  [[nodiscard]] EvenCut lane_cut() const { return {contract_.block(), carrying_lanes()}; }
  [[nodiscard]] std::int64_t lane_offset(Lane lane) const { return lane_cut().offset(lane); }
  /// A lane's part of every block, cut into messages.
  [[nodiscard]] EvenCut part_of(Lane lane) const {
    const std::int64_t size = lane_cut().size(lane);
    const std::int64_t most = options_.most_elements_per_message;
    return {size, std::max<std::int64_t>(1, size / most + (size % most != 0 ? 1 : 0))};
  }
  [[nodiscard]] Range message(Lane lane, Rank owner, std::int64_t loop) const {
    const EvenCut part = part_of(lane);
    return {Buffer::kData, owner * contract_.block() + lane_offset(lane) + part.offset(loop), part.size(loop)};
  }

  Contract contract_;
  std::int32_t n_;
  bool adds_;
  RingOptions options_;
  RingWalk walk_;
};

}  // namespace

std::unique_ptr<Schedule> ring_blocks(const Contract& contract, const RingOptions& options) {
  return std::make_unique<RingBlocks>(contract, options);
}

}  // namespace tutti::core
