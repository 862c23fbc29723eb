#include "core/algorithm/recursive_doubling.h"

#include "core/algorithm/power_of_two.h"

namespace tutti::core {
namespace {

class RecursiveDoubling : public PowerOfTwo {
 public:
  using PowerOfTwo::PowerOfTwo;

  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    return exchanges_workers(by, per_worker);
  }

  [[nodiscard]] std::int64_t hop_steps(Rank) const override { return 2 * hops(); }

  /// In each hop, a rank sends its partial sum, then adds the partial sum of its partner.
  [[nodiscard]] Step hop_step(Rank rank, std::int64_t index) const override {
    Step step;
    step.kind = index % 2 == 0 ? StepKind::kSend : StepKind::kReceiveReduce;
    step.to = step.from = partner(rank, static_cast<int>(index / 2));
    step.source = step.target = {Buffer::kData, 0, elements()};
    return step;
  }
};

}  // namespace

std::unique_ptr<Schedule> recursive_doubling_all_reduce(std::int32_t ranks, std::int64_t elements,
                                                        Engine engine) {
  return recursive_doubling_all_reduce(Contract::all_reduce(ranks, elements), engine);
}

std::unique_ptr<Schedule> recursive_doubling_all_reduce(const Contract& contract, Engine engine) {
  return std::make_unique<RecursiveDoubling>(contract, engine);
}

}  // namespace tutti::core
