#include "core/algorithm/chain.h"

#include <algorithm>

#include "core/algorithm/ring_walk.h"

namespace tutti::core {
namespace {

class Chain : public Schedule {
 public:
  Chain(const Contract& contract, const RingOptions& options)
      : contract_(contract),
        n_(contract.members()),
        adds_(contract.kind == CollectiveKind::kReduce),
        options_(options),
        walk_(n_, options.lanes) {
    TUTTI_CHECK((adds_ || contract.kind == CollectiveKind::kBroadcast) && options.input_shift == 0 &&
                    options.most_elements_per_message >= 1,
                "a chain for {}", to_string(contract.kind));
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return carrying_lanes() + (copies_beside(rank) ? 1 : 0);
  }
  [[nodiscard]] int credits(Rank, Lane) const override { return options_.credits; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return options_.engine; }

  [[nodiscard]] std::int64_t steps(Rank, Lane lane) const override {
    if (lane == carrying_lanes()) return contract_.elements > 0 ? 1 : 0;
    const EvenCut part = part_of(lane);
    return part.total == 0 || n_ == 1 ? 0 : part.parts;
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    Step step;
    if (lane == carrying_lanes()) {
      step.kind = StepKind::kCopy;
      step.source = step.target = {Buffer::kData, 0, contract_.elements};
      step.source.offset += contract_.input_shift;
      return step;
    }
    const EvenCut part = part_of(lane);
    const std::int64_t offset = lane_cut().offset(lane);
    step.source = step.target = {Buffer::kData, offset + part.offset(index), part.size(index)};
    step.from = walk_.neighbour(rank, lane, -1);
    step.to = walk_.neighbour(rank, lane, +1);
    // How far along the chain: 0 is its head. The root is the head of a broadcast and the end of a reduce.
    const std::int64_t root = walk_.position(contract_.root(), lane) + (adds_ ? 1 : 0);
    const std::int64_t place = ((walk_.position(rank, lane) - root) % n_ + n_) % n_;
    if (place == 0) {
      step.kind = StepKind::kSend;
    } else if (place < n_ - 1) {
      step.kind = adds_ ? StepKind::kReceiveReduceSend : StepKind::kReceiveSend;
    } else {
      step.kind = adds_ ? StepKind::kReceiveReduce : StepKind::kReceive;
    }
    if (adds_ || place == 0) step.source.offset += contract_.input_shift;
    return step;
  }

 private:
  [[nodiscard]] std::int32_t carrying_lanes() const { return static_cast<std::int32_t>(options_.lanes.size()); }
  /// Out of place, on a lane beside the others: what the root broadcasts to itself. (Sums are made in their place.)
  [[nodiscard]] bool copies_beside(Rank rank) const {
    return (!adds_ || n_ == 1) && contract_.input_shift != 0 && rank == contract_.root();
  }
  [[nodiscard]] EvenCut lane_cut() const { return {contract_.elements, carrying_lanes()}; }
  /// A lane's part of the buffer, cut into messages.
  [[nodiscard]] EvenCut part_of(Lane lane) const {
    const std::int64_t size = lane_cut().size(lane);
    const std::int64_t most = options_.most_elements_per_message;
    return {size, std::max<std::int64_t>(1, size / most + (size % most != 0 ? 1 : 0))};
  }

  Contract contract_;
  std::int32_t n_;
  bool adds_;
  RingOptions options_;
  RingWalk walk_;
};

}  // namespace

std::unique_ptr<Schedule> chain(const Contract& contract, const RingOptions& options) {
  return std::make_unique<Chain>(contract, options);
}

std::unique_ptr<Schedule> chain_broadcast(std::int32_t ranks, std::int64_t elements,
                                          std::int64_t most_elements_per_message, Engine engine) {
  RingOptions options;
  options.most_elements_per_message = most_elements_per_message;
  options.engine = engine;
  return chain(Contract::of(CollectiveKind::kBroadcast, ranks, elements, 0, false), options);
}

}  // namespace tutti::core
