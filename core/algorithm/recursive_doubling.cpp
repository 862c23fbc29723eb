#include "core/algorithm/recursive_doubling.h"

#include "core/algorithm/power_of_two.h"

namespace tutti::core {
namespace {

class RecursiveDoubling : public PowerOfTwo {
 public:
  using PowerOfTwo::PowerOfTwo;

  [[nodiscard]] std::int64_t steps(Rank, Lane) const override { return elements() == 0 ? 0 : 2 * hops(); }

  /// Per hop: send the sum so far, then add the partner's.
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t index) const override {
    Step step;
    step.kind = index % 2 == 0 ? StepKind::kSend : StepKind::kReceiveReduce;
    step.to = step.from = partner(rank, static_cast<int>(index / 2));
    step.source = step.target = {Buffer::kData, 0, elements()};
    return step;
  }
};

}  // namespace

std::unique_ptr<Schedule> recursive_doubling_all_reduce(std::int32_t ranks, std::int64_t elements, Engine engine) {
  return std::make_unique<RecursiveDoubling>(ranks, elements, engine);
}

}  // namespace tutti::core
