// RingReduce and RingGather are sequences of rounds. In round t, the rank at position p handles
// chunk (p - t) mod n: it receives the chunk (except in the first round) and sends it (except in
// the last round). RingReduce has rounds 0 … 2n - 2, and RingGather has rounds 0 … n - 1. Rounds
// with empty chunks are skipped (filled_rounds.h).

#include "core/algorithm/tf_ring.h"

#include <algorithm>
#include <utility>

#include "core/algorithm/filled_rounds.h"
#include "core/base/check.h"
#include "core/schedule/copy_of_input.h"

namespace tutti::core {

std::int64_t aligned_chunk(std::int64_t elements, std::int64_t chunks, std::int64_t element_bytes,
                           std::int64_t align) {
  const std::int64_t base = (elements + chunks - 1) / chunks;
  if (align <= element_bytes) return base;
  TUTTI_CHECK(align % element_bytes == 0, "alignment {} of elements of {} bytes", align,
              element_bytes);
  const std::int64_t bytes = base * element_bytes;
  const std::int64_t more = bytes < align ? align - bytes : align - bytes % align;
  return base + more / element_bytes;
}

namespace {

/// For ring s, lane 2s receives and lane 2s + 1 sends. If the collective is out of place, one more
/// lane copies the rank's own data.
class TfRing : public Schedule {
 public:
  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override {
    return copying_lane() + (copies() ? 1 : 0);
  }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return options_.engine; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane lane) const override {
    if (lane == copying_lane()) return own(rank).count > 0 ? 1 : 0;
    const RingPosition place = locate(rank, lane);
    if (n_ == 1) return 0;
    return sends_on(lane)
               ? place.rounds.before(last_round_, place.position)
               : place.rounds.before(last_round_ + 1, place.position) - first_is_filled(place);
  }

  [[nodiscard]] Step step(Rank rank, Lane lane, std::int64_t index) const override {
    return lane == copying_lane() ? copy_of_input(own(rank), contract_.input_shift)
           : sends_on(lane)       ? send(rank, lane, index)
                                  : receive(rank, lane, index);
  }

  void visit_ways(Rank rank, Lane lane,
                  const std::function<void(const Step&)>& visit) const override {
    if (lane < copying_lane() && sends_on(lane) && steps(rank, lane) > 0)
      visit(send(rank, lane, 0));
  }

 protected:
  /// `last_round`: the number of the last round.
  TfRing(const Contract& contract, TfRingOptions options, std::int64_t last_round)
      : contract_(contract),
        options_(std::move(options)),
        n_(options_.order.ranks()),
        last_round_(last_round) {
    TUTTI_CHECK(contract.members() == n_ && !options_.subdivisions.empty() && options_.chunk >= 1,
                "the contract has {} ranks, but the order has {}", contract.members(), n_);
  }

  /// Returns the range of a chunk of a ring. Only the first `filled()` chunks are non-empty.
  [[nodiscard]] virtual Range chunk(std::int64_t number, std::int32_t ring) const = 0;
  [[nodiscard]] virtual std::int64_t filled(std::int32_t ring) const = 0;
  /// True if a rank adds the data received in this round to its own data.
  [[nodiscard]] virtual bool adds(std::int64_t round) const = 0;
  /// Returns the range of the buffer from which the rank reads its own contribution.
  [[nodiscard]] virtual Range own(Rank rank) const = 0;

  [[nodiscard]] const Contract& contract() const { return contract_; }
  [[nodiscard]] const TfRingOptions& options() const { return options_; }
  [[nodiscard]] std::int32_t n() const { return n_; }
  [[nodiscard]] Rank rank_at(std::int64_t position, std::int32_t ring) const {
    const auto p = static_cast<std::int32_t>(position);
    const std::int32_t m = options_.order.per_worker();
    return options_.order.rank(p / m, options_.subdivisions[ring].device_at(p % m, m));
  }

 private:
  struct RingPosition {
    std::int32_t ring = 0;
    std::int64_t position = 0;
    FilledRounds rounds;
  };

  [[nodiscard]] Lane copying_lane() const {
    return 2 * static_cast<Lane>(options_.subdivisions.size());
  }
  [[nodiscard]] bool copies() const { return contract_.input_shift != 0; }
  [[nodiscard]] static bool sends_on(Lane lane) { return lane % 2 == 1; }

  [[nodiscard]] RingPosition locate(Rank rank, Lane lane) const {
    const std::int32_t ring = lane / 2;
    const std::int32_t m = options_.order.per_worker();
    const Subdivision& subdivision = options_.subdivisions[ring];
    const std::int32_t position =
        options_.order.task(rank) * m + subdivision.position_of(options_.order.device(rank), m);
    return {ring, position, {n_, filled(ring)}};
  }

  /// Returns 1 if the chunk that the rank sends in round 0 is non-empty; otherwise returns 0.
  [[nodiscard]] static std::int64_t first_is_filled(const RingPosition& place) {
    return place.rounds.before(1, place.position);
  }

  [[nodiscard]] Range chunk_in(const RingPosition& place, std::int64_t round) const {
    return chunk(((place.position - round) % n_ + n_) % n_, place.ring);
  }

  [[nodiscard]] Peer neighbour(const RingPosition& place, std::int32_t delta, Lane lane) const {
    return Peer::at(rank_at((place.position + delta + n_) % n_, place.ring), lane);
  }

  [[nodiscard]] Step send(Rank rank, Lane lane, std::int64_t index) const {
    const RingPosition place = locate(rank, lane);
    const std::int64_t round = place.rounds.round_of(index, place.position);
    Step step;
    step.kind = StepKind::kSend;
    step.source = step.target = chunk_in(place, round);
    step.to = neighbour(place, +1, lane - 1);
    if (round > 0) {
      step.wait = {lane - 1,
                   place.rounds.before(round + 1, place.position) - first_is_filled(place)};
    } else if (copies()) {
      step.wait = {copying_lane(), 1};
    }
    return step;
  }

  [[nodiscard]] Step receive(Rank rank, Lane lane, std::int64_t index) const {
    const RingPosition place = locate(rank, lane);
    const std::int64_t round =
        place.rounds.round_of(index + first_is_filled(place), place.position);
    Step step;
    step.kind = adds(round) ? StepKind::kReceiveReduce : StepKind::kReceive;
    step.source = step.target = chunk_in(place, round);
    step.from = neighbour(place, -1, lane + 1);
    if (adds(round)) {
      if (copies()) step.wait = {copying_lane(), 1};
    } else if (round >= n_) {
      // The received chunk overwrites a range that was sent n rounds ago, so the step waits for
      // that send.
      step.wait = {lane + 1, place.rounds.before(round - n_ + 1, place.position)};
    }
    return step;
  }

  Contract contract_;
  TfRingOptions options_;
  std::int32_t n_;
  std::int64_t last_round_;
};

class Reduce : public TfRing {
 public:
  Reduce(const Contract& contract, TfRingOptions options)
      : TfRing(contract, std::move(options), 2 * (std::int64_t{contract.members()} - 1)) {
    TUTTI_CHECK(
        contract.kind == CollectiveKind::kAllReduce &&
            this->options().chunk >= (contract.elements + n() * rings() - 1) / (n() * rings()),
        "{} elements in chunks of {}", contract.elements, this->options().chunk);
  }

 private:
  [[nodiscard]] std::int64_t rings() const {
    return static_cast<std::int64_t>(options().subdivisions.size());
  }

  [[nodiscard]] Range chunk(std::int64_t number, std::int32_t ring) const override {
    const std::int64_t offset =
        std::min((number * rings() + ring) * options().chunk, contract().elements);
    return {Buffer::kData, offset, std::min(options().chunk, contract().elements - offset)};
  }
  [[nodiscard]] std::int64_t filled(std::int32_t ring) const override {
    const std::int64_t of_all = (contract().elements + options().chunk - 1) / options().chunk;
    return (of_all - ring + rings() - 1) / rings();
  }
  [[nodiscard]] bool adds(std::int64_t round) const override { return round < n(); }
  [[nodiscard]] Range own(Rank) const override { return {Buffer::kData, 0, contract().elements}; }
};

class Gather : public TfRing {
 public:
  Gather(const Contract& contract, TfRingOptions options)
      : TfRing(contract, std::move(options), std::int64_t{contract.members()} - 1) {
    TUTTI_CHECK(contract.kind == CollectiveKind::kAllGather &&
                    this->options().subdivisions.size() == 1 &&
                    this->options().subdivisions.front().offset == 0,
                "a gather in {} subdivisions", this->options().subdivisions.size());
  }

 private:
  [[nodiscard]] Range chunk(std::int64_t number, std::int32_t ring) const override {
    return own(rank_at(number, ring));
  }
  [[nodiscard]] std::int64_t filled(std::int32_t) const override {
    return contract().block() > 0 ? n() : 0;
  }
  [[nodiscard]] bool adds(std::int64_t) const override { return false; }
  [[nodiscard]] Range own(Rank rank) const override {
    return {Buffer::kData, rank * contract().block(), contract().block()};
  }
};

}  // namespace

std::unique_ptr<Schedule> tf_ring_reduce(const Contract& contract, TfRingOptions options) {
  return std::make_unique<Reduce>(contract, std::move(options));
}

std::unique_ptr<Schedule> tf_ring_gather(const Contract& contract, TfRingOptions options) {
  return std::make_unique<Gather>(contract, std::move(options));
}

}  // namespace tutti::core
