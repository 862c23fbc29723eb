#include "core/algorithm/direct.h"

#include "core/base/check.h"

namespace tutti::core {
namespace {

class Direct : public Schedule {
 public:
  Direct(const Contract& contract, Engine engine)
      : contract_(contract), n_(contract.members()), engine_(engine) {
    TUTTI_CHECK(contract.kind != CollectiveKind::kAllReduce,
                "an all-reduce over {} ranks cannot take a single hop", n_);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return adds() ? n_ : 2 * n_ - 1; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (lane == 0) return copies(rank) + (inputs(rank) > 0 ? inputs(rank) + 1 : 0);
    if (lane < n_) return size(rank, after(rank, lane)) > 0 ? 1 : 0;
    return size(before(rank, lane), rank) > 0 ? 1 : 0;
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    if (lane == 0) return index < copies(rank) ? copy(rank) : collect(rank, index - copies(rank));
    Step step;
    if (lane < n_) {
      const Rank to = after(rank, lane);
      step.kind = StepKind::kSend;
      step.source = contract_.part(rank, to)->source;
      step.source.offset += contract_.input_shift;
      step.to = Peer::ahead(lane, adds() ? 0 : n_ - 1 + lane);
    } else {
      step.kind = StepKind::kReceive;
      step.target = contract_.part(before(rank, lane), rank)->target;
      step.from = Peer::ahead(-(lane - n_ + 1), lane - n_ + 1);
    }
    return step;
  }

  /// The schedule is symmetric if nothing is reduced, all blocks are equal, and there is no root.
  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t) const override {
    return by == Renumbering::kShift && !adds() && !has_root(contract_.kind) && !contract_.filled;
  }

  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return inputs(rank) > 0 ? inputs(rank) * size(rank, rank) : 0;
  }
  /// A rank does not send to itself. The arrival slots of senders with a higher rank are therefore
  /// lower by one.
  [[nodiscard]] std::int32_t arrival_slot(Rank rank, Lane, Rank sender) const override {
    return sender > rank ? sender - 1 : sender;
  }

 private:
  [[nodiscard]] bool adds() const { return reduces(contract_.kind); }
  [[nodiscard]] Rank after(Rank rank, Lane lane) const { return (rank + lane) % n_; }
  [[nodiscard]] Rank before(Rank rank, Lane lane) const {
    return (rank - (lane - n_ + 1) + n_) % n_;
  }

  [[nodiscard]] std::int64_t size(Rank from, Rank to) const {
    const auto part = contract_.part(from, to);
    return part ? part->target.count : 0;
  }
  [[nodiscard]] std::int64_t copies(Rank rank) const {
    return contract_.input_shift != 0 && size(rank, rank) > 0 ? 1 : 0;
  }
  /// Returns the number of messages that the rank adds to its own contribution. (Every rank that
  /// stores a sum also contributes to this sum.)
  [[nodiscard]] std::int32_t inputs(Rank rank) const {
    return adds() && size(rank, rank) > 0 ? n_ - 1 : 0;
  }

  [[nodiscard]] Step copy(Rank rank) const {
    const Contract::Part own = *contract_.part(rank, rank);
    Step step;
    step.kind = StepKind::kCopy;
    step.source = own.source;
    step.source.offset += contract_.input_shift;
    step.target = own.target;
    return step;
  }

  [[nodiscard]] Step collect(Rank rank, std::int64_t index) const {
    const std::int64_t count = size(rank, rank);
    Step step;
    step.stride = count;
    if (index < inputs(rank)) {
      step.kind = StepKind::kReceiveAny;
      step.target = {Buffer::kScratch, 0, count};
      return step;
    }
    step.kind = StepKind::kReduce;
    step.source = {Buffer::kScratch, 0, count};
    step.target = contract_.part(rank, rank)->target;
    step.inputs = inputs(rank);
    step.accumulate = true;
    return step;
  }

  Contract contract_;
  std::int32_t n_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<Schedule> direct(const Contract& contract, Engine engine) {
  return std::make_unique<Direct>(contract, engine);
}

}  // namespace tutti::core
