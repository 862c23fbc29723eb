#include "core/algorithm/ring_blocks.h"

#include "core/algorithm/along_rings.h"

namespace tutti::core {
namespace {

class RingBlocks : public AlongRings {
 public:
  RingBlocks(const Contract& contract, const RingOptions& options)
      : AlongRings(contract, options, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather) {}

  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return carrying_lanes() + (copies() ? 1 : 0);
  }

  [[nodiscard]] std::int64_t steps(Rank, Lane lane) const override {
    if (lane == carrying_lanes()) return block() > 0 ? 1 : 0;
    const EvenCut cut = messages(block(), lane);
    return cut.total == 0 || n() == 1 ? 0 : cut.parts * n();
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    if (lane == carrying_lanes()) return copy({Buffer::kData, rank * block(), block()});
    const std::int64_t round = index % n();
    const std::int64_t behind =
        adds() ? round + 1 : round;  // distance to the owner of the block, in ring positions
    const std::int64_t position = ((walk().position(rank, lane) - behind) % n() + n()) % n();
    Step step;
    step.kind = kind_at(round);
    step.source = step.target = message(block(), lane, index / n());
    step.source.offset += walk().rank_at(position, lane) * block();
    step.target.offset = step.source.offset;
    // Read a rank's own data from its input; read sums and the blocks of other ranks from the
    // output.
    if (adds() || round == 0) step.source.offset += contract().input_shift;
    step.from = walk().neighbour(rank, lane, -1);
    step.to = walk().neighbour(rank, lane, +1);
    return step;
  }

  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    return by == Renumbering::kShift && walk().same_after(per_worker);
  }

  void visit_ways(Rank rank, Lane lane,
                  const std::function<void(const Step&)>& visit) const override {
    if (lane == carrying_lanes() || steps(rank, lane) == 0) return;
    Step all;  // all messages go to this neighbour
    all.kind = StepKind::kSend;
    all.to = walk().neighbour(rank, lane, +1);
    visit(all);
  }

 private:
  [[nodiscard]] std::int64_t block() const { return contract().block(); }
  /// True if a rank has to copy its own block from its input to its output. (A reduce-scatter
  /// writes sums directly into the output.)
  [[nodiscard]] bool copies() const { return contract().input_shift != 0 && (!adds() || n() == 1); }
};

}  // namespace

std::unique_ptr<Schedule> ring_blocks(const Contract& contract, const RingOptions& options) {
  return std::make_unique<RingBlocks>(contract, options);
}

}  // namespace tutti::core
