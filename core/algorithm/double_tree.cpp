// For each tree, every rank has two lanes: the up lane sends sums to the parent, and the down lane
// sends results to the children. If there is only one rank, it has a single lane, which copies the
// input if the collective is out of place. The up lane handles message m in steps m·k … m·k + k -
// 1, where k is the number of steps per message. A leaf has k = 1 (it only sends); any other rank
// has one step per child. The last of a message's k steps also sends the sum to the parent, except
// at the root. The first of a message's k steps reads the rank's own input. The root sends message
// m down when its up lane has completed message m.

#include "core/algorithm/double_tree.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/check.h"
#include "core/schedule/copy_of_input.h"

namespace tutti::core {
namespace {

constexpr Rank kNoRank = -1;

/// A rank's position in an in-order tree over 0 … n - 1.
struct TreePosition {
  Rank parent = kNoRank;
  std::array<Rank, 2> child{kNoRank, kNoRank};
  int children = 0;
};

TreePosition tree_position(Rank rank, Rank n) {
  const auto bits = [](Rank r) { return static_cast<std::uint32_t>(r); };
  TreePosition place;
  if (rank == 0) {
    if (n > 1) place.child[place.children++] = static_cast<Rank>(std::bit_floor(bits(n - 1)));
    return place;
  }
  const Rank bit = Rank{1} << std::countr_zero(bits(rank));
  const Rank above = (rank ^ bit) | (bit << 1);
  place.parent = above < n ? above : rank ^ bit;
  if (bit == 1) return place;
  place.child[place.children++] = rank - bit / 2;
  Rank step = bit / 2;
  while (step > 0 && rank + step >= n) step /= 2;
  if (step > 0) place.child[place.children++] = rank + step;
  return place;
}

class DoubleTree : public Schedule {
 public:
  DoubleTree(const Contract& contract, std::int64_t max_elements_per_message, Engine engine)
      : contract_(contract),
        n_(contract.members()),
        most_(max_elements_per_message),
        engine_(engine) {
    TUTTI_CHECK(contract.kind == CollectiveKind::kAllReduce && most_ >= 1,
                "double tree: {}, messages of {}", to_string(contract.kind), most_);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return n_ == 1 ? 1 : 4; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (n_ == 1) return contract_.input_shift != 0 && contract_.elements > 0 ? 1 : 0;
    return messages(lane) * per_message(in_tree(rank, lane), lane);
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    if (n_ == 1)
      return copy_of_input({Buffer::kData, 0, contract_.elements}, contract_.input_shift);
    const TreePosition place = in_tree(rank, lane);
    const std::int64_t each = per_message(place, lane);
    const Range message = message_of(lane, index / each);
    return is_up(lane) ? up(place, lane, index % each, message)
                       : down(place, lane, index % each, index / each, message);
  }

  void visit_ways(Rank rank, Lane lane,
                  const std::function<void(const Step&)>& visit) const override {
    if (n_ == 1 || messages(lane) == 0) return;
    for (std::int64_t i = 0; i < per_message(in_tree(rank, lane), lane); ++i) {
      const Step first = step(rank, lane, i);
      if (sends(first.kind)) visit(first);
    }
  }

 private:
  [[nodiscard]] static bool is_up(Lane lane) { return lane % 2 == 0; }
  [[nodiscard]] static bool is_first(Lane lane) { return lane < 2; }

  // --- the two trees ---

  /// Returns the position of the rank in the lane's tree. If the number of ranks is even, the
  /// second tree mirrors the first; if it is odd, the second tree is the first tree shifted by one
  /// rank.
  [[nodiscard]] Rank into(Rank rank, Lane lane) const {
    if (is_first(lane)) return rank;
    return n_ % 2 == 0 ? n_ - 1 - rank : (rank + n_ - 1) % n_;
  }
  [[nodiscard]] Rank out_of(Rank place, Lane lane) const {
    if (is_first(lane) || place == kNoRank) return place;
    return n_ % 2 == 0 ? n_ - 1 - place : (place + 1) % n_;
  }
  [[nodiscard]] TreePosition in_tree(Rank rank, Lane lane) const {
    TreePosition place = tree_position(into(rank, lane), n_);
    place.parent = out_of(place.parent, lane);
    for (Rank& child : place.child) child = out_of(child, lane);
    return place;
  }

  // --- messages ---

  [[nodiscard]] EvenCut halves() const { return {contract_.elements, 2}; }
  [[nodiscard]] std::int64_t messages(Lane lane) const {
    const std::int64_t size = halves().size(lane / 2);
    return size / most_ + (size % most_ != 0 ? 1 : 0);
  }
  [[nodiscard]] Range message_of(Lane lane, std::int64_t message) const {
    const EvenCut cut{halves().size(lane / 2), messages(lane)};
    return {Buffer::kData, halves().offset(lane / 2) + cut.offset(message), cut.size(message)};
  }
  [[nodiscard]] static std::int64_t per_message(const TreePosition& place, Lane lane) {
    const bool root = place.parent == kNoRank;
    if (is_up(lane)) return std::max(1, place.children);
    return root ? place.children : std::max(1, place.children);
  }

  // --- steps ---

  [[nodiscard]] Step up(const TreePosition& place, Lane lane, std::int64_t part,
                        const Range& message) const {
    Step step;
    step.source = step.target = message;
    if (part == 0)
      step.source.offset += contract_.input_shift;  // later steps add to the partial sum
    if (place.parent != kNoRank) step.to = Peer::at(place.parent, lane);
    if (place.children == 0) {
      step.kind = StepKind::kSend;
      return step;
    }
    step.from = Peer::at(place.child[part], lane);
    const bool sends_on = part + 1 == place.children && place.parent != kNoRank;
    step.kind = sends_on ? StepKind::kReceiveReduceSend : StepKind::kReceiveReduce;
    return step;
  }

  [[nodiscard]] Step down(const TreePosition& place, Lane lane, std::int64_t part,
                          std::int64_t index, const Range& message) const {
    Step step;
    step.source = step.target = message;
    if (part < place.children) step.to = Peer::at(place.child[part], lane);
    if (place.parent == kNoRank) {
      step.kind = StepKind::kSend;
      step.wait = {lane - 1, (index + 1) * per_message(place, lane - 1)};
      return step;
    }
    step.from = Peer::at(place.parent, lane);
    step.kind = part > 0              ? StepKind::kSend
                : place.children == 0 ? StepKind::kReceive
                                      : StepKind::kReceiveSend;
    return step;
  }

  Contract contract_;
  std::int32_t n_;
  std::int64_t most_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<Schedule> double_tree_all_reduce(const Contract& contract,
                                                 std::int64_t max_elements_per_message,
                                                 Engine engine) {
  return std::make_unique<DoubleTree>(contract, max_elements_per_message, engine);
}

}  // namespace tutti::core
