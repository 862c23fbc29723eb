#pragma once

#include <algorithm>
#include <string_view>

#include "core/algorithm/ring_walk.h"
#include "core/schedule/contract.h"
#include "core/schedule/copy_of_input.h"

namespace tutti::core {

/// The base class of algorithms that move blocks or buffers along rings in one direction. Each ring
/// has one lane, which is a sequence of steps on every rank. Each lane transfers an equal part of
/// the data, cut into messages. If the collective is out of place, an extra lane copies the rank's
/// own data.
class AlongRings : public Schedule {
 public:
  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] int credits(Rank, Lane) const override { return options_.credits; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return options_.engine; }

 protected:
  /// `adding` and `copying` are the two kinds of collectives that the algorithm supports: one that
  /// reduces and one that does not. REQUIRES: the contract's kind is one of `adding` and `copying`.
  AlongRings(const Contract& contract, const RingOptions& options, CollectiveKind adding,
             CollectiveKind copying)
      : contract_(contract),
        n_(contract.members()),
        adds_(contract.kind == adding),
        options_(options),
        walk_(n_, options.lanes) {
    TUTTI_CHECK((adds_ || contract.kind == copying) && options.input_shift == 0 &&
                    options.max_elements_per_message >= 1,
                "along rings: {}", to_string(contract.kind));
  }

  [[nodiscard]] const Contract& contract() const { return contract_; }
  [[nodiscard]] std::int32_t n() const { return n_; }
  [[nodiscard]] bool adds() const { return adds_; }
  [[nodiscard]] const RingWalk& walk() const { return walk_; }

  [[nodiscard]] Lane carrying_lanes() const { return static_cast<Lane>(options_.lanes.size()); }
  /// Returns the range of a buffer of `elements` elements that a lane transfers.
  [[nodiscard]] Range part(std::int64_t elements, Lane lane) const {
    const EvenCut cut{elements, carrying_lanes()};
    return {Buffer::kData, cut.offset(lane), cut.size(lane)};
  }
  /// Returns how a lane's part of `elements` is divided into messages.
  [[nodiscard]] EvenCut messages(std::int64_t elements, Lane lane) const {
    const std::int64_t size = part(elements, lane).count;
    const std::int64_t most = options_.max_elements_per_message;
    return {size, std::max<std::int64_t>(1, size / most + (size % most != 0 ? 1 : 0))};
  }
  /// Returns the range of elements in message `index` of a lane.
  [[nodiscard]] Range message(std::int64_t elements, Lane lane, std::int64_t index) const {
    const EvenCut cut = messages(elements, lane);
    return {Buffer::kData, part(elements, lane).offset + cut.offset(index), cut.size(index)};
  }

  /// Returns a step that copies an out-of-place input to its in-place position.
  [[nodiscard]] Step copy(const Range& place) const {
    return copy_of_input(place, contract_.input_shift);
  }

  /// Returns the kind of the step with which the rank at position `place` of a message's path
  /// handles the message. A path has n ranks, and begins at position 0.
  [[nodiscard]] StepKind kind_at(std::int64_t place) const {
    if (place == 0) return StepKind::kSend;
    if (place < n_ - 1) return adds_ ? StepKind::kReceiveReduceSend : StepKind::kReceiveSend;
    return adds_ ? StepKind::kReceiveReduce : StepKind::kReceive;
  }

 private:
  Contract contract_;
  std::int32_t n_;
  bool adds_;
  RingOptions options_;
  RingWalk walk_;
};

}  // namespace tutti::core
