#include "core/algorithm/halving.h"

#include <vector>

#include "core/algorithm/power_of_two.h"

namespace tutti::core {
namespace {

/// The exchange between two ranks whose numbers differ in one bit.
enum class Action : std::uint8_t {
  kExchangeAndAdd,  ///< each rank sends one half, and adds the half that it receives to the half
                    ///< that it keeps
  kExchange,        ///< each rank sends the segment that it holds
  kDown,      ///< the rank nearer to the root sends the half that contains the block of the rank
              ///< farther from the root
  kUp,        ///< the rank farther from the root sends the segment that it holds
  kUpAndAdd,  ///< the same as kUp, but the receiver adds the received segment to its own
};

struct Hop {
  Action action;
  int bit;
};

class Halving : public PowerOfTwo {
 public:
  Halving(const Contract& contract, Segments segments, Engine engine)
      : PowerOfTwo(contract, engine), whole_(segments == Segments::kWhole) {
    using Kind = CollectiveKind;
    const auto down_from_the_highest = [this](Action action) {
      for (int bit = hops() - 1; bit >= 0; --bit) plan_.push_back({action, bit});
    };
    const auto up_from_the_lowest = [this](Action action) {
      for (int bit = 0; bit < hops(); ++bit) plan_.push_back({action, bit});
    };
    const Kind kind = contract.kind;
    TUTTI_CHECK(
        whole_ ? kind == Kind::kBroadcast || kind == Kind::kReduce
               : kind != Kind::kAllReduce && kind != Kind::kAllToAll && kind != Kind::kSendReceive,
        "{} by {}", to_string(kind), whole_ ? "whole buffers" : "halves");
    if (whole_) {
      if (kind == Kind::kBroadcast) down_from_the_highest(Action::kDown);
      if (kind == Kind::kReduce) up_from_the_lowest(Action::kUpAndAdd);
      return;
    }
    if (kind == Kind::kReduceScatter || kind == Kind::kReduce)
      down_from_the_highest(Action::kExchangeAndAdd);
    if (kind == Kind::kBroadcast || kind == Kind::kScatter) down_from_the_highest(Action::kDown);
    if (kind == Kind::kAllGather || kind == Kind::kBroadcast) up_from_the_lowest(Action::kExchange);
    if (kind == Kind::kGather || kind == Kind::kReduce) up_from_the_lowest(Action::kUp);
  }

  /// The schedule is symmetric if all ranks exchange equal blocks. A root breaks the symmetry.
  [[nodiscard]] bool same_everywhere(Renumbering by, std::int32_t per_worker) const override {
    return exchanges_workers(by, per_worker) && !has_root(contract().kind) &&
           elements() % ranks() == 0;
  }

 private:
  [[nodiscard]] std::int64_t hop_steps(Rank rank) const override {
    std::int64_t steps = 0;
    for (const Hop& hop : plan_) steps += steps_of(hop, rank);
    return steps;
  }

  [[nodiscard]] Step hop_step(Rank rank, std::int64_t index) const override {
    for (const Hop& hop : plan_) {
      if (index < steps_of(hop, rank)) return step_of(hop, rank, index);
      index -= steps_of(hop, rank);
    }
    TUTTI_CHECK(false, "rank {} has {} steps", rank, hop_steps(rank));
    return {};
  }

  enum class Side { kNearer, kFarther, kNone };
  /// Returns the role of the rank in one hop of the tree. In a hop, only ranks whose lower bits
  /// equal the root's lower bits take part. In a pair of partners, the rank whose bit of this hop
  /// equals the root's bit is nearer to the root.
  [[nodiscard]] Side side_of(Rank rank, int bit) const {
    const Rank differing = (rank ^ contract().root()) & ((Rank{2} << bit) - 1);
    return differing == 0                ? Side::kNearer
           : differing == Rank{1} << bit ? Side::kFarther
                                         : Side::kNone;
  }

  [[nodiscard]] std::int64_t steps_of(const Hop& hop, Rank rank) const {
    if (hop.action == Action::kExchange || hop.action == Action::kExchangeAndAdd) return 2;
    return side_of(rank, hop.bit) == Side::kNone ? 0 : 1;
  }

  [[nodiscard]] Step step_of(const Hop& hop, Rank rank, std::int64_t index) const {
    const Halves halves = at_bit(rank, hop.bit);
    Step step;
    step.to = step.from = partner(rank, hop.bit);
    const bool exchange = hop.action == Action::kExchange || hop.action == Action::kExchangeAndAdd;
    const bool nearer = !exchange && side_of(rank, hop.bit) == Side::kNearer;
    const bool gives = exchange ? index == 0 : nearer == (hop.action == Action::kDown);
    const bool adds = hop.action == Action::kExchangeAndAdd || hop.action == Action::kUpAndAdd;
    // With kDown and kExchangeAndAdd, a rank sends the half that contains its partner's block. With
    // all other roles, a rank sends the half that contains its own block, and receives the half
    // that contains its partner's block.
    const bool own_is_given = hop.action == Action::kExchange || hop.action == Action::kUp ||
                              hop.action == Action::kUpAndAdd;
    step.kind = gives ? StepKind::kSend : adds ? StepKind::kReceiveReduce : StepKind::kReceive;
    step.source = step.target = gives == own_is_given ? halves.own : halves.other;
    return step;
  }

  struct Halves {
    Range own;    ///< the half that contains the rank's block
    Range other;  ///< the half that contains the partner's block
  };
  /// Returns the two halves of the smallest segment that contains the rank's block and its
  /// partner's block.
  [[nodiscard]] Halves at_bit(Rank rank, int bit) const {
    Range segment{Buffer::kData, 0, elements()};
    if (whole_) return {segment, segment};
    for (int b = hops() - 1;; --b) {
      const auto [left, right] = split(segment);
      const bool own_is_right = (rank >> b & 1) != 0;
      if (b == bit) return own_is_right ? Halves{right, left} : Halves{left, right};
      segment = own_is_right ? right : left;
    }
  }

  bool whole_;
  std::vector<Hop> plan_;
};

}  // namespace

std::unique_ptr<Schedule> halving(const Contract& contract, Segments segments, Engine engine) {
  return std::make_unique<Halving>(contract, segments, engine);
}

}  // namespace tutti::core
