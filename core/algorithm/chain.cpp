#include "core/algorithm/chain.h"

#include "core/algorithm/along_rings.h"

namespace tutti::core {
namespace {

class Chain : public AlongRings {
 public:
  Chain(const Contract& contract, const RingOptions& options)
      : AlongRings(contract, options, CollectiveKind::kReduce, CollectiveKind::kBroadcast) {}

  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return carrying_lanes() + (copies_beside(rank) ? 1 : 0);
  }

  [[nodiscard]] std::int64_t steps(Rank, Lane lane) const override {
    if (lane == carrying_lanes()) return contract().elements > 0 ? 1 : 0;
    const EvenCut cut = messages(contract().elements, lane);
    return cut.total == 0 || n() == 1 ? 0 : cut.parts;
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    if (lane == carrying_lanes()) return copy({Buffer::kData, 0, contract().elements});
    Step step;
    step.source = step.target = message(contract().elements, lane, index);
    step.from = walk().neighbour(rank, lane, -1);
    step.to = walk().neighbour(rank, lane, +1);
    // Returns the rank's position in the chain; the head of the chain has position 0. In a
    // broadcast, the root is the head of the chain. In a reduce, the root is the end of the chain.
    const std::int64_t root = walk().position(contract().root(), lane) + (adds() ? 1 : 0);
    const std::int64_t place = ((walk().position(rank, lane) - root) % n() + n()) % n();
    step.kind = kind_at(place);
    if (adds() || place == 0) step.source.offset += contract().input_shift;
    return step;
  }

 private:
  /// True if the rank is the root of a broadcast and copies its own input. (A reduce needs no copy,
  /// because it writes sums directly into its output.)
  [[nodiscard]] bool copies_beside(Rank rank) const {
    return (!adds() || n() == 1) && contract().input_shift != 0 && rank == contract().root();
  }
};

}  // namespace

std::unique_ptr<Schedule> chain(const Contract& contract, const RingOptions& options) {
  return std::make_unique<Chain>(contract, options);
}

std::unique_ptr<Schedule> chain_broadcast(std::int32_t ranks, std::int64_t elements,
                                          std::int64_t max_elements_per_message, Engine engine) {
  RingOptions options;
  options.max_elements_per_message = max_elements_per_message;
  options.engine = engine;
  return chain(Contract::of(CollectiveKind::kBroadcast, ranks, elements, 0, false), options);
}

}  // namespace tutti::core
