#include "core/algorithm/star.h"

#include "core/base/check.h"

namespace tutti::core {
namespace {

/// Sender i sends to lane 0 of the root, which receives the messages in any order. The root is not
/// counted as a sender.
class StarReduce : public Schedule {
 public:
  StarReduce(std::int32_t ranks, std::int32_t contributors, Rank root, std::int64_t elements,
             Engine sender_engine, Engine root_engine, std::int64_t input_shift)
      : ranks_(ranks),
        contributors_(contributors),
        root_(root),
        elements_(elements),
        sender_engine_(sender_engine),
        root_engine_(root_engine),
        input_shift_(input_shift) {
    TUTTI_CHECK(contributors >= 1 && contributors <= ranks && root >= 0 && root < ranks,
                "{} of {}, root {}", contributors, ranks, root);
  }

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return rank == root_ || rank < contributors_ ? 1 : 0;
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane) const override {
    if (elements_ == 0) return 0;
    return rank != root_ ? 1 : copies() + (senders() > 0 ? senders() + 1 : 0);
  }
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t index) const override {
    Step step;
    const Range data{Buffer::kData, 0, elements_};
    if (rank != root_) {
      step.kind = StepKind::kSend;
      step.source = data;
      step.source.offset += input_shift_;
      step.to = Peer::at(root_, 0);
    } else if (index < copies()) {
      step.kind = StepKind::kCopy;
      step.source = step.target = data;
      step.source.offset += input_shift_;
    } else if (index < copies() + senders()) {
      step.kind = StepKind::kReceiveAny;
      step.target = {Buffer::kScratch, 0, elements_};
      step.stride = elements_;
    } else {
      step.kind = StepKind::kReduce;
      step.source = {Buffer::kScratch, 0, elements_};
      step.target = data;
      step.inputs = senders();
      step.stride = elements_;
      step.accumulate = root_contributes();
    }
    return step;
  }
  [[nodiscard]] std::int64_t scratch(Rank rank) const override {
    return rank == root_ ? senders() * elements_ : 0;
  }
  [[nodiscard]] Engine engine(Rank rank, Lane) const override {
    return rank == root_ ? root_engine_ : sender_engine_;
  }
  [[nodiscard]] std::int32_t arrival_slot(Rank, Lane, Rank sender) const override {
    return root_contributes() && sender > root_ ? sender - 1 : sender;
  }

 private:
  [[nodiscard]] bool root_contributes() const { return root_ < contributors_; }
  [[nodiscard]] std::int32_t senders() const {
    return contributors_ - (root_contributes() ? 1 : 0);
  }
  [[nodiscard]] std::int64_t copies() const {
    return input_shift_ != 0 && root_contributes() ? 1 : 0;
  }

  std::int32_t ranks_, contributors_;
  Rank root_;
  std::int64_t elements_;
  Engine sender_engine_, root_engine_;
  std::int64_t input_shift_;
};

class StarBroadcast : public Schedule {
 public:
  StarBroadcast(std::int32_t ranks, std::int32_t receivers, Rank root, std::int64_t elements,
                Engine engine)
      : ranks_(ranks), receivers_(receivers), root_(root), elements_(elements), engine_(engine) {
    TUTTI_CHECK(receivers >= 1 && receivers <= ranks && root >= 0 && root < ranks,
                "{} of {}, root {}", receivers, ranks, root);
  }

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return rank == root_ ? receivers_ : (rank < receivers_ ? 1 : 0);
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    return elements_ == 0 || (rank == root_ && lane == root_) ? 0 : 1;
  }
  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t) const override {
    Step step;
    step.source = step.target = {Buffer::kData, 0, elements_};
    step.kind = rank == root_ ? StepKind::kSend : StepKind::kReceive;
    step.to = Peer::at(lane, 0);
    step.from = Peer::at(root_, rank);
    return step;
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

 private:
  std::int32_t ranks_, receivers_;
  Rank root_;
  std::int64_t elements_;
  Engine engine_;
};

class Scale : public Schedule {
 public:
  Scale(std::int32_t ranks, const Contract& contract, double factor, Engine engine)
      : ranks_(ranks), contract_(contract), factor_(factor), engine_(engine) {}

  [[nodiscard]] std::int32_t ranks() const override { return ranks_; }
  [[nodiscard]] std::int32_t lanes(Rank rank) const override {
    return contract_.receivers.contains(rank) ? 1 : 0;
  }
  [[nodiscard]] std::int64_t steps(Rank rank, Lane) const override {
    return output(rank).count == 0 ? 0 : 1;
  }
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t) const override {
    Step step;
    step.kind = StepKind::kScale;
    step.target = output(rank);
    step.factor = factor_;
    return step;
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }
  [[nodiscard]] bool same_everywhere(Renumbering, std::int32_t) const override {
    return !has_root(contract_.kind);
  }

 private:
  /// Returns the output of a rank. In a collective that reduces, all elements of an output are sums
  /// over the same ranks.
  [[nodiscard]] Range output(Rank rank) const {
    const auto part = contract_.part(contract_.contributors.first, rank);
    return part ? part->target : Range{};
  }

  std::int32_t ranks_;
  Contract contract_;
  double factor_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<Schedule> star_reduce(std::int32_t ranks, std::int32_t contributors, Rank root,
                                      std::int64_t elements, Engine sender_engine,
                                      Engine root_engine, std::int64_t input_shift) {
  return std::make_unique<StarReduce>(ranks, contributors, root, elements, sender_engine,
                                      root_engine, input_shift);
}

std::unique_ptr<Schedule> star_broadcast(std::int32_t ranks, std::int32_t receivers, Rank root,
                                         std::int64_t elements, Engine engine) {
  return std::make_unique<StarBroadcast>(ranks, receivers, root, elements, engine);
}

std::unique_ptr<Schedule> scale_results(std::int32_t ranks, const Contract& contract, double factor,
                                        Engine engine) {
  return std::make_unique<Scale>(ranks, contract, factor, engine);
}

}  // namespace tutti::core
