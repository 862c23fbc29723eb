#pragma once

#include <bit>
#include <cstdint>

#include "core/base/check.h"
#include "core/schedule/contract.h"
#include "core/schedule/copy_of_input.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The base class of algorithms in which a rank exchanges data with one partner per hop. The
/// numbers of the rank and its partner differ in one bit. The number of ranks is a power of two,
/// and each rank has one lane (sequence of steps). If the contract describes an out-of-place
/// collective, each rank first copies its input to the in-place position.
class PowerOfTwo : public Schedule {
 public:
  PowerOfTwo(const Contract& contract, Engine engine)
      : contract_(contract),
        n_(contract.members()),
        hops_(std::countr_zero(static_cast<std::uint32_t>(n_))),
        engine_(engine) {
    const std::int32_t ranks = n_;
    const std::int64_t elements = contract.elements;
    TUTTI_CHECK(
        ranks >= 1 && std::has_single_bit(static_cast<std::uint32_t>(ranks)) && elements >= 0,
        "ranks = {}, elements = {}", ranks, elements);
  }

  [[nodiscard]] std::int32_t ranks() const override { return n_; }
  [[nodiscard]] std::int32_t lanes(Rank) const override { return 1; }
  [[nodiscard]] Engine engine(Rank, Lane) const override { return engine_; }

  [[nodiscard]] std::int64_t steps(Rank rank, Lane) const final {
    return elements() == 0 ? 0 : copies(rank) + hop_steps(rank);
  }
  [[nodiscard]] Step step(Rank rank, Lane, std::int64_t index) const final {
    const std::int64_t first = copies(rank);
    if (index >= first) return hop_step(rank, index - first);
    return copy_of_input(contract_.input(rank), contract_.input_shift);
  }

 protected:
  /// Returns the total number of steps in all hops, for a buffer that is not empty.
  [[nodiscard]] virtual std::int64_t hop_steps(Rank rank) const = 0;
  [[nodiscard]] virtual Step hop_step(Rank rank, std::int64_t index) const = 0;

  /// True if renumbering the workers by `by` leaves the schedule unchanged. This is the case if
  /// `by` is an xor (kExchange) and `per_worker` is a power of two.
  [[nodiscard]] static bool exchanges_workers(Renumbering by, std::int32_t per_worker) {
    return by == Renumbering::kExchange &&
           std::has_single_bit(static_cast<std::uint32_t>(per_worker));
  }

  /// A range divided in two; the first half is longer if the length is odd.
  struct Split {
    Range first;
    Range second;
  };
  [[nodiscard]] static Split split(const Range& range) {
    const std::int64_t first = (range.count + 1) / 2;
    return {{range.buffer, range.offset, first},
            {range.buffer, range.offset + first, range.count - first}};
  }

  [[nodiscard]] const Contract& contract() const { return contract_; }
  [[nodiscard]] int hops() const { return hops_; }
  [[nodiscard]] std::int64_t elements() const { return contract_.elements; }
  /// Returns the rank with which `rank` exchanges data in a hop.
  [[nodiscard]] static Peer partner(Rank rank, int hop) { return Peer::at(rank ^ (1 << hop), 0); }

 private:
  [[nodiscard]] std::int64_t copies(Rank rank) const {
    return contract_.input_shift != 0 && contract_.input(rank).count > 0 ? 1 : 0;
  }

  Contract contract_;
  std::int32_t n_;
  int hops_;
  Engine engine_;
};

}  // namespace tutti::core
