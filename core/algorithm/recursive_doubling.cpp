#include "core/algorithm/recursive_doubling.h"

#include <bit>

#include "core/base/check.h"

namespace tutti::core {
namespace {

class RecursiveDoubling : public Schedule {
 public:
  RecursiveDoubling(std::int32_t ranks, std::int64_t elements, Engine engine)
      : n_(ranks), hops_(std::countr_zero(static_cast<std::uint32_t>(ranks))), elements_(elements), engine_(engine) {
    TUTTI_CHECK(ranks >= 1 && std::has_single_bit(static_cast<std::uint32_t>(ranks)) && elements >= 0,
                "ranks = {}, elements = {}", ranks, elements);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

  [[nodiscard]] std::int64_t steps(Rank, Lane) const override { return elements_ == 0 ? 0 : 2 * hops_; }

  /// Per hop: send the sum so far, then add the partner's.
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t index) const override {
    Step step;
    step.kind = index % 2 == 0 ? StepKind::kSend : StepKind::kReceiveReduce;
    step.to = step.from = Peer::at(rank ^ (1 << (index / 2)), 0);
    step.source = step.target = {Buffer::kData, 0, elements_};
    return step;
  }

 private:
  std::int32_t n_;
  int hops_;
  std::int64_t elements_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<Schedule> recursive_doubling_all_reduce(std::int32_t ranks, std::int64_t elements, Engine engine) {
  return std::make_unique<RecursiveDoubling>(ranks, elements, engine);
}

}  // namespace tutti::core
