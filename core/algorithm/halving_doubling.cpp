#include "core/algorithm/halving_doubling.h"

#include "core/algorithm/power_of_two.h"

namespace tutti::core {
namespace {

class HalvingDoubling : public PowerOfTwo {
 public:
  using PowerOfTwo::PowerOfTwo;

  /// The schedule is symmetric only if all halves have the same size.
  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    return exchanges_workers(by, per_worker) && elements() % ranks() == 0;
  }

  [[nodiscard]] std::int64_t hop_steps(Rank) const override { return 4 * hops(); }

  /// In a hop of the reduce-scatter, the rank sends the half that its partner reduces, then
  /// receives and reduces the half that it keeps. In a hop of the all-gather, the rank sends the
  /// half that it has kept, then receives the other half.
  [[nodiscard]] Step hop_step(Rank rank, std::int64_t index) const override {
    const auto round = static_cast<int>(index / 2);
    const bool halving = round < hops();
    const int hop = halving ? round : 2 * hops() - 1 - round;
    const Halves halves = at_hop(rank, hop);
    Step step;
    step.to = step.from = partner(rank, hop);
    if (index % 2 == 0) {
      step.kind = StepKind::kSend;
      step.source = halving ? halves.given : halves.kept;
    } else {
      step.kind = halving ? StepKind::kReceiveReduce : StepKind::kReceive;
      step.source = step.target = halving ? halves.kept : halves.given;
    }
    return step;
  }

 private:
  struct Halves {
    Range kept;
    Range given;
  };

  /// Returns the two halves of the segment that `rank` holds when hop `hop` begins.
  [[nodiscard]] Halves at_hop(Rank rank, int hop) const {
    Range segment{Buffer::kData, 0, elements()};
    for (int i = 0;; ++i) {
      const auto [left, right] = split(segment);
      const bool keeps_right = (rank >> i & 1) != 0;
      if (i == hop) return keeps_right ? Halves{right, left} : Halves{left, right};
      segment = keeps_right ? right : left;
    }
  }
};

}  // namespace

std::unique_ptr<Schedule> halving_doubling_all_reduce(std::int32_t ranks, std::int64_t elements,
                                                      Engine engine) {
  return halving_doubling_all_reduce(Contract::all_reduce(ranks, elements), engine);
}

std::unique_ptr<Schedule> halving_doubling_all_reduce(const Contract& contract, Engine engine) {
  return std::make_unique<HalvingDoubling>(contract, engine);
}

}  // namespace tutti::core
