#include "core/algorithm/in_switch.h"

#include "core/base/check.h"

namespace tutti::core {
namespace {

constexpr Lane kSumLane = 0;
constexpr Lane kSignalLane = 1;
constexpr Lane kFirstShardLane = 2;

class InSwitch : public Schedule {
 public:
  InSwitch(std::int32_t ranks, std::int64_t elements) : n_(ranks), cut_{elements, ranks} {
    TUTTI_CHECK(ranks >= 1 && elements >= 0, "ranks = {}, elements = {}", ranks, elements);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return kFirstShardLane + n_; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (n_ == 1 || cut_.total == 0) return 0;
    if (lane == kSumLane) return cut_.size(rank) > 0 ? 3 : 1;
    if (lane == kSignalLane) return n_ - 1;
    const Rank owner = lane - kFirstShardLane;
    return owner == rank || cut_.size(owner) == 0 ? 0 : 1;
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    Step step;
    step.group = {0, n_, 1};
    step.source = step.target = {Buffer::kData, cut_.offset(rank), cut_.size(rank)};
    if (lane == kSumLane && index == 0) {
      step.kind = StepKind::kMulticast;  // the ready signal: a message without data
      step.source = {Buffer::kData, 0, 0};
      step.to = Peer::at(0, kSignalLane);
    } else if (lane == kSumLane && index == 1) {
      step.kind = StepKind::kSwitchReduce;
      step.wait = {kSignalLane, n_ - 1};
    } else if (lane == kSumLane) {
      step.kind = StepKind::kMulticast;
      step.to = Peer::at(0, kFirstShardLane + rank);
    } else if (lane == kSignalLane) {
      step.kind = StepKind::kReceiveAny;
      step.target = {Buffer::kData, 0, 0};
    } else {
      const Rank owner = lane - kFirstShardLane;
      step.kind = StepKind::kReceive;
      step.target = {Buffer::kData, cut_.offset(owner), cut_.size(owner)};
      step.from = Peer::at(owner, kSumLane);
    }
    return step;
  }

 private:
  std::int32_t n_;
  EvenCut cut_;
};

}  // namespace

std::unique_ptr<Schedule> in_switch_all_reduce(std::int32_t ranks, std::int64_t elements) {
  return std::make_unique<InSwitch>(ranks, elements);
}

}  // namespace tutti::core
