#include "core/algorithm/halving_doubling.h"

#include <bit>

#include "core/base/check.h"

namespace tutti::core {
namespace {

class HalvingDoubling : public Schedule {
 public:
  HalvingDoubling(std::int32_t ranks, std::int64_t elements, Engine engine)
      : n_(ranks), hops_(std::countr_zero(static_cast<std::uint32_t>(ranks))), elements_(elements), engine_(engine) {
    TUTTI_CHECK(ranks >= 1 && std::has_single_bit(static_cast<std::uint32_t>(ranks)) && elements >= 0,
                "ranks = {}, elements = {}", ranks, elements);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

  [[nodiscard]] std::int64_t steps(Rank, Lane) const override { return elements_ == 0 ? 0 : 4 * hops_; }

  /// Halving: send the given half, receive-reduce the kept one. Doubling: send the kept half, receive the given one.
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t index) const override {
    const auto round = static_cast<int>(index / 2);
    const bool halving = round < hops_;
    const int hop = halving ? round : 2 * hops_ - 1 - round;
    const Halves halves = at_hop(rank, hop);
    Step step;
    step.to = step.from = Peer::at(rank ^ (1 << hop), 0);
    step.source = halving ? halves.given : halves.kept;
    step.target = halving ? halves.kept : halves.given;
    step.kind = index % 2 == 0 ? StepKind::kSend : (halving ? StepKind::kReceiveReduce : StepKind::kReceive);
    return step;
  }

 private:
  struct Halves {
    Range kept;
    Range given;
  };

  /// The two halves of the segment that `rank` holds when hop `hop` begins.
  [[nodiscard]] Halves at_hop(Rank rank, int hop) const {
    Range segment{Buffer::kData, 0, elements_};
    for (int i = 0;; ++i) {
      const std::int64_t first = (segment.count + 1) / 2;
      const Range left{Buffer::kData, segment.offset, first};
      const Range right{Buffer::kData, segment.offset + first, segment.count - first};
      const bool keeps_right = (rank >> i & 1) != 0;
      if (i == hop) return keeps_right ? Halves{right, left} : Halves{left, right};
      segment = keeps_right ? right : left;
    }
  }

  std::int32_t n_;
  int hops_;
  std::int64_t elements_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<Schedule> halving_doubling_all_reduce(std::int32_t ranks, std::int64_t elements, Engine engine) {
  return std::make_unique<HalvingDoubling>(ranks, elements, engine);
}

}  // namespace tutti::core
